"""A member of the population: a policy by name, for every table of its game."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kille_agents.rules_of_thumb import RuleOfThumb
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.policy import Policy, UniformPolicy

TRAIN, HELD_OUT = "train", "held_out"
SPLITS = (TRAIN, HELD_OUT, "all")


@dataclass(frozen=True)
class Bot:
    """A member of the population.

    Attributes:
        name: "game/habit".
        split: "train" or "held_out".
        what: What it does.
        make: Makes it for a number of seats and rules.
        made: How it was made.
    """

    name: str
    split: str
    what: str
    make: Callable[[int, Rules], Policy]
    made: str = "hand-written from its description; untuned"

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
        policy = self.make(num_players, rules)
        policy.name = self.name
        return policy


class Noisy:
    """A policy that does anything legal in a share of its decisions, else what another does."""

    name = "noisy"

    def __init__(self, policy: Policy, share: float) -> None:
        self.policy, self.share = policy, share

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the weighted mean of the two; see `Policy`."""
        anything = UniformPolicy().probabilities(observation, mask)
        return (1.0 - self.share) * self.policy.probabilities(
            observation, mask
        ) + self.share * anything


def by_habit(usual: type[RuleOfThumb], habit: str, split: str, what: str, /, **changes: Any) -> Bot:
    """Returns a bot that plays like a rule of thumb, but for what is changed.

    Args:
        usual: The rule of thumb.
        habit: What the bot is called behind "game/".
        split: "train" or "held_out".
        what: What it does.
        changes: Habits by phase, and what else the rule of thumb takes.
    """
    return Bot(f"{usual.game}/{habit}", split, what, partial(usual, **changes))


def noisy_bots(usual: type[RuleOfThumb], *, tipsy: str, drunk: str) -> tuple[Bot, Bot]:
    """Returns a game's rule of thumb with two amounts of noise.

    Args:
        usual: The rule of thumb.
        tipsy: Split of the one that plays anything in a fifth of its decisions.
        drunk: Split of the one that plays anything in half of them.
    """

    def noisy(habit: str, split: str, often: str, share: float) -> Bot:
        return Bot(
            f"{usual.game}/{habit}",
            split,
            f"the rule of thumb, but every {often} decision is anything legal",
            lambda num_players, rules: Noisy(usual(num_players, rules), share),
        )

    return noisy("tipsy", tipsy, "fifth", 0.2), noisy("drunk", drunk, "second", 0.5)
