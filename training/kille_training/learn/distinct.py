"""Decisions that look alike, counted together.

Thousands of tables meet the same few observations again and again: a network that is asked once for
each distinct one, and learns from counts, does exactly the same work in a fraction of the time.
"""

from typing import NamedTuple

import numpy as np

from kille_env.core.jit import kernel
from kille_env.core.rng import mix


class Distinct(NamedTuple):
    """Which of N decisions look alike.

    Attributes:
        first: [K] int64, the first decision of each kind.
        kind: [N] int64, the kind of each decision, from 0 to K - 1.
    """

    first: np.ndarray
    kind: np.ndarray

    def total(self, action: np.ndarray, num_actions: int, worth: np.ndarray | None) -> np.ndarray:
        """Returns the sum over the decisions of each kind and action, [K, A] float64.

        Args:
            action: [N] int64, what was done.
            num_actions: A.
            worth: [N] what is summed; None counts.
        """
        size = len(self.first) * num_actions
        place = self.kind * num_actions + action
        return np.bincount(place, worth, size).reshape(-1, num_actions).astype(np.float64)


def distinct(observation: np.ndarray) -> Distinct:
    """Finds the decisions that look alike.

    Rows are compared by 64-bit digests: a hundred thousand kinds collide once in billions of calls.

    Args:
        observation: [N, F] uint8.
    """
    digest = np.empty(len(observation), dtype=np.uint64)
    _digest(observation, digest)
    _, first, kind = np.unique(digest, return_index=True, return_inverse=True)
    return Distinct(first, kind)


@kernel
def _digest(observation, digest):
    """Fills in a digest of each row; eight features at a time are mixed in."""
    eight = np.uint64(8)
    for row in range(len(digest)):
        key, word = np.uint64(0), np.uint64(0)
        for feature in range(observation.shape[1]):
            word = (word << eight) | np.uint64(observation[row, feature])
            if feature & 7 == 7:
                key, word = mix(key ^ word), np.uint64(0)
        digest[row] = mix(key ^ word)
