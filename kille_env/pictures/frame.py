"""A step of a match as JSON: the view of a seat after it, moves, calls and lines.

Pages lay the frame out themselves, show one after the other and animate what lies between them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_env.core.game import Game
from kille_env.core.spec import GameSpec, Rules
from kille_env.words.text import YOU, chips, does, signed
from kille_env.words.view import Card, Change, Seat, View

WORD, SHOWN = 600, 1200
"""Milliseconds of a word or a card, and of a trick or an opened card."""


def frame(
    game: Game,
    before: np.record | None,
    after: np.record,
    rules: Rules,
    seat: int | None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return one deal or one action as a seat sees it, for JSON."""
    view = game.view(after, rules, seat, names)
    change, lines = Change(), []
    if before is not None:
        change = game.change(before, after, rules, seat, names)
        lines = game.narrate(before, after, rules, names, seat)
    return {
        "title": _title(view),
        "dealer": view.dealer,
        "turn": view.turn,
        "seats": [
            _seat(each, game.spec, mine=names is not None and names[number] == YOU)
            for number, each in enumerate(view.seats)
        ],
        "piles": [[pile.place, pile.count, _code(pile.top, game.spec)] for pile in view.piles],
        "strip": [
            [laid.seat, laid.place, _code(laid.face, game.spec), laid.word, laid.best]
            for laid in view.strip
        ],
        "moves": [list(move) for move in change.moves],
        "calls": [list(call) for call in change.calls],
        "lines": lines,
        "verdict": change.verdict,
        "beat": _beat(before, view, change, game, rules, seat),
        "dealt": before is None or bool(before["deals"] != after["deals"]),
    }


def _beat(
    before: np.record | None, view: View, change: Change, game: Game, rules: Rules, seat: int | None
) -> int:
    """Return how long a frame is to be seen: longer where a trick is complete or a card opens."""
    # A trick whose cards come all at once takes as long as showing them and the full trick
    # together.
    if before is None:
        return WORD
    taken = sum(one.tricks or 0 for one in view.seats)
    taken -= sum(one.tricks or 0 for one in game.view(before, rules, seat).seats)
    opens = any(move.target.startswith("open ") for move in change.moves)
    laid = sum(move.target.startswith("trick ") for move in change.moves)
    return SHOWN * (2 if laid > 1 else 1) if taken > 0 or opens else WORD


def _title(view: View) -> str:
    """Return the deal, and the pot where something is in it: "deal 3 · pot 8"."""
    _, _, deal = view.title.partition(", ")
    pot = [] if not view.pot else [f"pot {chips(view.pot).partition(' ')[0]}"]
    return " · ".join([*deal.split(", "), *pot])


def _seat(seat: Seat, spec: GameSpec, mine: bool) -> dict[str, Any]:
    status = seat.words[-1] if seat.words else ""
    return {
        "cards": [_card(card, spec) for card in (*seat.hand, *seat.played)],
        "status": does(YOU, status).removeprefix(f"{YOU} ") if mine else status,
        "chips": seat.score or signed(seat.units).replace("-", "−"),
        "present": seat.present,
        "tricks": seat.tricks,
    }


def _card(card: Card, spec: GameSpec) -> list[Any]:
    return [card.place, _code(card.face, spec), card.word, card.faded]


def _code(face: int | None, spec: GameSpec) -> str | None:
    return None if face is None else spec.pack.code(face)
