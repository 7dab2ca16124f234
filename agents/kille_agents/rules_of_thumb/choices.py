"""How kernels read observations and choose among legal actions."""

import numpy as np

from kille_env.core.jit import kernel


@kernel
def count(seen, start, size):
    """Return the sum of a part of an observation."""
    total = 0
    for column in range(start, start + size):
        total += np.int64(seen[column])
    return total


@kernel
def wanted(mask, action, wish):
    """Return the legal action that is wanted most: one has a wish, the others have 0."""
    best, most = -1, -np.inf
    for other in range(mask.shape[0]):
        worth = wish if other == action else 0.0
        if mask[other] and worth > most:
            best, most = other, worth
    return best


@kernel
def wanted_if(mask, action, condition):
    """Return the action if the condition holds, else another legal one, if any."""
    return wanted(mask, action, 1.0 if condition else -1.0)


@kernel
def first_legal(mask, wanted):
    """Return the wanted action if it is legal, else the first that is."""
    if mask[wanted] != 0:
        return wanted
    for action in range(mask.shape[0]):
        if mask[action] != 0:
            return action
    return 0


@kernel
def first_one(seen, begin, size):
    """Return which feature of a part of an observation is the first that is not 0, -1 if none."""
    for k in range(size):
        if seen[begin + k] != 0:
            return k
    return -1
