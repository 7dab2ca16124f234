"""A member of the population: a policy by name, for every table of its game."""

from dataclasses import dataclass

from kille_agents.population.habits import Maker, noisy
from kille_agents.rules_of_thumb import RuleOfThumb
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


def noisy_bots(usual: type[RuleOfThumb], *, tipsy: str, drunk: str) -> tuple[Bot, Bot]:
    """Returns a game's rule of thumb with two amounts of noise.

    Args:
        usual: The rule of thumb.
        tipsy: Split of the one that plays anything in a fifth of its decisions.
        drunk: Split of the one that plays anything in half of them.
    """
    what = "the rule of thumb, but every {} decision is anything legal"
    return (
        Bot(f"{usual.game}/tipsy", tipsy, what.format("fifth"), noisy(usual, 0.2)),
        Bot(f"{usual.game}/drunk", drunk, what.format("second"), noisy(usual, 0.5)),
    )
