"""Which ratings predict best: log loss on deals that they have not seen.

Log loss is minus the logarithm of the probability that a rating gave to what happened, the mean
over tables; less is better, and `uniform` is what it costs to know nothing. Of two ratings the one
with less has told more about who finishes above whom; by itself the number says little, because
cards are mostly luck. Ties are broken by lot, for all ratings alike.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from kille_env.errors import KilleError
from kille_training.statistics.intervals import Intervals, means, sums_by_deal
from kille_training.statistics.ladder import climb
from kille_training.statistics.plackett_luce import PRIOR, fit, log_likelihood
from kille_training.statistics.rankings import Rankings


@dataclass(frozen=True)
class Loss:
    """Log loss in nats a table.

    Attributes:
        order: Of the whole order.
        first: Of who is first.
        tables: [T] float64, what each table lost, of the whole order.
        cluster: [T] int64, the deal of each.
    """

    order: float
    first: float
    tables: np.ndarray
    cluster: np.ndarray


def log_loss(rankings: Rankings, strength: np.ndarray) -> Loss:
    """Returns what strengths lose on some tables.

    Args:
        rankings: The tables.
        strength: [E] log-strengths, or [T, E] for others at each table.
    """
    order = -log_likelihood(rankings, strength)
    own = strength[rankings.table, rankings.players] if strength.ndim == 2 else None
    theta = strength[rankings.players] if own is None else own
    begin = rankings.start[:-1]
    total = np.logaddexp.reduceat(theta, begin)
    best = (rankings.rank == 0).astype(float)
    shared = np.add.reduceat(best * theta, begin) / np.add.reduceat(best, begin)
    return Loss(float(order.mean()), float((total - shared).mean()), order, rankings.cluster)


def held_out(rankings: Rankings, share: float = 0.2, prior: float = PRIOR) -> dict[str, Loss]:
    """Returns what ratings made from the first deals lose on the last ones.

    They are Plackett-Luce, the ladder of OpenSkill as it predicts by itself, the same stretched by
    the factor that suits the first deals best (its scale is made for another sort of games), and
    uniform. Tables at which somebody sits whom the first deals have not seen are left out.

    Args:
        rankings: The tables, by deals.
        share: Which part of the deals is held out.
        prior: Of Plackett-Luce.
    """
    if not 0 < share < 1:
        raise KilleError(f"a share of {share} of the deals cannot be held out; expected 0 to 1")
    # Numbered by when their first table stands in the archive.
    _, first = np.unique(rankings.cluster, return_index=True)
    when = np.argsort(np.argsort(first))[rankings.cluster]
    late = when >= round((1 - share) * rankings.num_clusters)
    if not late.any() or late.all():
        raise KilleError(
            f"{rankings.num_clusters} deals cannot be split at {share}; play more of them"
        )
    early = rankings.take(~late)
    unknown = early.tables()[rankings.players] == 0
    late &= np.logical_or.reduceat(unknown, rankings.start[:-1]) == 0
    later = rankings.take(late)
    if not len(later):
        raise KilleError("nobody of the first deals sits at the last ones; nothing to predict")
    ladder = climb(early)
    own = ladder.strength(early)
    best = minimize_scalar(
        lambda stretch: log_loss(early, stretch * own).order, bounds=(0, 20), method="bounded"
    )
    batch = fit(early, prior=prior, bootstraps=0).strength
    return {
        "Plackett-Luce": log_loss(later, batch),
        "OpenSkill": log_loss(later, ladder.strength(later)),
        "OpenSkill, stretched": log_loss(later, best.x * ladder.strength(later)),
        "uniform": log_loss(later, np.zeros(rankings.entrants)),
    }


def gain(better: Loss, worse: Loss) -> Intervals:
    """Returns how many nats a table the first loses less than the second, [1], deals as clusters.

    Args:
        better: Of one rating.
        worse: Of another one on the same tables.
    """
    return means(sums_by_deal(better.cluster, (worse.tables - better.tables)[:, None]))
