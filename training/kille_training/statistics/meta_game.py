"""Tournaments as games: payoffs for choosing which entrant to send to the table.

From the observations of tables of one size come three kinds of tables. `matrix` is the symmetric
game of two seats. `against` compares each two entrants at all tables where both sit, whoever else
sits there; it is made for any size, and is what voting methods and Nash averaging need. `mixtures`
is the heuristic payoff table (Walsh, Das, Tesauro, Kephart 2002) of the tables with two entrants
only, each in several copies.
"""

from dataclasses import dataclass

import numpy as np

from kille_env.errors import KilleError
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
            ahead[entrant] = (scores[mine, entrant, None] - scores[mine] > EQUAL["scores"]).sum(0)
    mine = earned.T @ seated
    with np.errstate(invalid="ignore"):
        margin, majority = (mine - mine.T) / together, (ahead - ahead.T) / together
    np.fill_diagonal(margin, 0.0)
    np.fill_diagonal(majority, 0.0)
    return Against(margin, majority, together.astype(np.int64))


def matrix(observations: Observations, entrants: int) -> np.ndarray:
    """Returns what the row earns a deal against the column, [E, E], at tables of two seats.

    Against himself everybody earns 0: the scores of a table sum to 0.

    Args:
        observations: Tables of two seats.
        entrants: How many entrants there are, E.
    """
    if observations.seats != 2:
        raise KilleError(
            f"tables of {observations.seats} seats are no game of two; "
            "use mixtures, or the margins of against"
        )
    return against(observations, entrants).margin / 2


def mixtures(observations: Observations, entrants: int) -> np.ndarray:
    """Returns what one earns at tables of two entrants only, [E, E, P].

    `[r, s, k]` is what r earns a deal in each of his seats where k others are r too and P - 1 - k
    are s; among copies of himself, k = P - 1, it is 0. NaN: was not played.

    Args:
        observations: Tables of one size, P; those with three entrants or more are left out.
        entrants: How many entrants there are, E.
    """
    seats = observations.seats
    total, count = np.zeros((2, entrants, entrants, seats))
    low, high = observations.members.min(axis=1), observations.members.max(axis=1)
    pure = ((observations.members == low[:, None]) | (observations.members == high[:, None])).all(1)
    low, high = low[pure], high[pure]
    members, scores = observations.members[pure], observations.scores[pure]
    for mine, other in ((low, high), (high, low)):
        own = members == mine[:, None]
        copies = own.sum(axis=1)
        earned = np.where(own, scores, 0.0).sum(axis=1) / copies
        np.add.at(total, (mine, other, copies - 1), earned)
        np.add.at(count, (mine, other, copies - 1), 1)
    with np.errstate(invalid="ignore"):
        payoff = total / count
    payoff[:, :, -1] = 0.0
    payoff[np.diag_indices(entrants)] = 0.0
    return payoff
