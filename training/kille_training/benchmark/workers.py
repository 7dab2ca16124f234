"""The runs of a grid, in this process, in several, or on a Ray cluster."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kille_env.files import write_whole
from kille_training.benchmark.grid import Grid, RunSettings
from kille_training.benchmark.runs import do_run, is_finished
from kille_training.pool.jobs import Arrays, Here, Pool, Report

Task = tuple[Path, RunSettings]
"""The folder of a run, and its settings."""


def do_grid(
    grid: Grid, folder: Path, pool: Pool | None = None, told: Callable[[str], None] = print
) -> list[Path]:
    """Do the runs of a grid that are not finished.

    Args:
        grid: The grid.
        folder: Where its runs are.
        pool: Where they are done, opened; None is this process.
        told: Called with a sentence before all runs and after each.

    Returns:
        The files of the runs that were done now.

    Raises:
        KilleError: A run cannot be done; those that are done stay.
    """
    tasks = grid.tasks(folder)
    missing = [task for task in tasks if not is_finished(*task)]
    told(f"{len(missing)} of {len(tasks)} runs are to be done")
    done: list[Path] = []
    for (folder, _), files in (pool or Here()).run(_files_of, missing):
        assert isinstance(files, dict)  # no code of others runs here
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, content.tobytes())
        done.append(folder / [*files][-1])
        told(f"{done[-1]} is done, {len(done)} of {len(missing)}")
    return done


def _files_of(task: Task, report: Report) -> Arrays:
    """Do a run with one thread; return its files as bytes by name, the run's own last."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # runs side by side do not share cores
    try:
        with TemporaryDirectory() as folder:
            own = do_run(Path(folder), task[1])
            files = [path for path in Path(folder).rglob("*") if path.is_file() and path != own]
            return {
                str(path.relative_to(folder)): np.frombuffer(path.read_bytes(), dtype=np.uint8)
                for path in [*files, own]
            }
    finally:
        torch.set_num_threads(threads)
