"""The rule-of-thumb player of Kungsholmskille: high cards to play, one low card to show.

What a player of flesh and blood would say:

1. *A good hand is one low card and high ones beside it.* Whoever can not head a trick has to give
   up his lowest card, so it is kept only as long as the others head. A hand is as strong as the
   mean of its other cards stands above its lowest.
2. *Knock with a fair hand, stay with less*: the antes are in the pot already, and with new cards
   they are to be won by anybody.
3. *Exchange what is neither*: whatever is not the lowest and ranks below a kavall, the
   lowest of it first. Of two lowest cards both stay: one can be given up to a trick, and nobody
   else can have an equal one.
4. *Lead the highest card.* It makes everybody else give up a card that heads it or his lowest one,
   and whoever wins leads again. Following, head with the lowest card that does: the high ones will
   be needed.
5. *Show when all the others most likely hold a higher card.* What a player can still hold is known
   from the tricks: where he could not head, his cards lie between the one that he gave up and the
   one that he could not head. With two at the table more certainty is wanted than with more, for
   whoever passes is passed on the word by one other only.
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
        """Returns how much he would like each action, [N, A]."""
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
    """How far the other cards stand above the lowest one on average, [N]; ranks `held` [N, 5]."""
    others = held[:, 1:] >= 0
    total = np.where(others, held[:, 1:], 0).sum(axis=1)
    return total / np.maximum(others.sum(axis=1), 1) - held[:, 0]


def chance_of_lowest(parts: Parts, held: np.ndarray) -> np.ndarray:
    """How likely all the others hold a higher card than his lowest, [N]."""
    higher = chance_of_higher(held[:, 0], parts["seen"], parts["at_least"], parts["below"])
    return np.where(parts["in_play"] != 0, higher, 1.0)[:, 1:].prod(axis=1)
