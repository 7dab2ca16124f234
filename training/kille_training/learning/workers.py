"""The worker processes of a run that learns on several cores.

A run of N processes shares its tables, and so each rollout and each minibatch, out among them. This
process is the first and leads: it alone measures, writes files and is interrupted. The others
(`kille_training.learning.worker`) do as it says. All average their gradients
(`kille_training.learning.data_parallel`).

Orders and answers go through pipes. A process that fails closes its pipes and its connections to
the others, so that nobody waits for it.
"""

import pickle
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from sb3_contrib import MaskablePPO
from torch import distributed

from kille_env.errors import ConfigError
from kille_training.children import start_child
from kille_training.learning.data_parallel import (
    ConnectionLost,
    WorkerError,
    join,
    network_digest,
)
from kille_training.learning.sb3 import update
from kille_training.learning.settings import TrainSettings

MODULE = "kille_training.learning.worker"
SECONDS_TO_DIE = 5.0
"""How long a process that has closed its pipe may take to end."""


@dataclass(frozen=True)
class Failed:
    """What a worker sends when it cannot go on.

    Attributes:
        why: Type and text of the error, on one line.
        lost: Whether all that failed was the connection to another process.
    """

    why: str
    lost: bool


class Workers:
    """All processes of a run but this one; with one process there are none."""

    def __init__(self, settings: TrainSettings, model: MaskablePPO) -> None:
        """Starts them; their networks are this one's from now on.

        Args:
            settings: Settings of the run.
            model: The learner of this process.

        Raises:
            WorkerError: One could not be started.
            ConfigError: torch.distributed is in use already.
        """
        self._settings, self._model = settings, model
        self._children: list[_Child] = []
        count = settings.learner.processes
        if count == 1:
            return
        if distributed.is_initialized():
            raise ConfigError(
                f"learner.processes is {count}, but this process is in a torch.distributed group "
                "already; train in another one, or with learner.processes 1"
            )
        try:
            with tempfile.TemporaryDirectory(prefix="kille-train-") as folder:
                meeting = Path(folder) / "meeting"
                self._children = [_Child(rank, settings, meeting) for rank in range(1, count)]
                self._answers()
                self._order("join")
                join(model, meeting, 0, count)
                self._answers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends them, whatever they are doing."""
        for child in self._children:
            child.end()
        if self._children and distributed.is_initialized():
            distributed.destroy_process_group()
        self._children = []

    def update(self, left: Callable[[], float]) -> dict[str, float]:
        """Updates in all processes; returns the mean of what they log.

        Args:
            left: See `kille_training.learning.sb3.update`.

        Raises:
            WorkerError: A process failed.
        """
        self._order("update")
        try:
            update(self._model, self._settings.learner, left)
        except ConnectionLost:
            self._answers()  # they know more
            raise
        said = [self._model.logger.name_to_value, *self._answers()]
        return {name: float(np.mean([each[name] for each in said])) for name in said[0]}

    def processor_seconds(self) -> list[float]:
        """Returns the processor time of each process so far, this one's first."""
        self._order("processor_seconds")
        return [time.process_time(), *self._answers()]

    def state(self) -> list[dict[str, np.ndarray]]:
        """Returns what each worker needs to resume, by name.

        Raises:
            WorkerError: One failed, or holds another network than this process.
        """
        self._order("state")
        networks, states = zip(*self._answers(), strict=True) if self._children else ((), ())
        if set(networks) - {network_digest(self._model)}:
            raise WorkerError(
                "the processes of the run hold different networks, which is a fault; the last "
                "checkpoint is whole: resume from it"
            )
        return list(states)

    def restore(self, header: Mapping[str, Any], states: list[dict[str, np.ndarray]]) -> None:
        """Puts a checkpoint into the workers.

        Args:
            header: Its header.
            states: For each worker the arrays that `kille_training.learning.checkpoints.restore`
                takes.
        """
        for child, arrays in zip(self._children, states, strict=True):
            child.order("restore", header, arrays)
        self._answers()

    def _order(self, *order: Any) -> None:
        for child in self._children:
            child.order(*order)

    def _answers(self) -> list[Any]:
        """Returns what each worker answers to the last order.

        Raises:
            WorkerError: One failed. The first that did so by itself is named.
        """
        found = [child.answer() for child in self._children]
        failed = [
            (rank, answer)
            for rank, answer in enumerate(found, start=2)
            if isinstance(answer, Failed)
        ]
        if failed:
            rank, first = min(failed, key=lambda each: each[1].lost)
            count = self._settings.learner.processes
            raise WorkerError(f"process {rank} of {count} of the run failed: {first.why}")
        return found


class _Child:
    """A worker, seen from the process that leads."""

    def __init__(self, rank: int, settings: TrainSettings, meeting: Path) -> None:
        self._process = start_child(MODULE)
        self._orders = cast(IO[bytes], self._process.stdin)
        self._replies = cast(IO[bytes], self._process.stdout)
        self.order(rank, settings, meeting)

    def order(self, *order: Any) -> None:
        with suppress(OSError):  # it has ended, which `answer` says
            pickle.dump(order, self._orders, pickle.HIGHEST_PROTOCOL)
            self._orders.flush()

    def answer(self) -> Any:
        try:
            return pickle.load(self._replies)
        except (EOFError, OSError, pickle.UnpicklingError):
            return Failed(f"it ended with {self._death()}; is there enough memory?", lost=False)

    def _death(self) -> str:
        try:
            code = self._process.wait(SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            return "its pipe closed"
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._orders, self._replies):
            with suppress(OSError):  # an order that it did not take
                pipe.close()
