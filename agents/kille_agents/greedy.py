"""Greedy versions of stochastic policies: always the most likely action."""

import numpy as np

from kille_env.errors import PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import (
    Decider,
    Player,
    Policy,
    check_probabilities,
    has_memory,
    searches,
    tables_of,
)

PLAYS = ("greedy", "sampled")
"""How a policy chooses: the most likely action, or one drawn by its probabilities."""


def in_play(player: Player, play: str) -> Player:
    """Returns a player that chooses in one of the ways of `PLAYS`.

    Raises:
        PolicyError: There is no such way.
    """
    if play not in PLAYS:
        raise PolicyError(f"play is {play!r}, expected one of {', '.join(PLAYS)}")
    if play == "sampled":
        return player
    needs_more = has_memory(player) or searches(player)
    return GreedyDecider(player) if needs_more else Greedy(player)  # type: ignore[arg-type]


class Greedy:
    """Greedy version of a stochastic policy: its most likely action, the first of equals."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, policy.name
        self.tables = tables_of(policy)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 for the most likely action and 0 for the others, [N, A] float64.

        Raises:
            PolicyError: The policy returned what is no distribution over the legal actions.
        """
        return _one_hot(self.name, self.policy.probabilities(observation, mask), mask)


class GreedyDecider:
    """Greedy version of a policy that looks ahead or remembers."""

    def __init__(self, policy: Decider) -> None:
        self.policy, self.name = policy, policy.name
        self.tables = tables_of(policy)
        self.remembers = getattr(policy, "remembers", False)
        self.keyless = getattr(policy, "keyless", False)
        self.memory_size = getattr(policy, "memory_size", 0)

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Returns 1 for the most likely action and 0 for the others, [M, A] float64."""
        return _one_hot(self.name, self.policy.decide(decisions), decisions.mask)


def _one_hot(name: str, probabilities: np.ndarray, mask: np.ndarray) -> np.ndarray:
    check_probabilities(name, probabilities, mask)
    return np.eye(mask.shape[1])[probabilities.argmax(axis=1)]
