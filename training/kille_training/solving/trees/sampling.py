"""Monte Carlo CFR with external sampling, for games whose tree does not fit into memory.

The game is a Python function, as for `build.flatten`, and is asked only about the states that are
visited; memory grows with the information sets that have been met.

Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive
games", NIPS 2009. Averages come from separate walks in which the others play uniformly: so an
information set counts as often as its player's own choices lead there, however many players there
are.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_training.solving.trees.build import (
    Chance,
    Decision,
    Expand,
    Terminal,
    differing_actions,
)

Key = tuple[int, Hashable]
"""An information set: the player that decides, and its information."""


class SampledCFR:
    """Regret minimisation over sampled states.

    Attributes:
        iteration: Iterations so far; each visits the game twice for every player.
    """

    def __init__(self, root: Any, expand: Expand, num_players: int, seed: int = 0) -> None:
        """Begins with uniform play.

        Args:
            root: The first state of the game.
            expand: Returns who decides at a state, and the states that can follow; see
                `build.flatten`.
            num_players: P.
            seed: Of the samples, at least 0.
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise KilleError(f"a seed is a whole number from 0, and not {seed!r}")
        self.iteration = 0
        self._root, self._expand, self._num_players = root, expand, num_players
        self._rng = np.random.default_rng(seed)
        self._regrets: dict[Key, np.ndarray] = {}
        self._averages: dict[Key, np.ndarray] = {}

    def run(self, iterations: int) -> None:
        """Does a number of iterations; how they are split into runs does not matter."""
        for _ in range(iterations):
            for player in range(self._num_players):
                self._learn(player)
                self._add_to_average(player)
            self.iteration += 1

    @property
    def information_sets(self) -> int:
        """The number of information sets met so far."""
        return len(self._regrets)

    def average(self, player: int, information: Hashable) -> np.ndarray | None:
        """Returns the average strategy of an information set; None where there is none yet."""
        weights = self._averages.get((player, information))
        return None if weights is None else weights / weights.sum()

    def _learn(self, player: int) -> None:
        """Visits all actions of a player and one sampled action of the others; adds its regrets."""
        waiting: list[tuple[Key, np.ndarray, Decision, list[float]]] = []
        state = self._root
        while True:
            found = self._expand(state)
            if isinstance(found, Decision) and found.player == player:
                key, strategy = self._strategy(found)
                waiting.append((key, strategy, found, []))
                state = found.states[0]
                continue
            if not isinstance(found, Terminal):
                state = self._sample(found)
                continue
            value = float(found.payoff[player])
            while waiting:
                key, strategy, decision, values = waiting[-1]
                values.append(value)
                if len(values) < len(decision.states):
                    state = decision.states[len(values)]
                    break
                waiting.pop()
                worth = np.array(values)
                value = float(strategy @ worth)
                self._regrets[key] += worth - value
            else:
                return

    def _add_to_average(self, player: int) -> None:
        """Adds a player's strategy to its average along one walk."""
        found = self._expand(self._root)
        while not isinstance(found, Terminal):
            if isinstance(found, Chance):
                state = self._sample(found)
            elif found.player == player:
                key, strategy = self._strategy(found)
                weights = self._averages.setdefault(key, np.zeros(len(strategy)))
                weights += strategy
                state = found.states[_pick(strategy, self._rng.random())]
            else:
                state = found.states[int(self._rng.integers(len(found.states)))]
            found = self._expand(state)

    def _sample(self, found: Chance | Decision) -> Any:
        """Samples the next state: from chance, or from a player's strategy."""
        if isinstance(found, Chance):
            chances = np.asarray(found.probabilities, dtype=np.float64)
        else:
            _, chances = self._strategy(found)
        return found.states[_pick(chances, self._rng.random())]

    def _strategy(self, found: Decision) -> tuple[Key, np.ndarray]:
        """Returns an information set and its strategy by regret matching, [A]."""
        key, actions = (found.player, found.information), len(found.states)
        regrets = self._regrets.setdefault(key, np.zeros(actions))
        if len(regrets) != actions:
            raise differing_actions(found, len(regrets))
        positive = np.maximum(regrets, 0.0)
        total = positive.sum()
        return key, positive / total if total > 0 else np.full(actions, 1.0 / actions)


def _pick(chances: np.ndarray, number: float) -> int:
    """Returns the place that a number from 0 to 1 falls on, never one of probability 0."""
    cumulative = np.cumsum(chances)
    place = int(np.searchsorted(cumulative, number * cumulative[-1], side="right"))
    return min(place, int(np.flatnonzero(chances)[-1]))
