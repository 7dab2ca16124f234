"""What there is to see at a table of Byteskille: the view of a seat, what moves and what is called.

A card that lies open is at "open S 0", before its seat, any other at "hand S 0"; a viewer sees the
face of a hidden card where it can follow it. All that moves, and every call, is public. Laid aside
are cards that were drawn or given for another; the pile shows the last of them.
"""

from collections.abc import Iterator
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.cards.view import ASIDE, TALON, Zones, face_of, moves_between, spread
from kille_env.core.spec import Rules
from kille_env.core.view import Call, Card, Change, Pile, Seat, View
from kille_env.games.byteskille.table import Event, Phase
from kille_env.games.byteskille.text import (
    SATISFIED,
    SHOW_ALL,
    SWAP,
    call_at,
    dealer_asks_for_cards,
    deeds_of,
    events_of,
    fate_of,
    known_to,
    order_of,
    rank_of_kille,
    to_decide,
)


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    return View(
        title=f"Byteskille, hand {int(table['deals'])}",
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=_turn(table, seat),
        seats=tuple(_seat(table, other, seat) for other in range(len(who))),
        piles=_piles(table, seat),
        pot=float(table["pot"]) if rules["episode"] == "match" else None,
        question=to_decide(table, rules, who, seat),
    )


def _turn(table: Any, viewer: int | None) -> int:
    """Whose turn it is; that a gok holder is asked, only that seat may know."""
    hidden = table["phase"] == Phase.GOK and viewer not in (None, table["seat"])
    return order_of(table)[int(table["turn"])] if hidden else int(table["seat"])


def _seat(table: Any, seat: int, viewer: int | None) -> Seat:
    present = table["deals"] == 0 or seat in order_of(table)
    cards = _cards(table, seat, viewer)
    lies_open = _zone(table, seat).startswith("open")
    return Seat(
        hand=() if lies_open else cards,
        played=cards if lies_open else (),
        words=(*deeds_of(table, seat), *fate_of(table, seat), *_buying(table, seat)),
        units=float(table["reward"][seat]),
        present=present,
    )


def _cards(table: Any, seat: int, viewer: int | None) -> tuple[Card, ...]:
    card = int(table["hand"][seat])
    if card < 0:
        return ()
    known = known_to(table, viewer, card)
    word = rank_of_kille(table, card) if known else ""
    faded = bool(fate_of(table, seat))
    return spread(KILLE_PACK, _zone(table, seat), [card], known=known, word=word, faded=faded)


def _buying(table: Any, seat: int) -> list[str]:
    """What a seat that is out has decided about buying in."""
    if seat in members(table["declined"]):
        return ["stays out"]
    is_out = seat not in members(table["players"]) or seat in members(table["out"])
    back = table["deals"] > 0 and is_out and seat in members(table["in_pot"])
    return ["is in again"] if back else []


def _piles(table: Any, viewer: int | None) -> tuple[Pile, ...]:
    talon = Pile(TALON, KILLE_PACK.size - int(table["drawn"]))
    aside = _laid_aside(table)
    if not aside:
        return (talon,)
    last = aside[-1]
    top = face_of(KILLE_PACK, last) if known_to(table, viewer, last) else None
    return talon, Pile(ASIDE, len(aside), top)


def _laid_aside(table: Any) -> list[int]:
    return table["laid_aside"][: int(table["num_laid_aside"])].tolist()


# What has happened


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    dealt = after["deals"] != before["deals"]
    zones = {} if dealt else _zones(before)
    calls = [*_calls(after, 0 if dealt else int(before["num_events"]))]
    shown = after["showdown"] and (dealt or not before["showdown"])
    if shown and dealer_asks_for_cards(after):
        calls.append(Call(int(after["dealer"]), *SHOW_ALL))
    return Change(moves_between(zones, _zones(after)), tuple(calls))


def _zones(table: Any) -> Zones:
    hands = {_zone(table, seat): [int(table["hand"][seat])] for seat in order_of(table)}
    return {ASIDE: _laid_aside(table), **hands}


def _zone(table: Any, seat: int) -> str:
    """Where the card of a seat lies."""
    lies_open = int(table["hand"][seat]) in members(table["shown"])
    return f"{'open' if lies_open else 'hand'} {seat}"


def _calls(table: Any, first: int) -> Iterator[Call]:
    """The calls at the events from one on; all of these belong to one action."""
    for number, event in enumerate(events_of(table)[first:]):
        kind, a, b, *_ = event
        drawn = Event.TALON_PASSED <= kind <= Event.TALON_TAKEN
        challenged = Event.PASSED <= kind <= Event.SVIN
        if kind == Event.STAND:
            yield Call(a, *SATISFIED)
        if number == 0 and (challenged or kind == Event.EXCHANGE):
            yield Call(a, *SWAP)
        words, meaning = call_at(event)
        if words:
            yield Call(-1 if drawn else b if challenged else a, words, meaning)
