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

import numpy as np

from kille_agents.rules_of_thumb.rule_of_thumb import Parts, RuleOfThumb
from kille_env.games.knack.table import RANKS

JOIN, EACH_SEAT, MOST = 0.1, 0.3, 1.0  # tricks to join with two, more for each further seat
EACH_JOINED = 0.1  # and so much more for each seat that has joined
TRUMP, MISSING_TRUMP = 1.0, 0.12  # tricks that the highest trump counts, and less for each higher
SIDE, MISSING_SIDE = 0.5, 0.15  # the same in another suit
ABOVE_SIDE = 20.0  # a trump is worth more than any card of another suit


class KnackRuleOfThumb(RuleOfThumb):
    """Plays Knack; see the module's text for the reasons."""

    game = "knack"
    what = "joins with about a trick in hand, leads trumps, takes a trick when it can be taken"

    def choose(self, parts: Parts, legal: np.ndarray) -> np.ndarray:
        """Returns how much it wants each action, [N, A]."""
        act = self.action
        openly, down = act["play 6C"], act["play *6C"]
        cards = np.arange(down - openly)
        trumps = cards // RANKS == parts["trump"].argmax(axis=1)[:, None]
        worth = cards % RANKS + ABOVE_SIDE * trumps
        missing = missing_above(parts)
        leads = parts["led"].sum(axis=1) == 0
        last = parts["to_play"].sum(axis=1) == 1
        lead = 10.0 * ABOVE_SIDE * trumps - missing
        takes = 10.0 * ABOVE_SIDE + np.where(last[:, None], -worth, worth)
        follow = np.where(parts["takes"] != 0, takes, -worth)
        wishes = np.zeros(legal.shape)
        if legal[:, act["knock"]].any():
            bar = bar_to_join(parts, self.num_players)
            wishes[:, act["knock"]] = tricks_in_hand(parts, missing, trumps) - bar
        wishes[:, openly:down] = np.where(leads[:, None], lead, follow)
        wishes[:, down:] = -worth
        return wishes


def missing_above(parts: Parts) -> np.ndarray:
    """Returns how many higher cards of its suit are not seen, by card, [N, 36]; -1 not held."""
    return parts["above"].astype(np.float64) - 1.0


def tricks_in_hand(parts: Parts, missing: np.ndarray, trumps: np.ndarray) -> np.ndarray:
    """Returns how many tricks a hand is worth, [N].

    Args:
        parts: The observations.
        missing: [N, 36], see `missing_above`.
        trumps: [N, 36] whether a card is a trump.
    """
    tricks = np.where(trumps, TRUMP - MISSING_TRUMP * missing, SIDE - MISSING_SIDE * missing)
    return np.where(missing >= 0, tricks.clip(min=0.0), 0.0).sum(axis=1)


def bar_to_join(parts: Parts, num_players: int) -> np.ndarray:
    """Returns with how many tricks in hand it joins, [N]."""
    bar = min(JOIN + EACH_SEAT * (num_players - 2), MOST)
    return bar + EACH_JOINED * parts["joined"].sum(axis=1)
