"""Which entrants finished above which.

Ratings such as Plackett-Luce know orders and nothing of amounts. An observation is a deal played in
all its seatings, and its order is by what each place of the lineup earned over all of them,
so luck with cards and seats weighs less in it than at a single table.
"""

from dataclasses import dataclass

import numpy as np

from kille_env.errors import KilleError
from kille_training.statistics.observations import Observations

EQUAL = 1e-9
"""How far apart two scores are that still tie: what means in float64 leave."""


@dataclass(frozen=True)
class Rankings:
    """The orders of T tables of P seats.

    Attributes:
        players: [T, P] int32, the members of each table from best to worst. Ties are in order of
            their numbers.
        rank: [T, P] int32, how many of its table finished above it: 0 is the best; ties have the
            same rank.
        cluster: [T] int64, numbers from 0; tables of the same deal, which depend on each other,
            have the same.
        entrants: How many entrants there are, E, whether they sat or not.
    """

    players: np.ndarray
    rank: np.ndarray
    cluster: np.ndarray
    entrants: int

    def __len__(self) -> int:
        return len(self.players)

    @property
    def num_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1

    def take(self, tables: np.ndarray) -> "Rankings":
        """Returns some of the tables, in the order given; clusters are numbered anew.

        Args:
            tables: [K] int or [T] bool, which.
        """
        cluster = np.unique(self.cluster[tables], return_inverse=True)[1]
        return Rankings(self.players[tables], self.rank[tables], cluster, self.entrants)


def rankings(observations: Observations, entrants: int) -> Rankings:
    """Returns the orders of observations of one table size, those of the lowest deals first.

    Args:
        observations: What was played.
        entrants: How many entrants there are.
    """
    if not len(observations):
        raise KilleError("there are no observations to rank; play the tournament first")
    if observations.entrants > entrants:
        raise KilleError(
            f"entrant {observations.entrants - 1} sat at a table, but there are only {entrants}"
        )
    players, rank = _order(observations)
    cluster = np.unique(observations.deal, return_inverse=True)[1]
    by_deal = np.argsort(observations.deal, kind="stable")
    return Rankings(players, rank, cluster, entrants).take(by_deal)


def _order(observations: Observations) -> tuple[np.ndarray, np.ndarray]:
    """Returns the members from best to worst and their ranks, [G, P] int32 both."""
    seats = observations.seats
    value = -observations.scores
    order = np.lexsort([observations.members, value], axis=1)
    value = np.take_along_axis(value, order, axis=1)
    members = np.take_along_axis(observations.members, order, axis=1)
    behind = np.diff(value, axis=1) > EQUAL
    rank = np.zeros(members.shape, np.int32)
    rank[:, 1:] = np.where(behind, np.arange(1, seats), 0)
    np.maximum.accumulate(rank, axis=1, out=rank)
    # Numbers that are equal but for rounding came in any order.
    by_number = np.lexsort([members, rank], axis=1)
    return np.take_along_axis(members, by_number, axis=1).astype(np.int32), rank
