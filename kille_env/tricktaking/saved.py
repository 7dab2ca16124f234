"""What saved tables of the trick games say: bounds of their fields, and the actions of a hand."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK, TYPES
from kille_env.cards.sets import members
from kille_env.core.table import DEAL
from kille_env.tricktaking.tricks import HAND, NO_RANK, NOT_YET, SLOTS

Bounds = dict[str, tuple[float, float]]


def trick_bounds(num_players: int, tricks: int) -> Bounds:
    """Returns the bounds of `trick_fields`."""
    seat = (-1, num_players - 1)
    return {
        "trick": (0, tricks),
        "highest": (NO_RANK, TYPES - 1),
        "holder": seat,
        "lead": seat,
        "won": seat,
        "played": (-1, KILLE_PACK.size - 1),
        "at_least": (0, TYPES - 1),
        "below": (0, TYPES),
        "excluded": (0, 2**64 - 1),  # what is above the pack is of no meaning
    }


def discard_bounds() -> Bounds:
    """Returns the bounds of `discard_fields`."""
    return {"exchanged": (NOT_YET, HAND)}


def pot_bounds(num_players: int, ends: int) -> Bounds:
    """Returns the bounds of `pot_fields`, for a number of ways in which a deal can end."""
    seat = (-1, num_players - 1)
    return {"next_dealer": seat, "winner": seat, "end": (0, ends - 1)}


def can_go_on(table: Any, rules: Any) -> bool:
    """Returns whether somebody can deal the next hand, and the last one fits its places."""
    return hands_fit(table) and (table["phase"] != DEAL or table["next_dealer"] >= 0)


def hands_fit(table: Any) -> bool:
    """Returns whether no seat has more cards than a hand holds: observations have no room for more.

    It is asked of tables between two hands, too, whose cards still lie there and are seen.
    """
    names = {"hand", "dealt", "drawn_cards", "discarded"}.intersection(table.dtype.names)
    return all(int(cards).bit_count() <= HAND for name in names for cards in table[name])


def undeal(table: Any) -> None:
    """Puts a table back to before its deal."""
    table["next_dealer"] = table["dealer"]


def card_played(table: Any, saved: Any, first: int) -> int:
    """Returns the action by which the seat to act played a card, -1 if it has not.

    Args:
        table: The hand as it stood then.
        saved: The hand later.
        first: The first of the actions that name a card.
    """
    card = int(saved["played"][table["trick"]][table["seat"]])
    return first + (card >> 1) if card >= 0 else -1


def discard_made(table: Any, saved: Any, first: int) -> int:
    """Returns the action by which the seat to act discarded, -1 if it has not."""
    seat = table["seat"]
    if saved["exchanged"][seat] == NOT_YET:
        return -1
    thrown = set(members(saved["discarded"][seat]))
    slots = sum(1 << i for i, card in enumerate(members(table["hand"][seat])) if card in thrown)
    return first + SLOTS.tolist().index(slots)
