"""Which worlds are likely, by what the other seats have done in the deal so far.

A world is weighed with the chance that the others would have acted as they have, if the cards lay
as in it: the product over their decisions of what a policy says about them. Worlds are then drawn
again by their weights, so that no time is lost on unlikely ones.
"""

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.determinization import Determinizer, Past
from kille_env.core.keys import mix as scramble
from kille_env.policy import Policy, check_probabilities

BELIEFS = ("uniform", "policy")
"""All worlds are as likely, or as likely as the others' actions make them."""

_LOTS = np.uint64(0xBE11EF)


def likely_worlds(
    worlds: Determinizer, number: int, candidates: int, policy: Policy, doubt: float
) -> Batch:
    """Draws worlds as likely as the others' actions make them.

    Args:
        worlds: M decisions.
        number: K, worlds a decision.
        candidates: Worlds that are drawn for each that is kept.
        policy: Who the others are thought to be.
        doubt: How often they are thought to act at random.

    Returns:
        [M * K] tables, the K worlds of a decision beside each other; a likely one can be there
        more than once.
    """
    drawn, past = worlds.draw_with_past(number * candidates)
    chances = _log_chances(past, drawn.num_tables, policy, doubt).reshape(len(worlds), -1)
    weights = np.exp(chances - chances.max(axis=1, keepdims=True))
    kept = _systematic(weights, number, worlds.keys)
    first = np.arange(len(worlds)) * number * candidates
    return drawn.take((first[:, None] + kept).ravel())


def _log_chances(past: Past, number: int, policy: Policy, doubt: float) -> np.ndarray:
    """Returns the logarithm of how likely the others' actions were in each world, [number]."""
    chances = np.zeros(number)
    legal = past.mask.sum(axis=1)
    possible = np.flatnonzero(legal > 0)
    if len(possible):
        says = np.asarray(policy.probabilities(past.observation[possible], past.mask[possible]))
        check_probabilities(policy.name, says, past.mask[possible])
        said = says[np.arange(len(possible)), past.action[possible]]
        mixed = (1.0 - doubt) * said + doubt / legal[possible]
        np.add.at(chances, past.world[possible], np.log(mixed))
    return chances


def _systematic(weights: np.ndarray, number: int, keys: np.ndarray) -> np.ndarray:
    """Draws indices by weight, each as often as its share of `number`, rounded up or down.

    Args:
        weights: [M, C].
        number: K.
        keys: [M] uint64.

    Returns:
        [M, K] int64.
    """
    cumulative = np.cumsum(weights, axis=1)
    start = (scramble(keys ^ _LOTS) >> np.uint64(32)) / 2.0**32
    points = (start[:, None] + np.arange(number)) / number * cumulative[:, -1:]
    found = [
        np.searchsorted(row, at, side="right") for row, at in zip(cumulative, points, strict=True)
    ]
    return np.minimum(np.array(found), weights.shape[1] - 1)
