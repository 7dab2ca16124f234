"""A step of a match as JSON: the pictures after it, what has moved and what was said.

Pages show frames one after the other and animate what lies between them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_env.core.game import Game
from kille_env.core.spec import Rules
from kille_env.pictures.layout import SHAPES
from kille_env.pictures.scene import arrange
from kille_env.pictures.svg import fragment
from kille_env.words.view import Change, View


def frame(
    game: Game,
    before: np.record | None,
    after: np.record,
    rules: Rules,
    seat: int | None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Returns what a seat sees of one deal or one action.

    Args:
        game: The game.
        before: The table before it; None for the first frame.
        after: The table after it.
        rules: Their rules.
        seat: Who looks; None sees every card.
        names: [P] names of the seats; None is "seat 0" and on.

    Returns:
        By name: "wide" and "tall", the table after it as SVG (`svg.fragment`); "moves", keys of
        things in the picture before and after, [[from, to], ...]; "calls", [[seat, words,
        meaning], ...]; "dealt", whether a deal begins with it, or nothing is known of what came
        before; "lines", what happened; "paid", [[seat, units], ...] where money moved;
        "title", "question", "turn" (the seat, -1 none); "text", the table for screen readers.
    """
    view = game.view(after, rules, seat, names)
    change, lines, paid = Change(), [], []
    if before is not None:
        change = game.change(before, after, rules, seat)
        lines = game.narrate(before, after, rules, names, seat)
        paid = _paid(game.view(before, rules, seat, names), view)
    return {
        shape: fragment(arrange(view, game.spec, shape=shape, names=names)) for shape in SHAPES
    } | {
        "moves": [[_key(move.source), _key(move.target)] for move in change.moves],
        "calls": [list(call) for call in change.calls],
        "dealt": before is None or bool(before["deals"] != after["deals"]),
        "lines": lines,
        "paid": paid,
        "title": view.title,
        "question": view.question,
        "turn": view.turn,
        "text": game.describe(after, rules, seat, names),
    }


def _key(place: str) -> str:
    """Returns the key of the thing at a place: tricks that a seat has won lie with its plate."""
    return place.replace("won ", "seat ") if place.startswith("won ") else place


def _paid(before: View, after: View) -> list[list[float]]:
    """Returns what each seat has earned between two views, where it is not nothing."""
    both = enumerate(zip(before.seats, after.seats, strict=True))
    earned = [[seat, round(new.units - old.units, 6)] for seat, (old, new) in both]
    return [one for one in earned if one[1]]
