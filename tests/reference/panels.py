"""Panels of one lineup that is the same at every deal."""

import numpy as np

from kille_training.arena.draws import Draw
from kille_training.arena.work import Panel


def panel_of(number, *members):
    """A panel of two seats, at which these entrants sit in this order at every deal."""
    different = sorted(set(members), key=members.index)
    rows = np.array([[different.index(member) for member in members]])
    return Panel(number, Draw(tuple((each,) for each in different), rows, np.ones(1)))
