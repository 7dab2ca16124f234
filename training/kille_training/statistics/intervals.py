"""How sure a mean is: 95% intervals from the spread between folds.

All observations of a deal have the same cards and the same lots, whichever lineups played it. So
only deals are drawn independently, and a fold of a tally holds all observations of its deals. With
the sums s_f and the numbers n_f of an entrant's observations in fold f, its mean m is the ratio
sum s_f / sum n_f, and its variance is estimated from the residuals r_f = s_f - m n_f as

    sum_f (r_f / N)^2 / (1 - n_f / N),        N = sum n_f.

That is the "CR2" estimate of Bell and McCaffrey, *Bias reduction in standard errors for linear
regression with multi-stage samples*, Survey Methodology 28 (2002), with folds as clusters: it has
no bias where all observations have one variance, and where every fold has as many observations it
is the variance of Student's interval over folds. The degrees of freedom are Satterthwaite's, for
observations that depend wholly on their fold; folds that are played more often than others count
for fewer, and with as many observations everywhere they are the folds less one. The difference of
two means subtracts their residuals fold by fold: what the cards do to both cancels.

Student's interval trusts the spread that it sees. Players that differ in one deal of a thousand may
show none, so two things are added. Where few residuals carry the spread their mean leans, and half
the interval grows by 2 abs(sum r_f^3) / sum r_f^2: for k rare differences of one size that is twice
the weight of one, and makes the upper end Poisson's. And half the interval is at least the rule of
three, 3 D / n for n deals of which one can move the difference by D at most: a thing that was not
seen in n deals happens in fewer than 3 / n of them, with 95%. That floor counts in full where
nothing was seen, and fades out until a quarter of the folds carry the spread, by their effective
number (sum r_f^2)^2 / sum r_f^4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
LEAN = 2.0
"""Weights of a rare difference by which half an interval grows, see above."""
UNSEEN = 3.0
"""The rule of three: -log(1 - CONFIDENCE), rounded."""
DUST = 1e-13
"""Share of a sum that rounding leaves where all scores are equal."""
ENOUGH = 0.25
"""Share of the folds that carry the spread from which on the rule of three does not count."""


@dataclass(frozen=True)
class ScoreRange:
    """Prior knowledge of scores.

    Attributes:
        largest: The most by which two scores of one deal can differ, in units.
        deals: Deals behind a mean, at most: observations of one deal are not independent.
    """

    largest: float
    deals: int

    def unseen(self, count: np.ndarray) -> np.ndarray:
        """Return how far unseen differences may move means of so many observations."""
        return UNSEEN * self.largest / np.clip(count, 1, self.deals)


@dataclass(frozen=True)
class Intervals:
    """Means with their intervals; NaN where there is none. All arrays have the same shape.

    Attributes:
        mean: The means.
        low: Lower ends of the 95% intervals.
        high: Upper ends.
        error: Standard errors: half the interval by Student's quantile.
        freedom: Degrees of freedom.
        count: Observations behind each.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    freedom: np.ndarray
    count: np.ndarray

    @property
    def half(self) -> np.ndarray:
        """Half the length of each interval."""
        return (self.high - self.low) / 2

    def p_values(self) -> np.ndarray:
        """Return how likely a mean as far from 0 is if the true one is 0, two-sided."""
        return 2 * stdtr(self.freedom, -np.abs(self.mean) / self.error)


def stacked(rows: Sequence[Intervals]) -> Intervals:
    """Return intervals of one shape, [K, ...], as the rows of arrays [E, K, ...]."""
    names = [each.name for each in fields(Intervals)]
    return Intervals(*(np.array([getattr(row, name) for row in rows]) for name in names))


def means(total: np.ndarray, count: np.ndarray, scale: ScoreRange | None = None) -> Intervals:
    """Return the means of things that are measured in folds that are drawn independently."""
    share, residual, mean = residuals(total, count)
    return intervals_of(mean, share, residual, count.sum(axis=0), scale)


def residuals(total: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each fold's share of the observations, its adjusted residual, and the means."""
    number = count.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total.sum(axis=0) / number
        share = count / number
        part = total / number
        away = part - mean * share
        away = np.where(np.abs(away) <= DUST * np.abs(part), 0.0, away)
        residual = away / np.sqrt(1 - share)
    return share, np.where(share < 1, residual, np.nan), mean


def intervals_of(
    mean: np.ndarray,
    share: np.ndarray,
    residual: np.ndarray,
    count: np.ndarray,
    scale: ScoreRange | None,
) -> Intervals:
    """Make intervals of means, [...], from the folds' shares and adjusted residuals, [F, ...]."""
    folds = (share > 0).sum(axis=0)
    freedom = np.where(folds >= 2, _freedom(np.nan_to_num(share)), np.nan)
    square = np.where(folds >= 2, (residual**2).sum(axis=0), np.nan)
    quantile = stdtrit(freedom, (1 + CONFIDENCE) / 2)
    half = np.where(square > 0, quantile * np.sqrt(square), np.nan)
    if scale is not None:
        floor = scale.unseen(count) * rarity(residual, folds)
        half = np.where(square == 0, floor, np.maximum(half + LEAN * lean(residual), floor))
    return Intervals(mean, mean - half, mean + half, half / quantile, freedom, count)


def lean(residual: np.ndarray) -> np.ndarray:
    """Return how far residuals, [F, ...], lean to one side; 0 where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs((residual**3).sum(axis=0)) / (residual**2).sum(axis=0))


def rarity(residual: np.ndarray, folds: np.ndarray | int) -> np.ndarray:
    """Return 1 where no residual differs from 0, down to 0 where enough folds carry the spread."""
    with np.errstate(divide="ignore", invalid="ignore"):
        square = (residual**2).sum(axis=0)
        carrying = np.nan_to_num(square**2 / (residual**4).sum(axis=0)) / folds
    return np.clip(1 - carrying / ENOUGH, 0, None)


def _freedom(share: np.ndarray) -> np.ndarray:
    """Satterthwaite's degrees of freedom of the variance of a mean.

    The estimate is the quadratic form s'Ks of the folds' sums, with K = (I - u n')'A(I - u n')
    where n are the shares, u is a column of ones and A = diag(1 / (1 - n)) belongs to the other
    side; if the sums have the variances n^2, the degrees are tr(K n^2)^2 / tr(K n^2 K n^2).
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
