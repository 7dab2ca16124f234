"""Who meets whom: the lineups of a tournament.

Entrants are named by their numbers, in the order of entering. Every function returns the lineups of
*all* entrants, including those that have been played, which cost nothing: an entrant that enters
later plays what is new, and no lineup plays a deal twice.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np

from kille_env.errors import ConfigError

MOST_LINEUPS = 100_000
Lineup = tuple[int, ...]


def round_robin(entrants: Sequence[int], seats: int, fill: str) -> list[Lineup]:
    """Returns the lineups in which every entrant meets every other.

    Args:
        entrants: [E] numbers.
        seats: P.
        fill: "distinct": every choice of P entrants; "copies": each entrant among P - 1 copies of
            each other one.

    Raises:
        ConfigError: There are too few entrants, or too many choices of them.
    """
    if seats == 2 or fill == "distinct":
        _check_choices(len(entrants), seats)
        return _in_order(combinations(sorted(entrants), seats))
    return _in_order(
        (one, *[other] * (seats - 1)) for one in entrants for other in entrants if one != other
    )


def gauntlet(entrants: Sequence[int], hero: int, seats: int, fill: str) -> list[Lineup]:
    """Returns the lineups in which one entrant meets all others, which do not meet without it.

    Args:
        entrants: [E] numbers, the hero's among them.
        hero: Number of that one.
        seats: P.
        fill: "distinct": with every choice of P - 1 others; "copies": among P - 1 copies of each.
    """
    others = [entrant for entrant in entrants if entrant != hero]
    if seats == 2 or fill == "copies":
        return _in_order((hero, *[other] * (seats - 1)) for other in others)
    _check_choices(len(entrants), seats)
    return _in_order((hero, *rest) for rest in combinations(sorted(others), seats - 1))


def random_tables(
    entrants: Sequence[int], founders: int, seats: int, each: int, seed: int
) -> list[Lineup]:
    """Returns drawn lineups of different entrants.

    A number of lineups is drawn for each entrant: for those with a number below `founders` from all
    founders, for later ones from all before it. So a new entrant changes no lineup of the others.

    Args:
        entrants: [E] numbers, ascending.
        founders: How many entered at the beginning.
        seats: P.
        each: Lineups that are drawn for each entrant.
        seed: Seed of the tournament.
    """
    if len(entrants) < seats:
        raise _too_few(len(entrants), seats, "a smaller table")
    founders = max(founders, seats)
    lineups: dict[Lineup, None] = {}
    for entrant in entrants:
        company = [other for other in range(max(founders, entrant)) if other != entrant]
        rng = np.random.default_rng([seed, seats, entrant])
        for _ in range(each):
            drawn = rng.choice(len(company), seats - 1, replace=False)
            lineups[(entrant, *(company[place] for place in drawn.tolist()))] = None
    present = set(entrants)
    return [lineup for lineup in lineups if present.issuperset(lineup)]


def swiss_round(
    standings: Sequence[int], met: np.ndarray, sat_out: np.ndarray, seats: int
) -> list[Lineup]:
    """Returns the tables of the next round of a Swiss tournament.

    The leader is seated first, then those next in the standings that have met the ones at its table
    least often; then the first of those that are left, and so on.

    Args:
        standings: [E] numbers, best first; for the first round in a drawn order.
        met: [E', E'] how often two have met, by number.
        sat_out: [E'] how often each has sat out.
        seats: P.

    Returns:
        Lineups; when the entrants do not fill all tables, those sit out that have done so least
        often, the last in the standings first.

    Raises:
        ConfigError: There are fewer entrants than seats.
    """
    if len(standings) < seats:
        raise _too_few(len(standings), seats, "a smaller table")
    places = {entrant: place for place, entrant in enumerate(standings)}
    idle = sorted(standings, key=lambda entrant: (sat_out[entrant], -places[entrant]))
    resting = set(idle[: len(standings) % seats])
    waiting = [entrant for entrant in standings if entrant not in resting]
    lineups = []
    while waiting:
        table = [waiting.pop(0)]
        while len(table) < seats:
            nearest = min(
                waiting, key=lambda other: (max(met[other, who] for who in table), places[other])
            )
            waiting.remove(nearest)
            table.append(nearest)
        lineups.append(tuple(table))
    return lineups


def _check_choices(entrants: int, seats: int) -> None:
    """Refuses a table that cannot be filled with different entrants, or in too many ways."""
    if entrants < seats:
        raise _too_few(entrants, seats, "matchmaking.fill: copies")
    if (ways := comb(entrants, seats)) > MOST_LINEUPS:
        raise ConfigError(
            f"{entrants} entrants fill a table of {seats} seats in {ways:,} ways, more than "
            f"{MOST_LINEUPS:,}; take matchmaking.format: random, swiss, or fill: copies"
        )


def _too_few(entrants: int, seats: int, instead: str) -> ConfigError:
    return ConfigError(
        f"{entrants} entrants do not fill a table of {seats} seats; take more of them, or {instead}"
    )


def _in_order(lineups: Iterable[Lineup]) -> list[Lineup]:
    """Returns lineups sorted so that those with later entrants come later."""
    return sorted(lineups, key=lambda lineup: (max(lineup), lineup))
