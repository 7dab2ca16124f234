"""Maximal lotteries: tournaments as elections in which each deal is a vote.

Each observation votes for whoever of two earned more at the same table. A lottery over entrants is
maximal if no entrant beats the one it draws more often than he loses to him, counted over all votes
(Kreweras 1965; Fishburn 1984). If one entrant beats each other by majority he is drawn always
(the Condorcet winner); entrants who beat each other in a circle share. Adding copies of an entrant,
or entrants who lose to everybody, changes nothing for the others (Brandl, Brandt and Seedig,
*Consistent Probabilistic Social Choice*, 2016). Voting as evaluation: Lanctot et al., *Evaluating
Agents using Social Choice Theory*, 2023, arXiv 2312.03121.

Votes count how often somebody is ahead and not by how much: who wins a little often beats who wins
a lot rarely. With margins in units instead of majorities the same lottery is Nash averaging.

`maximal_lottery` is the lottery of largest entropy where there are several. `levels` takes those
whom it draws away and starts again with the rest, so that everybody has a place; OpenSpiel's
`python/voting/maximal_lotteries.py` does the same.
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.nash_averaging import max_entropy_equilibrium

DRAWN = 1e-6
"""Who is drawn less often belongs to the next level; OpenSpiel's tolerance."""


@dataclass(frozen=True)
class Levels:
    """Maximal lotteries one below the other, of E entrants.

    Attributes:
        level: [E] int64, 0 for those whom the lottery over all entrants draws, 1 for those whom the
            lottery over the others draws, and so on.
        chosen: [E] float64, how often the lottery of his level draws each.
    """

    level: np.ndarray
    chosen: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """[E] int64, entrants from best to worst: by level, then by how often they are drawn."""
        return np.lexsort([-self.chosen, self.level])

    @property
    def score(self) -> np.ndarray:
        """[E] float64, how many levels lie below, plus how often each is drawn; as OpenSpiel's."""
        return self.level.max() - self.level + self.chosen


def maximal_lottery(majority: np.ndarray) -> np.ndarray:
    """Returns how often the lottery draws each entrant, [E].

    Args:
        majority: [E, E], antisymmetric: votes for the row against the column less the others, or
            their share, see `meta_game.against`.
    """
    return max_entropy_equilibrium(majority)


def levels(majority: np.ndarray) -> Levels:
    """Returns maximal lotteries over all, over those not drawn, and so on.

    Args:
        majority: [E, E], antisymmetric, see `maximal_lottery`.
    """
    majority = np.asarray(majority, float)
    count = len(majority)
    level, chosen = np.zeros(count, np.int64), np.zeros(count)
    left = np.arange(count)
    depth = 0
    while len(left):
        lottery = maximal_lottery(majority[np.ix_(left, left)])
        drawn = lottery > DRAWN
        level[left[drawn]], chosen[left[drawn]] = depth, lottery[drawn]
        left, depth = left[~drawn], depth + 1
    return Levels(level, chosen)


def condorcet_winner(majority: np.ndarray) -> int | None:
    """Returns who beats each other entrant by majority, None if nobody does.

    Args:
        majority: [E, E], antisymmetric, see `maximal_lottery`.
    """
    beats = (np.asarray(majority) > 0).sum(axis=1) == len(majority) - 1
    return int(np.flatnonzero(beats)[0]) if beats.any() else None
