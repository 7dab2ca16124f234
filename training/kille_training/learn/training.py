"""`kille_training.train`: train, measure and report a run, or resume it from its checkpoint.

Checkpoints are written between two updates: the first interruption waits for the current update, a
second one acts at once. A resumed run begins new matches, so its policy differs from that of an
uninterrupted run as two seeds differ.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, overload

from filelock import FileLock, Timeout

from kille_agents.catalog import load_policy
from kille_env.core.start import compile_ahead
from kille_env.errors import ConfigError
from kille_env.registry import load_game, spec
from kille_training.learn.method import (
    Learned,
    Learner,
    method_named,
    save_policy,
    whole_updates,
)
from kille_training.learn.runs import (
    PROGRESS,
    GrowingCSV,
    Run,
    TensorBoard,
    open_run,
    read_checkpoint,
    restore,
    warn,
    write_checkpoint,
)
from kille_training.learn.settings import TrainSettings, differences
from kille_training.progress import Progress, part_of, resumable, shown, teller
from kille_training.settings import Overrides, build, plain

if TYPE_CHECKING:
    from kille_training.learn.grid import Item
    from kille_training.learn.measuring import Measurements
    from kille_training.learn.seeds import SeedRuns

MEASURING = "kille_training.learn.measuring"
"""Module with kernels to compile in a child process during training."""
Tell = Callable[[str], None]  # callback with a sentence


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
) -> "SeedRuns": ...
def train(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    set: Overrides = (),
    progress: Progress | None = None,
) -> "Run | SeedRuns":
    """Train a policy by self-play, measure it and write its page; or resume such a run.

    Example:
        >>> import kille_training as kt
        >>> few = {"learner.decisions": 8_192, "measure.every": 0, "measure.final_deals": 20}
        >>> run = kt.train("demo", out="runs/few", set={**few, "table.num_players": 2})
        >>> kt.evaluate(run.folder, deals=10).num_players
        2

    Args:
        config: The name of a recipe, a file of settings, settings, or the folder of a run.
        out: Folder of the run; the default is runs/NAME, by the settings.
        seed: Seed of the run; the default is the one in the settings.
        seeds: Number of runs with consecutive seeds, trained in parallel, one process per core.
            Their folders are in one folder, by default runs/NAME-seeds.
        set: Overrides of settings: {"learner.decisions": 500_000}.
        progress: Progress callback; None shows bars in terminals and notebooks.

    Returns:
        The run, which prints its results; its folder is the path of a player. With `seeds` all
        runs, and the interquartile means of their results with intervals over seeds.

    Raises:
        ConfigError: The settings are invalid, or the folder holds another run.
        KeyboardInterrupt: The message says how to resume.
    """
    progress = shown(progress)
    if seeds is not None:
        from kille_training.learn.grid import Item, run_grid  # starts processes
        from kille_training.learn.seeds import SeedRuns, open_seeds

        runs = open_seeds(config, seeds, out=out, seed=seed, set=set)
        items = [Item(run.folder, run.settings()) for run in runs.values()]
        with resumable("the same call of kille_training.train resumes all seeds"):
            folder = items[0].folder.parent
            run_grid(items, folder, finish_item, what=("seed", "seeds"), progress=progress)
        return SeedRuns.of(runs)
    run, settings = open_run(config, out=out, seed=seed, set=set)
    with resumable(f"kille_training.train({str(run.folder)!r}) resumes", run.config.is_file):
        finish(run, settings, progress)
    return run


def finish(
    run: Run, settings: TrainSettings | None = None, progress: Progress | None = None
) -> None:
    """Finish a run: train, measure and write its page, skipping completed steps."""
    if not run.evaluation.is_file():
        train_run(run, settings, progress)
    elif settings is not None:
        run.check_same(settings)
    if not run.evaluation.is_file():
        run.report.unlink(missing_ok=True)  # a page of an earlier measurement
    from kille_training.learn.measuring import measure_run  # brings what evaluates

    measure_run(run, progress)
    if not run.report.is_file():
        from kille_training.learn.page import write_run_page  # loads matplotlib

        write_run_page(run)


def finish_item(item: "Item") -> None:
    """Finish a run of a grid."""
    finish(Run(item.folder), item.settings)


class Training:
    """A run in memory: the learner, its measurements and its growing tables."""

    def __init__(self, run: Run, settings: TrainSettings) -> None:
        """Begin a run; `load` resumes one."""
        settings = settings.resolved()
        table, measure = settings.home(), settings.measure
        self._compiled = compile_measuring(table.game)
        self.run, self.settings = run, settings
        self.learner = learner_of(settings)
        self.total = whole_updates(self.learner, settings.decisions)
        self.clock = time.process_time
        self.seconds = 0.0
        self._began: float | None = None
        self.updates = 0
        self.next_measurement: float = 0
        # Refuse invalid players and tables of the final measurement before training.
        if settings.space.name:
            from kille_training.learn.measuring import held_out_tables  # brings what evaluates

            held_out_tables(settings)
        self._baselines = [
            load_policy(name, table.game, table.num_players, table.rules)
            for name in measure.baselines
        ]
        self._measurements: Measurements | None = None
        self._pending: list[tuple[Learned, int, float]] = []
        self._kept = -1
        self.progress = GrowingCSV(run.progress, (*PROGRESS, *self.learner.figures))

    @property
    def decisions(self) -> int:
        """Decisions of the learner so far."""
        return self.learner.decisions

    @property
    def done(self) -> bool:
        """Whether the budget of the run is used up."""
        return self.left() <= 0.0

    @property
    def size(self) -> tuple[int, int]:
        """Finished and total parts: decisions, or CPU seconds if these are the budget."""
        limit = self.settings.cpu_seconds
        return (
            (int(min(self.seconds, limit)), int(limit)) if limit else (self.decisions, self.total)
        )

    def left(self) -> float:
        """Return the remaining share of the budget, from 1 to 0, also within an update."""
        used = self.decisions / self.total
        if limit := self.settings.cpu_seconds:
            now = 0.0 if self._began is None else self.clock() - self._began
            used = max(used, (self.seconds + now) / limit)
        return max(0.0, 1.0 - used)

    def learn(self, board: TensorBoard, tell: Tell, advance: Callable[[int], None]) -> None:
        """Update until the run is done or interrupted; write its tables and checkpoints."""
        self._kept = self.decisions or -1  # also repeats the measurement before the first decision
        self.progress.begin(self._kept)
        if self.decisions == 0:
            self._measure_if_due(board, tell)
        saved = time.monotonic()
        with interruptible() as interrupted:
            while not self.done:
                before, _ = self.size
                row = self.update()
                self.progress.add(row)
                board.add("train", row, (*PROGRESS[3:], *self.learner.figures))
                advance(self.size[0] - before)
                self._measure_if_due(board, tell)
                overdue = time.monotonic() - saved > self.settings.checkpoint_seconds
                # A checkpoint has all measurements up to it, so it waits until they are compiled.
                if (overdue and self._compiled(0)) or self.done or interrupted():
                    self._measure_pending(board, tell)
                    self.save()
                    saved = time.monotonic()
                if interrupted():  # also after the last update, so that the caller stops too
                    raise KeyboardInterrupt

    def update(self) -> dict[str, Any]:
        """Make an update; return a line of progress.csv."""
        began, before = self.clock(), self.decisions
        self._began = began
        figures = self.learner.update(self.left)
        spent, self._began = max(self.clock() - began, 1e-9), None
        self.seconds += spent
        self.updates += 1
        return {
            "decisions": self.decisions,
            "updates": self.updates,
            "seconds": round(self.seconds, 3),
            "decisions_per_second": round((self.decisions - before) / spent, 1),
            **figures,
        }

    def policy(self) -> Learned:
        """Return the current policy."""
        return self.learner.policy(self.settings.name)

    def _measure_if_due(self, board: TensorBoard, tell: Tell) -> None:
        """Measure the current policy if due, and schedule the next measurement."""
        every = self.settings.measure.every
        reached = self.decisions if every >= 1 else 1.0 - self.left()
        if every and reached >= self.next_measurement:
            while self.next_measurement <= reached:
                self.next_measurement += every
            self._pending.append((self.policy(), self.decisions, self.seconds))
        if self._compiled(0):  # else training goes on while a child compiles
            self._measure_pending(board, tell)

    def _measure_pending(self, board: TensorBoard, tell: Tell) -> None:
        """Measure the policies that were due."""
        if self._pending:
            if not self._compiled(0):
                tell("waiting until the measurement is compiled ...")
            self._compiled()
            if self._measurements is None:
                from kille_training.learn.measuring import Measurements  # brings what evaluates

                self._measurements = Measurements(self.run, self.settings, self._baselines)
                self._measurements.begin(self._kept)
            for due in self._pending:
                tell(self._measurements.measure(*due, board))
            self._pending.clear()

    def save(self) -> None:
        """Write the checkpoint and the current policy."""
        save_policy(self.policy(), self.run.folder)
        header = {
            "settings": plain(replace(self.settings, made_with={})),
            "game_version": spec(self.settings.table.game).version,
            "seconds": self.seconds,
            "updates": self.updates,
            "next_measurement": self.next_measurement,
        }
        write_checkpoint(self.run.checkpoint, self.learner, header)

    def load(self) -> None:
        """Resume from the checkpoint, with new matches."""
        path, version = self.run.checkpoint, spec(self.settings.table.game).version
        header, arrays = read_checkpoint(path)
        content = header["settings"] | {"measure": {}}  # which may change
        theirs = build(TrainSettings, content, f"{path}: ").resolved()
        wrong = differences(
            _fixed(theirs, header["game_version"]), _fixed(self.settings, version), "its "
        )
        if wrong:
            raise ConfigError(f"{path} does not match the run: {'; '.join(wrong)}")
        restore(self.learner, arrays)
        self.seconds, self.updates = header["seconds"], header["updates"]
        self.next_measurement = header["next_measurement"]
        refills = getattr(self.learner, "refills", "")
        warn(
            f"{self.run.folder} resumes after {self.decisions:,} decisions; matches begin anew"
            + (f", and {self.settings.method} refills {refills}" if refills else "")
        )


def _fixed(settings: TrainSettings, game_version: int) -> dict[str, Any]:
    """Return the settings that must not change when a run resumes."""
    table = settings.home()
    return {
        "game": table.game,
        "version of the game": game_version,
        "num_players": table.num_players,
        "rules": table.rules.as_dict(),
        "space": plain(settings.space),
        "seed": settings.seed,
        "method": settings.method,
        "learner": settings.learner,
    }


def compile_measuring(game: str) -> Callable[..., bool]:
    """Compile the kernels that measure a policy in a child process; see `compile_ahead`."""
    return compile_ahead(load_game(game), f"{MEASURING}:kernels_of_measuring")


def learner_of(settings: TrainSettings) -> Learner:
    """Return the learner of a run before its first update."""
    method, table = method_named(settings.method), settings.home()
    return method.Learner(table, settings.seed, settings.hyperparameters())


def train_run(
    run: Run, settings: TrainSettings | None = None, progress: Progress | None = None
) -> None:
    """Train a run to its end, from its beginning or its checkpoint."""
    if settings is not None and run.config.exists():
        run.check_same(settings)
        settings = None
    training = Training(run, settings or run.settings())
    if settings is not None:
        run.write_settings(training.settings)
    with _alone(run):
        if run.checkpoint.is_file():
            training.load()
        with closing(TensorBoard(run.tensorboard, training.decisions)) as board:
            done, total = training.size
            advance = part_of(progress, "training", total, done)
            training.learn(board, teller(progress), advance)


@contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Lock a run, because two processes would corrupt its tables."""
    lock = FileLock(run.folder / "run.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ConfigError(
            f"another process trains the run in {run.folder}; wait until it ends, or stop it"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C (or SIGTERM) into a flag for the loop; a second one acts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked = False
    kept = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)

    try:
        for name in kept:
            signal.signal(name, ask)
        yield lambda: asked
    finally:
        for name, handler in kept.items():
            signal.signal(name, handler)
