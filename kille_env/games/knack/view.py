"""What there is to see at a table of Knack: the view of a seat, what moves and what is called.

A complete trick lies until somebody leads to the next; then its cards go to "won S". A card that
was led face down is known to its leader alone. A hand that was thrown in stays where it is, faded.
"""

from typing import Any

from kille_env.cards.sets import members
from kille_env.cards.view import (
    KNOCK,
    TALON,
    TURNED_UP,
    Zones,
    clockwise,
    hidden_hands,
    moves_between,
    spread,
    trick_zones,
)
from kille_env.core.spec import Rules
from kille_env.core.view import Call, Card, Change, Pile, Seat, View
from kille_env.games.knack.table import KNACK_PACK, TRICKS
from kille_env.games.knack.text import bets_of, deeds_of, heading, to_decide


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    zones, bets = _zones(table), [] if table["shared"] else bets_of(table, rules)
    piles = [Pile(TALON, KNACK_PACK.size - int(table["drawn"]))]
    if table["turn_up"] >= 0:
        piles.append(Pile(TURNED_UP, 1, int(table["turn_up"])))
    return View(
        title=", ".join([heading(table, rules), *([f"running bet {bets[0]}"] if bets else [])]),
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=int(table["seat"]),
        seats=tuple(_seat(table, zones, other, seat) for other in range(len(who))),
        piles=tuple(piles),
        pot=float(sum(bets)),
        question=to_decide(table, who),
    )


def _seat(table: Any, zones: Zones, seat: int, viewer: int | None) -> Seat:
    folded, known = seat in members(table["folded"]), viewer in (None, seat)
    in_trick = (
        Card(f"trick {seat}", card if known or card != table["face_down"] else None)
        for card in zones.get(f"trick {seat}", ())
    )
    return Seat(
        hand=spread(
            KNACK_PACK, f"hand {seat}", zones.get(f"hand {seat}", ()), known=known, faded=folded
        ),
        played=tuple(in_trick),
        words=tuple(deeds_of(table, seat)),
        tricks=int(table["tricks"][seat]) if table["num_joined"] else None,
        units=float(table["reward"][seat]),
        present=not folded,
    )


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    if after["deals"] != before["deals"]:
        return Change(moves_between({}, _zones(after)))
    hidden = hidden_hands(clockwise(after), seat)
    joined = set(members(after["joined"])) - set(members(before["joined"]))
    calls = tuple(Call(other, KNOCK, "I am in") for other in joined)
    return Change(moves_between(_zones(before), _zones(after), hidden), calls)


def _zones(table: Any) -> Zones:
    seats, trick = clockwise(table), int(table["trick"])
    lying = trick if trick < TRICKS and table["trick_size"] > 0 else trick - 1
    turned_up = [int(table["turn_up"])] if table["turn_up"] >= 0 else []
    hands = {f"hand {seat}": members(table["hand"][seat]) for seat in seats}
    tricks = trick_zones(table["played"], table["leaders"], table["winners"], lying, len(seats))
    return {**tricks, **hands, TURNED_UP: turned_up}
