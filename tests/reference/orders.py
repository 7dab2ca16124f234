"""Orders that are written down, as statistics take them."""

import numpy as np

from kille_training.statistics.rankings import Rankings


def rankings_of(orders, entrants, clusters=None):
    """`[[[2], [0, 1]]]` is one table that 2 won; clusters are the tables' deals."""
    players, rank, start = [], [], [0]
    for groups in orders:
        for group in groups:
            rank += [len(players) - start[-1]] * len(group)
            players += sorted(group)
        start.append(len(players))
    deals = np.arange(len(orders)) if clusters is None else np.asarray(clusters)
    return Rankings(
        np.array(players, np.int32),
        np.array(rank, np.int32),
        np.array(start, np.int64),
        np.unique(deals, return_inverse=True)[1].astype(np.int64),
        entrants,
    )
