"""Observations and orders that are written down, as statistics take them."""

from dataclasses import fields

import numpy as np

from kille_training.statistics.observations import Observations
from kille_training.statistics.rankings import Rankings


def observed(members, scores, deal=None, finishes=None):
    """Observations of deals of their own, unless `deal` says otherwise."""
    members, scores = np.array(members, np.int32), np.array(scores, float)
    count, seats = members.shape
    if finishes is None:
        finishes = np.full((count, seats, seats), 1 / seats)
    return Observations(
        members,
        np.arange(count) if deal is None else np.array(deal),
        np.zeros(count, np.int32),
        scores - scores.mean(axis=1, keepdims=True),
        scores,
        np.asarray(finishes, np.float32),
    )


def same(one, other):
    """Whether observations by table size are the same to the byte."""
    return one.keys() == other.keys() and all(
        (a := getattr(one[seats], each.name)).dtype == (b := getattr(other[seats], each.name)).dtype
        and a.shape == b.shape
        and a.tobytes() == b.tobytes()
        for seats in one
        for each in fields(Observations)
    )


def rankings_of(orders, entrants, clusters=None):
    """`[[[2], [0, 1]]]` is one table that 2 won; clusters are the tables' deals."""
    players, rank = [], []
    for groups in orders:
        players.append([member for group in groups for member in sorted(group)])
        places = np.cumsum([0, *map(len, groups)])
        rank.append(np.repeat(places[:-1], np.diff(places)))
    deals = np.arange(len(orders)) if clusters is None else np.asarray(clusters)
    cluster = np.unique(deals, return_inverse=True)[1]
    return Rankings(np.array(players, np.int32), np.array(rank, np.int32), cluster, entrants)
