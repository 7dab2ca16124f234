"""Who meets whom next on a ladder: the tables that would narrow the ratings most.

A comparison of two entrants says most where its outcome is open and where the difference of their
strengths is not known yet. With the covariance C of the strengths and d = e_i - e_j, the difference
of i and j has the variance v = d'C d, and n comparisons of them bring the information w = n p(1-p),
p being the chance that i finishes above j. They turn C into

    C - C d d'C w / (1 + w v),

and so take

    w |C d|^2 / (1 + w v)

off the trace of C, which for strengths around their mean is the mean variance of all differences:
the criterion of A-optimality. C d is large where what i and j show says something about others too.
Glickman and Jensen, *Adaptive paired comparison design*, Journal of Statistical Planning and
Inference 127 (2005), choose pairs by the expected gain of information in the same way. As there, p
is the chance that is expected before the comparison, for strengths as uncertain as they are: a
newcomer's opponents need not be as strong as it is thought to be.

Tables are chosen greedily: the two that take off most, then whoever adds most to those that sit,
and after each table C is what it would be with its results. So the next one looks elsewhere.

An entrant that has hardly played has no rating worth the name. It first meets opponents from all
over the field, and when nobody has played, everybody meets by lot.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import expit

from kille_training.arena.draws import Lineup

PLACEMENT = 3
"""Rounds in which a newcomer meets opponents from all over the field."""
UNKNOWN = 4.0
"""Variance of a strength that nothing is known of: one that has won half of four comparisons."""
LEAST = 1e-6
"""Added to every variance: where nothing seems left to learn, the tables are drawn by lot."""


def next_tables(
    strength: np.ndarray,
    covariance: np.ndarray,
    new: np.ndarray,
    seats: int,
    tables: int,
    deals: int,
    lots: np.random.Generator,
) -> list[Lineup]:
    """Returns the tables of the next round, each with other members.

    Args:
        strength: [E] log-strengths; NaN where nothing is known.
        covariance: [E, E] of them; NaN where nothing is known.
        new: [E] bool, who has hardly played. Each of these sits at one table at least.
        seats: P, at most E.
        tables: How many; fewer if there are no more, more if there are so many newcomers.
        deals: Deals of the round: as many comparisons of each two at a table.
        lots: What is drawn by lot, ties included.

    Returns:
        Places of the entrants in these arrays, ascending at each table.
    """
    entrants = len(strength)
    known = np.isfinite(strength) & np.isfinite(np.diagonal(covariance)) & ~new
    if known.sum() < seats:
        return _by_lot(entrants, seats, lots)
    chosen = _placements(strength, known, new, seats, lots)
    order = lots.permutation(entrants)
    where = np.ix_(order, order)
    shown = np.where(np.isfinite(strength), strength, 0.0)[order]
    search = _Search(shown, _complete(covariance)[where], deals)
    places = np.argsort(order)
    for table in chosen:
        search.play(places[list(table)].tolist())
    taken = set(chosen)
    while len(chosen) < tables:
        found = search.table(seats, {tuple(sorted(places[list(each)])) for each in taken})
        if found is None:
            break
        search.play(found)
        chosen.append(tuple(sorted(order[found].tolist())))
        taken.add(chosen[-1])
    return chosen


def _by_lot(entrants: int, seats: int, lots: np.random.Generator) -> list[Lineup]:
    """Returns tables at which everybody sits, some at two if that does not come out even."""
    order = lots.permutation(entrants)
    tables = -(-entrants // seats)
    places = np.arange(tables * seats).reshape(tables, seats) % entrants
    return list(dict.fromkeys(tuple(sorted(order[table].tolist())) for table in places))


def _placements(
    strength: np.ndarray, known: np.ndarray, new: np.ndarray, seats: int, lots: np.random.Generator
) -> list[Lineup]:
    """Returns a table for each newcomer, with one opponent out of each part of the standings."""
    standings = np.flatnonzero(known)
    standings = standings[np.argsort(-strength[standings], kind="stable")]
    parts = np.array_split(standings, seats - 1)
    return [
        tuple(sorted([newcomer, *(int(lots.choice(part)) for part in parts)]))
        for newcomer in np.flatnonzero(new).tolist()
    ]


def _complete(covariance: np.ndarray) -> np.ndarray:
    """Returns a covariance in which those of whom nothing is known are independent of all."""
    unknown = ~np.isfinite(np.diagonal(covariance))
    complete = np.where(np.isfinite(covariance), covariance, 0.0)
    return complete + np.diag(np.where(unknown, UNKNOWN, LEAST))


class _Search:
    """The greedy search for tables."""

    def __init__(self, strength: np.ndarray, covariance: np.ndarray, deals: int) -> None:
        self._covariance, self._square = covariance, covariance @ covariance
        # MacKay's approximation of the mean of a logistic function of a normal variable.
        width = np.sqrt(1 + np.pi / 8 * np.maximum(_differences(covariance), 0.0))
        chance = expit((strength[:, None] - strength[None, :]) / width)
        self._information = deals * chance * (1 - chance)

    def table(self, seats: int, taken: set[Lineup]) -> list[int] | None:
        """Returns the table that takes most off the variances, none of `taken`; None if all are."""
        gain = self._gain()
        for _ in range(gain.size):
            first, second = np.unravel_index(np.argmax(gain), gain.shape)
            if not np.isfinite(gain[first, second]):
                return None
            found = self._filled([int(first), int(second)], gain, seats, taken)
            if found is not None:
                return found
            gain[first, second] = gain[second, first] = -np.inf
        return None

    def play(self, table: Sequence[int]) -> None:
        """Counts a table as if it had been played."""
        for one, other in combinations(table, 2):
            toward = self._covariance[:, one] - self._covariance[:, other]
            information = self._information[one, other]
            shrink = information / (1 + information * (toward[one] - toward[other]))
            beyond = np.outer(toward, self._square[:, one] - self._square[:, other])
            outer = np.outer(toward, toward)
            self._square += shrink**2 * (toward @ toward) * outer - shrink * (beyond + beyond.T)
            self._covariance -= shrink * outer

    def _filled(
        self, seated: list[int], gain: np.ndarray, seats: int, taken: set[Lineup]
    ) -> list[int] | None:
        """Fills a table with whoever adds most, one by one; None if only taken ones are left."""
        if seats == 2:
            return None if tuple(sorted(seated)) in taken else seated
        while len(seated) < seats - 1:
            seated.append(int(np.argmax(self._added(gain, seated))))
        added = self._added(gain, seated)
        for last in np.argsort(-added, kind="stable").tolist():
            if not np.isfinite(added[last]):
                return None
            if tuple(sorted([*seated, last])) not in taken:
                return [*seated, last]
        return None

    @staticmethod
    def _added(gain: np.ndarray, seated: list[int]) -> np.ndarray:
        """Returns what each entrant adds to those who sit, [E]; minus infinity for these."""
        added = gain[seated].sum(axis=0)
        added[seated] = -np.inf
        return added

    def _gain(self) -> np.ndarray:
        """Returns what meeting takes off the trace, [E, E]; minus infinity on the diagonal."""
        variance, length = _differences(self._covariance), _differences(self._square)
        gain = self._information * length / (1 + self._information * variance)
        np.fill_diagonal(gain, -np.inf)
        return gain


def _differences(form: np.ndarray) -> np.ndarray:
    """Returns d'M d for d = e_i - e_j, [E, E], of a symmetric matrix M."""
    diagonal = np.diagonal(form)
    return diagonal[:, None] + diagonal[None, :] - 2 * form
