"""An online ladder: OpenSkill's Plackett-Luce ratings, deal after deal.

Each entrant has a belief about its skill, a mean and a standard deviation, and every table moves
the beliefs of its members (Weng and Lin 2011; the package openskill). That suits a tournament that
is being played and has new entrants: nothing is computed twice.

It **depends on the order of the deals**: the same tables in another order give other numbers, and
sometimes another ranking. Nor is the standard deviation an interval in the sense of the other
statistics: it knows nothing of deals that are shared by several tables, and it never falls below
what `tau` adds at every table, because the model lets skill drift. For a complete archive use
`plackett_luce`.

An entrant that sits at a table several times is rated there as several players of the same belief;
afterwards it has the mean of their means and of their standard deviations. Ties are OpenSkill's
own: those that tie get the same change of their means.
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
    """

    mean: np.ndarray
    deviation: np.ndarray

    @property
    def cautious(self) -> np.ndarray:
        """[E] float64, mean less three standard deviations: what ladders rank by."""
        return self.mean - 3 * self.deviation


def climb(rankings: Rankings) -> Ladder:
    """Returns the beliefs after all tables, in the order of the deals."""
    model = PlackettLuce()
    beliefs: list[PlackettLuceRating] = [model.rating() for _ in range(rankings.entrants)]
    for seated, rank in zip(rankings.players.tolist(), rankings.rank.tolist(), strict=True):
        before = [beliefs[player] for player in seated]
        if len(set(seated)) < len(seated):  # otherwise one object would be moved twice
            before = [model.rating(mu=belief.mu, sigma=belief.sigma) for belief in before]
        after = model.rate([[belief] for belief in before], ranks=rank)
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
    )
