"""Maximal lotteries: tournaments as elections in which each deal is a vote.

Each observation votes for the one of two entrants that earned more at the same table. A lottery
over entrants is maximal if no entrant beats the one it draws more often than it loses to it,
counted over all votes (Kreweras 1965; Fishburn 1984). If one entrant beats each other by majority
it is always drawn (the Condorcet winner); entrants that beat each other in a circle share. Adding
copies of an entrant, or entrants that lose to all, changes nothing for the others (Brandl, Brandt
and Seedig, *Consistent Probabilistic Social Choice*, 2016). Voting as evaluation: Lanctot et al.,
*Evaluating Agents using Social Choice Theory*, 2023, arXiv 2312.03121.

Votes count how often an entrant is ahead and not by how much: who wins a little often beats who
wins a lot rarely. With margins in units instead of majorities the same lottery is Nash averaging.

The lottery over all entrants is the first level; the lottery over those that it does not draw is
the second, and so on, so that every entrant has a place, as in OpenSpiel's
`python/voting/maximal_lotteries.py`. Of several lotteries it is the one of largest entropy.
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.nash_averaging import max_entropy_equilibrium

DRAWN = 1e-6
"""Entrants that are drawn less often belong to the next level; OpenSpiel's tolerance."""


@dataclass(frozen=True)
class Levels:
    """Maximal lotteries one below the other, of E entrants.

    Attributes:
        level: [E] int64, 0 for those that the lottery over all entrants draws, 1 for those that the
            lottery over the others draws, and so on.
        chosen: [E] float64, how often the lottery of its level draws each.
    """

    level: np.ndarray
    chosen: np.ndarray


def levels(majority: np.ndarray) -> Levels:
    """Returns maximal lotteries over all, over those not drawn, and so on.

    Args:
        majority: [E, E], antisymmetric: votes for the row against the column less the others, or
            their share.
    """
    majority = np.asarray(majority, float)
    count = len(majority)
    level, chosen = np.zeros(count, np.int64), np.zeros(count)
    left = np.arange(count)
    depth = 0
    while len(left):
        lottery = max_entropy_equilibrium(majority[np.ix_(left, left)])
        drawn = lottery > DRAWN
        level[left[drawn]], chosen[left[drawn]] = depth, lottery[drawn]
        left, depth = left[~drawn], depth + 1
    return Levels(level, chosen)
