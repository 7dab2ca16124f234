"""Plackett-Luce ratings with intervals over folds, independent of the order of deals.

The model: entrant i has a strength `exp(theta_i)`. The best of a table is drawn with probabilities
proportional to the strengths, then the second best from the others, and so on (Luce 1959; Plackett
1975). At a table of any size, i finishes above j with probability
`1 / (1 + exp(theta_j - theta_i))`, whatever the other entrants.

**Full rank breaking.** So every pair at a table is a comparison, and the strengths maximize the
likelihood of all comparisons. That is consistent for Plackett-Luce (Azari Soufiani, Chen, Parkes
and Xia, *Generalized method-of-moments for rank aggregation*, NeurIPS 2013), and needs only the
numbers of finishes above each other; at two seats it is the model of Bradley and Terry. A tie is
half a win for each. Copies of an entrant compare as one, by the mean of their scores.

**The prior** keeps the strengths of undefeated and winless entrants finite: each has also finished
above and below an imaginary player of strength 1, `prior` times each. The default 0.5 is that of
the R package PlackettLuce (Turner, van Etten, Firth, Kosmidis 2020); with a hundred tables its
effect is small.

**Intervals.** Comparisons of a deal depend on each other, so the curvature of the likelihood does
not give their error. It is estimated from the spread of the folds' gradients ("sandwich"), and the
intervals are Student's with the number of folds minus one degrees of freedom. They are valid for
the best-fitting strengths even if the model is wrong. Two entrants have a finite difference only
with wins both ways (Ford, *Solution of a ranking problem from binary comparisons*, American
Mathematical Monthly 64, 1957): there are no intervals outside the largest group connected by wins
both ways, for example for an entrant that always finishes first.

If the orders of few deals differ, the intervals have the floor of `intervals`: an unseen deal can
move all comparisons of an entrant from even to one side; with n deals, such deals have a frequency
below 3 / n. The floor fades out as more folds carry the spread.
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

PRIOR = 0.5  # finishes of each entrant above the imaginary player, and as many below it
TOLERANCE = 1e-9  # convergence threshold of log-strengths

MAX_STEPS = 1000


@dataclass(frozen=True)
class Ratings:
    """Strengths of E entrants; NaN for those that never sat."""

    strength: np.ndarray  # [E] float64, log-strength; the mean is 0
    low: np.ndarray  # [E] float64, lower ends of the 95% intervals; NaN where there is none
    high: np.ndarray
    error: np.ndarray  # [E] float64, standard errors

    @cached_property
    def elo(self) -> np.ndarray:
        """[E] float64, strengths on Elo's scale, with the mean 0."""
        return self.strength * ELO


def fit(tally: Tally, prior: float = PRIOR, deals: int | None = None) -> Ratings:
    """Return the ratings that make the comparisons most likely."""
    if not prior > 0:
        raise KilleError(f"prior is {prior}, expected more than 0 tables")
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
    """Return the influence of each played fold on the strengths, [E, F]."""
    # The squares add up to the covariance of the errors. The folds' gradients add up to that of the
    # prior, the same in every tournament, so their mean is subtracted.
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
        """Return the members of the largest group connected by chains of wins both ways, [E]."""
        _, group = connected_components(self.wins > 0, connection="strong")
        size = np.bincount(group)
        return (group == size.argmax()) & (size.max() > 1)

    def chance(self, theta: np.ndarray) -> np.ndarray:
        """Return the probability of the row's entrant finishing above the column's, [E, E]."""
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
        """Return the change of each strength, [E], if all its comparisons move by half a win."""
        inverse = centre @ cho_solve(self.information(theta), centre.T)
        return HALF * (self.met * (np.diag(inverse)[:, None] - inverse)).sum(axis=1)

    def climb(self) -> np.ndarray:
        """Return the strengths, [E], of maximum likelihood, by damped Newton steps."""
        # Along a step that changes differences of strengths by at most d, curvature grows by at
        # most exp(d), so log(1 + d) / d of the step never overshoots, and becomes the full step
        # near the end. Rounding keeps steps from vanishing along directions held by a weak prior
        # alone, so convergence is also tested by the gain in likelihood.
        theta = np.zeros(len(self.met))
        for _ in range(MAX_STEPS):
            gradient = self.gradient(theta)
            step = cho_solve(self.information(theta), gradient)
            reach = max(step.max(), 0) - min(step.min(), 0)
            if reach < TOLERANCE or gradient @ step < TOLERANCE**2:
                return theta + step
            theta = theta + step * np.log1p(reach) / reach
        raise KilleError("the ratings do not converge; fit with a larger prior")
