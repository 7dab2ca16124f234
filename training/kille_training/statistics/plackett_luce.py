"""Ratings that do not depend on the order of the deals: Plackett-Luce with intervals over folds.

The model: entrant i has a strength `exp(theta_i)`. The best of a table is drawn with probabilities
proportional to the strengths, then the second best of those that are left, and so on (Luce 1959;
Plackett 1975). At a table of any size, i finishes above j with probability
`1 / (1 + exp(theta_j - theta_i))`, whoever else sits there.

**Full rank breaking.** So every two members of a table are a comparison of which the model knows
the chance, and the strengths are those that make all comparisons together most likely. That is
consistent for Plackett-Luce (Azari Soufiani, Chen, Parkes and Xia, *Generalized method-of-moments
for rank aggregation*, NeurIPS 2013), and needs no more of the tables than how often each entrant
finished above each other; at two seats it is the model of Bradley and Terry itself. A tie is half
a win for each. Copies of an entrant compare as one, by the mean of their scores.

**The prior** keeps entrants finite that won or lost everything: each has also met an imaginary
player of strength 1, and finished above it and below it, `prior` times each. The default 0.5 is
that of the R package PlackettLuce (Turner, van Etten, Firth, Kosmidis 2020); of a hundred tables it
moves little.

**Intervals.** Comparisons of a table, and of all tables of a deal, depend on each other, so the
curvature of the likelihood says nothing of the error. It is estimated from the spread of the
folds' gradients ("sandwich"), and the intervals are Student's, with the folds less one degrees of
freedom. They hold whether or not the model is true, for the strengths that fit best. Only wins both
ways tell two entrants apart by a finite amount (Ford, *Solution of a ranking problem from binary
comparisons*, American Mathematical Monthly 64, 1957): outside of the largest group in which each
finished above each, if not itself then over others, there are no intervals. Whoever finished
above all others always is outside: nothing says how far above.

Where the orders of few deals differ, the intervals have the floor of `intervals`: a deal that was
not seen can move all comparisons of an entrant from even to one side, and so its strength; in n
deals this happens in fewer than 3 / n of them. The floor fades out as more folds carry the spread,
so it changes nothing where differences are frequent.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, stdtrit

from kille_env.errors import KilleError
from kille_training.statistics.intervals import CONFIDENCE, LEAN, UNSEEN, lean, rarity
from kille_training.statistics.standings import HALF
from kille_training.statistics.tally import Tally

ELO = 400 / log(10)
"""Points of Elo's scale in one unit of log-strength: 400 points are odds of ten to one."""

PRIOR = 0.5
"""How often each entrant has finished above, and how often below, the imaginary player."""

TOLERANCE = 1e-9
"""Largest change of a log-strength in the last step."""

MAX_STEPS = 1000


@dataclass(frozen=True)
class Ratings:
    """Strengths of E entrants; NaN for those that never sat.

    Attributes:
        strength: [E] float64, log-strength; the mean is 0.
        low: [E] float64, lower ends of the 95% intervals; NaN where there is none.
        high: [E] float64, upper ends.
        error: [E] float64, standard errors.
    """

    strength: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray

    @cached_property
    def elo(self) -> np.ndarray:
        """[E] float64, strengths on Elo's scale, with the mean 0."""
        return self.strength * ELO


def fit(tally: Tally, prior: float = PRIOR, deals: int | None = None) -> Ratings:
    """Return the ratings that make the comparisons most likely."""
    if not prior > 0:
        raise KilleError(f"a prior of {prior} tables is impossible; expected more than 0")
    met = tally.met.sum(axis=0).astype(float)
    if not met.any():
        raise KilleError("no two entrants met at a table; play the tournament first")
    problem = _Problem(tally.above.sum(axis=0) / 2, met, prior)
    theta = problem.climb()
    sat = met.any(axis=1)
    centre = np.eye(len(sat)) - sat / sat.sum()
    moved = _moved(tally, problem, theta)
    freedom = max(0, moved.shape[1] - 1)
    spread = moved @ moved.T if freedom else np.full(met.shape, np.nan)
    known = problem.connected()
    covariance = np.where(known[:, None] & known, centre @ spread @ centre.T, np.nan)
    strength = np.where(sat, centre @ theta, np.nan)
    error = np.sqrt(np.maximum(np.diag(covariance), 0))
    half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * error
    if deals is not None and freedom:
        residual = (centre @ moved).T
        rare = rarity(residual, len(residual))
        floor = UNSEEN * problem.most_moved(theta, centre) / max(1, deals)
        half = np.maximum(half + rare * LEAN * lean(residual), rare * floor)
    return Ratings(strength, strength - half, strength + half, error)


def _moved(tally: Tally, problem: "_Problem", theta: np.ndarray) -> np.ndarray:
    """Return how far each fold moves the strengths, [E, F], of the folds that were played.

    Their squares add up to the covariance of the strengths' errors. Gradients of the folds add up
    to that of the prior, which is the same in every tournament; so they are taken about their mean.
    """
    played = tally.count.any(axis=1)
    folds = int(played.sum())
    if folds < 2:
        return np.zeros((tally.entrants, folds))
    expected = np.einsum("fij,ij->fi", tally.met, problem.chance(theta))
    gradients = (tally.above.sum(axis=2) / 2 - expected)[played]
    moved = cho_solve(problem.information(theta), (gradients - gradients.mean(axis=0)).T)
    return moved * np.sqrt(folds / (folds - 1))


@dataclass(frozen=True)
class _Problem:
    """The log-likelihood of all comparisons, with the prior's."""

    wins: np.ndarray
    met: np.ndarray
    prior: float

    def connected(self) -> np.ndarray:
        """Return the members of the largest group in which chains of wins lead both ways, [E]."""
        _, group = connected_components(self.wins > 0, connection="strong")
        size = np.bincount(group)
        return (group == size.argmax()) & (size.max() > 1)

    def chance(self, theta: np.ndarray) -> np.ndarray:
        """Return how likely the row's entrant is to finish above the column's, [E, E]."""
        return expit(theta[:, None] - theta)

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return the first derivatives, [E]."""
        own = (self.wins - self.met * self.chance(theta)).sum(axis=1)
        return own + self.prior * (1 - 2 * expit(theta))

    def information(self, theta: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return the factors of minus the second derivatives, for `cho_solve`."""
        chance, above = self.chance(theta), expit(theta)
        pairs = self.met * chance * chance.T
        return cho_factor(np.diag(pairs.sum(axis=1) + 2 * self.prior * above * (1 - above)) - pairs)

    def most_moved(self, theta: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Return how far strengths go, [E], if all comparisons of each move by half a win."""
        inverse = centre @ cho_solve(self.information(theta), centre.T)
        return HALF * (self.met * (np.diag(inverse)[:, None] - inverse)).sum(axis=1)

    def climb(self) -> np.ndarray:
        """Return the strengths, [E], that make the comparisons most likely.

        By Newton's method. Along a step that moves no two strengths, nor the imaginary player's, by
        more than d against each other, curvature grows by exp(d) at most; so log(1 + d) / d of the
        step never leads beyond the maximum on its way, and it becomes the whole one near the end.
        Where a weak prior alone holds a direction, rounding keeps steps along it from vanishing; it
        is the gain in likelihood that does.
        """
        theta = np.zeros(len(self.met))
        for _ in range(MAX_STEPS):
            gradient = self.gradient(theta)
            step = cho_solve(self.information(theta), gradient)
            reach = max(step.max(), 0) - min(step.min(), 0)
            if reach < TOLERANCE or gradient @ step < TOLERANCE**2:
                return theta + step
            theta = theta + step * np.log1p(reach) / reach
        raise KilleError("the ratings do not settle; fit with a larger prior")
