"""OpenSpiel's policies and bots as players. Importing this module imports OpenSpiel.

Such a player is asked about states of the games in `kille_env.adapters.open_spiel`. It sees the
table in a determinization: what its seat knows is true there, and what is hidden is drawn. So a
policy answers by its information state, and a bot that looks at hidden cards looks at others.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_env.adapters.open_spiel import KilleState, load, state_at
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.extras import needs
from kille_env.play.decisions import Decisions

with needs("openspiel"):
    import pyspiel


class OpenSpielPlayer:
    """A policy of OpenSpiel, of C++ or Python, or its bots, at our tables."""

    def __init__(self, player: Any, name: str = "") -> None:
        """Wrap a policy, a bot for all seats, or one bot for each seat."""
        self._players = list(player) if isinstance(player, Sequence) else [player]
        if len(self._players) == 1 and type(player) is pyspiel.Bot:
            raise PolicyError(
                "a bot that OpenSpiel makes for one player ends the process in another seat: pass "
                "one for each seat, forehand's first, as OpenSpielPlayer([bot0, bot1])"
            )
        self.name = name or type(self._players[0]).__name__  # what tables and reports call it
        # whether its answers depend on nothing random: those of a policy do not
        self.keyless = all(hasattr(each, "action_probabilities") for each in self._players)
        self._games: dict[tuple[str, int, Rules], Any] = {}

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the probability of each action, [M, A]; see `kille_env.play.policy.Policy`."""
        probabilities = np.zeros(decisions.mask.shape)
        # A determinization, not the table: a policy that looks at hidden cards looks at made-up
        # ones.
        tables = decisions.draw(1).tables
        table = decisions.game, decisions.num_players, decisions.rules
        if table not in self._games:
            self._games[table] = load(*table[:2], rules=table[2])
        for row in range(len(tables)):
            state = state_at(self._games[table], tables[row : row + 1])
            for action, chance in self._ask(state).items():
                probabilities[row, action] = chance
        return probabilities

    def _ask(self, state: KilleState) -> dict[int, float]:
        """Return the probability of actions at a state."""
        player = self._players[state.current_player() % len(self._players)]
        if not hasattr(player, "action_probabilities"):
            return {int(player.step(state)): 1.0}
        found = player.action_probabilities(state)
        if not found:
            raise PolicyError(
                f"{self.name} says nothing about {state.information_state_string()!r}; it needs to "
                f"be a policy of the game {state.get_game()}"
            )
        return found
