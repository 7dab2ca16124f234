"""Tournaments as games: payoffs for choosing which entrant to send to the table.

`against` compares each two entrants at all tables where both sit, whoever else sits there. It works
for any table size, and is what voting methods and Nash averaging need.
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.intervals import entrant_scores
from kille_training.statistics.observations import Observations
from kille_training.statistics.rankings import EQUAL


@dataclass(frozen=True)
class Against:
    """Each two of E entrants compared where both sit; both matrices are antisymmetric.

    Copies of one entrant at a table have the mean of their scores.

    Attributes:
        margin: [E, E] float64, units that the row earns more than the column at a deal, in the
            mean; NaN where two never met.
        majority: [E, E] float64, share of the observations in which the row earns more, less the
            share in which the column does; NaN where two never met.
        observations: [E, E] int64, in how many both sat.
    """

    margin: np.ndarray
    majority: np.ndarray
    observations: np.ndarray

    def among(self, entrants: np.ndarray) -> "Against":
        """Returns the same for some of the entrants, numbered anew.

        Args:
            entrants: [K] int, which.
        """
        chosen = np.ix_(entrants, entrants)
        return Against(self.margin[chosen], self.majority[chosen], self.observations[chosen])


def against(observations: Observations, entrants: int) -> Against:
    """Returns how each two entrants compare where both sit.

    Args:
        observations: Tables of one size.
        entrants: How many entrants there are, E.
    """
    scores = entrant_scores(observations, entrants)
    sits = np.isfinite(scores)
    seated, earned = sits.astype(float), np.where(sits, scores, 0.0)
    together = seated.T @ seated
    ahead = np.zeros((entrants, entrants))
    for entrant in range(entrants):
        mine = sits[:, entrant]
        with np.errstate(invalid="ignore"):
            ahead[entrant] = (scores[mine, entrant, None] - scores[mine] > EQUAL).sum(0)
    mine = earned.T @ seated
    with np.errstate(invalid="ignore"):
        margin, majority = (mine - mine.T) / together, (ahead - ahead.T) / together
    np.fill_diagonal(margin, 0.0)
    np.fill_diagonal(majority, 0.0)
    return Against(margin, majority, together.astype(np.int64))
