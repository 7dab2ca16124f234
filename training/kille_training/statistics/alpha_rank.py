"""Alpha-rank: which entrants would survive evolution, cycles and all.

All members of a large population play as one entrant. Now and then one plays as another; it is
copied, or copies, the more likely the more its strategy earns, until all play alike again. The
share of time that the population spends with each entrant in the long run is its alpha-rank
(Omidshafiei et al., *alpha-Rank: Multi-Agent Evaluation by Evolution*, 2019, arXiv 1903.01373).
Unlike a rating it needs no transitive order: of three entrants that beat each other in a circle
each has a third. It is a statement about the given payoffs; it does not know how precisely they
were measured, nor does it say how much better an entrant is.

`alpha` is the weight of payoffs and depends on their unit. It has to be large for a ranking that
has settled; `settle` raises it until nothing changes. All probabilities are computed as logarithms,
and the long run by elimination without subtractions (Grassmann, Taksar and Heyman 1985), so no
alpha is too large. The results equal those of OpenSpiel (`python/egt/alpharank.py`) where it has
any.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from kille_env.errors import KilleError
from kille_training.statistics.nash_averaging import checked

POPULATION = 50
"""Size of the population, the paper's m."""

NEUTRAL = 1e-14
"""Differences below this count as none."""

ROUNDING = 1e-12
"""Payoffs that are closer than this share of their range are equal."""

MAX_DOUBLINGS = 200


def single_population(payoff: np.ndarray, alpha: float, population: int = POPULATION) -> np.ndarray:
    """Returns the alpha-rank of a symmetric game of two seats, [E].

    Whoever might copy another compares only what the two earn from each other, as in OpenSpiel's
    default.

    Args:
        payoff: [E, E], what the row earns against the column.
        alpha: How strongly payoffs count.
        population: Size of the population, m.
    """
    payoff = checked(payoff)
    return _long_run(_log_fixation(alpha * (payoff.T - payoff), population))


def settle(payoff: np.ndarray) -> tuple[np.ndarray, float]:
    """Raises alpha until the ranks stop changing, and returns them, [E], and the alpha.

    Args:
        payoff: [E, E], what the row earns against the column.
    """
    values = np.unique(checked(payoff))
    reach = float(values[-1] - values[0])
    gaps = np.diff(values)
    gaps = gaps[gaps > ROUNDING * reach]
    if not len(gaps):
        return single_population(payoff, 1.0), 1.0
    # Before alpha tells the two closest payoffs apart, little may change and much is to come.
    tells_apart = 1 / (POPULATION * float(gaps.min()))
    alpha = 1 / (POPULATION * reach)
    last = single_population(payoff, alpha)
    for _ in range(MAX_DOUBLINGS):
        alpha *= 2
        ranks = single_population(payoff, alpha)
        if alpha > tells_apart and np.allclose(ranks, last, rtol=1e-5, atol=1e-8):
            return ranks, alpha
        last = ranks
    raise KilleError(f"the ranks still change at an alpha of {alpha:g}")


def _log_fixation(edge: np.ndarray, population: int) -> np.ndarray:
    """Returns the logarithm of the probability that one of m takes over.

    It is (1 - exp(-u)) / (1 - exp(-m u)) for the edge u, and 1 / m for none.

    Args:
        edge: Alpha times what the new one earns more than the old one.
        population: m.
    """
    u = np.abs(edge)
    safe = np.where(u <= NEUTRAL, 1.0, u)
    ahead = np.log(-np.expm1(-safe)) - np.log(-np.expm1(-population * safe))
    behind = ahead - (population - 1) * safe
    chance = np.where(edge > 0, ahead, behind)
    return np.where(u <= NEUTRAL, -np.log(population), chance)


def _long_run(rates: np.ndarray) -> np.ndarray:
    """Returns the share of time that a chain spends in each state, [S].

    Args:
        rates: [S, S], logarithms of the probabilities to go from the row to the column, up to a
            factor for all of them; the diagonal does not matter.
    """
    rates = np.array(rates, float)
    count = len(rates)
    for state in range(count - 1, 0, -1):
        # The chain as seen while it is in the states before this one.
        rates[:state, state] -= logsumexp(rates[state, :state])
        through = rates[:state, state, None] + rates[state, :state]
        rates[:state, :state] = np.logaddexp(rates[:state, :state], through)
    time = np.zeros(count)
    for state in range(1, count):
        time[state] = logsumexp(time[:state] + rates[:state, state])
    return softmax(time)
