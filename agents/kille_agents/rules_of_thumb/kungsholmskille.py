"""The rule of thumb of Kungsholmskille: high cards to play, one low card to show.

The reasons:

1. *A good hand is one low card and high ones beside it.* A seat that cannot head a trick has to
   give up its lowest card, so that is kept only as long as the others head. A hand is as strong as
   the mean of its other cards stands above its lowest.
2. *Knock with a fair hand, stay with less*: the antes are in the pot already, and with new cards
   any seat can win them.
3. *Exchange what is neither*: whatever is not the lowest and ranks below a kavall, the lowest of it
   first. Of two lowest cards both stay: one can be given up to a trick, and no other seat can have
   an equal one.
4. *Lead the highest card.* It makes the others give up a card that heads it or their lowest one,
   and the winner leads again. Following, head with the lowest card that does: the high ones will be
   needed.
5. *Show when all the others most likely hold a higher card.* What a seat can still hold is known
   from the tricks: where it could not head, its cards lie between the one that it gave up and the
   one that it could not head. With two at the table more certainty is wanted than with more,
   because a pass hands the word to one other seat only.
"""

from typing import ClassVar

import numpy as np

from kille_agents.rules_of_thumb.choices import count, first_one, wanted
from kille_agents.rules_of_thumb.habits import Habit, measured_by
from kille_agents.rules_of_thumb.kille_hands import (
    exchange,
    follow_low_lead_high,
    rank,
)
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.cards.pack import TYPES
from kille_env.core.jit import kernel
from kille_env.tricktaking.tricks import HAND

KNOCK, STAY = 5.0, 3.0  # strength to knock and to stay with, in ranks
EXCHANGED = 16  # a card that is not the lowest is exchanged if it ranks lower than this: a kavall
SHOW, SHOW_OF_TWO = 0.6, 0.8  # how likely the last card has to be the lowest

READS = ("phase", "hand", "seen", "highest", "in_play", "at_least", "below")
PHASE, HELD, SEEN, HIGHEST, IN_PLAY, AT_LEAST, BELOW = range(1, 8)
BUD1, FOLD, EXCHANGE, BUD2, PLAY = range(5)  # of the observation's phases
KNOCKING, STAYING, SHOWING, FIRST_DISCARD, FIRST_CARD = 1, 2, 4, 5, 21


def knock_with(bar: float) -> Habit:
    """Return the habit of knocking with a hand that is stronger than this."""
    return lambda seen: seen.wishes(knock=strength(seen) - bar)


def stay_with(bar: float) -> Habit:
    """Return the habit of staying with a hand at least so strong."""
    return lambda seen: seen.wishes(stay=strength(seen) - bar)


def show_when(sure: float) -> Habit:
    """Return the habit of showing a card with at least this probability of being the lowest."""
    return lambda seen: seen.wishes(show=chance_of_lowest(seen) - sure)


@kernel
def choose(seen, mask, numbers, _uniform):
    """Choose an action by the reasons above."""
    phase = first_one(seen, numbers[PHASE], 6)
    if phase in (BUD1, BUD2):
        return wanted(mask, KNOCKING, _strength(seen, numbers) - KNOCK)
    if phase == FOLD:
        return wanted(mask, STAYING, _strength(seen, numbers) - STAY)
    if phase == EXCHANGE:
        return exchange(seen, mask, numbers[HELD], FIRST_DISCARD, FIRST_CARD, EXCHANGED)
    if phase == PLAY:
        return follow_low_lead_high(seen, mask, numbers[HIGHEST], FIRST_CARD, 1)
    sure = SHOW_OF_TWO if count(seen, numbers[IN_PLAY], numbers[0]) == 2 else SHOW
    return wanted(mask, SHOWING, _chance_of_lowest(seen, numbers) - sure)


@kernel
def _strength(seen, numbers):
    """Return the mean rank of the other cards of a hand above its lowest."""
    total = others = 0
    for slot in range(1, HAND):
        held = rank(seen, numbers[HELD], slot)
        if held >= 0:
            total += held
            others += 1
    return total / max(others, 1) - rank(seen, numbers[HELD], 0)


@kernel
def _chance_of_lowest(seen, numbers):
    """Return the probability that all others hold a higher card than its lowest."""
    own = rank(seen, numbers[HELD], 0)
    chance = 1.0
    for seat in range(1, numbers[0]):
        if seen[numbers[IN_PLAY] + seat]:
            chance *= _chance_of_higher(seen, numbers, seat, own)
    return chance


@kernel
def _chance_of_higher(seen, numbers, seat, own):
    """Return the probability that the card of a seat is higher than a rank."""
    # All unseen cards in the seat's known range are taken to be equally likely; 1 if there are
    # none.
    possible = higher = 0
    low, high = seen[numbers[AT_LEAST] + seat], seen[numbers[BELOW] + seat]
    for kind in range(low, min(np.int64(high), TYPES)):
        unseen = 2 - np.int64(seen[numbers[SEEN] + kind])
        possible += unseen
        if kind > own:
            higher += unseen
    return higher / possible if possible > 0 else 1.0


strength = measured_by(_strength)
chance_of_lowest = measured_by(_chance_of_lowest)


class KungsholmskilleRuleOfThumb(RuleOfThumb):
    """Play Kungsholmskille; see the module's text for the reasons."""

    game = "kungsholmskille"
    what = "keeps one low card and high ones beside it; shows when it is most likely the lowest"
    chooses: ClassVar = choose
    reads: ClassVar = READS
