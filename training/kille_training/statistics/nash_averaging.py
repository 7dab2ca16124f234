"""Nash averaging: ratings that do not change when an entrant enters again under another name.

Two players choose an entrant each; the one whose entrant earns more than the other's gains the
difference. In an equilibrium of this game only entrants are chosen that are worth choosing
against the others that are, and each entrant is rated by what it would earn against the
equilibrium: 0 for those that are chosen, 0 or less for the others. Of several equilibria it is
the one of largest entropy, which treats copies alike (Balduzzi, Tuyls, Perolat and Graepel,
*Re-evaluating Evaluation*, 2018, arXiv 1806.02643). It is the equilibrium that OpenSpiel's
`python/algorithms/nash_averaging.py` looks for.

It rates by the strongest only: among entrants that all lose to one, each is rated by how much it
loses to that one. And it takes the payoffs as exact: an error in one cell may choose other
entrants; `stability` says how often.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog

from kille_env.errors import KilleError

ATTEMPTS = (("highs-ds", 1e-10), ("highs-ipm", 1e-10), ("highs-ds", 1e-8))
"""Methods of the linear programme and their tolerances, tried in this order until one ends."""

TIGHT = 1e-13
"""How much entropy the result may lack."""

MAX_STEPS = 200


@dataclass(frozen=True)
class NashAverage:
    """Ratings of E entrants.

    Attributes:
        chosen: [E] float64, how often the equilibrium chooses each entrant; sums to 1.
        rating: [E] float64, what each earns against it; 0 for those that are chosen, at most 0 for
            the others.
    """

    chosen: np.ndarray
    rating: np.ndarray


def nash_average(payoff: np.ndarray) -> NashAverage:
    """Returns the Nash averaging of a table of margins.

    Args:
        payoff: [E, E], antisymmetric: what the row earns against the column.
    """
    chosen = max_entropy_equilibrium(payoff)
    return NashAverage(chosen, np.asarray(payoff, float) @ chosen)


def max_entropy_equilibrium(payoff: np.ndarray) -> np.ndarray:
    """Returns the equilibrium of largest entropy of a symmetric zero-sum game, [E].

    The equilibria are the mixtures x with `payoff @ x <= 0`. A linear programme finds one in which
    as much as possible is strict: each strategy either is played or earns less than 0 (Goldman and
    Tucker 1956). A strategy that is not played in it is played in no equilibrium, and one that is
    played earns exactly 0 in all of them. What is left is smooth: entropy over the mixtures of
    those strategies for which these equations hold, which is maximised by Newton's method with a
    barrier for the strategies that earn less than 0.

    Args:
        payoff: [E, E], antisymmetric.
    """
    payoff = _antisymmetric(payoff)
    chosen = np.zeros(len(payoff))
    members = top_cycle(payoff)
    chosen[members] = _most_even_of(payoff[np.ix_(members, members)])
    return chosen


def essential(payoff: np.ndarray) -> np.ndarray:
    """Returns which strategies some equilibrium plays, [E] bool: the essential set.

    Args:
        payoff: [E, E], antisymmetric.
    """
    payoff = _antisymmetric(payoff)
    found = np.zeros(len(payoff), dtype=bool)
    members = top_cycle(payoff)
    inside = payoff[np.ix_(members, members)]
    size = np.abs(inside).max()
    found[members] = _strict(inside / size)[1] if size else True
    return found


def top_cycle(payoff: np.ndarray) -> np.ndarray:
    """Returns the smallest set of strategies that all beat all others, [K] ascending numbers.

    No equilibrium plays any other strategy (Dutta and Laslier, *Comparison functions and choice
    correspondences*, Social Choice and Welfare 16, 1999), so the others need not be looked at.

    Args:
        payoff: [E, E], antisymmetric.
    """
    beats = payoff > 0
    # Whoever beats all others of a set beats more strategies than any of them does.
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    ordered = beats[np.ix_(order, order)]
    size = 1
    while not ordered[:size, size:].all():
        size += 1
    return np.sort(order[:size])


def _antisymmetric(payoff: np.ndarray) -> np.ndarray:
    payoff = checked(payoff)
    if not np.array_equal(payoff, -payoff.T):
        raise KilleError(
            "payoffs are not antisymmetric: what the row earns the column must lose; "
            "use the margins of a crosstable, or (payoff - payoff.T) / 2"
        )
    return payoff


def _most_even_of(payoff: np.ndarray) -> np.ndarray:
    """Returns the equilibrium of largest entropy, [E]; see `max_entropy_equilibrium`."""
    size = float(np.abs(payoff).max())
    if size == 0:
        return np.full(len(payoff), 1 / len(payoff))
    payoff = payoff / size
    inner, played = _strict(payoff)
    chosen = np.zeros(len(payoff))
    support = np.flatnonzero(played)
    # Directions that keep the sum, and the payoff 0 of every strategy that is played.
    equations = np.vstack([payoff[np.ix_(support, support)], np.ones(len(support))])
    free = null_space(equations)
    # The programme met them to its tolerance only.
    wanted = np.zeros(len(equations))
    wanted[-1] = 1
    start = inner[support]
    start = start + np.linalg.lstsq(equations, wanted - equations @ start, rcond=None)[0]
    if free.shape[1]:
        start = _most_even(start, free, payoff[np.ix_(~played, support)])
    chosen[support] = start
    return chosen


def checked(payoff: np.ndarray) -> np.ndarray:
    """Returns payoffs as float64, [E, E].

    Raises:
        KilleError: They have another shape, or one of them is unknown.
    """
    payoff = np.asarray(payoff, float)
    if payoff.ndim != 2 or payoff.shape[0] != payoff.shape[1] or not len(payoff):
        raise KilleError(f"payoffs of shape {payoff.shape}: expected a row and a column for each")
    if not np.isfinite(payoff).all():
        row, column = map(int, np.argwhere(~np.isfinite(payoff))[0])
        raise KilleError(
            f"the payoff of {row} against {column} is unknown: they never met; let them meet, or "
            "leave one out"
        )
    return payoff


def _strict(payoff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns an equilibrium that is as strict as possible, and which strategies it plays.

    Mixtures may be scaled at will for that: the programme looks for z >= 0 with `payoff @ z <= 0`
    and, for as many strategies as possible, z or the loss at least 1.
    """
    count = len(payoff)
    one = np.eye(count)
    # Variables: z, t. Largest sum of t with t <= z - payoff z, t <= 1.
    costs = np.concatenate([np.zeros(count), -np.ones(count)])
    upper = np.block([[payoff, np.zeros((count, count))], [payoff - one, one]])
    told = ""
    for method, feasible in ATTEMPTS:
        tolerances = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
        found = linprog(
            costs,
            A_ub=upper,
            b_ub=np.zeros(2 * count),
            bounds=[(0, None)] * count + [(0, 1)] * count,
            method=method,
            options={name: feasible for name in tolerances},
        )
        if found.status == 0:
            mixture = found.x[:count]
            return mixture / mixture.sum(), mixture > -payoff @ mixture
        told = found.message
    raise KilleError(f"the equilibrium could not be computed: {told}")


def _most_even(start: np.ndarray, free: np.ndarray, losing: np.ndarray) -> np.ndarray:
    """Returns the mixture of largest entropy among `start + free @ u` with `losing @ x <= 0`.

    Args:
        start: [S], positive, and strictly inside.
        free: [S, D], the directions, orthonormal.
        losing: [L, S], what the strategies earn that are not played.
    """
    weight = 1.0  # of the entropy against the barrier

    def value(x: np.ndarray) -> float:
        slack = -losing @ x
        if x.min() <= 0 or (len(slack) and slack.min() <= 0):
            return np.inf
        return weight * float(x @ np.log(x)) - float(np.log(slack).sum())

    x = start
    while True:
        for _ in range(MAX_STEPS):
            slack = -losing @ x
            gradient = free.T @ (weight * (np.log(x) + 1) + losing.T @ (1 / slack))
            across = losing @ free / slack[:, None]
            bend = weight * free.T @ (free / x[:, None]) + across.T @ across
            step = np.linalg.solve(bend, -gradient)
            decrease = -float(gradient @ step)
            if decrease < 1e-16 * weight:
                break
            move, length, before = free @ step, 1.0, value(x)
            while value(x + length * move) > before - 0.25 * length * decrease and length > 1e-10:
                length /= 2
            if length <= 1e-10:  # the rest is lost in rounding
                break
            x = x + length * move
        if len(losing) / weight < TIGHT:
            return x
        weight *= 10
