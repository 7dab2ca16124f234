"""What tools share: words for what is measured and for seats, its seed, and the range of scores."""

from kille_env.core.spec import Rules
from kille_env.registry import spec

SEED = 1_000_003
"""Seed of the deals of everything that measures, where none is given."""

UNCUT = 4.0
"""Multiple of what a single deal can move up to which no match is cut."""

EARNED, BEYOND_BASELINE = "earned", "beyond the baseline"
BEYOND_MEAN, OWN_REWARD = "beyond the table's mean", "by a reward of your own"
"""What a score counts: all units; or less what the other player earns in the same seat of the same
deal; or less what the seats of the table earn on average. Only where the rewards of a game sum to
zero are the first and the last the same. Or what the caller's function makes of all seats' units.
"""


def score_of(game: str) -> str:
    """Returns what the score of a player among copies of another one counts."""
    return EARNED if spec(game).zero_sum else BEYOND_BASELINE


def episode_noun(episode: object) -> str:
    """Returns the name of one observation: "deal" or "match"."""
    return "match" if episode == "match" else "deal"


def plural_of(unit: str) -> str:
    """Returns the plural of `episode_noun`."""
    return "matches" if unit == "match" else "deals"


def measure_of(game: str, episode: str) -> str:
    """Returns the name of an estimate: "units per deal", or "gain per deal" over the other player.

    It is a gain where the rewards of the game do not sum to zero.
    """
    return f"{'units' if spec(game).zero_sum else 'gain'} per {episode_noun(episode)}"


def position_names(num_players: int) -> list[str]:
    """Returns the names of the positions at a table, forehand first."""
    middle = [f"seat {number}" for number in range(2, num_players)]
    return ["forehand", *(["middle"] if num_players == 3 else middle), "dealer"]


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
