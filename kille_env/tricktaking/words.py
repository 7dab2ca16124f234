"""Texts and views of trick games with Kille cards.

A complete trick lies until somebody leads to the next; then its cards go to "won S". Cards that
were exchanged lie face down on the pile "aside". A hand that was thrown in stays where it is,
faded: its seat still knows it. The last card of a seat, once it is turned up, is at "open S 0".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.cards.words import ASIDE, clockwise, face_of, spread, trick_zones
from kille_env.core.spec import Rules
from kille_env.words.text import chips, columns, counted, does, inside, listed, owner, signed
from kille_env.words.view import TALON, Call, Card, Laid, Pile, Seat, View, Zones


def codes_of(cards: int) -> list[str]:
    """Return the codes of a set of cards, the lowest first."""
    return [KILLE_PACK.code(card) for card in members(cards)]


def names_of(cards: int) -> str:
    """Return the names of a set of cards, the lowest first: "3, 5, harlequin"."""
    return ", ".join(KILLE_PACK.word(card) for card in members(cards))


# Questions and choices


def say_action(table: Any, text: str, verb: str = "") -> str:
    """Return the button of an action of the seat to act: "Change the 7 and 8"."""
    hand = [KILLE_PACK.word(card) for card in members(table["hand"][int(table["seat"])])]
    name, *cards = text.split(" ")
    if name == "discard":
        words = [hand[int(place[1:]) - 1] for place in cards]
        return f"Change the {listed(words)}" if words else "Keep all cards"
    word = KILLE_PACK.words[KILLE_PACK.parse(cards[0])]
    return f"{verb or ('Lead' if table['highest'] < 0 else 'Play')} the {word}"


def ask_for_card(table: Any, who: list[str], otherwise: str) -> str:
    """Return the question to the seat to act while tricks are played."""
    if table["highest"] < 0:
        return "Lead a card."
    best = f"{inside(owner(who[int(table['holder'])]))} {KILLE_PACK.words[int(table['highest'])]}"
    hand = members(table["hand"][int(table["seat"])])
    if hand[-1] >> 1 >= table["highest"]:
        return f"Beat or equal {best}: if you can, you must."
    return f"You cannot beat {best}: play {otherwise}."


def last_card(table: Any, seat: int) -> str:
    """Return the word for the last card of a seat."""
    return KILLE_PACK.word(members(table["hand"][seat])[0])


def num_tricks(rules: Rules) -> int:
    """Return the number of tricks in a deal."""
    return rules.number("hand") - 1


def most_discards(rules: Rules) -> int:
    """Return the most cards that a player may discard."""
    return min(rules.number("hand"), rules.number("max_discards"))


# Events


def describe_dealt(table: Any, who: list[str], seat: int | None) -> list[str]:
    """Describe the cards that a seat, or (None) every seat, was dealt."""
    hands = [(s, names_of(table["dealt"][s])) for s in range(len(who)) if table["dealt"][s]]
    if seat is None:
        return columns([(who[s], cards) for s, cards in hands])
    return [f"{does(who[s], 'gets')} {cards}." for s, cards in hands if s == seat]


def describe_exchange(table: Any, who: list[str], actor: int, seat: int | None) -> str:
    """Describe the exchange of a seat as another seat, or (None) anybody, has seen it."""
    number = int(table["exchanged"][actor])
    if number == 0:
        return f"{does(who[actor], 'keeps')} all cards."
    line = f"{does(who[actor], 'changes')} {counted(number, 'card', 'cards')}"
    if seat not in (None, actor):
        return f"{line}."
    thrown, got = (names_of(table[field][actor]) for field in ("discarded", "drawn_cards"))
    return f"{line}: {thrown} for {got}."


def describe_exchanges(table: Any, who: list[str], seat: int | None) -> list[str]:
    """Describe all exchanges of a deal as a seat has seen them."""
    seats = [actor for actor in clockwise(table) if table["exchanged"][actor] >= 0]
    return [describe_exchange(table, who, actor, seat) for actor in seats]


def describe_play(before: Any, after: Any, who: list[str]) -> list[str]:
    """Describe the card that lies between two tables, and the winner of a trick that it ends."""
    actor, trick = int(before["seat"]), int(before["trick"])
    card = KILLE_PACK.word(after["played"][trick, actor])
    verb = "leads" if before["highest"] < 0 else "plays"
    lines = [f"{does(who[actor], verb)} the {card}."]
    if after["trick"] != trick:
        lines.append(f"{does(who[int(after['won'][trick])], 'wins')} the trick.")
    return lines


def describe_trick(table: Any, who: list[str], number: int) -> str:
    """Return a complete trick as text, in the order in which it was played."""
    leader, size = int(table["lead"][number]), int(table["num_players"])
    cards = [
        f"{who[seat]} {KILLE_PACK.word(table['played'][number, seat])}"
        for seat in ((leader + step) % size for step in range(size))
        if table["played"][number, seat] >= 0
    ]
    winner = inside(does(who[int(table["won"][number])], "wins"))
    return f"Trick {number + 1}: {', '.join(cards)}; {winner}."


def describe_last(table: Any, who: list[str]) -> list[str]:
    """Describe the end of a match for a pot."""
    lines = []
    if table["truncated"]:
        lines.append(f"The match is cut off after {counted(int(table['deals']), 'deal', 'deals')}.")
    if shares := table["winner"] < 0 and table["shown_pot"]:
        share = (int(table["shown_pot"]) - int(table["left_on_table"])) // len(who)
        rest = int(table["left_on_table"])
        over = f"; {chips(rest)} {'stays' if rest == 1 else 'stay'} on the table" if rest else ""
        lines.append(f"Everybody takes {chips(share)} of the pot{over}.")
    line = ", ".join(f"{who[s]} {signed(int(table['chips'][s]))}" for s in range(len(who)))
    return [*lines, f"This deal{', without a share of the pot' if shares else ''}: {line}."]


# The view


def view_of(
    title: str,
    table: Any,
    viewer: int | None,
    who: list[str],
    words: Sequence[Sequence[str]],
    *,
    history: Sequence[str] = (),
    last: Mapping[int, str] | None = None,
    scores: Sequence[str] | None = None,
    calls: Sequence[Call] = (),
    verdict: str = "",
) -> View:
    """Return a table at which tricks are played as a seat, or (None) anybody may see it."""
    zones, lying = _zones(table), _lying(table)
    seats = [_seat(table, zones, seat, viewer, said) for seat, said in enumerate(words)]
    if scores is not None:
        seats = [seat._replace(score=score) for seat, score in zip(seats, scores, strict=True)]
    talon, aside = len(table["deck"]) - int(table["drawn"]), len(zones[ASIDE])
    return View(
        title=f"{title}, deal {int(table['deals'])}",
        viewer=viewer,
        dealer=int(table["dealer"]),
        turn=int(table["seat"]),
        seats=tuple(seats),
        piles=(Pile(TALON, talon), *([Pile(ASIDE, aside)] if aside else [])),
        pot=float(table["pot"]) if "pot" in table.dtype.names else None,
        strip=_last_cards(table, last) if last else _trick(zones),
        history=(*history, *(describe_trick(table, who, trick) for trick in range(lying))),
        calls=tuple(calls),
        verdict=verdict,
        zones=zones if viewer is None else {},
    )


def _trick(zones: Zones) -> tuple[Laid, ...]:
    """Return the trick that lies, in the order of play, its best card marked."""
    order = [int(zone[6:]) for zone in zones if zone.startswith("trick ")]  # in the order of play
    cards = {seat: zones[f"trick {seat}"][0] for seat in order}
    # Of equal highest cards the later one wins; `max` keeps the first that it meets.
    best = max(reversed(cards), key=lambda seat: cards[seat] >> 1, default=-1)
    return tuple(
        Laid(seat, f"trick {seat}", face_of(KILLE_PACK, card), best=seat == best)
        for seat, card in cards.items()
    )


def _last_cards(table: Any, last: Mapping[int, str]) -> tuple[Laid, ...]:
    """Return the last cards, the lowest first."""
    cards = {seat: members(table["hand"][seat])[0] for seat in last}
    low = min(card >> 1 for card in cards.values())
    return tuple(
        Laid(seat, f"open {seat} 0", face_of(KILLE_PACK, card), last[seat], card >> 1 == low)
        for seat, card in sorted(cards.items(), key=lambda one: one[1] >> 1)
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


def _lying(table: Any) -> int:
    """Return the number of the trick that lies on the table, -1 if none does."""
    trick = int(table["trick"])
    led = trick < len(table["lead"]) and table["lead"][trick] >= 0
    return trick if led and table["highest"] >= 0 else trick - 1


def _zones(table: Any) -> Zones:
    """Return which cards lie where."""
    seats = clockwise(table)
    thrown = table["discarded"] if "discarded" in table.dtype.names else [0] * len(seats)
    aside = [card for seat in seats for card in members(thrown[seat])]
    tricks = trick_zones(table["played"], table["lead"], table["won"], _lying(table), len(seats))
    zones = {**tricks, ASIDE: aside}
    for seat in seats:
        hand = int(table["hand"][seat])
        zones[f"{'open' if hand & int(table['face_up']) else 'hand'} {seat}"] = members(hand)
    return zones
