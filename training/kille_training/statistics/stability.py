"""How stable a choice is that takes payoffs as exact.

Nash averaging and maximal lotteries choose entrants by a table of payoffs that was measured with
errors. Other deals would have given another table, and perhaps another choice. So the same choice
is made from every draw of a bootstrap: an entrant that is chosen in nearly all of them is one that
the results call for, and one that is chosen in half of them is chosen by chance.
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.nash_averaging import essential, max_entropy_equilibrium


@dataclass(frozen=True)
class Choice:
    """Which of E entrants an equilibrium chooses.

    Attributes:
        share: [E] float64, how often the equilibrium of largest entropy chooses each, with the
            payoffs as they were measured; sums to 1.
        often: [E] float64, share of the draws in which some equilibrium chooses each.
        same: Share of the draws in which the same entrants are chosen as with the payoffs as they
            were measured.
    """

    share: np.ndarray
    often: np.ndarray
    same: float


def choice(payoff: np.ndarray, draws: np.ndarray) -> Choice:
    """Returns who is chosen, and how often it would be with other deals.

    Args:
        payoff: [E, E], antisymmetric: what the row earns against the column, or its majority.
        draws: [B, E, E] the same in each draw of a bootstrap, see `resampling`.
    """
    chosen = np.array([essential(draw) for draw in draws])
    same = (chosen == essential(payoff)).all(axis=1)
    return Choice(max_entropy_equilibrium(payoff), chosen.mean(axis=0), float(same.mean()))
