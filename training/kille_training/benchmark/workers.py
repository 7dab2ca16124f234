"""The runs of a grid or a tuning, in this process or in several."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

from kille_training.benchmark.grid import Grid, RunSettings
from kille_training.benchmark.runs import do_run, is_finished
from kille_training.benchmark.tuning import Tried, Tuning, tried

Task = tuple[Path, RunSettings]
"""The folder of a run, and its settings."""


def do_grid(
    grid: Grid, folder: Path, workers: int = 1, told: Callable[[str], None] = print
) -> list[Path]:
    """Does what is missing of a grid; see `do_runs`."""
    return do_runs([(folder, run) for run in grid.runs()], workers, told)


def do_tuning(
    tuning: Tuning, folder: Path, workers: int = 1, told: Callable[[str], None] = print
) -> list[Tried]:
    """Does what is missing of a tuning; returns what all candidates reached. See `do_runs`."""
    tasks = [(each.folder(folder), run) for each in tuning.runs() for run in each.runs]
    do_runs(tasks, workers, told)
    return tried(tuning, folder)


def do_runs(tasks: Sequence[Task], workers: int, told: Callable[[str], None]) -> list[Path]:
    """Does the runs that are not finished.

    Args:
        tasks: All runs.
        workers: Processes; each run has one, and one thread in it.
        told: Called with a sentence before all runs and after each.

    Returns:
        The files of the runs that were done now.
    """
    missing = [task for task in tasks if not is_finished(*task)]
    told(f"{len(missing)} of {len(tasks)} runs are to be done")
    done = []
    with ExitStack() as stack:
        spread: Callable[..., Iterable[Path]] = map
        if workers > 1:
            pool = ProcessPoolExecutor(workers, get_context("spawn"))
            spread = stack.enter_context(pool).map
        for path in spread(_alone, missing):
            done.append(path)
            told(f"{path} is done, {len(done)} of {len(missing)}")
    return done


def _alone(task: Task) -> Path:
    """Does a run with one thread, so that runs side by side do not share cores."""
    import torch

    torch.set_num_threads(1)
    return do_run(*task)
