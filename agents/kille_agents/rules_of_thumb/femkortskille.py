"""The rule of thumb of Femkortskille: keep the highest card for the fifth trick.

The reasons:

1. *The highest card left wins the fifth trick*, so a hand is as good as its highest card; the
   second and third only keep it from being forced out early.
2. *Knock with a high card, with a higher one the more have knocked before*: each of them has one
   too. Without it, check while that is free, and fold when it is not.
3. *Lead the lowest card, and head with the lowest that does.* Leading high pulls the high cards,
   one's own among them. What cannot head goes from the bottom as well.
"""

import numpy as np

from kille_agents.rules_of_thumb.kille_hands import ranks
from kille_agents.rules_of_thumb.rule_of_thumb import Parts, RuleOfThumb
from kille_env.tricktaking.tricks import TYPES

SECOND, THIRD = 0.3, 0.1  # what the next cards count beside the highest
KNOCK = 20.0  # worth to knock with: for example a kavall with a lilja 10 and a lilja 5
EACH_KNOCKER = 1.0  # and so much more for each seat that has knocked


class FemkortskilleRuleOfThumb(RuleOfThumb):
    """Plays Femkortskille; see the module's text for the reasons."""

    game = "femkortskille"
    what = "knocks with a high hand, keeps the highest card for the fifth trick"

    def choose(self, parts: Parts, legal: np.ndarray) -> np.ndarray:
        """Returns how much it wants each action, [N, A]."""
        act = self.action
        wishes = np.zeros(legal.shape)
        if legal[:, act["knock"]].any():
            enough = worth_of(parts) >= KNOCK + EACH_KNOCKER * parts["knockers"][:, 0]
            wishes[:, act["knock"]] = np.where(enough, 2.0, -1.0)
        wishes[:, act["check"]] = 1.0
        wishes[:, act["play BL"] :] = -np.arange(TYPES)
        return wishes


def worth_of(parts: Parts) -> np.ndarray:
    """Returns what a hand is worth, [N]: its highest card, and a little of the next two."""
    held = np.sort(ranks(parts["hand"]), axis=1)[:, ::-1].clip(min=0)
    return held[:, 0] + SECOND * held[:, 1] + THIRD * held[:, 2]
