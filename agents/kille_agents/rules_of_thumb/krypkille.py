"""The rule of thumb of Krypkille: creep with a low card, get rid of the high ones.

The reasons:

1. *A good hand is one low card and high ones beside it.* A seat that cannot head a trick gives up
   its lowest card; so the middle cards are discarded, the lowest of them first, and the high ones
   keep the low one safe. Of two lowest cards both stay: one can be given up, and no other seat can
   have an equal one.
2. *Lead the highest card.* The others must head it or give up their lowest, the kille is gone
   before it can be charged, and the winner leads again.
3. *Declare when all the others most likely hold a higher card* (or an equal one, where that does
   not beat a declarer). The tricks tell in which range a card of theirs must lie. Passing with the
   lowest card costs something too if no seat declares; where it does not, it wants to be nearly
   sure.
"""

from typing import ClassVar

from kille_agents.rules_of_thumb.choices import first_one, wanted_if
from kille_agents.rules_of_thumb.habits import Habit, do_if, measured_by
from kille_agents.rules_of_thumb.kille_hands import (
    card_by_rank,
    exchange,
    rank,
)
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.core.jit import kernel

EXCHANGED = 18  # a card that is not the lowest is discarded if it ranks lower than this: a husar
DECLARE, DECLARE_FREELY = 0.7, 0.95  # how likely the last card has to be the lowest

READS = (
    "phase", "hand", "equal", "in_play", "at_least", "below", "may_hold", "may_be_lower",
)  # fmt: skip
PHASE, HELD, EQUAL, IN_PLAY, AT_LEAST, BELOW, MAY_HOLD, MAY_BE_LOWER = range(1, 9)
TIE_BEATS, PASS_COSTS = 9, 10
DISCARD, LEAD = 0, 1  # of the observation's phases
DECLARING, FIRST_DISCARD, FIRST_CARD = 0, 2, 34


def declare_when(sure: float) -> Habit:
    """Return the habit of declaring a card with at least this probability of being the lowest."""
    return do_if("declare", lambda seen: chance_of_lowest(seen) >= sure)


@kernel
def choose(seen, mask, numbers, _uniform):
    """Choose an action by the reasons above."""
    phase = first_one(seen, numbers[PHASE], 3)
    if phase == DISCARD:
        return exchange(seen, mask, numbers[HELD], FIRST_DISCARD, FIRST_CARD, EXCHANGED)
    if phase == LEAD:
        return card_by_rank(mask, FIRST_CARD, 1)
    sure = DECLARE if numbers[PASS_COSTS] else DECLARE_FREELY
    return wanted_if(mask, DECLARING, _chance_of_lowest(seen, numbers) >= sure)


@kernel
def _chance_of_lowest(seen, numbers):
    """Return the probability that no other seat holds a card that beats its lowest."""
    # Equal cards count where the range of a seat's cards allows them.
    own = rank(seen, numbers[HELD], 0)
    chance = 1.0
    for seat in range(1, numbers[0]):
        if seen[numbers[IN_PLAY] + seat]:
            beats = float(seen[numbers[MAY_BE_LOWER] + seat])
            fits = seen[numbers[AT_LEAST] + seat] <= own < seen[numbers[BELOW] + seat]
            if fits and numbers[TIE_BEATS]:
                beats += seen[numbers[EQUAL]]
            number = max(float(seen[numbers[MAY_HOLD] + seat]), 1.0)
            chance *= 1.0 - min(beats / number, 1.0)
    return chance


chance_of_lowest = measured_by(_chance_of_lowest)


class KrypkilleRuleOfThumb(RuleOfThumb):
    """Play Krypkille; see the module's text for the reasons."""

    game = "krypkille"
    what = (
        "keeps one low card and high ones beside it; leads the highest card, declares when all the "
        "others most likely hold a higher one"
    )
    chooses: ClassVar = choose
    reads: ClassVar = READS

    def settings(self) -> list[int]:
        """Return whether a tie beats a declarer, and whether a pass costs."""
        return [int(bool(self.rules[name])) for name in ("tie_beats_declarer", "allpass_lowest")]
