"""Players by name, and who sits where."""

from collections.abc import Sequence

import numpy as np

from kille_agents.catalog import as_policy
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.policy import Policy


def one_per_seat(names: Sequence[str], places: int) -> list[str]:
    """Returns a name for each of some seats, of one for all of them or one for each.

    Raises:
        PolicyError: There are more or fewer.
    """
    if len(names) not in (1, places):
        raise PolicyError(
            f"{len(names)} players are named for {places} seats; "
            f"name one for all of them, or one for each of the {places}"
        )
    return [*names] if len(names) == places else [*names] * places


def players_named(
    names: Sequence[str], game: str, num_players: int, rules: Rules, *, trust: bool = False
) -> list[Policy]:
    """Returns players by name or path; one that is named several times is one object.

    Args:
        names: Their names or paths.
        game: The game.
        num_players: Seats of the table.
        rules: Its rules.
        trust: Whether model files that can run code may be loaded.

    Raises:
        PolicyError: There is no such player, or it does not fit the table.
    """
    made = {
        name: as_policy(name, game, num_players, rules, trust=trust)
        for name in dict.fromkeys(names)
    }
    return [made[name] for name in names]


def seating_of(by_seat: Sequence[Policy | None]) -> tuple[list[Policy], np.ndarray]:
    """Returns players, each once, and who of them sits in each seat.

    Args:
        by_seat: [P] players; None for a seat whose actions come from outside.

    Returns:
        The players, and [P] their numbers, for `kille_env.play.seating.SeatedPolicies`.
    """
    players = list(dict.fromkeys(player for player in by_seat if player is not None))
    numbers = [-1 if player is None else players.index(player) for player in by_seat]
    return players, np.array(numbers)
