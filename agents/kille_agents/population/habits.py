"""Policies made of habits: what a bot does in a phase of a game, and the rule of thumb otherwise.

A habit says how much a bot wants each action; the bot plays the legal action that it wants most,
the first of equals.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kille_env.core.spec import GameSpec, Rules, width
from kille_env.policy import Policy, UniformPolicy, check_shapes
from kille_env.registry import spec


@dataclass(frozen=True)
class Seen:
    """Decisions of one phase, as the seats to act see them.

    Attributes:
        observation: [n, F] uint8.
        legal: [n, A] bool.
        parts: Where the parts of an observation lie.
        action: Numbers of the actions by name.
        rules: The table's rules.
        num_players: Its seats.
    """

    observation: np.ndarray
    legal: np.ndarray
    parts: Mapping[str, slice]
    action: Mapping[str, int]
    rules: Rules
    num_players: int

    def __len__(self) -> int:
        """Number of decisions."""
        return len(self.observation)

    def __getitem__(self, part: str) -> np.ndarray:
        """Returns a part of the observations, [n, size]."""
        return self.observation[:, self.parts[part]]

    def wishes(self, **by_action: np.ndarray | float) -> np.ndarray:
        """Returns wishes [n, A]: 0 but for the actions that are named."""
        wished = np.zeros(self.legal.shape)
        for name, wish in by_action.items():
            wished[:, self.action[name]] = wish
        return wished

    def before(self, asked: str) -> np.ndarray:
        """Returns how far to the right the nearest seat is that has a 1 in a part [P], [n].

        1 is the right neighbour; 0 if there is no such seat.
        """
        others = self[asked][:, :0:-1] != 0
        return np.where(others.any(axis=1), others.argmax(axis=1) + 1, 0)

    def of_seat(self, part: str, steps: np.ndarray) -> np.ndarray:
        """Returns the entry of a part [P] of the seat so many steps to the right, [n]."""
        return self[part][np.arange(len(self)), -steps]


Habit = Callable[[Seen], np.ndarray]
"""How much a bot wants each action: [n, A], for the decisions of a phase."""


class HabitPolicy:
    """Plays by its habits, and otherwise like another policy.

    Attributes:
        name: What tables and reports call it.
    """

    def __init__(
        self,
        name: str,
        num_players: int,
        rules: Rules,
        otherwise: Policy,
        habits: Mapping[str, Habit],
    ) -> None:
        """Reads where the observation's parts lie.

        Args:
            name: Its name.
            num_players: Seats of the table.
            rules: Its rules.
            otherwise: What plays in the other phases.
            habits: Its habits by phase, named as in the game's `phases`.
        """
        game: GameSpec = spec(rules.game)
        self.name, self.rules, self.num_players = name, rules, game.check_players(num_players)
        self.otherwise = otherwise
        layout = game.observation(self.num_players)
        self._width = width(layout)
        self._parts = {part.name: part.slice for part in layout}
        self._action = {text: number for number, text in enumerate(game.actions)}
        first = len(game.phases) - next(part.size for part in layout if part.name == "phase")
        self._habits = {game.phases.index(phase) - first: habits[phase] for phase in habits}

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 for what it does by habit, else what the other policy does; see `Policy`."""
        check_shapes(self.name, observation, mask, self._width, len(self._action))
        phase = observation[:, self._parts["phase"]]
        chances = np.zeros(mask.shape, dtype=np.float64)
        rest = np.ones(len(mask), dtype=np.bool_)
        for number, habit in self._habits.items():
            rows = np.flatnonzero(phase[:, number])
            if not len(rows):
                continue
            rest[rows] = False
            legal = mask[rows] != 0
            seen = Seen(
                observation[rows], legal, self._parts, self._action, self.rules, self.num_players
            )
            chances[rows, np.where(legal, habit(seen), -np.inf).argmax(axis=1)] = 1.0
        if rest.all():
            return self.otherwise.probabilities(observation, mask)
        if rest.any():
            chances[rest] = self.otherwise.probabilities(observation[rest], mask[rest])
        return chances


class Mixed:
    """Plays one of two policies at every decision, at random.

    Attributes:
        name: What tables and reports call it.
    """

    def __init__(self, name: str, often: Policy, now_and_then: Policy, share: float) -> None:
        """Mixes two policies.

        Args:
            name: Its name.
            often: What it mostly plays.
            now_and_then: What it plays in `share` of its decisions.
            share: From 0 to 1.
        """
        self.name, self.often, self.now_and_then, self.share = name, often, now_and_then, share

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the weighted mean of the two; see `Policy`."""
        mostly = self.often.probabilities(observation, mask)
        sometimes = self.now_and_then.probabilities(observation, mask)
        return (1.0 - self.share) * mostly + self.share * sometimes


class Renamed:
    """Another policy under a name of its own.

    Attributes:
        name: What tables and reports call it.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        self.name, self.policy = name, policy

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns what the other policy does; see `Policy`."""
        return self.policy.probabilities(observation, mask)


Maker = Callable[[str, int, Rules], Policy]
"""Makes a policy of a name for a number of seats and rules."""
Usual = Callable[[int, Rules], Policy]
"""Makes the rule of thumb of a game."""


def by_habit(otherwise: Usual, **habits: Habit) -> Maker:
    """Returns a maker of a policy with these habits, by phase."""
    return lambda name, num_players, rules: HabitPolicy(
        name, num_players, rules, otherwise(num_players, rules), habits
    )


def noisy(otherwise: Usual, share: float) -> Maker:
    """Returns a maker of a policy that does anything legal in a share of its decisions."""
    return lambda name, num_players, rules: Mixed(
        name, otherwise(num_players, rules), UniformPolicy(), share
    )


def always(**by_action: float) -> Habit:
    """Returns the habit of wanting the same actions whatever is seen."""
    return lambda seen: seen.wishes(**by_action)
