"""Words that tables, pages and pictures share: what is measured, and what seats are called."""

from kille_env.registry import spec


def unit_of(episode: str) -> str:
    """Returns the name of one observation: "deal" or "match"."""
    return "match" if episode == "match" else "deal"


def plural_of(unit: str) -> str:
    """Returns the plural of `unit_of`."""
    return "matches" if unit == "match" else "deals"


def measure_of(game: str, episode: str) -> str:
    """Returns the name of an estimate: "units per deal", or "gain per deal" over the other player.

    It is a gain where the rewards of the game do not sum to zero.
    """
    return f"{'units' if spec(game).zero_sum else 'gain'} per {unit_of(episode)}"


def position_names(num_players: int) -> list[str]:
    """Returns the names of the positions at a table, forehand first."""
    middle = [f"seat {number}" for number in range(2, num_players)]
    return ["forehand", *(["middle"] if num_players == 3 else middle), "dealer"]
