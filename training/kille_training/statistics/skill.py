"""Beliefs about skill that are updated result by result: OpenSkill's Plackett-Luce model.

Each entrant has a belief about its skill, a mean and a standard deviation, and every result moves
the beliefs of those who sat at the table (Weng and Lin, *A Bayesian Approximation Method for Online
Ranking*, JMLR 12, 2011; the package openskill). That suits a ladder: nothing is computed twice, and
the belief follows an entrant whose strength changes, which no rating of all results does.

It **depends on the order of the results**: the same ones in another order give other numbers, and
sometimes another ranking. Nor is the standard deviation an interval in the sense of the other
statistics: it knows nothing of deals that several tables share, and it never falls below what `tau`
adds with every result, because the model lets skill drift. `plackett_luce` rates all results at
once, in whatever order they came.
"""

from dataclasses import dataclass

import numpy as np
from openskill.models import PlackettLuce

from kille_env.errors import KilleError
from kille_training.statistics.tally import EQUAL

MEAN, DEVIATION = 25.0, 25.0 / 3
"""What is believed of an entrant that has not played, on OpenSkill's scale."""


@dataclass(frozen=True)
class Beliefs:
    """Beliefs about the skill of E entrants.

    Attributes:
        mean: [E] float64.
        deviation: [E] float64, standard deviations.
    """

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, entrants: int) -> "Beliefs":
        """Returns what is believed of entrants before anything has been played."""
        return cls(np.full(entrants, MEAN), np.full(entrants, DEVIATION))

    @property
    def cautious(self) -> np.ndarray:
        """[E] float64, mean less three standard deviations: what ladders rank by."""
        return self.mean - 3 * self.deviation

    def grown(self, entrants: int) -> "Beliefs":
        """Returns the same beliefs for more entrants, of which nothing is known."""
        new = Beliefs.of(entrants - len(self.mean))
        return Beliefs(
            np.concatenate([self.mean, new.mean]), np.concatenate([self.deviation, new.deviation])
        )


def climb(beliefs: Beliefs, members: np.ndarray, scores: np.ndarray) -> Beliefs:
    """Returns the beliefs after some results, in their order.

    Args:
        beliefs: What was believed before.
        members: [G, P] int, entrants at each table, all of them different.
        scores: [G, P] what each of them scored; equal scores tie.

    Raises:
        KilleError: An entrant sits at a table twice.
    """
    model = PlackettLuce()
    skills = [
        model.rating(mu=mean, sigma=deviation)
        for mean, deviation in zip(beliefs.mean.tolist(), beliefs.deviation.tolist(), strict=True)
    ]
    ahead = (scores[:, None, :] > scores[:, :, None] + EQUAL).sum(axis=2)
    for seated, rank in zip(members.tolist(), ahead.tolist(), strict=True):
        if len(set(seated)) < len(seated):
            raise KilleError(f"the entrants {seated} sit at one table; expected different ones")
        after = model.rate([[skills[one]] for one in seated], ranks=rank)
        for one, (skill,) in zip(seated, after, strict=True):
            skills[one] = skill
    return Beliefs(
        np.array([skill.mu for skill in skills]), np.array([skill.sigma for skill in skills])
    )
