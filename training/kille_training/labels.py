"""Labels that tools share: measures, seats, the seed of deals, and the range of scores."""

from kille_env.core.spec import Rules
from kille_env.registry import spec

SEED = 1_000_003  # default seed of the deals of all measurements
UNCUT = 4.0  # clipping range of the scores of matches, as a multiple of the largest score of a deal

EARNED, BEYOND_BASELINE = "earned", "beyond the baseline"
BEYOND_MEAN, OWN_REWARD = "beyond the table's mean", "by a reward of your own"
"""Kinds of scores: units; units minus the other player's in the same seat of the same deal; units
minus the table's mean; or a custom reward. The first and the third are equal in zero-sum games.
"""


def score_of(game: str) -> str:
    """Return the kind of score of a player among copies of another one."""
    return EARNED if spec(game).zero_sum else BEYOND_BASELINE


def episode_noun(episode: object) -> str:
    """Return the name of one observation: "deal" or "match"."""
    return "match" if episode == "match" else "deal"


def plural_of(unit: str) -> str:
    """Return the plural of `episode_noun`."""
    return "matches" if unit == "match" else "deals"


def measure_of(game: str, episode: str) -> str:
    """Return the name of an estimate: "units per deal", or "gain per deal" over the other player.

    It is a gain where the rewards of the game do not sum to zero.
    """
    return f"{'units' if spec(game).zero_sum else 'gain'} per {episode_noun(episode)}"


def position_names(num_players: int) -> list[str]:
    """Return the names of the positions at a table, forehand first."""
    middle = [f"seat {number}" for number in range(2, num_players)]
    return ["forehand", *(["middle"] if num_players == 3 else middle), "dealer"]


def bounds_of(rules: Rules, num_players: int) -> tuple[float, float]:
    """Return the bounds of a score in an episode: a seat's units less the table's mean."""
    game = spec(rules.game)
    least, greatest = game.reward_range(rules, num_players)
    spread = (greatest - least) * (1 - 1 / num_players)
    if not game.zero_sum:
        return -spread, spread
    # A split may leave less than one unit per seat on the table, which lowers the mean.
    return max(least, -spread), min(greatest + 1.0, spread)


def uncut_of(rules: Rules, num_players: int) -> tuple[float, float] | None:
    """Return the range in which scores are never clipped, or None if no clipping applies.

    The rules of a match that may last for hundreds of deals allow scores far beyond any that occur.
    """
    if rules["episode"] == "deal":
        return None
    deal = spec(rules.game).resolve({**rules.as_dict(), "episode": "deal"})
    low, high = bounds_of(deal, num_players)
    return UNCUT * low, UNCUT * high


def most_apart(rules: Rules, num_players: int) -> float:
    """Return the largest difference of two scores of one episode, in units.

    For matches it is limited to several deals, as in `uncut_of`.
    """
    low, high = uncut_of(rules, num_players) or bounds_of(rules, num_players)
    return high - low
