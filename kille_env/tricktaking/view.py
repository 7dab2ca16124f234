"""What there is to see of hands, tricks and discards, for the games with Kille cards.

A complete trick lies until somebody leads to the next; then its cards go to "won S". Cards that
were exchanged lie face down on the pile "aside". A hand that was thrown in stays where it is,
faded: its seat still knows it. The last card of a seat, once it is turned up, is at "open S 0".
"""

from collections.abc import Sequence
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.cards.view import (
    ASIDE,
    TALON,
    Zones,
    clockwise,
    face_of,
    hidden_hands,
    moves_between,
    spread,
    trick_zones,
)
from kille_env.words.view import Card, Move, Pile, Seat, View


def view_of(
    title: str, table: Any, viewer: int | None, words: Sequence[Sequence[str]], question: str
) -> View:
    """Returns what a seat may see of a table at which tricks are played, or (None) everything.

    Args:
        title: The game's name for people.
        table: The table.
        viewer: Who looks.
        words: [P] what each seat has done or is.
        question: Who has to decide what.
    """
    zones = _zones(table, _shuffled_in(table))
    seats = [_seat(table, zones, seat, viewer, said) for seat, said in enumerate(words)]
    talon = len(table["deck"]) - int(table["drawn"])
    if "again_end" in table.dtype.names:
        talon += int(table["again_end"])
    aside = len(zones[ASIDE])
    return View(
        title=f"{title}, deal {int(table['deals'])}",
        viewer=viewer,
        dealer=int(table["dealer"]),
        turn=int(table["seat"]),
        seats=tuple(seats),
        piles=(Pile(TALON, talon), *([Pile(ASIDE, aside)] if aside else [])),
        pot=float(table["pot"]) if "pot" in table.dtype.names else None,
        question=question,
    )


def _seat(table: Any, zones: Zones, seat: int, viewer: int | None, words: Sequence[str]) -> Seat:
    plays = table["deals"] == 0 or seat in members(table["in_play"])
    known = viewer in (None, seat)
    in_trick = (
        Card(f"trick {seat}", face_of(KILLE_PACK, card)) for card in zones.get(f"trick {seat}", ())
    )
    turned_up = spread(KILLE_PACK, f"open {seat}", zones.get(f"open {seat}", ()), known=True)
    return Seat(
        hand=spread(
            KILLE_PACK, f"hand {seat}", zones.get(f"hand {seat}", ()), known=known, faded=not plays
        ),
        played=(*in_trick, *turned_up),
        words=tuple(words),
        tricks=table["won"].tolist().count(seat) if table["lead"][0] >= 0 else None,
        units=float(table["reward"][seat]),
        present=plays,
    )


def moves_of(before: Any, after: Any, viewer: int | None) -> tuple[Move, ...]:
    """Returns which cards moved between two tables, as a viewer may know it."""
    shuffled_in, seats = _shuffled_in(after), clockwise(after)
    new = _zones(after, shuffled_in)
    if after["deals"] != before["deals"]:
        return moves_between({}, new)
    old = _zones(before, shuffled_in)
    number = len(_zones(before, _shuffled_in(before))[ASIDE]) - len(old[ASIDE])
    return (Move(ASIDE, TALON),) * number + moves_between(old, new, hidden_hands(seats, viewer))


def _shuffled_in(table: Any) -> int:
    """The discards that have become talon again, a set."""
    return int(table["shuffled_in"]) if "shuffled_in" in table.dtype.names else 0


def _zones(table: Any, shuffled_in: int) -> Zones:
    """Which cards lie where; discards of the set `shuffled_in` lie nowhere."""
    seats, trick = clockwise(table), int(table["trick"])
    lying = trick if trick < len(table["won"]) and table["highest"] >= 0 else trick - 1
    thrown = table["discarded"] if "discarded" in table.dtype.names else [0] * len(seats)
    aside = [card for seat in seats for card in members(int(thrown[seat]) & ~shuffled_in)]
    tricks = trick_zones(table["played"], table["lead"], table["won"], lying, len(seats))
    zones = {**tricks, ASIDE: aside}
    for seat in seats:
        hand = int(table["hand"][seat])
        zones[f"{'open' if hand & int(table['face_up']) else 'hand'} {seat}"] = members(hand)
    return zones
