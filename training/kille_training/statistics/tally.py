"""The sufficient statistics of a tournament, of constant size.

An observation is a deal of a lineup, played in all its rotations; it counts once, with the means
over the rotations. Observations are added up by *fold*, the number of their deal modulo F. All
observations of a deal fall into one fold, and deals are independent, so folds are independent:
variances estimated between folds account for all dependence within a deal. That is the random
groups method (Wolter, *Introduction to Variance Estimation*, 2nd edition, 2007, chapter 2). With at
most as many deals as folds, a fold is a deal and nothing is lost; with more, Student's quantile at
255 degrees of freedom is 0.5% larger than at infinitely many.

All sums are integers, scores in nano-units. So a tally does not depend on the order of observations
or on their split into parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError

NANO = 1e9  # nano-units per unit
FOLDS = 256  # folds of a tally of up to `MANY` entrants

FEW_FOLDS = 64
"""Folds of a larger tally, as pairs of entrants take [F, E, E] numbers. It divides `FOLDS`."""

MANY = 128

EQUAL = 1e-9  # maximum difference of tied scores: the rounding error of means in float64
LIMIT = 2**63 // FOLDS  # bound of a sum, so that all folds can be added without overflow


@dataclass(eq=False)
class Tally:
    """Sums over all observations of tables of P seats, by fold. All arrays are int64.

    An entrant with several places at a table (copies) has the mean over its places.
    """

    count: np.ndarray  # [F, E] observations in which each entrant sat
    total: np.ndarray  # [F, E] nano-units: its scores, units earned less the mean of its table
    # [F, E, P] nano-shares of finishing at each rank, 0 for the best; ties share the ranks evenly
    finishes: np.ndarray
    met: np.ndarray  # [F, E, E] observations with both entrants; 0 on the diagonal
    shared: np.ndarray  # [F, E, E] nano-units: the scores of the row's entrant in these
    # [F, E, E] halves: 2 for each of these in which the row's entrant scored more than the
    # column's, 1 if equal
    above: np.ndarray
    observations: int = 0  # all observations

    @classmethod
    def empty(cls, seats: int, entrants: int) -> "Tally":
        """Return an empty tally."""
        folds = FOLDS if entrants <= MANY else FEW_FOLDS

        def zeros(*shape: int) -> np.ndarray:
            return np.zeros((folds, entrants, *shape), dtype=np.int64)

        met, shared, above = zeros(entrants), zeros(entrants), zeros(entrants)
        return cls(zeros(), zeros(), zeros(seats), met, shared, above)

    @property
    def folds(self) -> int:
        """Fold, F."""
        return self.finishes.shape[0]

    @property
    def entrants(self) -> int:
        """Entrants, E, whether they sat or not."""
        return self.finishes.shape[1]

    @property
    def seats(self) -> int:
        """Seats of a table, P."""
        return self.finishes.shape[2]

    def add(self, members: np.ndarray, deal: np.ndarray, earned: np.ndarray) -> None:
        """Add observations."""
        members, deal = _plain(members, np.int64), _plain(deal, np.int64)
        earned = _plain(earned, np.float64)
        self._check(members, deal)
        expected = (*members.shape, self.seats)
        if earned.shape != expected:
            raise KilleError(f"earned has shape {earned.shape}; expected {expected}")
        if not np.isfinite(earned).all():
            raise KilleError("earned holds a number that is not finite")
        scores, finishes = np.empty(members.shape), np.empty(expected)
        _means(earned, np.empty(self.seats), scores, finishes)
        fits = _add(
            members, deal, scores, finishes,
            (self.count, self.total, self.finishes, self.met, self.shared, self.above),
            np.empty(self.seats, np.int64), np.empty((self.seats, self.seats + 2)),
        )  # fmt: skip
        if not fits:
            raise KilleError(
                "the sums of scores no longer fit into 64 bits; earn less per deal, or play fewer"
            )
        self.observations += len(members)

    def grown(self, entrants: int) -> "Tally":
        """Return the tally with more entrants, which have not sat yet."""
        if entrants < self.entrants:
            raise KilleError(f"a tally of {self.entrants} entrants cannot become one of {entrants}")
        grown = Tally.empty(self.seats, entrants)
        old = slice(self.entrants)
        for name in ARRAYS:
            array, whole = getattr(self, name), getattr(grown, name)
            part = whole[:, old, old] if name in PAIRS else whole[:, old]
            part += array.reshape(-1, grown.folds, *array.shape[1:]).sum(axis=0)
        grown.observations = self.observations
        return grown

    def narrow(self) -> dict[str, np.ndarray]:
        """Return the arrays by name for a file, each with the narrowest type."""
        return {name: _narrow(getattr(self, name)) for name in ARRAYS}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], observations: int) -> "Tally":
        """Return the tally of arrays of `narrow`."""
        for name in ARRAYS:
            if arrays[name].dtype.kind != "i" or arrays[name].ndim != 2 + (
                name not in ("count", "total")
            ):
                raise KilleError(f"{name} of a tally is {arrays[name].dtype} {arrays[name].shape}")
        tally = cls(*(arrays[name].astype(np.int64) for name in ARRAYS), observations=observations)
        tally._check(np.empty((0, tally.seats), np.int64), np.empty(0, np.int64))
        return tally

    def _check(self, members: np.ndarray, deal: np.ndarray) -> None:
        """Refuse observations and own arrays with indices out of bounds for the kernels."""
        sizes = (self.folds, self.entrants)
        if self.folds != (FOLDS if self.entrants <= MANY else FEW_FOLDS):
            raise KilleError(f"the tally of {self.entrants} entrants has {self.folds} folds")
        shapes = {"count": (), "total": (), "finishes": (self.seats,)}
        for name in ARRAYS:
            expected = (*sizes, *shapes.get(name, sizes[1:]))
            shape = getattr(self, name).shape
            if shape != expected:
                raise KilleError(f"{name} of the tally has shape {shape}; expected {expected}")
        if members.ndim != 2 or members.shape[1] != self.seats:
            raise KilleError(
                f"members has shape {members.shape}; expected [observations, {self.seats}]"
            )
        if deal.shape != members.shape[:1]:
            raise KilleError(f"deal has shape {deal.shape}; expected {members.shape[:1]}")
        if members.min(initial=0) < 0 or members.max(initial=-1) >= self.entrants:
            raise KilleError(
                f"members holds numbers that are not those of entrants, 0 to {self.entrants - 1}"
            )
        if deal.min(initial=0) < 0:
            raise KilleError("deal holds a number below 0; deals are counted from 0")


ARRAYS = tuple(each.name for each in fields(Tally) if each.name != "observations")
PAIRS = ("met", "shared", "above")


def _plain(array: Any, kind: type[np.generic]) -> np.ndarray:
    """Return an array with the type and layout of the kernels."""
    return np.require(array, kind, ["C_CONTIGUOUS", "WRITEABLE"])


def _narrow(array: np.ndarray) -> np.ndarray:
    """Return the numbers in the narrowest sufficient type."""
    low, high = array.min(initial=0), array.max(initial=0)
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return array.astype(kind)
    return array


@kernel
def _means(earned, turned, scores, finishes):
    """Set scores, [G, P], and finishes, [G, P, P], to the means over the rotations, by place."""
    seats = earned.shape[1]
    for row in range(len(earned)):
        finishes[row] = 0.0
        scores[row] = 0.0
        mean = 0.0
        for turn in range(seats):
            for seat in range(seats):
                turned[(seat + turn) % seats] = earned[row, turn, seat]
            for place in range(seats):
                scores[row, place] += turned[place]
                mean += turned[place]
            _share_ranks(turned, 1 / seats, finishes[row])
        for place in range(seats):
            scores[row, place] = (scores[row, place] - mean / seats) / seats


@kernel
def _share_ranks(scores, weight, finishes):
    """Add the ranks of scores, [P], times a weight to finishes, [P, P]; ties share evenly."""
    seats = len(scores)
    for place in range(seats):
        better, equal = 0, 0
        for other in range(seats):
            better += scores[other] > scores[place]
            equal += scores[other] == scores[place]
        for rank in range(better, better + equal):
            finishes[place, rank] += weight / equal


@kernel
def _add(members, deal, scores, finishes, sums, who, mine):
    """Add observations to the sums of a tally."""
    count, total, finished, met, shared, above = sums
    seats = members.shape[1]
    for row in range(len(members)):
        fold = deal[row] % len(count)
        different = _gather(members[row], scores[row], finishes[row], who, mine)
        for a in range(different):
            one, score = who[a], mine[a, 1]
            if not abs(score) < LIMIT / NANO:
                return False
            nano = np.int64(np.rint(score * NANO))
            count[fold, one] += 1
            total[fold, one] += nano
            for rank in range(seats):
                finished[fold, one, rank] += np.int64(np.rint(mine[a, 2 + rank] * NANO))
            if max(abs(total[fold, one]), NANO * count[fold, one]) >= LIMIT:
                return False
            for b in range(different):
                if b == a:
                    continue
                other, gap = who[b], score - mine[b, 1]
                met[fold, one, other] += 1
                shared[fold, one, other] += nano
                above[fold, one, other] += 1 + (gap > EQUAL) - (gap < -EQUAL)
                if abs(shared[fold, one, other]) >= LIMIT:
                    return False
    return True


@kernel
def _gather(members, scores, finishes, who, mine):
    """Fill `who` [P] and `mine` [P, 2 + P] (copies, score, finishes); return their count."""
    seats = len(members)
    different = 0
    for place in range(seats):
        at = 0
        while at < different and who[at] != members[place]:
            at += 1
        if at == different:
            who[at] = members[place]
            mine[at] = 0.0
            different += 1
        mine[at, 0] += 1
        mine[at, 1] += scores[place]
        for rank in range(seats):
            mine[at, 2 + rank] += finishes[place, rank]
    for at in range(different):
        for column in range(1, 2 + seats):
            mine[at, column] /= mine[at, 0]
    return different
