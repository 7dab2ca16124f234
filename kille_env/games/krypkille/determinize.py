"""Determinizations of Krypkille, as kernels.

A seat has seen the cards that it has held and those that were played. Followers have no choice, so
from every card of theirs everybody can tell which others they do not have. What was discarded is
hidden, but for one's own discards.
"""

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.tricktaking.hidden import deal_hidden, relabel_discards, relabel_tricks, share_draws
from kille_env.tricktaking.tricks import WHOLE_PACK, seen


@kernel
def resample(table, rules, seat, cards):
    """Draw a determinization that `seat` cannot tell from this table, each equally likely."""
    deal_hidden(table, np.int64(seat), WHOLE_PACK & ~seen(table, index(seat)), cards)
    share_draws(table, np.int64(seat))


@kernel
def relabel(table, rules, cards):
    """Replace card c by `cards[c]` everywhere in the table."""
    relabel_tricks(table, cards)
    relabel_discards(table, cards)
