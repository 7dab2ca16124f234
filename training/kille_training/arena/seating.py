"""Who sits in which seat: the seatings that a lineup plays at every deal.

Every order round the table is played from all P positions, so each member plays each position of
the deal once: forehand, dealer, and what lies between. That leaves who sits to whose left, which
matters where cards go to the left; several orders average over that as well.
"""

from itertools import permutations
from math import factorial

import numpy as np

from kille_env.errors import ConfigError

ALL = "all"
MOST_ORDERS = 720
"""Orders round a table that `all` may mean: those of 7 seats."""
TRIES = 100


def check_orders(orders: int | str, num_players: int) -> None:
    """Refuses orders that do not exist at a table.

    Raises:
        ConfigError: The message says what is possible.
    """
    most = factorial(num_players - 1)
    if orders == ALL:
        if most > MOST_ORDERS:
            raise ConfigError(
                f"orders is {ALL!r}, but {num_players} seats have {most:,} orders round the table; "
                f"name a number up to {MOST_ORDERS}"
            )
        return
    whole = isinstance(orders, int) and not isinstance(orders, bool)
    if not whole or not 1 <= int(orders) <= min(most, MOST_ORDERS):
        raise ConfigError(
            f"orders is {orders!r}; {num_players} seats have 1 to {min(most, MOST_ORDERS)} orders "
            f"round the table, or {ALL!r}"
        )


def seatings(members: tuple[int, ...], orders: int | str, seed: int) -> np.ndarray:
    """Returns the seatings of a lineup.

    Args:
        members: [P] keys of the entrants, in order round the table.
        orders: How many orders round the table are played, the lineup's own first and then drawn
            ones; "all" is every one. Orders that differ only in which copy of a player sits where
            count once.
        seed: Seed of the tournament, for the drawn ones.

    Returns:
        [S, P] place in the lineup of who sits in each seat; S is P for each order.
    """
    seats = len(members)
    found = {}
    if orders == ALL:
        for rest in permutations(range(1, seats)):
            found.setdefault(_round((0, *rest), members), (0, *rest))
    else:
        found[_round(tuple(range(seats)), members)] = tuple(range(seats))
        rng = np.random.default_rng([seed, seats, *members])
        for _ in range(TRIES * int(orders)):  # among copies there may be fewer orders than that
            if len(found) == orders:
                break
            drawn = (0, *(int(place) + 1 for place in rng.permutation(seats - 1)))
            found.setdefault(_round(drawn, members), drawn)
    turns = [np.roll(order, turn) for order in found.values() for turn in range(seats)]
    return np.array(turns, dtype=np.int64)


def same_tables(members: tuple[int, ...], orders: int | str) -> tuple[int, ...]:
    """Returns a key that lineups share if and only if they play the same tables.

    A lineup that is another one turned has the same seatings in another order; where every order
    round the table is played, so have all lineups of the same members.

    Args:
        members: [P] entrants, in order round the table.
        orders: See `seatings`.
    """
    if orders == ALL or int(orders) >= factorial(len(members) - 1):
        return tuple(sorted(members))
    return _round(tuple(range(len(members))), members)


def _round(order: tuple[int, ...], members: tuple[int, ...]) -> tuple[int, ...]:
    """Returns who sits round the table, the same for a table that is turned."""
    who = tuple(members[place] for place in order)
    return min(who[turn:] + who[:turn] for turn in range(len(who)))
