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

import numpy as np

from kille_agents.rules_of_thumb.kille_hands import ranks, worth_of_discards
from kille_agents.rules_of_thumb.rule_of_thumb import Parts, RuleOfThumb
from kille_env.tricktaking.tricks import TYPES

EXCHANGED = 18  # a card that is not the lowest is discarded if it ranks lower than this: a husar
DECLARE, DECLARE_FREELY = 0.7, 0.95  # how likely the last card has to be the lowest


class KrypkilleRuleOfThumb(RuleOfThumb):
    """Plays Krypkille; see the module's text for the reasons."""

    game = "krypkille"
    what = (
        "keeps one low card and high ones beside it; leads the highest card, declares when all the "
        "others most likely hold a higher one"
    )

    def choose(self, parts: Parts, legal: np.ndarray) -> np.ndarray:
        """Returns how much it wants each action, [N, A]."""
        act, held = self.action, ranks(parts["hand"])
        discard, play = act["discard"], act["play BL"]
        wishes = np.zeros(legal.shape)
        if legal[:, act["declare"]].any():
            sure = DECLARE if self.rules["allpass_lowest"] else DECLARE_FREELY
            ties = bool(self.rules["tie_beats_declarer"])
            wishes[:, act["declare"]] = chance_of_lowest(parts, held[:, 0], ties) - sure
        if legal[:, discard].any():
            wishes[:, discard:play] = worth_of_discards(held, EXCHANGED, play - discard)
        wishes[:, play:] = np.arange(TYPES)
        return wishes


def chance_of_lowest(parts: Parts, lowest: np.ndarray, ties: bool) -> np.ndarray:
    """Returns how likely no other seat holds a card that beats its lowest, [N]; `ties`: equal do.

    Equal cards are counted wherever the range of a player's cards lets them be.
    """
    number = parts["may_hold"].astype(np.float64)
    fits = (parts["at_least"] <= lowest[:, None]) & (parts["below"] > lowest[:, None])
    beats = parts["may_be_lower"] + parts["equal"] * (fits & ties)
    higher = 1.0 - np.minimum(beats / np.maximum(number, 1.0), 1.0)
    return np.where(parts["in_play"] != 0, higher, 1.0)[:, 1:].prod(axis=1)
