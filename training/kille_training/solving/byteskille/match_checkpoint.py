"""Checkpoints of a match that is being solved: files of arrays and JSON."""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_env.files import BROKEN, read_arrays, write_arrays
from kille_training.solving.byteskille.matches import Match

FORMAT = "kille-match-solver-3"
"""The format that a checkpoint names."""

COUNTED = ("passes", "groups", "tolerance", "iterations", "seconds")
"""The numbers of a checkpoint."""


@dataclass(eq=False)
class Checkpoint:
    """How far a match is solved.

    Attributes:
        parts: For each state [3, S] the strategy in its hand, the regrets and the strategy of the
            next iteration; None for a state that has not been visited. These arrays are replaced,
            but never changed, and several states can share one.
        buys: For each state how likely each node's seat buys.
        values: [states, P], what each state is worth.
        tolerance: NashConv, in units, that hands are solved to in this pass.
        passes: Complete passes through the match.
        groups: Groups solved in this pass.
        iterations: Of the method, in all states together.
        seconds: Spent so far.
    """

    parts: list[np.ndarray | None]
    buys: list[np.ndarray]
    values: np.ndarray
    tolerance: float
    passes: int = 0
    groups: int = 0
    iterations: int = 0
    seconds: float = 0.0

    def copy(self, seconds: float) -> "Checkpoint":
        """Returns what a solver that goes on does not change."""
        return replace(
            self,
            parts=list(self.parts),
            buys=list(self.buys),
            values=self.values.copy(),
            seconds=seconds,
        )

    def save(self, path: Path, match: Match, settings: dict[str, Any]) -> None:
        """Writes a checkpoint, whole or not at all.

        Args:
            path: The file.
            match: The match that is being solved.
            settings: How it is solved, as JSON can hold it; resuming needs the same settings.
        """
        shared = {id(part): part for part in self.parts if part is not None}  # each once
        places = {key: str(place) for place, key in enumerate(shared)}
        about = {
            "format": FORMAT,
            "match": _digest(match),
            "settings": settings,
            "parts": [places.get(id(part)) for part in self.parts],
            **{name: getattr(self, name) for name in COUNTED},
        }
        arrays = {places[key]: part for key, part in shared.items()}
        buys = np.concatenate(self.buys)
        write_arrays(path, about, {**arrays, "buys": buys, "values": self.values})

    @classmethod
    def load(cls, path: Path, match: Match, settings: dict[str, Any]) -> "Checkpoint":
        """Returns a saved checkpoint; arguments as in `save`.

        Raises:
            KilleError: The file cannot be read, is of another match or other settings, or holds
                numbers that no solver can have.
        """
        try:
            about, arrays = read_arrays(path)
            for name, wanted in (
                ("format", FORMAT),
                ("match", _digest(match)),
                ("settings", settings),
            ):
                if about[name] != wanted:
                    raise KilleError(f"its {name} is {about[name]!r}, expected {wanted!r}")
            parts = []
            for state, place in zip(match.states, about["parts"], strict=True):
                shape = (3, match.hands[state.hand].stage.tree.num_sequences)
                parts.append(None if place is None else _checked(arrays[place], shape))
            nodes = [len(state.after.buyer) for state in match.states]
            buys = _checked(arrays["buys"], (sum(nodes),))
            return cls(
                parts=parts,
                buys=np.split(buys, np.cumsum(nodes)[:-1]),
                values=_checked(arrays["values"], (len(match.states), match.num_players)),
                **{name: about[name] for name in COUNTED},
            )
        except BROKEN as error:
            raise KilleError(
                f"{path} is not a checkpoint of this match: {error}; delete it to start over"
            ) from None


def _checked(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if array.shape != shape or array.dtype != np.float64:
        raise ValueError(f"an array has the shape {array.shape} and type {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError("a number is not finite")
    return array


def _digest(match: Match) -> str:
    """Returns a digest of what is solved: the rules, the hands and the states."""
    content = [
        match.rules.as_dict(),
        match.num_players,
        [hand.stage.tree.fingerprint() for hand in match.hands],
        [state.hand for state in match.states],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
