"""The rule of thumb of Knack: join with a trick in hand, and take it.

The reasons:

1. *Join with about a trick in hand.* The dealer pays a unit for each trick, but a seat that takes
   none pays three and the running bet. The highest trump that is out counts as a trick and each
   higher one that is missing takes something off; the highest card of another suit counts half,
   because it may be trumped. The more seats there are and the more have joined, the more is needed;
   of two, almost any hand will do.
2. *Lead trumps, and the highest card first*: it can be taken only while others hold a higher one.
   A card that is led face down is the one that is worth least.
3. *Take a trick when it can be taken*: with the lowest card that does if no seat comes after, with
   the highest otherwise. What cannot take goes from the bottom, trumps last.
"""

from typing import ClassVar

import numpy as np

from kille_agents.rules_of_thumb.choices import count, first_one, wanted
from kille_agents.rules_of_thumb.habits import Habit, Seen, measured_by
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.core.jit import kernel
from kille_env.games.knack.rules import RANKS

JOIN, EACH_SEAT, MOST = 0.1, 0.3, 1.0  # tricks to join with two, more for each further seat
EACH_JOINED = 0.1  # and so much more for each seat that has joined
TRUMP, MISSING_TRUMP = 1.0, 0.12  # tricks that the highest trump counts, and less for each higher
SIDE, MISSING_SIDE = 0.5, 0.15  # the same in another suit
ABOVE_SIDE = 20.0  # a trump is worth more than any card of another suit
CARDS = np.arange(4 * RANKS)

READS = ("phase", "trump", "led", "takes", "above", "joined", "to_play")
PHASE, TRUMPS, LED, TAKES, ABOVE, JOINED, TO_PLAY = range(1, 8)
JOINING = 0  # of the observation's phases
KNOCK, FIRST_CARD, PACK = 0, 2, 4 * RANKS
LANES = 8


def join_with(more: float) -> Habit:
    """Return the habit of joining with so many more tricks in hand than the rule of thumb."""
    return lambda seen: seen.wishes(knock=tricks_in_hand(seen) - tricks_to_join(seen) - more)


def leads(seen: Seen) -> np.ndarray:
    """Return whether it leads, [n] bool."""
    return seen["led"].sum(axis=1) == 0


def worth_of_cards(seen: Seen) -> np.ndarray:
    """Return the height of cards, [n, 36]; a trump is above all others."""
    trumps = seen["trump"].argmax(axis=1)[:, None] == CARDS // RANKS
    return CARDS % RANKS + ABOVE_SIDE * trumps


@kernel
def choose(seen, mask, numbers, _uniform):
    """Choose an action by the reasons above."""
    if first_one(seen, numbers[PHASE], 2) == JOINING:
        margin = _tricks_in_hand(seen, numbers) - _tricks_to_join(seen, numbers)
        return wanted(mask, KNOCK, margin)
    trump = max(first_one(seen, numbers[TRUMPS], 4), 0)
    leads = count(seen, numbers[LED], 4) == 0
    last = count(seen, numbers[TO_PLAY], numbers[0]) == 1
    best, most = -1, -np.inf
    for action in range(mask.shape[0]):
        if mask[action]:
            wish = _wish(seen, numbers, trump, action - FIRST_CARD, leads, last)
            if wish > most:
                best, most = action, wish
    return best


@kernel
def _wish(seen, numbers, trump, card, leads, last):
    if card < 0:
        return 0.0
    down = card >= PACK
    card = card - PACK if down else card
    trumps = card // RANKS == trump
    worth = card % RANKS + (ABOVE_SIDE if trumps else 0.0)
    if down:
        return -worth
    if leads:
        return (10.0 * ABOVE_SIDE if trumps else 0.0) - (seen[numbers[ABOVE] + card] - 1.0)
    if seen[numbers[TAKES] + card]:
        return 10.0 * ABOVE_SIDE + (-worth if last else worth)
    return -worth


@kernel
def _tricks_to_join(seen, numbers):
    """Return the tricks in hand with which it joins."""
    seats = numbers[0]
    bar = min(JOIN + EACH_SEAT * (seats - 2), MOST)
    return bar + EACH_JOINED * count(seen, numbers[JOINED], seats)


@kernel
def _tricks_in_hand(seen, numbers):
    """Return the tricks that a hand is worth."""
    # Added in lanes: the order decides hands at the bar, and with them results that are published.
    trump = max(first_one(seen, numbers[TRUMPS], 4), 0)
    fours = 0.0
    for half in range(2):
        twos = 0.0
        for quarter in range(2):
            lane = 4 * half + 2 * quarter
            pair = _lane(seen, numbers, trump, lane) + _lane(seen, numbers, trump, lane + 1)
            twos = twos + pair
        fours = fours + twos
    for card in range(PACK - PACK % LANES, PACK):
        fours = fours + _tricks(seen, numbers, trump, card)
    return fours


@kernel
def _lane(seen, numbers, trump, first):
    total = 0.0
    for card in range(first, PACK - PACK % LANES, LANES):
        total += _tricks(seen, numbers, trump, card)
    return total


@kernel
def _tricks(seen, numbers, trump, card):
    missing = seen[numbers[ABOVE] + card] - 1.0
    if missing < 0.0:
        return 0.0
    if card // RANKS == trump:
        return max(TRUMP - MISSING_TRUMP * missing, 0.0)
    return max(SIDE - MISSING_SIDE * missing, 0.0)


tricks_in_hand = measured_by(_tricks_in_hand)
tricks_to_join = measured_by(_tricks_to_join)


class KnackRuleOfThumb(RuleOfThumb):
    """Play Knack; see the module's text for the reasons."""

    game = "knack"
    what = "joins with about a trick in hand, leads trumps, takes a trick when it can be taken"
    chooses: ClassVar = choose
    reads: ClassVar = READS
