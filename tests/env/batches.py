"""Batches of Byteskille that are stepped alike, and what they show."""

from typing import Any

import numpy as np

import kille_env
from kille_env.games.byteskille import SPEC

ACTIONS = SPEC.actions
STAND, SWAP = ACTIONS.index("stand"), ACTIONS.index("swap")
FIELDS = ("seat", "observation", "mask", "reward", "terminated", "truncated")


def batch(num_tables=4, num_players=3, **options):
    options = {"seed": 7, "episode": "match", **options}
    return kille_env.make_batch("byteskille", num_tables, num_players, **options)


def choose(mask, step, table):
    """A legal action that depends only on the table's number and the step, as if random."""
    legal = np.flatnonzero(mask)
    return int(legal[(step * 7919 + table * 104729 + 13) % 10007 % len(legal)]) if len(legal) else 0


def step(tables, number, first=0):
    """Step every table by `choose`; `first` is the number of the batch's first table."""
    tables.step([choose(mask, number, first + i) for i, mask in enumerate(tables.mask)])


def shown(tables, which: Any = slice(None)):
    """All that a batch shows of some tables."""
    return tuple(getattr(tables, name)[which].tobytes() for name in FIELDS)


def history(tables, steps, which=slice(None)):
    """What a batch shows of some tables over some steps."""
    seen = [shown(tables, which)]
    for number in range(steps):
        step(tables, number)
        seen.append(shown(tables, which))
    return seen
