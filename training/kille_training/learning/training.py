"""A run of training, from its settings to an exported policy; it resumes exactly where it stopped.

    run = Run(Path("runs/mine"))
    train(run, settings)         # begins
    train(run)                   # resumes from the last checkpoint

An update is a rollout and some epochs over it, as MaskablePPO's own `learn` does them. Checkpoints
are written between two updates, where the state of the run is complete: an interruption waits for
the current update to end (a second one does not). So an interrupted run that is resumed ends with
the same bytes as one that never stopped.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from types import FrameType
from typing import Any, Protocol

from sb3_contrib import MaskablePPO

from kille_agents import load_policy, save_network
from kille_agents.network import NetworkPolicy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.evaluation.duplicate import PLAYS, Row, payoff_table
from kille_training.evaluation.exact import ExactRow, exact_rows, why_not
from kille_training.learning.checkpoints import read_checkpoint, restore, write_checkpoint
from kille_training.learning.metrics import EXACT, MEASUREMENTS, PROGRESS, Table, TensorBoard
from kille_training.learning.runs import Run, versions
from kille_training.learning.sb3 import diverged, export, make_model, update
from kille_training.learning.settings import TrainSettings
from kille_training.settings import build, plain
from kille_training.solving.byteskille.deals import DealStages, build_deal


class RunProgress(Protocol):
    """What is called while a run trains."""

    def updated(self, row: dict[str, Any], total: int) -> None:
        """Called after an update with a line of progress.csv and the decisions of the whole run."""

    def measured(self, decisions: int, rows: list[Row]) -> None:
        """Called when the policy has been measured."""


class Training:
    """The state of a run in memory."""

    def __init__(self, run: Run, settings: TrainSettings, rules: Rules) -> None:
        self.run, self.settings, self.rules = run, settings, rules
        self.model: MaskablePPO = make_model(settings, rules)
        self.seconds = 0.0
        self.updates = 0
        self.next_measurement = settings.measure.every
        self.baselines = [
            load_policy(name, settings.table.game, settings.table.num_players, rules)
            for name in settings.measure.against
        ]

    @property
    def decisions(self) -> int:
        """Decisions of the learner so far."""
        return self.model.num_timesteps

    @property
    def done(self) -> bool:
        """Whether the run has made all its decisions."""
        return self.decisions >= self.settings.learner.total

    def update(self) -> dict[str, Any]:
        """Plays a rollout and learns from it; returns a line of progress.csv.

        Raises:
            ConfigError: The network returns nonsense; nothing has been written.
        """
        model, began = self.model, time.perf_counter()
        before = self.decisions
        learner = self.settings.learner
        try:
            update(model, learner, lambda: 1.0 - self.decisions / learner.total)
        except ValueError as error:  # torch's or the game's, if the network returns nonsense
            if diverged(model):
                raise self._diverged() from error
            raise
        if diverged(model):
            raise self._diverged()
        spent = time.perf_counter() - began
        self.seconds += spent
        self.updates += 1
        said = model.logger.name_to_value
        return {
            "decisions": self.decisions,
            "updates": self.updates,
            "seconds": round(self.seconds, 3),
            "decisions_per_second": round((self.decisions - before) / spent, 1),
            "learning_rate": said["train/learning_rate"],
            "ent_coef": model.ent_coef,
            "entropy": -said["train/entropy_loss"],
            "policy_loss": said["train/policy_gradient_loss"],
            "value_loss": said["train/value_loss"],
            "approx_kl": said["train/approx_kl"],
            "clip_fraction": said["train/clip_fraction"],
            "explained_variance": said["train/explained_variance"],
        }

    def _diverged(self) -> ConfigError:
        return ConfigError(
            f"training diverged after {self.decisions:,} decisions; lower learner.learning_rate"
        )

    @cached_property
    def deal(self) -> DealStages | None:
        """The trees of a deal, if NashConv is to be measured and they fit into memory."""
        table = self.settings.table
        if not self.settings.measure.exact or why_not(table.game, table.num_players, self.rules):
            return None
        return build_deal(table.num_players, self.rules)

    def policy(self) -> NetworkPolicy:
        """Returns the current policy."""
        return export(self.model, self.settings, self.rules, self.settings.name)

    def measure(self) -> list[Row]:
        """Measures the current policy, without touching the random generators of training."""
        policy = self.policy()
        table, measure = self.settings.table, self.settings.measure
        return payoff_table(
            policy,
            self.baselines,
            table.game,
            table.num_players,
            self.rules,
            deals=measure.deals,
            seed=measure.seed,
        )

    def measure_exactly(self) -> list[ExactRow]:
        """Returns how far the current policy is from an equilibrium; nothing without a `deal`."""
        if self.deal is None:
            return []
        table = self.settings.table
        return exact_rows(
            self.policy(), table.game, table.num_players, self.rules, PLAYS, deal=self.deal
        )

    def measurement_is_due(self) -> bool:
        """Returns whether it is time to measure, and schedules the next time."""
        every = self.settings.measure.every
        if not every or self.decisions < self.next_measurement:
            return False
        while self.next_measurement <= self.decisions:
            self.next_measurement += every
        return True

    def save(self) -> None:
        """Writes the checkpoint and the current policy."""
        save_network(self.policy(), self.run.folder)
        header = {
            "settings": plain(replace(self.settings, made_with={})),
            "game_version": spec(self.settings.table.game).version,
            "made_with": versions(),
            "seconds": self.seconds,
            "updates": self.updates,
            "next_measurement": self.next_measurement,
        }
        write_checkpoint(self.run.checkpoint, self.model, header)

    def load(self, warn: Callable[[str], None]) -> None:
        """Resumes from the checkpoint; refuses one of other settings or of another game."""
        header, arrays = read_checkpoint(self.run.checkpoint)
        wrong = self._differences(header)
        if wrong:
            raise ConfigError(f"{self.run.checkpoint} does not fit the run: {'; '.join(wrong)}")
        other = [
            f"{name} {version} (now {versions().get(name)})"
            for name, version in header["made_with"].items()
            if versions().get(name) != version
        ]
        if other:
            warn(f"the run resumes, but not to the same bits: it was begun with {', '.join(other)}")
        restore(self.model, header, arrays)
        self.seconds, self.updates = header["seconds"], header["updates"]
        self.next_measurement = header["next_measurement"]

    def _differences(self, header: dict[str, Any]) -> list[str]:
        """Returns how a checkpoint differs from the run: by table, game or settings."""
        theirs = build(TrainSettings, header["settings"], str(self.run.checkpoint))
        wrong = []
        for name in ("game", "num_players"):
            mine, its = getattr(self.settings.table, name), getattr(theirs.table, name)
            if mine != its:
                wrong.append(f"its {name} is {its!r}, not {mine!r}")
        if wrong:
            return wrong
        rules = theirs.table.resolve().as_dict()
        for name, value in self.rules.as_dict().items():
            if rules[name] != value:
                wrong.append(f"its rule {name} is {rules[name]!r}, not {value!r}")
        version = spec(self.settings.table.game).version
        if header["game_version"] != version:
            wrong.append(f"its version of the game is {header['game_version']}, this is {version}")
        for name in ("seed", "learner"):
            mine, its = plain(getattr(self.settings, name)), plain(getattr(theirs, name))
            if mine != its:
                wrong.append(f"its {name} is {its!r}, not {mine!r}")
        return wrong


def train(
    run: Run,
    settings: TrainSettings | None = None,
    progress: RunProgress | None = None,
    warn: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
) -> None:
    """Trains to the end of a run, from its beginning or from its checkpoint.

    Args:
        run: The folder.
        settings: Settings of a new run; None resumes the run in the folder.
        progress: Called after updates and measurements.
        warn: Called with a sentence when the result may differ from an uninterrupted run.

    Raises:
        ConfigError: A new run would overwrite one, the checkpoint does not fit, or training
            diverged.
        KeyboardInterrupt: It was interrupted; the checkpoint has been written.
    """
    new = settings is not None
    if settings is None:
        settings = run.settings()
    elif run.config.exists():
        raise ConfigError(
            f"{run.folder} already holds a run. Resume it: kille train {run.folder}  "
            "Or begin another one: --name NAME"
        )
    training = Training(run, settings, settings.table.resolve())
    if new:
        run.write_settings(settings)
    if run.checkpoint.is_file():
        training.load(warn)
    tables = Tables(run, training.deal is not None)
    # The measurement before the first decision is done again too.
    tables.begin(training.decisions or -1)
    board = TensorBoard(run.tensorboard, training.decisions)
    try:
        _continue(training, tables, board, progress)
    finally:
        board.close()


class Tables:
    """The tables of a run that grow while it trains."""

    def __init__(self, run: Run, exactly: bool) -> None:
        self.updates = Table(run.progress, PROGRESS)
        self.measured = Table(run.measurements, MEASUREMENTS)
        self.exact = Table(run.exact, EXACT)
        self._exactly = exactly

    def begin(self, up_to: int) -> None:
        """Keeps the lines up to a number of decisions; later ones will be computed again."""
        self.updates.begin(up_to)
        self.measured.begin(up_to)
        if self._exactly:
            self.exact.begin(up_to)


def progress_of(run: Run) -> int:
    """Returns the decisions in the checkpoint of a run; 0 without one."""
    if not run.checkpoint.is_file():
        return 0
    return int(read_checkpoint(run.checkpoint)[0]["counters"]["num_timesteps"])


def _continue(
    training: Training,
    tables: "Tables",
    board: TensorBoard,
    progress: RunProgress | None,
) -> None:
    """Updates until the run is done; writes its tables and checkpoints."""
    settings = training.settings
    saved = time.monotonic()
    if settings.measure.every and training.decisions == 0:
        _measure(training, tables, board, progress)
    with interruptible() as interrupted:
        while not training.done:
            row = training.update()
            tables.updates.add(row)
            board.add("train", row, PROGRESS[3:])
            if progress is not None:
                progress.updated(row, settings.learner.total)
            if training.measurement_is_due():
                _measure(training, tables, board, progress)
            if (
                interrupted()
                or training.done
                or time.monotonic() - saved > settings.checkpoint_seconds
            ):
                training.save()
                saved = time.monotonic()
            if interrupted():  # also after the last update, so that the caller stops too
                raise KeyboardInterrupt


def _measure(
    training: Training, tables: "Tables", board: TensorBoard, progress: RunProgress | None
) -> None:
    """Measures the current policy and writes down what it earns."""
    rows = training.measure()
    now = {"decisions": training.decisions, "seconds": round(training.seconds, 3)}
    for row in rows:
        line = now | {
            "against": row.against,
            "play": row.play,
            "mean": round(row.estimate.mean, 6),
            "low": round(row.estimate.low, 6),
            "high": round(row.estimate.high, 6),
            "deals": row.estimate.groups,
        }
        tables.measured.add(line)
        board.add(f"against_{row.against}/{row.play}", line, ("mean",))
    for row in training.measure_exactly():
        line = now | {"play": row.play, "nash_conv": round(row.nash_conv, 9)}
        tables.exact.add(line)
        board.add(f"exact/{row.play}", line, ("nash_conv",))
    if progress is not None:
        progress.measured(training.decisions, rows)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Turns the first Ctrl-C (or kill) into a flag for the loop; a second one acts at once."""
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
