"""A member of the population: a policy by name, for every table of its game."""

from dataclasses import dataclass

from kille_agents.population.habits import Maker
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.policy import Policy

TRAIN, HELD_OUT = "train", "held_out"
SPLITS = (TRAIN, HELD_OUT, "all")
BY_HAND = "hand-written from its description; untuned"


@dataclass(frozen=True)
class Bot:
    """A member of the population.

    Attributes:
        name: "game/habit".
        split: "train" or "held_out".
        what: What it does.
        make: Makes it for a table, under a name.
        made: How it was made.
    """

    name: str
    split: str
    what: str
    make: Maker
    made: str = BY_HAND

    @property
    def game(self) -> str:
        """The game that it plays."""
        return self.name.partition("/")[0]

    def player(self, num_players: int, rules: Rules) -> Policy:
        """Returns its policy for a table.

        Raises:
            PolicyError: The rules are another game's.
        """
        if rules.game != self.game:
            raise PolicyError(
                f"{self.name} plays {self.game}, not {rules.game}; "
                f"`kille players {rules.game}` lists the players that do"
            )
        return self.make(self.name, num_players, rules)
