"""The runs of a grid, in this process or in several."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from kille_training.benchmark.grid import Grid, RunSettings
from kille_training.benchmark.runs import do_run, is_finished


def do_grid(
    grid: Grid, folder: Path, workers: int = 1, told: Callable[[str], None] = print
) -> list[Path]:
    """Does what is missing of a grid.

    Args:
        grid: The grid.
        folder: Where its runs are.
        workers: Processes; each run has one, and one thread in it.
        told: Called with a sentence before and after each run.

    Returns:
        The files of the runs that were done now.
    """
    missing = [run for run in grid.runs() if not is_finished(folder, run)]
    told(f"{len(missing)} of {len(grid.runs())} runs are to be done")
    work = partial(_alone, folder)
    done = []
    if workers == 1:
        for path in map(work, missing):
            done.append(path)
            told(f"{path.relative_to(folder)} is done, {len(done)} of {len(missing)}")
        return done
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for path in pool.map(work, missing):
            done.append(path)
            told(f"{path.relative_to(folder)} is done, {len(done)} of {len(missing)}")
    return done


def _alone(folder: Path, run: RunSettings) -> Path:
    """Does a run with one thread, so that runs side by side do not share cores."""
    import torch

    torch.set_num_threads(1)
    return do_run(folder, run)
