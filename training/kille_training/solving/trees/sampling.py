"""Monte Carlo CFR with external sampling for games whose tree does not fit into memory.

The game is a Python function, as for `build.flatten`, and is asked only about the states that are
visited; what is remembered grows with the information sets that have been met. For a game that does
fit, `mccfr` does the same over its flat tree, compiled.

Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive
games", NIPS 2009. Averages come from walks of their own, in which the others choose evenly: so an
information set counts as often as its player's own choices lead there, however many players there
are.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_training.solving.trees.build import Choice, Draw, Over

Key = tuple[int, Hashable]
"""An information set: who decides, and all that he knows."""


class SampledCFR:
    """Regret minimisation over sampled states.

    Attributes:
        iteration: Iterations so far; each visits the game twice for every player.
    """

    def __init__(
        self,
        root: Any,
        expand: Callable[[Any], Over | Draw | Choice],
        num_players: int,
        seed: int = 0,
    ) -> None:
        """Begins with every action equally likely.

        Args:
            root: The state in which the game begins.
            expand: Says of a state who decides and what may come, see `build.flatten`.
            num_players: P.
            seed: Of the draws, at least 0.
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise KilleError(f"a seed is a whole number from 0, and not {seed!r}")
        self.iteration = 0
        self._root, self._expand, self._num_players = root, expand, num_players
        self._rng = np.random.default_rng(seed)
        self._regrets: dict[Key, np.ndarray] = {}
        self._averages: dict[Key, np.ndarray] = {}

    def run(self, iterations: int) -> None:
        """Goes on for a number of iterations."""
        for _ in range(iterations):
            for player in range(self._num_players):
                self._learn(player)
                self._note(player)
            self.iteration += 1

    @property
    def information_sets(self) -> int:
        """How many have been met so far."""
        return len(self._regrets)

    def average(self, player: int, knows: Hashable) -> np.ndarray | None:
        """Returns the average strategy of an information set; None where it has none yet."""
        weights = self._averages.get((player, knows))
        return None if weights is None else weights / weights.sum()

    def _learn(self, player: int) -> None:
        """Visits all actions of a player, one of everybody else's, and counts his regrets."""
        waiting: list[tuple[Key, np.ndarray, Choice, list[float]]] = []
        state = self._root
        while True:
            found = self._expand(state)
            if isinstance(found, Choice) and found.player == player:
                key, strategy = self._strategy(found)
                waiting.append((key, strategy, found, []))
                state = found.states[0]
                continue
            if not isinstance(found, Over):
                state = self._follow(found)
                continue
            value = float(found.payoff[player])
            while waiting:
                key, strategy, choice, values = waiting[-1]
                values.append(value)
                if len(values) < len(choice.states):
                    state = choice.states[len(values)]
                    break
                waiting.pop()
                worth = np.array(values)
                value = float(strategy @ worth)
                self._regrets[key] += worth - value
            else:
                return

    def _note(self, player: int) -> None:
        """Adds a player's strategy to his average where his own choices lead."""
        found = self._expand(self._root)
        while not isinstance(found, Over):
            if isinstance(found, Draw):
                state = self._follow(found)
            elif found.player == player:
                key, strategy = self._strategy(found)
                weights = self._averages.setdefault(key, np.zeros(len(strategy)))
                weights += strategy
                state = found.states[_drawn(strategy, self._rng.random())]
            else:
                state = found.states[int(self._rng.integers(len(found.states)))]
            found = self._expand(state)

    def _follow(self, found: Draw | Choice) -> Any:
        """Draws what chance brings, or what a player does by his strategy."""
        if isinstance(found, Draw):
            chances = np.asarray(found.probabilities, dtype=np.float64)
        else:
            _, chances = self._strategy(found)
        return found.states[_drawn(chances, self._rng.random())]

    def _strategy(self, found: Choice) -> tuple[Key, np.ndarray]:
        """Returns an information set and its strategy by regret matching, [A]."""
        key, actions = (found.player, found.knows), len(found.states)
        regrets = self._regrets.setdefault(key, np.zeros(actions))
        if len(regrets) != actions:
            raise KilleError(
                f"player {found.player} has {actions} actions at one state and {len(regrets)} at "
                f"another where he knows the same: {found.knows!r}"
            )
        positive = np.maximum(regrets, 0.0)
        total = positive.sum()
        return key, positive / total if total > 0 else np.full(actions, 1.0 / actions)


def _drawn(chances: np.ndarray, number: float) -> int:
    """Returns the place that a number from 0 to 1 falls on, never one of chance 0."""
    cumulative = np.cumsum(chances)
    place = int(np.searchsorted(cumulative, number * cumulative[-1], side="right"))
    return min(place, int(np.flatnonzero(chances)[-1]))
