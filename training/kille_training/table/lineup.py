"""Opponents by name, and their seats."""

from collections.abc import Sequence

import numpy as np

from kille_agents.catalog import as_policy
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.policy import Policy


def one_per_seat(names: Sequence[str], places: int) -> list[str]:
    """Return one name per place, from one for all or one for each."""
    if len(names) not in (1, places):
        raise PolicyError(
            f"{len(names)} players are named for {places} seats; "
            f"name one for all seats, or one for each of the {places}"
        )
    return [*names] if len(names) == places else [*names] * places


def players_named(
    names: Sequence[str], game: str, num_players: int, rules: Rules, *, trust: bool = False
) -> list[Policy]:
    """Return policies by name or path; repeated names share one object."""
    made = {
        name: as_policy(name, game, num_players, rules, trust=trust)
        for name in dict.fromkeys(names)
    }
    return [made[name] for name in names]


def seating_of(by_seat: Sequence[Policy | None]) -> tuple[list[Policy], np.ndarray]:
    """Return the distinct policies, and their numbers by seat [P], -1 for the person."""
    players = list(dict.fromkeys(player for player in by_seat if player is not None))
    numbers = [-1 if player is None else players.index(player) for player in by_seat]
    return players, np.array(numbers)
