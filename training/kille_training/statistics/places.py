"""Where entrants finish, against which opponent they earn least, and who beats whom.

A mean over all opponents hides two things that this module shows: how the places are distributed,
and how badly it can go. Both the worst opponent and the list of who beats whom are picked out of
many numbers after these were seen, so they are the ones in which luck shows most. The intervals
allow for that: they hold for all the numbers at once out of which one was picked.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from kille_env.errors import KilleError
from kille_training.statistics.crosstable import holm
from kille_training.statistics.intervals import (
    CONFIDENCE,
    Intervals,
    Sums,
    contrasts,
    entrant_scores,
    means,
    sums_by_deal,
)
from kille_training.statistics.observations import Observations


@dataclass(frozen=True)
class Places:
    """Where each of E entrants finishes at tables of P; NaN where it never sat.

    Ties share the ranks evenly, and copies at a table count as one that finishes like them on
    average. Intervals are of each number by itself, with deals as clusters.

    Attributes:
        share: [E, P] float64, how often it finishes at each rank, 0 for the best.
        low: [E, P] float64, lower ends of the 95% intervals.
        high: [E, P] float64, upper ends.
        finish: [E] float64, mean rank, 0 for the best.
        finish_low: [E] float64, lower ends.
        finish_high: [E] float64, upper ends.
        deals: [E] int64, at how many deals it sat.
    """

    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    finish: np.ndarray
    finish_low: np.ndarray
    finish_high: np.ndarray
    deals: np.ndarray


def places(observations: Observations, entrants: int | None = None) -> Places:
    """Returns where the entrants finish.

    Args:
        observations: Tables of one size.
        entrants: E; None is one more than the highest number seen.
    """
    count = observations.entrants if entrants is None else entrants
    seats = observations.seats
    rows = []
    for entrant in range(count):
        own = observations.members == entrant
        mine = np.flatnonzero(own.any(axis=1))
        own = own[mine]
        finishes = (observations.finishes[mine].astype(float) * own[:, :, None]).sum(axis=1)
        finishes /= own.sum(axis=1)[:, None]
        rank = finishes @ np.arange(seats)
        sums = sums_by_deal(observations.deal[mine], np.column_stack([finishes, rank]))
        rows.append(means(sums))
    mean, low, high = (
        np.array([getattr(row, end) for row in rows]) for end in ("mean", "low", "high")
    )
    return Places(
        share=mean[:, :seats],
        low=np.clip(low[:, :seats], 0, 1),
        high=np.clip(high[:, :seats], 0, 1),
        finish=mean[:, seats],
        finish_low=np.clip(low[:, seats], 0, seats - 1),
        finish_high=np.clip(high[:, seats], 0, seats - 1),
        deals=np.array([row.deals[seats] for row in rows], np.int64),
    )


@dataclass(frozen=True)
class Worst:
    """Beside which opponent each of E entrants earns least; NaN and -1 without two deals with any.

    At tables of two seats it is the opponent against which it does worst. At larger ones it may
    lose to a third because of that opponent.

    Attributes:
        mean: [E] float64, what it earns per deal over all observations.
        opponent: [E] int64, the one beside which it was seen to earn least.
        value: [E] float64, what it was seen to earn there. Being the least of many numbers it is
            too low on average.
        low: [E] float64, lower end of the 95% interval of what it earns beside its true worst
            opponent, whichever that is.
        high: [E] float64, upper end of it.
        possible: [E, E] bool, whether the column may be the true worst opponent of the row. All
            those marked together miss it in one of 20 tournaments at most; where more than one is
            marked, the tournament does not show which of them it is.
    """

    mean: np.ndarray
    opponent: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    possible: np.ndarray


def worst_opponents(observations: Observations, entrants: int | None = None) -> Worst:
    """Returns beside which opponent each entrant earns least.

    The interval is made of intervals for all its K opponents that hold together (Bonferroni: each
    at 1 - 5% / K): the true least mean lies between the least of their lower ends and the least of
    their upper ends. An opponent may be the worst unless what is earned beside it is more than
    beside the one seen to be the worst, significantly at 5% / (K - 1).

    Args:
        observations: Tables of one size.
        entrants: E; None is one more than the highest number seen.
    """
    scores = entrant_scores(observations, entrants)
    size = scores.shape[1]
    sits = np.isfinite(scores)
    overall = means(sums_by_deal(observations.deal, scores)).mean
    opponent = np.full(size, -1)
    value, low, high = np.full((3, size), np.nan)
    possible = np.zeros((size, size), dtype=bool)
    for entrant in range(size):
        mine = sits[:, entrant]
        beside = np.where(sits[mine], scores[mine, entrant, None], np.nan)
        beside[:, entrant] = np.nan
        sums = sums_by_deal(observations.deal[mine], beside)
        met = np.flatnonzero((sums.count > 0).sum(axis=0) >= 2)
        if not len(met):
            continue
        sums = Sums(sums.deal, sums.total[:, met], sums.count[:, met])
        each = means(sums)
        least = int(each.mean.argmin())
        opponent[entrant], value[entrant] = met[least], each.mean[least]
        reach = stats.t.isf((1 - CONFIDENCE) / 2 / len(met), each.freedom) * each.error
        low[entrant], high[entrant] = (each.mean - reach).min(), (each.mean + reach).min()
        if len(met) == 1:
            possible[entrant, met] = True
            continue
        weights = np.eye(len(met))
        weights[:, least] -= 1
        more = _chance_of_more(contrasts(sums, np.delete(weights, least, axis=0)))
        possible[entrant, np.delete(met, least)] = more >= (1 - CONFIDENCE) / (len(met) - 1)
        possible[entrant, met[least]] = True
    return Worst(overall, opponent, value, low, high, possible)


def _chance_of_more(differences: Intervals) -> np.ndarray:
    """Returns how likely such a difference is, or a larger one, if the true one is 0, [K]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = differences.mean / differences.error
    ratio = np.where((differences.error == 0) & (differences.mean == 0), 0.0, ratio)
    return np.asarray(stats.t.sf(ratio, differences.freedom))


@dataclass(frozen=True)
class Dominance:
    """Who earns more than whom at the tables where both sit.

    Attributes:
        margin: [E, E] float64, how much more the row earns per deal; NaN where two never met.
        beats: [E, E] bool, whether that is significant at 5%, all pairs looked at together
            (Holm): the chance that any arrow of this graph is wrong is at most 5%.
    """

    margin: np.ndarray
    beats: np.ndarray

    @property
    def undefeated(self) -> np.ndarray:
        """[E] bool, entrants that no other beats, because they are good or little was played."""
        return np.logical_not(self.beats.any(axis=0))


def dominance(observations: Observations, entrants: int | None = None) -> Dominance:
    """Returns who earns significantly more than whom.

    Args:
        observations: Tables of one size.
        entrants: E; None is one more than the highest number seen.
    """
    scores = entrant_scores(observations, entrants)
    size = scores.shape[1]
    if size < 2:
        raise KilleError(f"{size} entrants cannot be compared; expected two or more")
    margin, p_values = np.full((2, size, size), np.nan)
    for entrant in range(size):
        mine = np.isfinite(scores[:, entrant])
        more = scores[mine, entrant, None] - scores[mine]
        more[:, entrant] = np.nan
        found = means(sums_by_deal(observations.deal[mine], more))
        margin[entrant], p_values[entrant] = found.mean, found.p_values()
    beats = np.zeros((size, size), dtype=bool)
    pairs = np.triu(np.isfinite(p_values), 1)
    beats[pairs] = holm(p_values[pairs])
    beats |= beats.T
    with np.errstate(invalid="ignore"):
        beats &= margin > 0
    return Dominance(margin, beats)
