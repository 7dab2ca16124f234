"""How sure a mean is: 95% intervals with deals as clusters.

All observations of a deal have the same cards, whichever lineups played it. So only deals are drawn
independently, and everything here adds up by deal before it looks at the spread. With the
sums s_d and the numbers n_d of an entrant's observations at deal d, its mean is the ratio
m = sum s_d / sum n_d, and its variance is estimated from the residuals r_d = s_d - m n_d as

    sum_d (r_d / N)^2 / (1 - n_d / N),        N = sum n_d.

That is the "CR2" estimate of Bell and McCaffrey, *Bias reduction in standard errors for linear
regression with multi-stage samples*, Survey Methodology 28 (2002): it has no bias where all
observations have one variance, and where every deal has as many observations it is the variance of
Student's interval over deals. The degrees of freedom are Satterthwaite's, for observations that
depend wholly on their deal; deals that are played more often than others count for fewer, and with
as many observations everywhere they are the deals less one. The difference of two means over the
same deals subtracts their residuals deal by deal: what the cards do to both cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy import stats

from kille_training.statistics.observations import Observations

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Intervals:
    """Means with their intervals; NaN where there is none. All arrays have the same shape.

    Attributes:
        mean: The means.
        low: Lower ends of the 95% intervals.
        high: Upper ends.
        error: Standard errors.
        freedom: Degrees of freedom.
        deals: Deals behind each.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    freedom: np.ndarray
    deals: np.ndarray

    @property
    def half(self) -> np.ndarray:
        """Half the length of each interval."""
        return (self.high - self.low) / 2

    def p_values(self) -> np.ndarray:
        """Returns how likely a mean as far from 0 is if the true one is 0, two-sided.

        Where a mean has no spread at all it is 1 for a mean of 0, else 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.abs(self.mean) / self.error
        ratio = np.where((self.error == 0) & (self.mean == 0), 0.0, ratio)
        return 2 * stats.t.sf(ratio, self.freedom)


@dataclass(frozen=True)
class Sums:
    """Scores added up by deal: all that intervals need. D deals, K things that are measured.

    Attributes:
        deal: [D] int64, the deals' numbers, ascending.
        total: [D, K] float64, sums of scores.
        count: [D, K] float64, how many scores each sum has.
    """

    deal: np.ndarray
    total: np.ndarray
    count: np.ndarray

    def take(self, rows: np.ndarray) -> "Sums":
        """Returns the sums of some deals, by row."""
        return Sums(self.deal[rows], self.total[rows], self.count[rows])


def stacked(rows: Sequence[Intervals]) -> Intervals:
    """Returns intervals of one length, [K], as the rows of arrays [E, K]."""
    names = [each.name for each in fields(Intervals)]
    return Intervals(*(np.array([getattr(row, name) for row in rows]) for name in names))


def sums_by_deal(deal: np.ndarray, scores: np.ndarray) -> Sums:
    """Adds scores up by deal.

    Args:
        deal: [G] the deal of each observation.
        scores: [G, K] scores; NaN where an observation says nothing.
    """
    order = np.argsort(deal, kind="stable")
    numbers, begin = np.unique(deal[order], return_index=True)
    given = scores[order]
    seen = np.isfinite(given)
    if not len(numbers):
        return Sums(numbers, np.zeros((0, scores.shape[1])), np.zeros((0, scores.shape[1])))
    total = np.add.reduceat(np.where(seen, given, 0.0), begin, axis=0)
    count = np.add.reduceat(seen.astype(float), begin, axis=0)
    return Sums(numbers, total, count)


def entrant_scores(observations: Observations, entrants: int) -> np.ndarray:
    """Returns each entrant's score in each observation, [G, E]; NaN where it does not sit.

    An entrant that sits at a table several times has the mean over its places.

    Args:
        observations: Tables of one size.
        entrants: How many entrants there are, E.
    """
    count, seats = observations.members.shape
    total, places = np.zeros((count, entrants)), np.zeros((count, entrants))
    rows = np.arange(count)
    for place in range(seats):  # within a place no entrant of a row comes twice
        total[rows, observations.members[:, place]] += observations.scores[:, place]
        places[rows, observations.members[:, place]] += 1
    with np.errstate(invalid="ignore"):
        return total / places


def units(observations: Observations, entrants: int) -> Intervals:
    """Returns the units per deal that each entrant earns, [E]; see `entrant_scores`."""
    return means(sums_by_deal(observations.deal, entrant_scores(observations, entrants)))


def means(sums: Sums) -> Intervals:
    """Returns the mean of each thing that is measured, [K]."""
    share, residual, mean = _residuals(sums)
    return _intervals(mean, share, residual, (sums.count > 0).sum(axis=0))


def difference(observations: Observations, better: int, worse: int) -> Intervals:
    """Returns how much more one entrant earns than another, over deals that both have played.

    Deals are the same for all lineups, so the luck of the cards that meets both is no part of the
    error; they need not have sat at one table.

    Args:
        observations: Tables of one size.
        better: The entrant whose units count.
        worse: The entrant whose units are subtracted.

    Returns:
        One interval, [1].
    """
    scores = entrant_scores(observations, max(observations.entrants, better + 1, worse + 1))
    sums = sums_by_deal(observations.deal, scores[:, [better, worse]])
    common = sums.take(np.flatnonzero((sums.count > 0).all(axis=1)))
    share, residual, mean = _residuals(common)
    return _intervals(
        mean[:1] - mean[1:],
        share.mean(axis=1, keepdims=True),
        residual[:, :1] - residual[:, 1:],
        np.array([len(common.deal)]),
    )


def convergence(sums: Sums, points: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Returns how the intervals narrow while deals are played, for a plot.

    Args:
        sums: The scores of K things by deal, of two deals or more.
        points: How many numbers of deals to look at, evenly spaced on a log scale.

    Returns:
        The numbers of deals [N], and half the intervals [N, K] after so many.
    """
    played = np.unique(np.geomspace(2, len(sums.deal), points).round().astype(np.int64))
    return played, np.array([means(sums.take(np.arange(count))).half for count in played])


def _residuals(sums: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns each deal's share of the observations, its adjusted residual, and the means."""
    number = sums.count.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.total.sum(axis=0) / number
        share = sums.count / number
        residual = (sums.total / number - mean * share) / np.sqrt(1 - share)
    return share, np.where(share < 1, residual, np.nan), mean


def _intervals(
    mean: np.ndarray, share: np.ndarray, residual: np.ndarray, deals: np.ndarray
) -> Intervals:
    """Makes intervals of means, [K], from the deals' shares and adjusted residuals, [D, K]."""
    enough = deals >= 2
    freedom = np.where(enough, _freedom(np.nan_to_num(share)), np.nan)
    error = np.sqrt(np.where(enough, (residual**2).sum(axis=0), np.nan))
    half = stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error
    return Intervals(mean, mean - half, mean + half, error, freedom, deals)


def _freedom(share: np.ndarray) -> np.ndarray:
    """Satterthwaite's degrees of freedom of the variance of a mean.

    The estimate is the quadratic form s'Ks of the deals' sums, with K = (I - u n')'A(I - u n')
    where n are the shares, u is a column of ones and A = diag(1 / (1 - n)) belongs to the other
    side; if the sums have the variances n^2, the degrees are tr(K n^2)^2 / tr(K n^2 K n^2).

    Args:
        share: [D, K]; columns sum to 1.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        inverse = np.where(share < 1, 1 / (1 - share), 0.0)
        variance = share**2
        cross = inverse * share
        middle = (inverse * share**2).sum(axis=0)
        own = inverse - 2 * cross + middle  # the diagonal of K
        taken = 2 * cross - middle
        trace = (own * variance).sum(axis=0)
        spread, weight = variance.sum(axis=0), (cross * variance).sum(axis=0)
        square = ((inverse * variance) ** 2 - 2 * inverse * taken * variance**2).sum(axis=0)
        square += 2 * (cross**2 * variance).sum(axis=0) * spread + 2 * weight**2
        square += (middle * spread) ** 2 - 4 * middle * weight * spread
        return trace**2 / square
