"""`kille_training.train`: one run, or several seeds of one configuration side by side."""

from pathlib import Path
from typing import overload

from kille_training.learn import training
from kille_training.learn.api import measure_run, open_run
from kille_training.learn.runs import Run
from kille_training.learn.seeds import SeedRuns, open_seeds, train_seeds
from kille_training.learn.settings import TrainSettings
from kille_training.progress import Progress, resumable, shown
from kille_training.settings import Overrides


@overload
def train(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = ...,
    seed: int | None = ...,
    seeds: None = ...,
    set: Overrides = ...,
    progress: Progress | None = ...,
) -> Run: ...
@overload
def train(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = ...,
    seed: int | None = ...,
    seeds: int,
    set: Overrides = ...,
    progress: Progress | None = ...,
) -> SeedRuns: ...
def train(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    set: Overrides = (),
    progress: Progress | None = None,
) -> Run | SeedRuns:
    """Trains a policy by self-play and measures it; resumes a run exactly where it stopped.

    Example:
        >>> import kille_training as kt
        >>> few = {"learner.decisions": 8_192, "measure.every": 0, "measure.final_deals": 20}
        >>> run = kt.train("demo", out="runs/few", set=few)
        >>> kt.evaluate(run.folder, deals=10).num_players
        3

    Args:
        config: The name of a recipe, a file of settings, settings, or the folder of a run.
        out: Folder of the run; the default is runs/NAME, by the settings.
        seed: Seed of the run; the default is the one in the settings.
        seeds: How many runs to train, with this seed and those after it, side by side on the cores
            that are there, each in a process of its own. They are folders in one folder, by default
            runs/NAME-seeds.
        set: Settings that win over the file: {"learner.decisions": 500_000}.
        progress: Called with how far it is; None shows bars in terminals and notebooks.

    Returns:
        The run. Its folder is a player's path wherever one is asked for. With `seeds` all runs, and
        what they earn: the interquartile mean with its interval over seeds.

    Raises:
        ConfigError: The settings cannot be used, or the folder holds another run.
        KeyboardInterrupt: The message says how to resume.
    """
    progress = shown(progress)
    if seeds is not None:
        runs = open_seeds(config, seeds, out=out, seed=seed, set=set)
        with resumable(f"the same call of kille_training.train resumes {len(runs)} seeds"):
            return train_seeds(runs, progress)
    run, settings = open_run(config, out=out, seed=seed, set=set)
    with resumable(f"kille_training.train({str(run.folder)!r}) resumes"):
        training.train(run, settings, progress=progress)
        measure_run(run, progress)
    return run
