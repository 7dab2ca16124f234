"""What trick games with Kille cards say and show: texts, views, parts of their manuals.

A complete trick lies until somebody leads to the next; then its cards go to "won S". Cards that
were exchanged lie face down on the pile "aside". A hand that was thrown in stays where it is,
faded: its seat still knows it. The last card of a seat, once it is turned up, is at "open S 0".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.cards.words import (
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
from kille_env.core.spec import Rules
from kille_env.core.table import DEAL, OVER
from kille_env.words.manual import is_single
from kille_env.words.text import chips, columns, counted, does, inside, listed, owner, signed
from kille_env.words.view import Card, Laid, Move, Pile, Seat, View

_SHORT = [" ".join(both) for both in zip(KILLE_PACK.codes, KILLE_PACK.words, strict=True)]
CARD_NOTES = (
    "Whoever can must head the highest card of the trick; of two equal highest cards the later "
    "one wins, and the winner leads.",
    f"There are two of each card, from the lowest up: {', '.join(_SHORT)}; some rules leave "
    "cards out.",
)
"""What a person who plays has to know of tricks and cards."""


def codes_of(cards: int) -> list[str]:
    """Returns the codes of a set of cards, the lowest first."""
    return [KILLE_PACK.code(card) for card in members(cards)]


def names_of(cards: int) -> str:
    """Returns the names of a set of cards, the lowest first: "3, 5, harlequin"."""
    return ", ".join(KILLE_PACK.word(card) for card in members(cards))


# Texts of actions


def action_text(table: Any, text: str) -> str:
    """Returns the text of an action of the seat to act, with its cards for their places ("#2")."""
    codes = codes_of(table["hand"][int(table["seat"])])
    return re.sub(r"#(\d)", lambda place: codes[int(place[1]) - 1], text)


def say_action(table: Any, text: str, verb: str = "") -> str:
    """Returns an action of the seat to act as a button says it: "Change the 7 and 8".

    Args:
        table: The table.
        text: The action's text, with places for cards in a discard.
        verb: What playing a card is called; "" is "Lead" or "Play".
    """
    hand = [KILLE_PACK.word(card) for card in members(table["hand"][int(table["seat"])])]
    name, *cards = text.split(" ")
    if name == "discard":
        words = [hand[int(place[1:]) - 1] for place in cards]
        return f"Change the {listed(words)}" if words else "Keep all cards"
    word = KILLE_PACK.words[KILLE_PACK.parse(cards[0])]
    return f"{verb or ('Lead' if table['highest'] < 0 else 'Play')} the {word}"


def ask_for_card(table: Any, who: list[str], otherwise: str) -> str:
    """Returns what the seat to act is asked while tricks are played.

    Args:
        table: The table.
        who: What to call the seats.
        otherwise: What somebody plays who cannot head: "your lowest card".
    """
    if table["highest"] < 0:
        return "Lead a card."
    best = f"{inside(owner(who[int(table['holder'])]))} {KILLE_PACK.words[int(table['highest'])]}"
    hand = members(table["hand"][int(table["seat"])])
    if hand[-1] >> 1 >= table["highest"]:
        return f"Beat {best}: who can, must."
    return f"You cannot beat {best}: give up {otherwise}."


def last_card(table: Any, seat: int) -> str:
    """Returns the word for the last card of a seat."""
    return KILLE_PACK.word(members(table["hand"][seat])[0])


def num_tricks(rules: Rules) -> int:
    """Returns how many tricks are played in a deal."""
    return rules.number("hand") - 1


def most_discards(rules: Rules) -> int:
    """Returns how many cards a player may discard at most."""
    return min(rules.number("hand"), rules.number("max_discards"))


# The table as a seat sees it


def describe_table(
    title: str, table: Any, who: list[str], rows: list[tuple[str, ...]], history: bool, asked: str
) -> str:
    """Returns a table as text: a heading, a row for each seat, the tricks, who has to decide what.

    Args:
        title: The game's name for people.
        table: The table.
        who: What to call the seats.
        rows: What to say of each seat.
        history: Whether to describe the tricks that are complete.
        asked: What the seat to act has to decide: "stays or folds".
    """
    trick = int(table["trick"])
    pot = f", pot {chips(int(table['pot']))}" if "pot" in table.dtype.names else ""
    lines = [f"{title}, deal {int(table['deals'])}, dealer {who[int(table['dealer'])]}{pot}"]
    lines += columns(rows)
    begun = _lies(table)
    lines += [describe_trick(table, who, n) for n in range(0 if history else trick, trick + begun)]
    return "\n".join([*lines, to_decide(table, who, asked)])


def _lies(table: Any) -> bool:
    """Returns whether a card has been played to a trick that is not complete."""
    trick = int(table["trick"])
    led = trick < len(table["lead"]) and table["lead"][trick] >= 0
    return bool(led and table["highest"] >= 0)


def to_decide(table: Any, who: list[str], asked: str) -> str:
    """Returns who has to decide what, as `describe_table` says it."""
    last = {OVER: "The match is over.", DEAL: "Cards are to be dealt."}
    return last.get(int(table["phase"])) or f"{who[int(table['seat'])]} {asked}."


def describe_trick(table: Any, who: list[str], number: int) -> str:
    """Returns a trick as text, in the order in which it was played."""
    leader, size = int(table["lead"][number]), int(table["num_players"])
    order = [(leader + step) % size for step in range(size)]
    cards = [
        f"{who[seat]} {KILLE_PACK.word(table['played'][number, seat])}"
        for seat in order
        if table["played"][number, seat] >= 0
    ]
    won = int(table["won"][number])
    winner = f"; {inside(does(who[won], 'wins'))}" if won >= 0 else ""
    return f"Trick {number + 1}: {', '.join(cards)}{winner}."


def describe_hand(
    table: Any, seat: int, viewer: int | None, first: str, then: str, history: bool = True
) -> str:
    """Returns a hand as a seat sees it, or (None) as it is: "L1 KI (discarded L9, got KI)".

    Args:
        table: The table.
        seat: Whose hand it is.
        viewer: Who looks; None sees everything.
        first: The field of the cards to be named first, if it was exchanged: "discarded".
        then: What to call those that it got later: "got".
        history: Whether to name what the viewer knows of the exchange.
    """
    hand = codes_of(table["hand"][seat])
    if viewer not in (None, seat):
        shown = codes_of(int(table["hand"][seat]) & int(table["face_up"]))
        return " ".join([*shown, *"?" * (len(hand) - len(shown))])
    if history and table["drawn_cards"][seat]:
        before, got = (" ".join(codes_of(table[f][seat])) for f in (first, "drawn_cards"))
        hand.append(f"({first} {before}, {then} {got})")
    return " ".join(hand)


def plays_to(table: Any) -> str:
    """Returns what the seat to act has to do while tricks are played."""
    return f"{'leads' if table['highest'] < 0 else 'plays'} to trick {int(table['trick']) + 1}"


# What has happened


def describe_dealt(table: Any, who: list[str], seat: int | None) -> list[str]:
    """Describes the cards that a seat was dealt, or (None) that everybody was dealt."""
    hands = [(s, names_of(table["dealt"][s])) for s in range(len(who)) if table["dealt"][s]]
    if seat is None:
        return columns([(who[s], cards) for s, cards in hands])
    return [f"{does(who[s], 'gets')} {cards}." for s, cards in hands if s == seat]


def describe_exchange(after: Any, who: list[str], actor: int, seat: int | None, verb: str) -> str:
    """Describes an exchange as a seat has seen it.

    Args:
        after: The table after it.
        who: What to call the seats.
        actor: Who has exchanged cards.
        seat: Who reads it; None learns everything.
        verb: What the actor does with cards: "changes".
    """
    number = int(after["exchanged"][actor])
    if number == 0:
        return f"{does(who[actor], 'keeps')} all cards."
    line = f"{does(who[actor], verb)} {counted(number, 'card', 'cards')}"
    if seat not in (None, actor):
        return f"{line}."
    thrown, got = (names_of(after[field][actor]) for field in ("discarded", "drawn_cards"))
    return f"{line}: {thrown} for {got}."


def describe_play(before: Any, after: Any, who: list[str]) -> list[str]:
    """Describes the card that lies between two tables, and who has won the trick with it."""
    actor, trick = int(before["seat"]), int(before["trick"])
    card = KILLE_PACK.word(after["played"][trick, actor])
    verb = "leads" if before["highest"] < 0 else "plays"
    lines = [f"{does(who[actor], verb)} the {card}."]
    if after["trick"] != trick:
        lines.append(f"{does(who[int(after['won'][trick])], 'wins')} the trick.")
    return lines


def describe_last(table: Any, who: list[str]) -> list[str]:
    """Describes how a match for a pot has ended."""
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


# What there is to see


def view_of(
    title: str,
    table: Any,
    viewer: int | None,
    words: Sequence[Sequence[str]],
    question: str,
    last: Mapping[int, str] | None = None,
    scores: Sequence[str] | None = None,
) -> View:
    """Returns what a seat may see of a table at which tricks are played, or (None) everything.

    Args:
        title: The game's name for people.
        table: The table.
        viewer: Who looks.
        words: [P] what each seat has done or is.
        question: Who has to decide what.
        scores: [P] as `Seat.score`; None is none.
        last: What stands below each last card that is turned up, by seat, if they decide the deal.
    """
    zones = _zones(table)
    seats = [_seat(table, zones, seat, viewer, said) for seat, said in enumerate(words)]
    if scores is not None:
        seats = [seat._replace(score=score) for seat, score in zip(seats, scores, strict=True)]
    talon = len(table["deck"]) - int(table["drawn"])
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
        strip=_last_cards(table, last) if last else _trick(table, zones),
    )


def _trick(table: Any, zones: Zones) -> tuple[Laid, ...]:
    """Returns the trick that lies, in the order of play, its best card marked."""
    order = [int(zone[6:]) for zone in zones if zone.startswith("trick ")]  # in the order of play
    cards = {seat: zones[f"trick {seat}"][0] for seat in order}
    best = max(reversed(cards), key=lambda seat: cards[seat] >> 1, default=-1)
    return tuple(
        Laid(seat, f"trick {seat}", face_of(KILLE_PACK, card), best=seat == best)
        for seat, card in cards.items()
    )


def _last_cards(table: Any, last: Mapping[int, str]) -> tuple[Laid, ...]:
    """Returns the last cards, the lowest first."""
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


def moves_of(before: Any, after: Any, viewer: int | None) -> tuple[Move, ...]:
    """Returns which cards moved between two tables, as a viewer may know it."""
    new = _zones(after)
    if after["deals"] != before["deals"]:
        return moves_between({}, new)
    return moves_between(_zones(before), new, hidden_hands(clockwise(after), viewer))


def _zones(table: Any) -> Zones:
    """Return which cards lie where."""
    seats, trick = clockwise(table), int(table["trick"])
    lying = trick if _lies(table) else trick - 1
    thrown = table["discarded"] if "discarded" in table.dtype.names else [0] * len(seats)
    aside = [card for seat in seats for card in members(int(thrown[seat]))]
    tricks = trick_zones(table["played"], table["lead"], table["won"], lying, len(seats))
    zones = {**tricks, ASIDE: aside}
    for seat in seats:
        hand = int(table["hand"][seat])
        zones[f"{'open' if hand & int(table['face_up']) else 'hand'} {seat}"] = members(hand)
    return zones


# Parts of manuals

WINS_TRICK = (
    "The highest card wins the trick; of two equal ones the later. The winner leads to the next."
)
RESULT = "Your result is all that you get minus all that you pay."


def describe_heading(any_card: bool, otherwise: str) -> str:
    """Returns how a trick is followed.

    Args:
        any_card: Whether any card that heads will do, or the lowest of them has to be played.
        otherwise: What somebody plays who cannot head: "any card".
    """
    which = "any of them you like" if any_card else "the lowest of them"
    return (
        "Heading is compulsory: if you hold cards that are as high as the highest of the trick or "
        f"higher, you play one of them, {which}. If you hold none, you play {otherwise}."
    )


def describe_end(rules: Rules, sharing: str) -> list[str]:
    """Returns when a match for a pot ends.

    Args:
        rules: The rules, with the switches of `kille_env.tricktaking.pots`.
        sharing: How the pot is then shared: "equally".
    """
    if is_single(rules):
        return [f"You play a single deal. A pot that nobody wins is shared {sharing} at its end."]
    cap, deals = rules.number("max_deals"), rules["deals"]
    carried = "The deal passes to the next player on the left, whatever happened."
    if deals is None:
        end = "The match ends as soon as a pot is won."
    else:
        end = (
            f"The match is {counted(rules.number('deals'), 'deal', 'deals')}. A pot that is won is "
            f"followed by a new one; what is in the pot at the end is shared {sharing}."
        )
    if deals is not None and rules.number("deals") <= cap:
        return [f"{carried} {end}"]
    cut = f"After {counted(cap, 'deal', 'deals')} it is cut off, and the pot is shared {sharing}."
    return [f"{carried} {end}", cut]
