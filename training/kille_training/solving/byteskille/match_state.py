"""How far the solver of a match has come, as a file that it goes on from.

The file is arrays and JSON; reading it runs no code. Strategies and regrets that several states
share are written once.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.tabular import BROKEN
from kille_env.errors import KilleError
from kille_env.files import write_whole
from kille_training.solving.byteskille.matches import Match
from kille_training.solving.trees.solver import fingerprint

FORMAT = "kille-match-solver-1"
"""What the first entry of a saved state says."""

PARTS = ("strategy", "regret", "current")
"""What is kept of a state that has been visited: arrays over the sequences of its hand."""


@dataclass(frozen=True, eq=False)
class MatchState:
    """A solver between two groups of states.

    Attributes:
        passes: Times that the match has been gone through.
        circle: Groups that are done in this pass.
        tolerance: NashConv, in units, that hands are solved to in this pass.
        iterations: Of the method, in all states together.
        seconds: Spent so far.
        parts: For each state the arrays that `PARTS` names, [S] each; None where it has not been
            visited.
        buys: For each state how likely each node's seat buys.
        values: [states, P], what each state is worth.
    """

    passes: int
    circle: int
    tolerance: float
    iterations: int
    seconds: float
    parts: tuple[dict[str, np.ndarray] | None, ...]
    buys: tuple[np.ndarray, ...]
    values: np.ndarray


def save_match_state(path: Path, state: MatchState, match: Match, made: dict[str, Any]) -> None:
    """Writes a state, whole or not at all.

    Args:
        path: The file.
        state: The state.
        match: The match that is being solved.
        made: How, as JSON can hold it; who goes on must say the same.
    """
    places: dict[int, int] = {}
    arrays: dict[str, Any] = {}
    shared = []
    for parts in state.parts:
        for array in () if parts is None else (parts[name] for name in PARTS):
            place = places.setdefault(id(array), len(places))
            arrays[str(place)] = array
        shared.append(None if parts is None else [places[id(parts[name])] for name in PARTS])
    head = {
        "format": FORMAT,
        "match": _digest(match),
        "made": made,
        "passes": state.passes,
        "circle": state.circle,
        "tolerance": state.tolerance,
        "iterations": state.iterations,
        "seconds": state.seconds,
        "parts": shared,
    }
    arrays["head"] = np.array(json.dumps(head))
    arrays["buys"] = np.concatenate(state.buys)
    arrays["values"] = state.values
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_whole(path, content.getvalue())


def load_match_state(path: Path, match: Match, made: dict[str, Any]) -> MatchState:
    """Returns the state that was saved; arguments as in `save_match_state`.

    Raises:
        KilleError: The file cannot be read, is of another match or of another way to solve it, or
            holds numbers that no solver can have.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(str(arrays["head"]))
        if head["format"] != FORMAT:
            raise KilleError(f"its format is {head['format']!r}, expected {FORMAT!r}")
        if head["match"] != _digest(match):
            raise KilleError("it belongs to another match")
        if head["made"] != json.loads(json.dumps(made)):
            raise KilleError(f"it was solved with {head['made']}, not with {made}")
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
        return MatchState(
            passes=int(head["passes"]),
            circle=range(len(match.circles))[int(head["circle"])],
            tolerance=float(head["tolerance"]),
            iterations=int(head["iterations"]),
            seconds=float(head["seconds"]),
            parts=tuple(parts),
            buys=tuple(np.split(buys, np.cumsum(nodes)[:-1])),
            values=_checked(arrays["values"], (len(match.states), match.num_players)),
        )
    except (*BROKEN, IndexError) as error:
        raise KilleError(
            f"{path} is no saved state of this match: {error}; remove it to begin anew"
        ) from None


def _checked(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if array.shape != shape or array.dtype != np.float64:
        raise ValueError(f"an array has the shape {array.shape} and type {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError("a number is not finite")
    return array


def _digest(match: Match) -> str:
    """Returns a digest of what the solver goes through: the rules, the hands and their states."""
    content = [
        match.rules.as_dict(),
        match.num_players,
        match.capped,
        [fingerprint(hand.stage.tree) for hand in match.hands],
        [state.hand for state in match.states],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
