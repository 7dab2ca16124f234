"""A member of the population: a policy by name, for every table of its game."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kille_agents.rules_of_thumb import RuleOfThumb
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.policy import ObservationPolicy, tables_of, with_uniform

TRAIN, HELD_OUT = "train", "held_out"
SPLITS = (TRAIN, HELD_OUT, "all")
BY_HAND = "hand-written from its description; untuned"
Make = Callable[..., ObservationPolicy]  # makes a policy for a number of seats and rules


@dataclass(frozen=True)
class Bot:
    """A member of the population.

    Attributes:
        name: "game/habit".
        split: "train" or "held_out".
        what: Its habit, in a sentence.
        make: Makes its policy for a table.
        made: How it was made.
    """

    name: str
    split: str
    what: str
    make: Make
    made: str

    @property
    def game(self) -> str:
        """The game that it plays."""
        return self.name.partition("/")[0]

    def player(self, num_players: int, rules: Rules) -> ObservationPolicy:
        """Return its policy for a table."""
        if rules.game != self.game:
            raise PolicyError(
                f"{self.name} plays {self.game}, not {rules.game}; "
                f"`kille players {rules.game}` lists the players that do"
            )
        policy = self.make(num_players, rules)
        policy.name = self.name
        return policy


Draft = Callable[[type[RuleOfThumb], str], Bot]


class Noisy(ObservationPolicy):
    """A policy that mixes another one with uniform play."""

    name = "noisy"

    def __init__(self, policy: ObservationPolicy, share: float) -> None:
        self.policy, self.share = policy, share
        self.tables = tables_of(policy)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the weighted mean of the two; see `Policy`."""
        return with_uniform(self.policy.probabilities(observation, mask), mask, self.share)


def draft(
    split: str,
    what: str,
    *,
    make: Make | None = None,
    noise: float = 0.0,
    made: str = BY_HAND,
    **changes: Any,
) -> Draft:
    """Return a function that makes a bot of a game's rule of thumb and a name."""

    def bot(usual: type[RuleOfThumb], habit: str) -> Bot:
        def policy(num_players: int, rules: Rules) -> ObservationPolicy:
            found = (make or usual)(num_players, rules, **changes)
            return Noisy(found, noise) if noise else found

        return Bot(f"{usual.game}/{habit}", split, what, policy, made)

    return bot


train, held_out = partial(draft, TRAIN), partial(draft, HELD_OUT)


def bots_of(usual: type[RuleOfThumb], **drafts: Draft) -> tuple[Bot, ...]:
    """Return the bots of the game that a rule of thumb plays, named by the keywords."""
    return tuple(make(usual, habit) for habit, make in drafts.items())
