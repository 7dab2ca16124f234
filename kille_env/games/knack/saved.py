"""What saved tables of Knack say: bounds of their fields, and the actions of a hand."""

from typing import Any

from kille_env.games.knack.table import (
    CARDS,
    MAX_SIZES,
    START_SIZES,
    SUITS,
    TRICKS,
    Action,
    Phase,
    Strength,
    deals_left,
)


def bounds(num_players: int) -> dict[str, tuple[float, float]]:
    """Returns the bounds of the fields of a table."""
    seat, card, suit = (-1, num_players - 1), (-1, CARDS - 1), (-1, len(SUITS) - 1)
    return {
        **dict.fromkeys(("remainder_to", "next_dealer", "holder", "leaders", "winners"), seat),
        **dict.fromkeys(("turn_up", "face_down", "cards", "played"), card),
        **dict.fromkeys(("trump", "led"), suit),
        **dict.fromkeys(("num_joined", "trick_size", "remainder"), (0, num_players)),
        **dict.fromkeys(("trick", "tricks"), (0, TRICKS)),
        "num_sizes": (0, MAX_SIZES),
        "strength": (-1, Strength.TRUMP + 9),
        "void": (0, 2 ** (len(SUITS) * num_players) - 1),
    }


def can_go_on(table: Any, rules: Any) -> bool:
    """Returns whether the party is not past its end, and the bets are piles with room for more.

    A new bet is one stake larger than the smallest: two sizes are alive besides those of a start.
    """
    number = int(table["num_sizes"])
    sizes, counts = table["bet_sizes"].tolist(), table["bet_counts"].tolist()
    piled = all(size > 0 < count for size, count in zip(sizes[:number], counts, strict=False))
    ordered = sizes[:number] == sorted(set(sizes[:number]))
    empty = not any(sizes[number:]) and not any(counts[number:])
    larger = sum(size > sizes[0] + 1 for size in sizes[:number])
    left = deals_left(table, rules.record[0]) >= 0
    dealt = table["phase"] != Phase.DEAL or table["next_dealer"] >= 0
    return bool(dealt and left) and piled and ordered and empty and larger <= START_SIZES


def action_before(table: Any, saved: Any) -> int:
    """Returns what the seat to act did on the way to a saved table."""
    seat = int(table["seat"])
    if table["phase"] == Phase.JOIN:
        folded = Action.FOLD if int(saved["folded"]) >> seat & 1 else -1
        return Action.KNOCK if int(saved["joined"]) >> seat & 1 else folded
    card = int(saved["played"][table["trick"]][seat])
    first = Action.PLAY_DOWN if card == saved["face_down"] else Action.PLAY
    return first + card if card >= 0 else -1
