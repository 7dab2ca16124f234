"""What all solvers share: running, measuring, stopping, saving and going on."""

import hashlib
import io
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from kille_agents.tabular import BROKEN
from kille_env.errors import KilleError
from kille_env.files import write_whole
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import NashConv, nash_conv

FORMAT = "kille-solver-1"
"""What the first entry of a saved state says."""

SLICE = 0.2
"""Seconds of one compiled call: within it Ctrl-C waits."""


@dataclass(frozen=True)
class Progress:
    """How far a solver has come.

    Attributes:
        iteration: Iterations since the solver was made, saved and resumed ones included.
        seconds: Time spent iterating in this run; measuring is not counted.
        nash_conv: Of the average strategy.
    """

    iteration: int
    seconds: float
    nash_conv: NashConv


class Solver(ABC):
    """Iterates over a tree; stops and goes on at any iteration with the same result."""

    tree: FlatTree

    @property
    @abstractmethod
    def iteration(self) -> int:
        """Iterations so far."""

    @property
    @abstractmethod
    def average(self) -> np.ndarray:
        """The average strategy, [S]; this is what converges."""

    @property
    @abstractmethod
    def current(self) -> np.ndarray:
        """The strategy of the next iteration, [S]."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What the solver was made with, apart from the tree."""

    @classmethod
    @abstractmethod
    def made_with(cls, tree: FlatTree, settings: dict[str, Any]) -> Self:
        """Makes a solver with the settings that another one had."""

    @abstractmethod
    def _iterate(self, count: int) -> None:
        """Does some iterations; the state is whole whenever a compiled call has returned."""

    @abstractmethod
    def _state(self) -> dict[str, np.ndarray]:
        """The numbers that it takes to go on, in the order of the tree's sequences."""

    @abstractmethod
    def _restore(self, iteration: int, state: dict[str, np.ndarray]) -> None:
        """Takes over the numbers of a saved state."""

    def run(
        self,
        iterations: int,
        *,
        progress: Callable[[Progress], None] | None = None,
        every: int = 0,
        until: float = 0.0,
        seconds: float = float("inf"),
    ) -> Progress | None:
        """Iterates, and measures on the way if anybody wants to know.

        Ctrl-C ends it after the compiled call that runs (a fraction of a second); the solver can
        then be read, saved or run on. Neither that nor how it is cut into runs changes the result.

        Args:
            iterations: How many at most.
            progress: Is called after each measurement.
            every: Iterations between measurements; 0 measures whenever their number has grown by a
                tenth.
            until: Ends the run when the average's NashConv is at most this.
            seconds: Ends the run after this much time of iterating, at the next chance.

        Returns:
            The last measurement, at the end of the run; None if nothing asked for one.
        """
        goal = self.iteration + iterations
        measures = progress is not None or until > 0.0
        spent, pace, found = 0.0, 0.0, None
        while self.iteration < goal and spent < seconds:
            stop = goal
            if measures:
                stop = min(goal, self.iteration + (every or 1 + self.iteration // 10))
            while self.iteration < stop and spent < seconds:
                allowed = min(SLICE, seconds - spent)
                count = max(1, int(allowed / pace)) if pace else 1
                began = time.perf_counter()
                count = min(count, stop - self.iteration)
                self._iterate(count)
                used = time.perf_counter() - began
                # The first call may compile, so that its pace says nothing.
                pace = max(used / count, 1e-9) if pace else SLICE
                spent += used
            if measures:
                found = Progress(self.iteration, spent, nash_conv(self.tree, self.average))
                if progress is not None:
                    progress(found)
                if found.nash_conv.total <= until:
                    break
        return found

    def save(self, path: Path) -> None:
        """Writes the state, whole or not at all; the same state gives the same bytes."""
        head = {
            "format": FORMAT,
            "solver": type(self).__name__,
            "settings": self.settings(),
            "iteration": self.iteration,
            "tree": fingerprint(self.tree),
        }
        content = io.BytesIO()
        arrays: dict[str, Any] = {"head": np.array(json.dumps(head)), **self._state()}
        np.savez(content, **arrays)
        write_whole(path, content.getvalue())

    @classmethod
    def load(cls, path: Path, tree: FlatTree) -> Self:
        """Returns a solver that goes on where the saved one stood.

        Args:
            path: What `save` has written.
            tree: The tree that the saved solver had.

        Raises:
            KilleError: The file cannot be read, is no saved state, is one of another solver or of
                another tree, or holds numbers that no solver can have.
        """
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            head = json.loads(str(arrays.pop("head")))
            if head["format"] != FORMAT:
                raise KilleError(f"its format is {head['format']!r}, expected {FORMAT!r}")
            if head["solver"] != cls.__name__:
                raise KilleError(f"it was written by {head['solver']!r}, not by {cls.__name__!r}")
            if head["tree"] != fingerprint(tree):
                raise KilleError("it belongs to another tree")
            solver = cls.made_with(tree, head["settings"])
            expected = set(solver._state())
            if set(arrays) != expected:
                raise KilleError(f"it holds {sorted(arrays)}, expected {sorted(expected)}")
            for name, array in arrays.items():
                if array.shape != (tree.num_sequences,) or array.dtype != np.float64:
                    raise KilleError(f"{name!r} has the shape {array.shape} and type {array.dtype}")
                if not np.isfinite(array).all():
                    raise KilleError(f"{name!r} has numbers that are not finite")
            iteration = head["iteration"]
            if type(iteration) is not int or iteration < 0:
                raise KilleError(f"its iteration is {iteration!r}")
            solver._restore(iteration, arrays)
            return solver
        except BROKEN as error:
            raise KilleError(f"{path} is no saved solver for this tree: {error}") from None


def fingerprint(tree: FlatTree) -> str:
    """Returns a digest of everything that a tree consists of."""
    digest = hashlib.sha256(str(tree.num_players).encode())
    for field in fields(tree):
        value = getattr(tree, field.name)
        if isinstance(value, np.ndarray):
            digest.update(f"{field.name} {value.dtype} {value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
    return digest.hexdigest()


def normalised(tree: FlatTree, weights: np.ndarray) -> np.ndarray:
    """Returns weights [S] as a strategy: every action equally often where a set has none."""
    if not tree.num_infosets:
        return np.zeros(0)
    sizes = np.diff(tree.first)
    totals = np.repeat(np.add.reduceat(weights, tree.first[:-1]), sizes)
    even = np.repeat(1.0 / sizes, sizes)
    return np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), even)
