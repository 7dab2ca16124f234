"""Likelihood of determinizations, by the decisions of the other seats in the deal so far.

A determinization is weighed with the probability that the others would have acted as they have, if
the cards lay as in it: the product of a policy's probabilities over their decisions.
Determinizations are then drawn again by their weights, so no time is lost on unlikely ones.
"""

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.keys import uniforms
from kille_env.play.decisions import Decisions, Past
from kille_env.play.policy import ObservationPolicy, check_probabilities, deterministic_kernel

_WEIGHING = np.uint64(0xBE11EF)
"""Keeps this drawing's random numbers apart from others of the same decision."""


def likely_determinizations(
    decisions: Decisions, number: int, candidates: int, policy: ObservationPolicy, doubt: float
) -> Batch:
    """Draw determinizations as likely as the others' actions make them, [M * K]."""
    drawn = None
    if deterministic_kernel(policy) is not None:
        logs = _log_agreements(decisions, number * candidates, policy, doubt)
    else:
        drawn, past = decisions.draw_with_past(number * candidates)
        logs = _log_probabilities(past, drawn.num_tables, policy, doubt)
        logs = logs.reshape(len(decisions), -1)
    # Only ratios matter; without the shift, products of many small numbers would vanish.
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    kept = _systematic(weights, number, decisions.keys)
    if drawn is None:
        return decisions.draw_chosen(kept)
    first = np.arange(len(decisions)) * number * candidates
    return drawn.take((first[:, None] + kept).ravel())


def _log_agreements(
    decisions: Decisions, number: int, policy: ObservationPolicy, doubt: float
) -> np.ndarray:
    """Return the same as `_log_probabilities`, [M, number], for a policy with a kernel."""
    which, agrees, legal = decisions.weigh(number, policy)
    mixed = (1.0 - doubt) * agrees + doubt / np.maximum(legal, 1)
    logs = np.zeros((len(decisions), number))
    np.add.at(logs, which, np.where(legal > 0, np.log(mixed), 0.0))
    return logs


def _log_probabilities(
    past: Past, number: int, policy: ObservationPolicy, doubt: float
) -> np.ndarray:
    """Return the log probability of the others' actions in each determinization, [number]."""
    logs = np.zeros(number)
    legal = past.mask.sum(axis=1)
    possible = np.flatnonzero(legal > 0)
    if len(possible):
        mask = past.mask[possible]
        answers = np.asarray(policy.probabilities(past.observation[possible], mask))
        check_probabilities(policy.name, answers, mask)
        taken = answers[np.arange(len(possible)), past.action[possible]]
        # Without doubt, an action that the policy never takes would rule out every determinization.
        mixed = (1.0 - doubt) * taken + doubt / legal[possible]
        np.add.at(logs, past.determinization[possible], np.log(mixed))
    return logs


def _systematic(weights: np.ndarray, number: int, keys: np.ndarray) -> np.ndarray:
    """Draw indices by weight, each as often as its share of `number`, rounded up or down."""
    cumulative = np.cumsum(weights, axis=1)
    # Systematic resampling: one random number for all points, which lowers the variance.
    start = uniforms(keys ^ _WEIGHING)
    points = (start[:, None] + np.arange(number)) / number * cumulative[:, -1:]
    indices = [
        np.searchsorted(row, at, side="right") for row, at in zip(cumulative, points, strict=True)
    ]
    return np.minimum(np.array(indices), weights.shape[1] - 1)  # a point may be rounded up
