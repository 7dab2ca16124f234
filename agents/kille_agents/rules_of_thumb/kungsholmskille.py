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

import numpy as np

from kille_agents.rules_of_thumb.kille_hands import chance_of_higher, ranks, worth_of_discards
from kille_agents.rules_of_thumb.rule_of_thumb import Parts, RuleOfThumb
from kille_env.tricktaking.tricks import TYPES

KNOCK, STAY = 5.0, 3.0  # strength to knock and to stay with, in ranks
EXCHANGED = 16  # a card that is not the lowest is exchanged if it ranks lower than this: a kavall
SHOW, SHOW_OF_TWO = 0.6, 0.8  # how likely the last card has to be the lowest


class KungsholmskilleRuleOfThumb(RuleOfThumb):
    """Plays Kungsholmskille; see the module's text for the reasons."""

    game = "kungsholmskille"
    what = "keeps one low card and high ones beside it; shows when it is most likely the lowest"

    def choose(self, parts: Parts, legal: np.ndarray) -> np.ndarray:
        """Returns how much it wants each action, [N, A]."""
        act, held = self.action, ranks(parts["hand"])
        discard, play = act["discard"], act["play BL"]
        strength = strength_of(held)
        wishes = np.zeros(legal.shape)
        wishes[:, act["knock"]] = strength - KNOCK
        wishes[:, act["stay"]] = strength - STAY
        if legal[:, act["show"]].any():
            two = parts["in_play"].sum(axis=1) == 2
            sure = np.where(two, SHOW_OF_TWO, SHOW)
            wishes[:, act["show"]] = chance_of_lowest(parts, held) - sure
        if legal[:, discard].any():
            wishes[:, discard:play] = worth_of_discards(held, EXCHANGED, play - discard)
        leads = parts["highest"].sum(axis=1) == 0
        wishes[:, play:] = np.where(leads[:, None], np.arange(TYPES), -np.arange(TYPES))
        return wishes


def strength_of(held: np.ndarray) -> np.ndarray:
    """Returns how far the other cards stand above the lowest on average, [N]; `held` [N, 5]."""
    others = held[:, 1:] >= 0
    total = np.where(others, held[:, 1:], 0).sum(axis=1)
    return total / np.maximum(others.sum(axis=1), 1) - held[:, 0]


def chance_of_lowest(parts: Parts, held: np.ndarray) -> np.ndarray:
    """Returns how likely all the others hold a higher card than its lowest, [N]."""
    higher = chance_of_higher(held[:, 0], parts["seen"], parts["at_least"], parts["below"])
    return np.where(parts["in_play"] != 0, higher, 1.0)[:, 1:].prod(axis=1)
