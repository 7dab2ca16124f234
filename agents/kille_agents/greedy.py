"""Greedy versions of stochastic policies: always the most likely action."""

import numpy as np

from kille_env.errors import PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import (
    ObservationPolicy,
    Policy,
    as_decider,
    check_probabilities,
    tables_inside,
)

PLAYS = ("greedy", "sampled")
"""Ways to select an action: the most likely one, or one drawn by its probability."""


def with_action_selection(policy: Policy, play: str) -> Policy:
    """Return a policy that selects actions in one of the ways of `PLAYS`."""
    if play not in PLAYS:
        raise PolicyError(f"play is {play!r}, expected one of {', '.join(PLAYS)}")
    policy = as_decider(policy)
    if play == "sampled":
        return policy
    return Greedy(policy) if isinstance(policy, ObservationPolicy) else GreedyDecider(policy)


class Greedy(ObservationPolicy):
    """Greedy version of a policy that answers by observation: the first most likely action."""

    def __init__(self, policy: ObservationPolicy) -> None:
        self.policy, self.name, self.tables = policy, policy.name, tables_inside(policy)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return 1 for the most likely action and 0 for the others, [N, A] float64."""
        return _one_hot(self.name, self.policy.probabilities(observation, mask), mask)


class GreedyDecider:
    """Greedy version of a policy that needs more than an observation."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name, self.tables = policy, policy.name, tables_inside(policy)
        self.remembers = getattr(policy, "remembers", False)
        self.keyless = getattr(policy, "keyless", False)

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return 1 for the most likely action and 0 for the others, [M, A] float64."""
        return _one_hot(self.name, self.policy.decide(decisions), decisions.mask)


def _one_hot(name: str, probabilities: np.ndarray, mask: np.ndarray) -> np.ndarray:
    check_probabilities(name, probabilities, mask)
    return np.eye(mask.shape[1])[probabilities.argmax(axis=1)]
