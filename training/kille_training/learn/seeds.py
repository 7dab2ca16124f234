"""Several seeds of one configuration, trained side by side: `kille_training.train(seeds=8)`.

runs/NAME-seeds/
  seed-1/       a run, see `runs`: the same that `kille train NAME --seed 1` makes
  seed-2/
  output.log    what the processes printed

Each run has a process of its own with one thread, and as many learn at a time as there are cores.
All settings are written before the first run begins, so the folder alone says what is to be done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.greedy import PLAYS
from kille_env.errors import ConfigError
from kille_env.words.text import counted
from kille_training.evaluation.api import Evaluation
from kille_training.evaluation.duplicate import DETERMINISTIC
from kille_training.labels import measure_of
from kille_training.learn.runs import (
    SEED_PREFIX,
    Run,
    load_named,
    measure_run,
    seed_runs,
)
from kille_training.learn.settings import TrainSettings
from kille_training.pool.jobs import Arrays, Failed, Report, cores
from kille_training.pool.processes import Processes
from kille_training.progress import Progress, part_of, teller
from kille_training.results import Result, TextTable
from kille_training.settings import Overrides
from kille_training.statistics.aggregate import bootstrap, interquartile_mean

NASH_CONV = "NashConv (less is better)"
FEWEST = 2
"""Seeds from which on there is an interval over seeds."""
DUST = 1e-9
"""Length of an interval that rounding leaves where all seeds are equal."""
FOREVER = 1e9
"""Seconds that a run may take."""


@dataclass(frozen=True, repr=False)
class SeedRuns(Result):
    """Finished runs of one configuration.

    Attributes:
        folder: Where they are.
        runs: The runs, by seed.
        seeds: [R] their seeds.
        evaluations: [R] what each earned at its end, over the same deals.
    """

    folder: Path
    runs: tuple[Run, ...]
    seeds: tuple[int, ...]
    evaluations: tuple[Evaluation, ...]

    @classmethod
    def of(cls, runs: Mapping[int, Run]) -> "SeedRuns":
        """Read finished runs, which are in one folder, by seed.

        Raises:
            ConfigError: One is not finished.
        """
        found = tuple(measure_run(run) for run in runs.values())
        folder = next(iter(runs.values())).folder.parent
        return cls(folder, tuple(runs.values()), tuple(runs), found)

    def rows(self) -> list[dict[str, Any]]:
        """Return one line per way to play and measure, with the values of all seeds.

        `mean` is their interquartile mean, `low` and `high` its 95% interval over seeds, both None
        with fewer than two seeds.
        """
        rows = []
        for name, values in figures_of(self.evaluations).items():
            found = None
            if len(values) >= FEWEST:
                found = bootstrap(np.array(values)[:, None], interquartile_mean)
            rows.append(
                {
                    "measure": name,
                    "mean": float(interquartile_mean(np.array(values)[:, None])),
                    "low": None if found is None else max(float(found.low), least_of(name)),
                    "high": None if found is None else float(found.high),
                    "values": list(values),
                }
            )
        return rows

    def parts(self) -> list[str | TextTable]:
        """Return the interquartile means with their intervals, and how far the seeds are apart."""
        first = self.evaluations[0]
        cells = [
            (
                row["measure"],
                f"{row['mean']:+.4f}",
                "" if row["low"] is None else ends(row["low"], row["high"]),
                f"{min(row['values']):+.4f}",
                f"{max(row['values']):+.4f}",
            )
            for row in self.rows()
        ]
        count = counted(len(self.seeds), "seed", "seeds")
        columns = ("measure", ">mean", ">95% interval", ">lowest", ">highest")
        title = f"Interquartile mean over {count}, {first.deals:,} deals each, the same for all"
        if len(self.seeds) < FEWEST:
            said = "One seed has no interval over seeds; make more with --seeds."
        else:
            said = (
                "The intervals are for the interquartile mean of all seeds that could be drawn, "
                "over these deals; those of NashConv end at 0."
            )
        return [f"{self.folder} at {first.table}", TextTable(title, columns, cells), said]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        runs = [
            {"seed": seed, "run": str(run.folder), "evaluation": found.as_dict()}
            for seed, run, found in zip(self.seeds, self.runs, self.evaluations, strict=True)
        ]
        return {"run": str(self.folder), "summary": self.rows(), "runs": runs}


def least_of(measure: str) -> float:
    """Return what a measure is at least: where an interval goes below, that much is known."""
    return 0.0 if measure.startswith(NASH_CONV) else -np.inf


def ends(low: float, high: float) -> str:
    """Return an interval over seeds as text; where all are equal it says nothing of other seeds."""
    return f"{low:+.4f} to {high:+.4f}" if high - low > DUST else "no spread seen"


def figures_of(evaluations: Sequence[Evaluation]) -> dict[str, list[float]]:
    """Return the value of each seed by what was measured."""
    figures: dict[str, list[float]] = {}
    for each in evaluations:
        measure = measure_of(each.game, str(each.rules["episode"]))
        found = [
            (f"{measure} against {row.against}", row.play, row.estimate.mean) for row in each.rows
        ]
        found += [(NASH_CONV, row.play, row.nash_conv) for row in each.exact or ()]
        for name, play, value in found:
            for way in PLAYS if play == DETERMINISTIC else (play,):
                figures.setdefault(f"{name}, {way}", []).append(value)
    return {name: values for name, values in figures.items() if len(values) == len(evaluations)}


def open_seeds(
    config: str | Path | TrainSettings,
    seeds: int,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> dict[int, Run]:
    """Return runs of one configuration by seed, with their settings written.

    Args:
        config: As for `kille_training.train`, or a folder of runs by seed.
        seeds: How many runs.
        out: Their folder; the default is runs/NAME-seeds.
        seed: Seed of the first run; the others follow.
        set: Settings that win over the file.

    Raises:
        ConfigError: The settings cannot be used, or the folder holds other runs.
    """
    if seeds < 1:
        raise ConfigError(f"seeds is {seeds}, expected 1 or more")
    if not isinstance(config, TrainSettings) and (kept := seed_runs(Path(config))):
        if out is not None or seed is not None or set:
            raise ConfigError(f"{config} holds runs by seed; they keep their place and settings")
        folder, settings = Path(config), next(iter(kept.values())).settings()
    else:
        settings = load_named(config, out=out, seed=seed, set=set)
        folder = Path("runs") / f"{settings.name}-seeds" if out is None else Path(out)
    if Run(folder).config.is_file():
        raise ConfigError(f"{folder} is one run; name another folder for several seeds with --out")
    numbers = range(settings.seed, settings.seed + seeds)
    runs = seed_runs(folder)
    for number, run in runs.items():
        run.check_same(replace(settings, seed=number, name=run.settings().name))
    for number in numbers:
        if number not in runs:
            runs[number] = Run(folder / f"{SEED_PREFIX}{number}")
            name = f"{folder.resolve().name}-{number}"
            runs[number].write_settings(replace(settings, name=name, seed=number, made_with={}))
    return {number: runs[number] for number in numbers}


def train_seeds(
    runs: dict[int, Run],
    finish: Callable[[Run], object],
    progress: Progress | None = None,
) -> SeedRuns:
    """Train runs that are not finished, side by side, each in a process with one thread.

    Args:
        runs: The runs by seed, all in one folder.
        finish: What a process does with a run, see `training.finish`.
        progress: Called with how many runs are finished; its `say` when one is.

    Raises:
        ConfigError: Some runs failed; the others are finished.
        KeyboardInterrupt: All processes have ended; call it again to resume.
    """
    folder = next(iter(runs.values())).folder.parent
    workers, log, tell = min(len(runs), cores()), folder / "output.log", teller(progress)
    tell(f"{len(runs)} seeds in {folder}, {workers} at a time; what they print is in {log}")
    advance = part_of(progress, f"training {len(runs)} seeds", len(runs))
    failed: dict[int, str] = {}
    items = [(seed, run.folder) for seed, run in runs.items()]
    with Processes(workers, log=log) as pool:
        for (seed, _), result in pool.run(partial(_run, finish=finish), items):
            if isinstance(result, Failed):
                failed[seed] = result.reason
            tell(f"seed {seed} {'failed' if seed in failed else 'is finished'}")
            advance(1)
    if failed:
        said = "; ".join(f"seed {seed}: {reason}" for seed, reason in failed.items())
        raise ConfigError(
            f"{len(failed)} of {len(runs)} seeds failed ({said}); {log} may say more. The others "
            "are finished, and the same call tries these again"
        )
    return SeedRuns.of(runs)


def _run(item: tuple[int, Path], report: Report, finish: Callable[[Run], object]) -> Arrays:
    """Finish one run; a run that diverges is no fault of the others."""
    seed, folder = item
    with report(seed, "to train", FOREVER):
        finish(Run(folder))
    return {}
