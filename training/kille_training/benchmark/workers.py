"""The runs of a grid or a tuning, in this process, in several, or on a Ray cluster."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from kille_env.files import write_whole
from kille_training.benchmark.grid import Grid, RunSettings
from kille_training.benchmark.runs import do_run, is_finished
from kille_training.benchmark.tuning import Tried, Tuning, tried
from kille_training.pool.cluster import check_version, import_ray, join, version
from kille_training.pool.jobs import WorkerError

Task = tuple[Path, RunSettings]
"""The folder of a run, and its settings."""


@dataclass(frozen=True)
class Workers:
    """Where runs are done; each has one process, and one thread in it.

    Attributes:
        executor: "local" is this machine, "ray" a Ray cluster.
        workers: Processes on this machine, or CPUs of a cluster that is started on it.
        address: Of the head of a Ray cluster, whose CPUs all work; None starts one on this machine.
    """

    executor: Literal["local", "ray"] = "local"
    workers: int = 1
    address: str | None = None


def do_grid(
    grid: Grid, folder: Path, workers: Workers = Workers(), told: Callable[[str], None] = print
) -> list[Path]:
    """Does what is missing of a grid; see `do_runs`."""
    return do_runs([(folder, run) for run in grid.runs()], workers, told)


def do_tuning(
    tuning: Tuning, folder: Path, workers: Workers = Workers(), told: Callable[[str], None] = print
) -> list[Tried]:
    """Does what is missing of a tuning; returns what all candidates reached. See `do_runs`."""
    tasks = [(each.folder(folder), run) for each in tuning.runs() for run in each.runs]
    do_runs(tasks, workers, told)
    return tried(tuning, folder)


def do_runs(tasks: Sequence[Task], workers: Workers, told: Callable[[str], None]) -> list[Path]:
    """Does the runs that are not finished.

    Args:
        tasks: All runs.
        workers: Where they are done.
        told: Called with a sentence before all runs and after each.

    Returns:
        The files of the runs that were done now.

    Raises:
        KilleError: A run cannot be done; those that are done stay.
    """
    missing = [task for task in tasks if not is_finished(*task)]
    told(f"{len(missing)} of {len(tasks)} runs are to be done")
    if not missing:
        return []
    spread = _on_cluster if workers.executor == "ray" else _here
    done = []
    for path in spread(missing, workers):
        done.append(path)
        told(f"{path} is done, {len(done)} of {len(missing)}")
    return done


def _here(tasks: Sequence[Task], workers: Workers) -> Iterator[Path]:
    if workers.workers == 1:
        yield from map(_alone, tasks)
        return
    with ProcessPoolExecutor(workers.workers, get_context("spawn")) as pool:
        yield from pool.map(_alone, tasks)


def _on_cluster(tasks: Sequence[Task], workers: Workers) -> Iterator[Path]:
    """Does runs as tasks of a cluster, and writes the files that come back, each run's own last."""
    ray = import_ray()
    joined = join(workers.address, workers.workers)
    try:
        away = ray.remote(num_cpus=1, max_retries=-1)(_away)
        under_way = {away.remote(run, version()): folder for folder, run in tasks}
        while under_way:
            (done,), _ = ray.wait(list(under_way))
            folder = under_way.pop(done)
            try:
                found: dict[str, bytes] = ray.get(done)
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", error)
                raise WorkerError(f"the Ray cluster could not do a run: {cause}") from error
            for name, content in found.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(folder / name, content)
            yield folder / [*found][-1]
    finally:
        if joined:
            ray.shutdown()


def _away(run: RunSettings, wanted: str) -> dict[str, bytes]:
    """Does a run on a node of a cluster; returns its files by name, the run's own last."""
    check_version(wanted)
    with TemporaryDirectory() as folder:
        own = _alone((Path(folder), run))
        files = [path for path in Path(folder).rglob("*") if path.is_file() and path != own]
        return {str(path.relative_to(folder)): path.read_bytes() for path in [*files, own]}


def _alone(task: Task) -> Path:
    """Does a run with one thread, so that runs side by side do not share cores."""
    import torch

    torch.set_num_threads(1)
    return do_run(*task)
