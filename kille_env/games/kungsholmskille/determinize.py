"""Determinizations of Kungsholmskille: what a seat cannot tell from the deal as it is, as kernels.

A seat has seen the cards that it has held and those that were played. Of the others it knows what
`kille_env.tricktaking.hidden` derives from the tricks: who did not head a trick could not, and had
no card below the one that they played; with `forced_beat: lowest`, who headed it had nothing
between the card that they headed and their own. Words, folding and the number of discards are free:
they tell nothing for certain.
"""

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.games.kungsholmskille.table import ForcedBeat
from kille_env.tricktaking.hidden import (
    deal_hidden,
    relabel_discards,
    relabel_tricks,
    share_draws,
)
from kille_env.tricktaking.tricks import WHOLE_PACK, seen


@kernel
def resample(table, rules, seat, cards):
    """Draws a determinization that `seat` cannot tell from this table, each equally likely."""
    unseen = WHOLE_PACK & ~seen(table, index(seat))
    deal_hidden(
        table, np.int64(seat), unseen, rules["forced_beat"] == ForcedBeat.LOWEST, True, cards
    )
    share_draws(table, np.int64(seat))


@kernel
def relabel(table, rules, cards):
    """Puts `cards[c]` everywhere in the table where card c is."""
    relabel_tricks(table, cards)
    relabel_discards(table, cards)
