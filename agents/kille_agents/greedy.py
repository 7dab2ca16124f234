"""Greedy versions of stochastic policies: always the most likely action."""

import numpy as np

from kille_env.errors import PolicyError
from kille_env.play.decisions import Determinizer
from kille_env.play.policy import (
    Player,
    Policy,
    Recurrent,
    Searcher,
    best_actions,
    check_probabilities,
    has_memory,
    searches,
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
    if has_memory(player):
        return GreedyRecurrent(player)  # type: ignore[arg-type]
    return GreedySearcher(player) if searches(player) else Greedy(player)  # type: ignore[arg-type]


class Greedy:
    """Greedy version of a stochastic policy: its most likely action, the first of equals."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, policy.name
        self.table = getattr(policy, "table", None)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 for the most likely action and 0 for the others, [N, A] float64.

        Raises:
            PolicyError: The policy returned what is no distribution over the legal actions.
        """
        return _one_hot(self.name, self.policy.probabilities(observation, mask), mask)


class GreedySearcher:
    """Greedy version of a searcher."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher, self.name = searcher, searcher.name
        self.table = getattr(searcher, "table", None)
        self.remembers = getattr(searcher, "remembers", False)
        self.keyless = getattr(searcher, "keyless", False)

    def search(self, determinizer: Determinizer) -> np.ndarray:
        """Returns 1 for the most likely action and 0 for the others, [M, A] float64."""
        return _one_hot(self.name, self.searcher.search(determinizer), determinizer.mask)


class GreedyRecurrent:
    """Greedy version of a recurrent player."""

    def __init__(self, player: Recurrent) -> None:
        self.player, self.name, self.memory_size = player, player.name, player.memory_size
        self.table = getattr(player, "table", None)

    def probabilities_with_memory(
        self, observation: np.ndarray, mask: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns 1 for the most likely action and 0 for the others, [N, A], and the memory."""
        found, after = self.player.probabilities_with_memory(observation, mask, memory)
        return _one_hot(self.name, found, mask), after


def _one_hot(name: str, probabilities: np.ndarray, mask: np.ndarray) -> np.ndarray:
    check_probabilities(name, probabilities, mask)
    return np.eye(mask.shape[1])[best_actions(probabilities)]
