"""What the rules of thumb have in common: a habit for each phase of their game.

A rule of thumb plays what a sensible person plays without calculating; each file gives the reasons.
It is the mark that a trained policy has to beat.

With nothing but its usual habits it is a kernel too, if its game has one: the same choice for one
decision, so that loops can play its seats by themselves. Players with other ways have no kernel.
"""

from typing import Any, ClassVar

import numpy as np

from kille_agents.rules_of_thumb.habits import Habit, Seen
from kille_env.core.spec import Rules, width
from kille_env.errors import PolicyError
from kille_env.play.kernels import choices
from kille_env.play.policy import check_shapes
from kille_env.registry import Table, spec


class RuleOfThumb:
    """A policy that always plays the action that it wants most, by its habits.

    Attributes:
        name: What tables and reports call it.
        game: The game that it plays.
        what: What it does, in a sentence for its description.
        habits: Its usual habits by phase, named as in the game's `phases`.
        kernel: Chooses as they do, see `kille_env.play.policy.KernelPolicy`; None if there is none.
        reads: Parts of the observation whose places `numbers` begins with.
        num_players: Seats of its table.
        rules: Its rules.
        tables: Both, as a table; it is refused at others.
        deterministic: It is, see `kille_env.play.policy.KernelPolicy`.
    """

    name = "rule_of_thumb"
    game = ""
    what = ""
    habits: ClassVar[dict[str, Habit]] = {}
    kernel: ClassVar[Any] = None
    deterministic = True
    reads: ClassVar[tuple[str, ...]] = ()

    def __init__(self, num_players: int, rules: Rules, **instead: Habit) -> None:
        """Reads where the observation's parts lie.

        Args:
            num_players: Seats of the table.
            rules: Its rules.
            instead: Habits that replace its usual ones, by phase.

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
        self.tables = (Table.of(self.game, self.num_players, rules),)
        self._action = {text: number for number, text in enumerate(game.actions)}
        layout = game.observation(self.num_players)
        self._width = width(layout)
        self._parts = {part.name: part.slice for part in layout}
        phases = range(self._width)[self._parts["phase"]]
        columns = dict(zip(game.phases[-len(phases) :], phases, strict=True))
        # The usual habits stay with the class: they are functions, which cannot be pickled.
        self._instead, self._as_usual = instead, not instead
        self._columns = {phase: columns[phase] for phase in self.habits | instead}
        places = [self._parts[part].start for part in self.reads]
        self._numbers = np.array([self.num_players, *places, *self.settings()], dtype=np.int64)

    @property
    def numbers(self) -> np.ndarray:
        """What the kernel reads, [K] int64: P, the places of `reads`, and `settings`."""
        return self._numbers

    def settings(self) -> list[int]:
        """Returns what the kernel reads of this player's settings and rules."""
        return []

    @property
    def choose(self) -> Any:
        """The kernel, None where other habits may count than the usual ones: a subclass's, too."""
        return vars(type(self)).get("kernel") if self._as_usual else None

    def see(self, observation: np.ndarray) -> Seen:
        """Returns observations [n, F] as habits read them."""
        return Seen(observation, self._parts, self._action, self.rules)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 for what it does and 0 for everything else, [N, A]; see `Policy`."""
        check_shapes(self.name, observation, mask, self._width, len(self._action))
        if self.choose is None:
            return np.eye(mask.shape[1])[self.choose_by_habits(observation, mask)]
        return np.eye(mask.shape[1])[choices(self, observation, mask)]

    def choose_by_habits(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the legal action that it wants most, the first of equals, [N] int64."""
        wishes = np.zeros(mask.shape)
        for phase, habit in (self.habits | self._instead).items():
            rows = np.flatnonzero(observation[:, self._columns[phase]])
            if len(rows):
                wishes[rows] = habit(self.see(observation[rows]))
        return np.where(mask != 0, wishes, -np.inf).argmax(axis=1)
