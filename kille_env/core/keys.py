"""Random numbers by key, for whole arrays.

A key is a 64-bit word that names a random stream: of a deal, a seat, a decision. Keys are derived
from keys, and a number is read off a key, so nothing depends on what else is played, on the order
of playing or on the number of processes. The words are those of `kille_env.core.rng`.
"""

import numpy as np

from kille_env.core import rng

_S11 = np.uint64(11)


def mix(words: np.ndarray | np.uint64) -> np.ndarray:
    """Return 64-bit words scrambled, uint64 of the same shape; a bijection."""
    # NumPy runs the plain function on whole arrays; the compiled one takes a single word.
    scramble = getattr(rng.mix, "py_func", rng.mix)
    return scramble(np.asarray(words, dtype=np.uint64))


def derive(keys: np.ndarray | np.uint64, numbers: np.ndarray | int) -> np.ndarray:
    """Return the keys of streams below keys, uint64; keys and numbers are broadcast."""
    with np.errstate(over="ignore"):  # 64-bit words wrap around, which is the point
        steps = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * rng.GOLDEN
        return mix(mix(keys) + steps)


def uniforms(keys: np.ndarray) -> np.ndarray:
    """Return a random number from 0 to below 1 for each key, float64 of the same shape."""
    # 53 bits fill the fraction of a float64 exactly, so no rounding can reach 1.
    return (mix(keys) >> _S11) * 2.0**-53


def deal_seeds(seed: int, num_players: int, deals: np.ndarray) -> np.ndarray:
    """Return the seeds of numbered deals.

    Everything that measures players takes its deals from here, so deal 17 of seed 3 has the same
    cards in an evaluation, a comparison and a tournament.
    """
    return derive(derive(np.uint64(seed), num_players), deals)
