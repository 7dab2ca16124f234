"""What the rules of thumb have in common: they read an observation by its parts.

A rule of thumb plays what a sensible person plays without calculating; each file gives the reasons.
It is the mark that a trained policy has to beat.
"""

from typing import Protocol

import numpy as np

from kille_env.core.spec import Rules, width
from kille_env.errors import PolicyError
from kille_env.policy import check_shapes
from kille_env.registry import spec


class Parts(Protocol):
    """Parts of observations by name, [N, size] each."""

    def __getitem__(self, part: str, /) -> np.ndarray:
        """Returns a part."""
        ...


class RuleOfThumb:
    """A policy that always plays the action that it wants most; see `choose`.

    Attributes:
        name: What tables and reports call it.
        game: The game that it plays.
        what: What it does, in a sentence for its description.
        num_players: Seats of its table.
        rules: Its rules.
    """

    name = "rule_of_thumb"
    game = ""
    what = ""

    def __init__(self, num_players: int, rules: Rules) -> None:
        """Reads where the observation's parts lie.

        Args:
            num_players: Seats of the table.
            rules: Its rules.

        Raises:
            PolicyError: The rules are another game's.
        """
        if rules.game != self.game:
            raise PolicyError(
                f"this rule of thumb plays {self.game}, not {rules.game}; "
                'load_policy("rule_of_thumb", ...) finds each game\'s own'
            )
        game = spec(self.game)
        self.num_players, self.rules = game.check_players(num_players), rules
        self.action = {text: number for number, text in enumerate(game.actions)}
        layout = game.observation(self.num_players)
        self._width = width(layout)
        self._parts = {part.name: part.slice for part in layout}

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 for what it does and 0 for everything else, [N, A]; see `Policy`."""
        check_shapes(self.name, observation, mask, self._width, len(self.action))
        parts = {name: observation[:, where] for name, where in self._parts.items()}
        legal = mask != 0
        wishes = np.where(legal, self.choose(parts, legal), -np.inf)
        chosen = np.zeros(mask.shape, dtype=np.float64)
        chosen[np.arange(len(mask)), wishes.argmax(axis=1)] = 1.0
        return chosen

    def choose(self, parts: Parts, legal: np.ndarray) -> np.ndarray:
        """Returns how much it wants each action, [N, A]; it takes the most wanted legal one.

        Args:
            parts: The parts of the observation by name, [N, size] each.
            legal: [N, A] bool.
        """
        raise NotImplementedError
