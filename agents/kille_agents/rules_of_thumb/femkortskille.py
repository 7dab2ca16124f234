"""The rule of thumb of Femkortskille: keep the highest card for the fifth trick.

The reasons:

1. *The highest card left wins the fifth trick*, so a hand is as good as its highest card; the
   second and third only keep it from being forced out early.
2. *Knock with a high card, with a higher one the more have knocked before*: each of them has one
   too. Without it, check while that is free, and fold when it is not.
3. *Lead the lowest card, and head with the lowest that does.* Leading high pulls the high cards,
   one's own among them. What cannot head goes from the bottom as well.
"""

from typing import ClassVar

import numpy as np

from kille_agents.rules_of_thumb.choices import first_one, wanted_if
from kille_agents.rules_of_thumb.habits import Habit, Seen, do_if, measured_by
from kille_agents.rules_of_thumb.kille_hands import follow_low_lead_high, rank
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.core.jit import kernel
from kille_env.tricktaking.tricks import HAND

SECOND, THIRD = 0.3, 0.1  # what the next cards count beside the highest
KNOCK = 20.0  # worth to knock with: for example a kavall with a lilja 10 and a lilja 5
EACH_KNOCKER = 1.0  # and so much more for each seat that has knocked

READS = ("phase", "hand", "highest", "knockers")
PHASE, HELD, HIGHEST, KNOCKERS = range(1, 5)
SPEAK = 0  # of the observation's phases
KNOCKING, FIRST_CARD = 0, 3


def knock_with(more: float) -> Habit:
    """Return the habit of knocking with so much more in hand than the rule of thumb wants."""
    return do_if("knock", lambda seen: enough(seen, more))


def enough(seen: Seen, more: float = 0.0) -> np.ndarray:
    """Return whether a hand is worth so much more than the rule of thumb knocks with, [n] bool."""
    return worth(seen) >= KNOCK + more + EACH_KNOCKER * seen["knockers"][:, 0]


@kernel
def choose(seen, mask, numbers, _uniform):
    """Choose an action by the reasons above."""
    if first_one(seen, numbers[PHASE], 2) == SPEAK:
        bar = KNOCK + EACH_KNOCKER * seen[numbers[KNOCKERS]]
        return wanted_if(mask, KNOCKING, _worth(seen, numbers) >= bar)
    return follow_low_lead_high(seen, mask, numbers[HIGHEST], FIRST_CARD, -1)


@kernel
def _worth(seen, numbers):
    """Return the rank of the highest card of a hand, with a little of the next two."""
    first = second = third = 0
    for slot in range(HAND):
        held = rank(seen, numbers[HELD], slot)
        if held > first:
            first, second, third = held, first, second
        elif held > second:
            second, third = held, second
        elif held > third:
            third = held
    return first + SECOND * second + THIRD * third


worth = measured_by(_worth)


class FemkortskilleRuleOfThumb(RuleOfThumb):
    """Play Femkortskille; see the module's text for the reasons."""

    game = "femkortskille"
    what = "knocks with a high hand, keeps the highest card for the fifth trick"
    chooses: ClassVar = choose
    reads: ClassVar = READS
