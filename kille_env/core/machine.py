"""Instructions of the processor for kernels: count bits, spread them, fetch ahead.

Here each is a function of plain Python, which says what it does and does it where kernels are not
compiled. In compiled code it is an instruction or two; `kille_env.core.compiler` says which.
"""

from typing import Any

import numpy as np


def bits_set(word: Any) -> int:
    """Return how many bits of a word are 1."""
    return int(word).bit_count()


def zeros_below(word: Any) -> int:
    """Return how many bits of a word are 0 below the lowest 1; 64 if there is none."""
    return (int(word) & -int(word)).bit_length() - 1 if word else 64


def zeros_above(word: Any) -> int:
    """Return how many bits of a word are 0 above the highest 1; 64 if there is none."""
    return 64 - int(word).bit_length()


def store_bits(word: Any, out: np.ndarray, at: Any) -> None:
    """Write each bit of a word as a byte, the lowest first."""
    bits = _bits(word)
    out[at : at + bits.size] = bits


def store_four(word: Any, out: np.ndarray, at: Any) -> None:
    """Write each of the four lowest bits of a word as a byte; otherwise as `store_bits`."""
    out[at : at + 4] = _bits(word)[:4]


def store_pairs(word: Any, out: np.ndarray, at: Any) -> None:
    """Write the sum of each pair of bits of a word as a byte; otherwise as `store_bits`."""
    sums = _bits(word).reshape(-1, 2).sum(axis=1)
    out[at : at + sums.size] = sums


def _bits(word: Any) -> np.ndarray:
    return np.array([int(word) >> i & 1 for i in range(8 * word.itemsize)], dtype=np.uint8)


def prefetch(array: np.ndarray, index: int) -> None:
    """Fetch `array[index]`, which will soon be written, into the caches, without waiting.

    Many tables do not fit into the caches, and a record has gaps that a step does not touch, so the
    processor does not guess which bytes come next.
    """
