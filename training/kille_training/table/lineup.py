"""Players named on the command line."""

from collections.abc import Sequence

import numpy as np

from kille_agents.catalog import as_policy
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.policy import Player


def players_named(
    names: str, places: int, game: str, num_players: int, rules: Rules, *, trust: bool = False
) -> list[Player]:
    """Returns players for some seats of a table; one named several times is one object.

    Args:
        names: Names or paths with commas between them: one for all the seats, or one per seat.
        places: How many seats.
        game: The game.
        num_players: Seats of the whole table.
        rules: Its rules.
        trust: Whether model files that can run code may be loaded.

    Raises:
        PolicyError: A wrong number of players, or one that does not exist or fit the table.
    """
    words = [word.strip() for word in names.split(",")]
    if len(words) not in (1, places):
        raise PolicyError(
            f"{names!r} names {len(words)} players for {places} seats; "
            f"name one for all of them, or one for each of the {places}"
        )
    made = {word: as_policy(word, game, num_players, rules, trust=trust) for word in words}
    return [made[word] for word in (words * places)[:places]]


def seating_of(by_seat: Sequence[Player | None]) -> tuple[list[Player], np.ndarray]:
    """Returns players, each once, and who of them sits in each seat.

    Args:
        by_seat: [P] players; None for a seat whose actions come from outside.

    Returns:
        The players, and [P] their numbers, for `kille_env.play.play.Players`.
    """
    players = list(dict.fromkeys(player for player in by_seat if player is not None))
    numbers = [-1 if player is None else players.index(player) for player in by_seat]
    return players, np.array(numbers)
