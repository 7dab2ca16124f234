"""Alpha-rank: which entrants would survive evolution, cycles and all.

Everybody in a large population plays as one entrant. Now and then somebody plays as another; he is
copied, or copies, the more likely the more his strategy earns, until all play alike again. The
share of time that the population spends with each entrant in the long run is his alpha-rank
(Omidshafiei et al., *alpha-Rank: Multi-Agent Evaluation by Evolution*, 2019, arXiv 1903.01373).
Unlike a rating it needs no transitive order: of three who beat each other in a circle each has a
third. It is a statement about the table of payoffs that it is given, and knows nothing of how
surely those are measured; nor does it say how much better anybody is.

`alpha` says how strongly payoffs count and depends on their unit. It has to be large for a ranking
that is settled; `settle` raises it until nothing changes. All probabilities are computed as
logarithms, and the long run by elimination without subtractions (Grassmann, Taksar and Heyman
1985), so no alpha is too large. The results equal those of OpenSpiel (`python/egt/alpharank.py`)
where it has any; it has no single population at tables of more than two seats.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import logsumexp, softmax
from scipy.stats import hypergeom

from kille_env.errors import KilleError

POPULATION = 50
"""How many play, the paper's m."""

NEUTRAL = 1e-14
"""Differences below this count for nothing."""

ROUNDING = 1e-12
"""Payoffs that are closer than this part of their range are the same."""

MAX_DOUBLINGS = 200


def single_population(
    payoff: np.ndarray, alpha: float, population: int = POPULATION, local: bool = True
) -> np.ndarray:
    """Returns the alpha-rank of a symmetric game of two seats, [E].

    Args:
        payoff: [E, E], what the row earns against the column.
        alpha: How strongly payoffs count.
        population: How many play, m.
        local: Whether who might copy another compares only what the two earn from each other, as
            OpenSpiel does unless told otherwise; else what they earn from the whole population, as
            `mixed_population` does.
    """
    _check_alpha(alpha, population)
    payoff = _known(payoff, 2)
    if local:
        return _long_run(_log_fixation(alpha * (payoff.T - payoff), population))
    return mixed_population(np.stack([payoff, _own(payoff)], axis=2), alpha, population)


def infinite_alpha(payoff: np.ndarray, noise: float = 0.01) -> np.ndarray:
    """Returns the limit for large alpha of `single_population`, with some noise, [E].

    Whoever earns more takes over with probability 1 less the noise.

    Args:
        payoff: [E, E], what the row earns against the column.
        noise: Probability that who earns less takes over.
    """
    payoff = _known(payoff, 2)
    if not 0 < noise < 1:
        raise KilleError(f"a noise of {noise} is no probability between 0 and 1")
    gain = payoff.T - payoff
    chance = np.where(gain > 0, 1 - noise, noise)
    return _long_run(np.log(np.where(np.abs(gain) <= NEUTRAL, 0.5, chance)))


def mixed_population(
    mixtures: np.ndarray, alpha: float, population: int = POPULATION
) -> np.ndarray:
    """Returns the alpha-rank where tables of P are drawn from one population, [E].

    Args:
        mixtures: [E, E, P], what the row earns beside k others of his kind and P - 1 - k of the
            column's, see `meta_game.mixtures`.
        alpha: How strongly payoffs count.
        population: How many play, m; P at least.
    """
    _check_alpha(alpha, population)
    mixtures = _known(mixtures, 3)
    seats = mixtures.shape[2]
    if population < seats:
        raise KilleError(f"a population of {population} fills no table of {seats}")
    # [m - 1, P]: how likely k of the P - 1 others at a table are of one's kind where p of all are
    own = np.arange(1, population)[:, None]
    likely = hypergeom.pmf(np.arange(seats), population - 1, own - 1, seats - 1)
    fitness = mixtures @ likely.T  # [E, E, m - 1], by how many of the row's kind there are
    edge = fitness - fitness.transpose(1, 0, 2)[:, :, ::-1]
    falls = np.cumsum(-alpha * edge, axis=2)
    none = np.zeros((*falls.shape[:2], 1))
    takes_over = -logsumexp(np.concatenate([none, falls], axis=2), axis=2)
    return _long_run(takes_over.T)


def many_populations(
    payoffs: Sequence[np.ndarray], alpha: float, population: int = POPULATION
) -> np.ndarray:
    """Returns the alpha-rank of each profile where every seat has a population of its own.

    Args:
        payoffs: For each of K seats what it earns, [n1, ..., nK].
        alpha: How strongly payoffs count.
        population: How many play in each population, m.

    Returns:
        [n1, ..., nK], which sums to 1; sum over all other axes for the ranks of one seat.
    """
    _check_alpha(alpha, population)
    tensors = [_known(payoff, None) for payoff in payoffs]
    shape = tensors[0].shape
    if len(shape) != len(tensors) or any(tensor.shape != shape for tensor in tensors):
        raise KilleError(
            f"{len(tensors)} seats need as many payoffs of one shape with as many axes, "
            f"got shapes {', '.join(str(tensor.shape) for tensor in tensors)}"
        )
    count = int(np.prod(shape))
    rates = np.full((count, count), -np.inf)
    profiles = np.arange(count).reshape(shape)
    for axis, tensor in enumerate(tensors):
        # Rows of profiles that differ at this seat only.
        lines = np.moveaxis(profiles, axis, -1).reshape(-1, shape[axis])
        earned = np.moveaxis(tensor, axis, -1).reshape(-1, shape[axis])
        gain = earned[:, None, :] - earned[:, :, None]
        line, before, after = np.nonzero(
            ~np.broadcast_to(np.eye(shape[axis], dtype=bool), gain.shape)
        )
        rates[lines[line, before], lines[line, after]] = _log_fixation(alpha * gain, population)[
            line, before, after
        ]
    return _long_run(rates).reshape(shape)


def settle(rank: Callable[[float], np.ndarray], payoff: np.ndarray) -> tuple[np.ndarray, float]:
    """Raises alpha until the ranks change no more, and returns them and the alpha.

    Args:
        rank: Returns the ranks for an alpha, such as `partial(single_population, table)`.
        payoff: The payoffs, of any shape; where it begins depends on how far they are apart.
    """
    values = np.unique(payoff[np.isfinite(payoff)])
    reach = float(values[-1] - values[0]) if len(values) else 0.0
    gaps = np.diff(values)
    gaps = gaps[gaps > ROUNDING * reach]
    if not len(gaps):
        return rank(1.0), 1.0
    # Before alpha tells the two closest payoffs apart, little may change and much is to come.
    tells_apart = 1 / (POPULATION * float(gaps.min()))
    alpha = 1 / (POPULATION * reach)
    last = rank(alpha)
    for _ in range(MAX_DOUBLINGS):
        alpha *= 2
        ranks = rank(alpha)
        if alpha > tells_apart and np.allclose(ranks, last, rtol=1e-5, atol=1e-8):
            return ranks, alpha
        last = ranks
    raise KilleError(f"ranks still change at an alpha of {alpha:g}; use infinite_alpha")


def _own(payoff: np.ndarray) -> np.ndarray:
    """Returns what the row earns against its own kind, [E, E]."""
    return np.broadcast_to(np.diag(payoff)[:, None], payoff.shape)


def _check_alpha(alpha: float, population: int) -> None:
    if not (np.isfinite(alpha) and alpha > 0):
        raise KilleError(f"an alpha of {alpha} is impossible; expected a number above 0")
    if population < 2:
        raise KilleError(f"a population of {population} cannot change; expected 2 or more")


def _known(payoff: np.ndarray, axes: int | None) -> np.ndarray:
    """Returns payoffs as float64 if all are known and the first two of `axes` axes fit."""
    payoff = np.asarray(payoff, float)
    if axes is not None and (payoff.ndim != axes or payoff.shape[0] != payoff.shape[1]):
        raise KilleError(
            f"payoffs of shape {payoff.shape}: expected {axes} axes, the first two of one length"
        )
    if not np.isfinite(payoff).all():
        missing = np.argwhere(~np.isfinite(payoff))
        shown = ", ".join(str(tuple(map(int, cell))) for cell in missing[:5])
        raise KilleError(
            f"{len(missing)} payoffs are unknown, the first at {shown}: alpha-rank needs all of "
            "them; play these tables, leave entrants out, or rank by the margins of against"
        )
    return payoff


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
        # The chain as it is seen while it is in the states before this one.
        rates[:state, state] -= logsumexp(rates[state, :state])
        through = rates[:state, state, None] + rates[state, :state]
        rates[:state, :state] = np.logaddexp(rates[:state, :state], through)
    time = np.zeros(count)
    for state in range(1, count):
        time[state] = logsumexp(time[:state] + rates[:state, state])
    return softmax(time)
