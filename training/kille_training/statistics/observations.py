"""What a tournament saw: one row for each deal that a lineup played in all its seatings.

The seatings of a deal have the same cards, so they are not independent and count as one observation
together: scores and finishes are means over them. Observations of several lineups at the same deal
also have the same cards; statistics that mix lineups therefore treat all observations with the same
deal number as one cluster.
"""

from dataclasses import dataclass

import numpy as np

from kille_env.errors import KilleError

TOLERANCE = 1e-3
"""How far a member's finishes may sum from 1: what means in float32 leave."""


@dataclass(frozen=True)
class Observations:
    """All observations of tables of one size. A tournament of several sizes has one for each.

    With G observations at tables of P seats; entrants are numbered from 0 in the order in which
    they entered. A lineup is a tuple of P entrants, in which one entrant may be several times: a
    table with copies of it.

    Attributes:
        members: [G, P] int32, the entrant at each place of the lineup.
        deal: [G] int64, number of the deal; the same number is the same cards.
        lineup: [G] int32, number of the lineup.
        scores: [G, P] float64, units earned by the member at each place of the lineup, mean over
            the seatings, less the table's mean. In games in which one's gain is another's loss
            that mean is 0, and scores are the units earned.
        earned: [G, P] float64, the same with nothing subtracted.
        finishes: [G, P, P] float32, share of the seatings in which the member at place p finished
            at rank r, 0 for the best; ties share the ranks evenly.
    """

    members: np.ndarray
    deal: np.ndarray
    lineup: np.ndarray
    scores: np.ndarray
    earned: np.ndarray
    finishes: np.ndarray

    def __post_init__(self) -> None:
        """Checks that the arrays belong together."""
        if self.members.ndim != 2 or self.members.shape[1] < 2:
            raise KilleError(
                f"members of observations has shape {self.members.shape}; "
                "expected [observations, seats], with two seats or more"
            )
        count, seats = self.members.shape
        expected = {
            "deal": (count,),
            "lineup": (count,),
            "scores": (count, seats),
            "earned": (count, seats),
            "finishes": (count, seats, seats),
        }
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.shape != shape:
                raise KilleError(
                    f"{name} of observations has shape {array.shape}; "
                    f"expected {shape}, for {count} observations of {seats} seats"
                )
        for name in ("members", "deal", "lineup"):
            array = getattr(self, name)
            if array.dtype.kind != "i" or (array < 0).any():
                raise KilleError(
                    f"{name} of observations holds numbers that are not counted from 0"
                )
        for name in ("scores", "earned"):
            if not np.isfinite(getattr(self, name)).all():
                raise KilleError(f"{name} of observations holds a number that is not finite")
        for axis in (1, 2):
            if not np.allclose(self.finishes.sum(axis=axis), 1, atol=TOLERANCE):
                raise KilleError(
                    "finishes of observations do not sum to 1 over the ranks of a member and "
                    "over the members at a rank; ties share their ranks evenly"
                )

    def __len__(self) -> int:
        return len(self.members)

    @property
    def seats(self) -> int:
        """Seats of a table, P."""
        return self.members.shape[1]

    @property
    def entrants(self) -> int:
        """One more than the highest number of an entrant seen; others may never have sat."""
        return int(self.members.max(initial=-1)) + 1
