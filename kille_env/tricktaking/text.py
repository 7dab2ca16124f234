"""Texts about tricks, hands, discards and pots, for the games that have them."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.core.text import counted, signed, units
from kille_env.tricktaking.tricks import SLOTS

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


def describe_hand(table: Any, seat: int, viewer: int | None, history: bool = True) -> str:
    """Returns a hand as a seat sees it, or (None) as it is: "L1 KI (discarded L9, got KI)".

    Args:
        table: The table.
        seat: Whose hand it is.
        viewer: Who looks; None sees everything.
        history: Whether to name what the viewer knows of its discards, too.
    """
    hand = codes_of(table["hand"][seat])
    if viewer not in (None, seat):
        shown = codes_of(int(table["hand"][seat]) & int(table["face_up"]))
        return " ".join([*shown, *"?" * (len(hand) - len(shown))])
    if not (history and table["discarded"][seat]):
        return " ".join(hand)
    thrown, got = (" ".join(codes_of(table[f][seat])) for f in ("discarded", "drawn_cards"))
    return f"{' '.join(hand)} (discarded {thrown}, got {got})"


def discard_text(hand: int, number: int) -> str:
    """Returns the text of a discard from a hand: "discard L3 L5"."""
    codes = codes_of(hand)
    chosen = [code for slot, code in enumerate(codes) if int(SLOTS[number]) >> slot & 1]
    return " ".join(["discard", *chosen])


def is_discard(text: object, most: int) -> bool:
    """Returns whether a text names a discard of up to `most` cards, the lowest first."""
    if not isinstance(text, str):
        return False
    verb, *codes = text.split(" ")
    if verb != "discard" or len(codes) > most or not set(codes) <= set(KILLE_PACK.codes):
        return False
    ranks = [KILLE_PACK.codes.index(code) for code in codes]
    return ranks == sorted(ranks) and all(ranks.count(rank) <= 2 for rank in ranks)


def describe_last(table: Any, who: list[str]) -> list[str]:
    """Describes how a match has ended.

    Args:
        table: A table whose match is over.
        who: What to call the seats.

    Returns:
        Lines.
    """
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
