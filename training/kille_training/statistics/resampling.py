"""How stable what follows from a crosstable is: the same tables with folds drawn anew.

Nash averaging, lotteries and alpha-rank take a table of payoffs as exact, and a small error can
change which entrant they choose. The bootstrap says how often: folds are independent, so as many as
there are, drawn with replacement, are a tournament like the one that was played (Efron and
Tibshirani, *An Introduction to the Bootstrap*, 1993).
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.tally import NANO, Tally


@dataclass(frozen=True)
class Drawn:
    """B crosstables of E entrants, each of folds that were drawn anew.

    Attributes:
        margin: [B, E, E] units per deal that the row's entrant earned more than the column's where
            both sat; NaN where they never met.
        above: [B, E, E] share of the observations of both in which it earned more; ties count half.
    """

    margin: np.ndarray
    above: np.ndarray


def draw(tally: Tally, draws: int, seed: int) -> Drawn:
    """Returns crosstables of folds drawn with replacement.

    Args:
        tally: What was played.
        draws: B.
        seed: Of the draws; the same seed gives the same bytes.
    """
    played = np.flatnonzero(tally.count.any(axis=1))
    generator = np.random.default_rng(seed)
    even = np.full(len(played), 1 / max(len(played), 1))
    times = generator.multinomial(len(played), even, size=draws).astype(float)

    def sums(cells: np.ndarray) -> np.ndarray:
        """Returns the sums over the folds drawn, [B, E, E], of [F, E, E]."""
        flat = times @ cells[played].reshape(len(played), -1).astype(float)
        return flat.reshape(draws, tally.entrants, tally.entrants)

    met = sums(tally.met)
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = sums(tally.shared - tally.shared.transpose(0, 2, 1)) / NANO / met
        return Drawn(margin, sums(tally.above) / 2 / met)
