"""Opponents by name, their seats, and records of the matches of policies."""

from collections.abc import Iterator, Sequence

import numpy as np

from kille_agents.catalog import as_policy
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.policy import Policy, name_of
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.records import Record, Recorder
from kille_env.registry import make_batch

TABLES_AT_ONCE = 500  # number of tables played side by side, which bounds the memory


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


def matches_of(game: str, rules: Rules, by_seat: list[Policy], seeds: range) -> Iterator[Record]:
    """Play one match per seed, many side by side, and yield their records in order."""
    players, seating = seating_of(by_seat)
    names = [name_of(player) for player in by_seat]
    for start in range(0, len(seeds), TABLES_AT_ONCE):
        part = list(seeds[start : start + TABLES_AT_ONCE])
        batch = make_batch(game, len(part), len(by_seat), rules=rules, seed=0, restart=False)
        recorder = Recorder(batch, names)
        recorder.reset(seed=part)
        play_out(SeatedPolicies(batch, players, seating, recorder.step))
        yield from (recorder.record(table) for table in range(len(part)))
