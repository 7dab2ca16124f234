"""95% intervals of means from the spread between folds.

All observations of a deal share its cards and random numbers, whatever the lineup. So only deals
are independent, and a fold of a tally holds all observations of its deals. With
the sums s_f and the numbers n_f of an entrant's observations in fold f, its mean m is the ratio
sum s_f / sum n_f, and its variance is estimated from the residuals r_f = s_f - m n_f as

    sum_f (r_f / N)^2 / (1 - n_f / N),        N = sum n_f.

That is the "CR2" estimate of Bell and McCaffrey, *Bias reduction in standard errors for linear
regression with multi-stage samples*, Survey Methodology 28 (2002), with folds as clusters: it is
unbiased for equal variances, and with equally many observations in every fold it is the variance of
Student's interval over folds. The degrees of freedom are Satterthwaite's, for observations that
depend wholly on their fold; with equally many observations they are the number of folds minus one,
otherwise fewer. The difference of two means subtracts their residuals fold by fold, so that the
luck of the cards cancels.

Student's interval relies on the observed spread, but players that differ in one deal of a thousand
may show none. So there are two corrections. For skewed residuals half the interval grows by
2 abs(sum r_f^3) / sum r_f^2: for k rare differences of one size that is twice the weight of one,
and makes the upper end Poisson's. And half the interval is at least the rule of three, 3 D / n for
n deals, one of which moves the difference by at most D: an event unseen in n deals has a frequency
below 3 / n, with 95% confidence. That floor counts in full if no differences were seen, and fades
out until a quarter of the folds carry the spread, by their effective number
(sum r_f^2)^2 / sum r_f^4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
LEAN = 2.0  # weight of the skewness correction, see above
UNSEEN = 3.0  # constant of the rule of three: -log(1 - CONFIDENCE), rounded
DUST = 1e-13  # relative rounding error of a sum of equal scores
ENOUGH = 0.25  # share of the folds with spread from which the rule of three no longer applies


@dataclass(frozen=True)
class ScoreRange:
    """Prior knowledge of scores."""

    largest: float  # largest possible difference of two scores of one deal, in units
    # maximum number of deals behind a mean: observations of one deal are not independent
    deals: int

    def unseen(self, count: np.ndarray) -> np.ndarray:
        """Return the possible effect of unseen differences on means of so many observations."""
        return UNSEEN * self.largest / np.clip(count, 1, self.deals)


@dataclass(frozen=True)
class Intervals:
    """Means with their intervals; NaN where there is none. All arrays have the same shape."""

    mean: np.ndarray
    low: np.ndarray  # lower ends of the 95% intervals
    high: np.ndarray
    error: np.ndarray  # standard errors: half the interval divided by Student's quantile
    freedom: np.ndarray
    count: np.ndarray

    @property
    def half(self) -> np.ndarray:
        """Half the length of each interval."""
        return (self.high - self.low) / 2

    def p_values(self) -> np.ndarray:
        """Return two-sided p-values of the hypotheses that the means are 0."""
        return 2 * stdtr(self.freedom, -np.abs(self.mean) / self.error)


def stacked(rows: Sequence[Intervals]) -> Intervals:
    """Stack intervals of one shape, [K, ...], to arrays [E, K, ...]."""
    names = [each.name for each in fields(Intervals)]
    return Intervals(*(np.array([getattr(row, name) for row in rows]) for name in names))


def means(total: np.ndarray, count: np.ndarray, scale: ScoreRange | None = None) -> Intervals:
    """Return means with intervals, from sums and counts in independent folds."""
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
    """Return intervals of means, [...], from shares and adjusted residuals of folds, [F, ...]."""
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
    """Return the skewness correction of residuals, [F, ...]; 0 without residuals."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs((residual**3).sum(axis=0)) / (residual**2).sum(axis=0))


def rarity(residual: np.ndarray, folds: np.ndarray | int) -> np.ndarray:
    """Return the weight of the rule of three: 1 without spread, 0 if enough folds carry it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        square = (residual**2).sum(axis=0)
        carrying = np.nan_to_num(square**2 / (residual**4).sum(axis=0)) / folds
    return np.clip(1 - carrying / ENOUGH, 0, None)


def _freedom(share: np.ndarray) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of the variance of a mean."""
    # The estimate is the quadratic form s'Ks of the folds' sums, K = (I - u n')'A(I - u n') with
    # the shares n, a column u of ones and A = diag(1 / (1 - n)). For sums with variances n^2 the
    # degrees are tr(K n^2)^2 / tr(K n^2 K n^2).
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
