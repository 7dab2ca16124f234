"""Random numbers of a tournament: each belongs to a table and a decision, not to a batch.

So what comes of a table depends on nobody who plays beside it, on no order of playing and on no
number of processes. The numbers are those of `kille_env.core.rng`, for whole arrays.
"""

import numpy as np

from kille_env.core.rng import GOLDEN, mix


def derive(keys: np.ndarray | np.uint64, numbers: np.ndarray | int) -> np.ndarray:
    """Returns the keys of streams below keys, uint64; the two are broadcast."""
    with np.errstate(over="ignore"):
        steps = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN
        return mix(mix(np.asarray(keys, dtype=np.uint64)) + steps)


def deal_seeds(seed: int, num_players: int, deals: np.ndarray) -> np.ndarray:
    """Returns the seeds of deals at tables of a size, uint64 with the shape of `deals`."""
    return derive(derive(np.uint64(seed), num_players), deals)


def table_keys(deal_seeds: np.ndarray, seated: np.ndarray) -> np.ndarray:
    """Returns the keys of tables, by their deals and by who sits where.

    Args:
        deal_seeds: [N] uint64.
        seated: [N, P] uint64, the key of the entrant in each seat.

    Returns:
        [N] uint64.
    """
    keys = deal_seeds
    for seat in range(seated.shape[1]):
        keys = derive(keys, seated[:, seat])
    return keys


def chances(keys: np.ndarray) -> np.ndarray:
    """Returns a random number from 0 up to 1 for each key, [N] float64."""
    return (mix(keys) >> np.uint64(11)) * 2.0**-53
