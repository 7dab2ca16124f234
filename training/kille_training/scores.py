"""The range of scores: how much an episode can move, by its rules."""

from kille_env.core.spec import Rules
from kille_env.registry import spec

UNCUT = 4.0
"""Multiple of what a single deal can move up to which no match is cut."""


def bounds_of(rules: Rules, num_players: int) -> tuple[float, float]:
    """Returns the bounds of a score in an episode: a seat's units less the table's mean."""
    game = spec(rules.game)
    least, greatest = game.reward_range(rules, num_players)
    spread = (greatest - least) * (1 - 1 / num_players)
    if not game.zero_sum:
        return -spread, spread
    # A split may leave less than a unit per seat on the table, and lowers the mean by as much.
    return max(least, -spread), min(greatest + 1.0, spread)


def uncut_of(rules: Rules, num_players: int) -> tuple[float, float] | None:
    """Returns bounds within which the score of an episode counts in any case; None is everywhere.

    A match that may last for hundreds of deals can move much more than it ever does. What is far
    beyond several deals is cut.
    """
    if rules["episode"] == "deal":
        return None
    deal = spec(rules.game).resolve({**rules.as_dict(), "episode": "deal"})
    low, high = bounds_of(deal, num_players)
    return UNCUT * low, UNCUT * high


def most_apart(rules: Rules, num_players: int) -> float:
    """Returns the most by which two scores of one episode differ, in units.

    Of matches that may last for hundreds of deals it is what several deals can move, as in
    `uncut_of`: the rules allow for much more, and no match that was ever seen comes near.
    """
    low, high = uncut_of(rules, num_players) or bounds_of(rules, num_players)
    return high - low
