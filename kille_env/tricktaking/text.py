"""Texts about tricks, hands, discards and pots, for the games that have them."""

import re
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.core.table import DEAL, OVER
from kille_env.words.text import columns, counted, signed, units

_SHORT = [" ".join(both) for both in zip(KILLE_PACK.codes, KILLE_PACK.names, strict=True)]
CARD_NOTES = (
    "Whoever can must head the highest card of the trick; of two equal highest cards the later "
    "one wins, and the winner leads.",
    f"There are two of each card, from the lowest up: {', '.join(_SHORT)}.",
)
"""What a person who plays has to know of tricks and cards."""


def codes_of(cards: int) -> list[str]:
    """Returns the codes of a set of cards, the lowest first."""
    return [KILLE_PACK.code(card) for card in members(cards)]


def names_of(cards: int) -> str:
    """Returns the names of a set of cards, the lowest first: "lilja 3, lilja 5, kille"."""
    return ", ".join(KILLE_PACK.name(card) for card in members(cards))


# Texts of actions


def action_text(table: Any, text: str) -> str:
    """Returns the text of an action of the seat to act, with its cards for their places ("#2")."""
    codes = codes_of(table["hand"][int(table["seat"])])
    return re.sub(r"#(\d)", lambda place: codes[int(place[1]) - 1], text)


def knows_action(text: Any, actions: tuple[str, ...], most: int) -> bool:
    """Returns whether a text is an action's, or names a discard of up to `most` cards."""
    if not isinstance(text, str):
        return False
    verb, *codes = text.split(" ")
    if verb != "discard":
        return text in actions
    if len(codes) > most or not set(codes) <= set(KILLE_PACK.codes):
        return False
    ranks = [KILLE_PACK.codes.index(code) for code in codes]
    return ranks == sorted(ranks) and all(ranks.count(rank) <= 2 for rank in ranks)


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
    trick, tricks = int(table["trick"]), len(table["won"])
    pot = f", pot {units(int(table['pot']))}" if "pot" in table.dtype.names else ""
    lines = [f"{title}, deal {int(table['deals'])}, dealer {who[int(table['dealer'])]}{pot}"]
    lines += columns(rows)
    begun = trick < tricks and table["highest"] >= 0
    lines += [describe_trick(table, who, n) for n in range(0 if history else trick, trick + begun)]
    return "\n".join([*lines, to_decide(table, who, asked)])


def to_decide(table: Any, who: list[str], asked: str) -> str:
    """Returns who has to decide what, as `describe_table` says it."""
    last = {OVER: "The match is over.", DEAL: "Cards are to be dealt."}
    return last.get(int(table["phase"])) or f"{who[int(table['seat'])]} {asked}."


def describe_trick(table: Any, who: list[str], number: int) -> str:
    """Returns a trick as text, in the order in which it was played."""
    leader, size = int(table["lead"][number]), int(table["num_players"])
    order = [(leader + step) % size for step in range(size)]
    cards = [
        f"{who[seat]} {KILLE_PACK.name(table['played'][number, seat])}"
        for seat in order
        if table["played"][number, seat] >= 0
    ]
    winner = f"; {who[int(table['won'][number])]} wins" if table["won"][number] >= 0 else ""
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
    return [f"{who[s]} gets {cards}." for s, cards in hands if s == seat]


def describe_exchange(
    after: Any, who: list[str], actor: int, seat: int | None, verb: str, more: str = ""
) -> str:
    """Describes an exchange as a seat has seen it.

    Args:
        after: The table after it.
        who: What to call the seats.
        actor: Who has exchanged cards.
        seat: Who reads it; None learns everything.
        verb: What the actor does with cards: "exchanges".
        more: What everybody has seen besides.
    """
    number = int(after["exchanged"][actor])
    if number == 0:
        return f"{who[actor]} keeps all cards."
    line = f"{who[actor]} {verb} {counted(number, 'card', 'cards')}{more}"
    if seat not in (None, actor):
        return f"{line}."
    thrown, got = (names_of(after[field][actor]) for field in ("discarded", "drawn_cards"))
    return f"{line}: {thrown} for {got}."


def describe_play(before: Any, after: Any, who: list[str]) -> list[str]:
    """Describes the card that lies between two tables, and who has won the trick with it."""
    actor, trick = int(before["seat"]), int(before["trick"])
    card = KILLE_PACK.name(after["played"][trick, actor])
    lines = [f"{who[actor]} {'leads' if before['highest'] < 0 else 'plays'} {card}."]
    if after["trick"] != trick:
        lines.append(f"{who[int(after['won'][trick])]} wins the trick.")
    return lines


def describe_last(table: Any, who: list[str]) -> list[str]:
    """Describes how a match for a pot has ended."""
    lines = []
    if table["truncated"]:
        lines.append(f"The match is cut off after {counted(int(table['deals']), 'deal', 'deals')}.")
    if table["winner"] < 0 and table["shown_pot"]:
        share = (int(table["shown_pot"]) - int(table["left_on_table"])) // len(who)
        rest = int(table["left_on_table"])
        over = f"; {units(rest)} {'stays' if rest == 1 else 'stay'} on the table" if rest else ""
        lines.append(f"Everybody takes {units(share)} of the pot{over}.")
    line = ", ".join(f"{who[s]} {signed(int(table['chips'][s]))}" for s in range(len(who)))
    return [*lines, f"This deal, before any sharing: {line}."]
