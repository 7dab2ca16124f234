"""A grid of runs, one folder each; a pool executes the unfinished ones.

`kille train --seeds` and `kille benchmark` are grids. A run that failed or was killed resumes from
its checkpoint when the grid runs again. On a Ray cluster a run leaves its files only at its end.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kille_env.errors import ConfigError
from kille_env.files import make_folder, write_whole
from kille_env.words.text import counted
from kille_training.learn.method import method_named
from kille_training.learn.runs import EVALUATION, REPORT, Run
from kille_training.learn.settings import TrainSettings
from kille_training.pool import pool_of
from kille_training.pool.jobs import Arrays, Failed, Report, cores
from kille_training.progress import Progress, part_of, teller

LOG = "output.log"
FOREVER = 1e9  # time limit of a run in seconds
LOOK = 1.0  # seconds between two updates of the progress of runs


@dataclass(frozen=True)
class Item:
    """A run of a grid."""

    folder: Path
    settings: TrainSettings  # settings of the run; for a player, its table
    player: str | None = None  # name of a fixed player to measure; None trains
    files: tuple[str, ...] = (EVALUATION, REPORT)  # names of the files of a finished run

    @property
    def finished(self) -> bool:
        """Whether the run is trained and measured."""
        return all((self.folder / name).is_file() for name in self.files)

    @property
    def size(self) -> int:
        """Decisions of the run, or CPU seconds if these are its budget."""
        return 0 if self.player else int(self.settings.cpu_seconds or self.settings.decisions)

    def done(self) -> int:
        """Return the finished part of `size`, from the last line of progress.csv."""
        with suppress(OSError, ValueError, IndexError):  # the line may be half written
            last = (
                Run(self.folder).progress.read_bytes()[-500:].decode().splitlines()[-1].split(",")
            )
            return min(self.size, int(float(last[2 if self.settings.cpu_seconds else 0])))
        return 0

    def check(self) -> None:
        """Refuse a folder with a run of other settings."""
        run = Run(self.folder)
        if run.config.is_file():
            run.check_same(self.settings)


Finish = Callable[[Item], None]  # train and measure the unfinished part of a run, in its folder


def run_grid(
    items: Iterable[Item],
    out: Path,
    finish: Finish,
    *,
    what: tuple[str, str] = ("run", "runs"),
    workers: int = 0,
    executor: str = "local",
    address: str = "",
    progress: Progress | None = None,
) -> None:
    """Train the unfinished runs, each in a process with one thread."""
    items, remote = list(items), executor == "ray"
    for item in items:
        item.check()
    missing = [item for item in items if not item.finished]
    if not missing:
        return
    many, tell, log = counted(len(missing), *what), teller(progress), out / LOG
    if not remote:
        workers = min(len(missing), workers or cores())
    side = f" ({workers} in parallel)" if workers > 1 else ""
    tell(f"Training {many} in {out}{side}; log: {log}")
    watch = _Watch(missing, many, progress)
    failed: dict[str, str] = {}
    pool = pool_of(workers, executor=executor, address=address, log=log, tick=watch)
    with pool as opened:
        for item, result in opened.run(partial(_do, finish=finish, remote=remote), missing):
            name = str(item.folder.relative_to(out))
            if isinstance(result, Failed):
                failed[name] = result.reason
            else:
                _keep(item.folder, result)
            tell(f"{name} {'failed' if name in failed else 'is finished'}")
            watch.end(item)
    if failed:
        said = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise ConfigError(
            f"{len(failed)} of {many} failed ({said}); for details see {log}. The others "
            "are finished; run the same command to retry"
        )


class _Watch:
    """Poll the folders of runs and report their progress."""

    def __init__(self, items: Sequence[Item], many: str, progress: Progress | None) -> None:
        self._items, self._ended, self._looked = items, set[Path](), time.monotonic()
        units = {"CPU seconds" if x.settings.cpu_seconds else "decisions" for x in items if x.size}
        self._by_size = len(units) == 1  # decisions and seconds have no sum
        job = f"training {many}" if units else f"measuring {many}"
        job += f", {units.pop()}" if self._by_size else ""
        self._shown = sum(item.done() for item in items) if self._by_size else 0
        total = sum(item.size for item in items) if self._by_size else len(items)
        self._advance = part_of(progress, job, total, self._shown)

    def __call__(self) -> None:
        """Report the progress, at most every few seconds."""
        if time.monotonic() - self._looked > LOOK:
            self._look()

    def end(self, item: Item) -> None:
        """Count a run as done."""
        self._ended.add(item.folder)
        self._look()

    def _look(self) -> None:
        self._looked = time.monotonic()
        now = len(self._ended)
        if self._by_size:
            now = sum(x.size if x.folder in self._ended else x.done() for x in self._items)
        if now > self._shown:
            self._advance(now - self._shown)
            self._shown = now


def _do(item: Item, report: Report, finish: Finish, remote: bool) -> Arrays:
    """Finish a run; return its files as bytes if it runs on another machine."""
    with report(0, "to train", FOREVER):
        if not remote:
            _finish(item, finish)
            return {}
        with TemporaryDirectory() as name:
            folder = Path(name) / item.folder.name
            _finish(replace(item, folder=folder), finish)
            files = [path for path in folder.rglob("*") if path.is_file()]
            return {
                str(path.relative_to(folder)): np.frombuffer(path.read_bytes(), dtype=np.uint8)
                for path in files
            }


def _keep(folder: Path, files: Arrays) -> None:
    for name, content in files.items():
        make_folder((folder / name).parent)
        write_whole(folder / name, content.tobytes())


def _finish(item: Item, finish: Finish) -> None:
    if item.settings.cpu_seconds and not item.player:
        _warm_up(item.settings)
    finish(item)


def _warm_up(settings: TrainSettings) -> None:
    """Make one update ahead of a run: its CPU seconds exclude imports and compilation."""
    table = settings.home()
    kind = f"{settings.method} at {table}"
    if kind not in _WARM:
        method = method_named(settings.method)
        method.Learner(table, 0, settings.hyperparameters()).update(lambda: 1.0)
        _WARM.add(kind)


_WARM: set[str] = set()  # methods and tables that are warm in this process
