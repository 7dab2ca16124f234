"""Checkpoints of a match that is being solved.

A checkpoint is a file of arrays and JSON; reading it runs no code. Strategies and regrets that
several states share are written once.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_env.files import BROKEN, write_whole
from kille_training.solving.byteskille.matches import Match

FORMAT = "kille-match-solver-2"
"""The format that a checkpoint names."""

PARTS = ("strategy", "regret", "current")
"""Arrays of a state that has been visited, over the sequences of its hand."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A solver between two groups of states.

    Attributes:
        passes: Complete passes through the match.
        groups: Groups solved in this pass.
        tolerance: NashConv, in units, that hands are solved to in this pass.
        iterations: Of the method, in all states together.
        seconds: Spent so far.
        parts: For each state the arrays named in `PARTS`, [S] each; None for a state that has not
            been visited.
        buys: For each state how likely each node's seat buys.
        values: [states, P], what each state is worth.
    """

    passes: int
    groups: int
    tolerance: float
    iterations: int
    seconds: float
    parts: tuple[dict[str, np.ndarray] | None, ...]
    buys: tuple[np.ndarray, ...]
    values: np.ndarray


def save_checkpoint(
    path: Path, checkpoint: Checkpoint, match: Match, settings: dict[str, Any]
) -> None:
    """Writes a checkpoint, whole or not at all.

    Args:
        path: The file.
        checkpoint: The checkpoint.
        match: The match that is being solved.
        settings: How it is solved, as JSON can hold it; resuming needs the same settings.
    """
    places: dict[int, int] = {}
    arrays: dict[str, Any] = {}
    shared = []
    for parts in checkpoint.parts:
        for array in () if parts is None else (parts[name] for name in PARTS):
            place = places.setdefault(id(array), len(places))
            arrays[str(place)] = array
        shared.append(None if parts is None else [places[id(parts[name])] for name in PARTS])
    head = {
        "format": FORMAT,
        "match": _digest(match),
        "settings": settings,
        "passes": checkpoint.passes,
        "groups": checkpoint.groups,
        "tolerance": checkpoint.tolerance,
        "iterations": checkpoint.iterations,
        "seconds": checkpoint.seconds,
        "parts": shared,
    }
    arrays["head"] = np.array(json.dumps(head))
    arrays["buys"] = np.concatenate(checkpoint.buys)
    arrays["values"] = checkpoint.values
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_whole(path, content.getvalue())


def load_checkpoint(path: Path, match: Match, settings: dict[str, Any]) -> Checkpoint:
    """Returns a saved checkpoint; arguments as in `save_checkpoint`.

    Raises:
        KilleError: The file cannot be read, is of another match or other settings, or holds numbers
            that no solver can have.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(str(arrays["head"]))
        if head["format"] != FORMAT:
            raise KilleError(f"its format is {head['format']!r}, expected {FORMAT!r}")
        if head["match"] != _digest(match):
            raise KilleError("it belongs to another match")
        if head["settings"] != json.loads(json.dumps(settings)):
            raise KilleError(f"its settings are {head['settings']}, not {settings}")
        parts = []
        for state, places in zip(match.states, head["parts"], strict=True):
            size = match.hands[state.hand].stage.tree.num_sequences
            found = None
            if places is not None:
                found = {
                    name: _checked(arrays[str(place)], (size,))
                    for name, place in zip(PARTS, places, strict=True)
                }
            parts.append(found)
        nodes = [len(state.after.buyer) for state in match.states]
        buys = _checked(arrays["buys"], (sum(nodes),))
        return Checkpoint(
            passes=int(head["passes"]),
            groups=range(len(match.components))[int(head["groups"])],
            tolerance=float(head["tolerance"]),
            iterations=int(head["iterations"]),
            seconds=float(head["seconds"]),
            parts=tuple(parts),
            buys=tuple(np.split(buys, np.cumsum(nodes)[:-1])),
            values=_checked(arrays["values"], (len(match.states), match.num_players)),
        )
    except (*BROKEN, IndexError) as error:
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
        match.capped,
        [hand.stage.tree.fingerprint() for hand in match.hands],
        [state.hand for state in match.states],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
