"""Circular orders: who sits to whose left.

Every order round the table is played from all P positions, so each member of a lineup plays each
position of the deal once: forehand, dealer, and what lies between. That leaves who sits to whose
left, which matters where cards go to the left. Orders are drawn anew at every deal, see `draws`;
several orders of a lineup at each deal average over them sooner.
"""

import itertools
from math import factorial

import numpy as np

from kille_env.core.keys import derive
from kille_env.errors import ConfigError

ALL = "all"
MOST_ORDERS = 720
"""Orders round a table that `all` may mean: those of 7 seats."""


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


def count_orders(orders: int | str, num_players: int) -> int:
    """Returns how many orders round the table a lineup plays at every deal."""
    return factorial(num_players - 1) if orders == ALL else int(orders)


def circular_orders(count: int, num_players: int) -> np.ndarray:
    """Returns different orders round a table.

    Args:
        count: How many, K.
        num_players: P.

    Returns:
        [K, P] places in the lineup, beginning with place 0; (0, 1, ..., P - 1) first, and every
        second order is the mirror image of the one before it. Fewer are the first of more.
    """
    found = {tuple(range(num_players)): None}
    tries = itertools.count()
    while 2 * len(found) < count:
        words = derive(derive(np.uint64(num_players), next(tries)), np.arange(1, num_players))
        rest = (1 + np.argsort(words)).tolist()
        found[(0, *rest) if rest[0] < rest[-1] else (0, *reversed(rest))] = None
    both = [order for one in found for order in (one, (0, *reversed(one[1:])))]
    return np.array(both[:count])


def mirrored(orders: np.ndarray) -> np.ndarray:
    """Returns the mirror images of orders round a table, [..., P]."""
    return np.concatenate((orders[..., :1], orders[..., :0:-1]), axis=-1)
