"""An online ladder: OpenSkill's Plackett-Luce ratings, deal after deal.

Each entrant has a belief about his skill, a mean and a standard deviation, and every table moves
the beliefs of those who sat there (Weng and Lin 2011; the package openskill). That is
what one wants while a tournament runs and new entrants come: nothing is computed twice.

It **depends on the order of the deals**: the same tables in another order give other numbers, and
sometimes another ranking. Nor is the standard deviation an interval in the sense of the other
statistics: it knows nothing of deals that are shared by several tables, and it never falls below
what `tau` adds at every table, because the model lets skill drift. For an archive that is complete
use `plackett_luce`; `spread` says how much the order alone makes.

Who sits at a table several times is rated there as several players of the same belief; afterwards
he has the mean of their means and of their standard deviations. Ties are OpenSkill's own: those who
tie get the same change of their means.
"""

from dataclasses import dataclass

import numpy as np
from openskill.models import PlackettLuce, PlackettLuceRating

from kille_training.statistics.rankings import Rankings


@dataclass(frozen=True)
class Ladder:
    """Beliefs about the skill of E entrants, on OpenSkill's scale, on which all begin at 25.

    Attributes:
        mean: [E] float64.
        deviation: [E] float64, standard deviation of the belief; all begin at 25 / 3.
        beta: The luck of one table, on the same scale.
    """

    mean: np.ndarray
    deviation: np.ndarray
    beta: float

    @property
    def cautious(self) -> np.ndarray:
        """[E] float64, mean less three standard deviations: what ladders rank by."""
        return self.mean - 3 * self.deviation

    def strength(self, rankings: Rankings) -> np.ndarray:
        """Returns the log-strengths by which the model would predict each of the tables, [T, E].

        Weng and Lin draw the order of a table as Plackett-Luce does, with the strengths
        `exp(mean / c)`; c squared is the sum over the table's members of their variances and of
        beta squared. So it is another number at each table.

        Args:
            rankings: The tables; their order does not matter.
        """
        variance = self.deviation[rankings.players] ** 2 + self.beta**2
        scale = np.sqrt(np.add.reduceat(variance, rankings.start[:-1]))
        return self.mean / scale[:, None]


def climb(rankings: Rankings, order: np.ndarray | None = None) -> Ladder:
    """Returns the beliefs after all tables.

    Args:
        rankings: The tables.
        order: [T] int, in which order they are counted; None is as they stand, by deals.
    """
    model = PlackettLuce()
    beliefs: list[PlackettLuceRating] = [model.rating() for _ in range(rankings.entrants)]
    players, rank = rankings.players.tolist(), rankings.rank.tolist()
    start = rankings.start.tolist()
    for table in range(len(rankings)) if order is None else order.tolist():
        low, high = start[table], start[table + 1]
        seated = players[low:high]
        before = [beliefs[player] for player in seated]
        if len(set(seated)) < len(seated):  # one object twice would be moved twice
            before = [model.rating(mu=belief.mu, sigma=belief.sigma) for belief in before]
        after = model.rate([[belief] for belief in before], ranks=rank[low:high])
        moved: dict[int, list[PlackettLuceRating]] = {}
        for player, (belief,) in zip(seated, after, strict=True):
            moved.setdefault(player, []).append(belief)
        for player, copies in moved.items():
            beliefs[player] = model.rating(
                mu=sum(copy.mu for copy in copies) / len(copies),
                sigma=sum(copy.sigma for copy in copies) / len(copies),
            )
    return Ladder(
        np.array([belief.mu for belief in beliefs]),
        np.array([belief.sigma for belief in beliefs]),
        model.beta,
    )


def spread(rankings: Rankings, orders: int = 20, seed: int = 0) -> np.ndarray:
    """Returns the standard deviation of each mean over random orders of the deals, [E].

    Tables of one deal stay together.

    Args:
        rankings: The tables.
        orders: How many orders.
        seed: Of the orders.
    """
    generator = np.random.default_rng(seed)
    means = []
    for _ in range(orders):
        place = generator.permutation(rankings.num_clusters)
        means.append(climb(rankings, np.argsort(place[rankings.cluster], kind="stable")).mean)
    return np.std(means, axis=0, ddof=1)
