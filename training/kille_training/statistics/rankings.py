"""Which entrants finished above which: tables of any size as one list of orders.

Ratings such as Plackett-Luce know orders and nothing of amounts. An observation is a deal played in
all its seatings, and its order is by what each place of the lineup earned over all of them,
so luck with cards and seats weighs less in it than at a single table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kille_env.errors import KilleError
from kille_training.statistics.observations import Observations

EQUAL = 1e-9
"""How far apart two scores are that still tie: what means in float64 leave."""


@dataclass(frozen=True)
class Rankings:
    """The orders of T tables with N members in all.

    Attributes:
        players: [N] int32, the members of one table after the other, each table from best to worst.
            Ties are in order of their numbers.
        rank: [N] int32, how many of its table finished above it: 0 is the best; ties have the same
            rank.
        start: [T + 1] int64, where each table begins in `players`, and their end.
        cluster: [T] int64, numbers from 0; tables of the same deal, which depend on each other,
            have the same.
        entrants: How many entrants there are, E, whether they sat or not.
    """

    players: np.ndarray
    rank: np.ndarray
    start: np.ndarray
    cluster: np.ndarray
    entrants: int

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> np.ndarray:
        """[T] int64, how many sat at each table."""
        return np.diff(self.start)

    @property
    def table(self) -> np.ndarray:
        """[N] int64, the table at which each member sat."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def num_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1

    def tables(self) -> np.ndarray:
        """Returns at how many tables each entrant sat, copies counted once, [E] int64."""
        seen = np.unique(self.table * self.entrants + self.players)
        return np.bincount(seen % self.entrants, minlength=self.entrants)

    def take(self, tables: np.ndarray) -> "Rankings":
        """Returns some of the tables, in the order given; clusters are numbered anew.

        Args:
            tables: [K] int or [T] bool, which.
        """
        chosen = np.arange(len(self))[tables]
        sizes = self.sizes[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], sizes)
        cluster = np.unique(self.cluster[chosen], return_inverse=True)[1].astype(np.int64)
        return Rankings(self.players[at], self.rank[at], start, cluster, self.entrants)


def rankings(
    observations: Observations | Mapping[int, Observations],
    entrants: int,
) -> Rankings:
    """Returns the orders of all observations, those of the lowest deal numbers first.

    Args:
        observations: Of one table size, or of several by size.
        entrants: How many entrants there are.
    """
    parts = [observations] if isinstance(observations, Observations) else observations.values()
    parts = [part for part in parts if len(part)]
    if not parts:
        raise KilleError("there are no observations to rank; play the tournament first")
    most = max(part.entrants for part in parts)
    if most > entrants:
        raise KilleError(f"entrant {most - 1} sat at a table, but there are only {entrants}")
    ordered = [_order(part) for part in parts]
    sizes = np.concatenate([np.full(len(part), part.seats) for part in parts])
    deals = np.concatenate([part.deal for part in parts])
    _, cluster = np.unique(np.stack([deals, sizes]), axis=1, return_inverse=True)
    made = Rankings(
        np.concatenate([players.ravel() for players, _ in ordered]),
        np.concatenate([rank.ravel() for _, rank in ordered]),
        np.concatenate([[0], np.cumsum(sizes)]),
        cluster.reshape(-1).astype(np.int64),
        entrants,
    )
    return made.take(np.lexsort([sizes, deals]))


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
