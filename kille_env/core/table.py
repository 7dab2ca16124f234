"""The record of a table: the fields of all games, and how a match and a deal begin."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_env.core import rng
from kille_env.core.jit import kernel

DEAL, OVER = 0, 1
"""The first two phases of every game: cards are to be dealt (a chance node), the match is over."""
_FOR_RULES = np.uint64(0x52756C6573)
"""Keeps the random numbers of rule sets apart from the cards', which come from the same seed."""


def table_dtype(max_players: int, pack_size: int, fields: Sequence[tuple[Any, ...]]) -> np.dtype:
    """Return the record dtype of a table: the fields of all games, then the game's own.

    Args:
        max_players: Most seats.
        pack_size: Cards in the pack.
        fields: The game's own fields.

    Common fields:
        seed, match_key, rng: the generator's words (see `core.rng`)
        reward: [P] money that has moved and that no step has paid out yet
        matches: number of this match on this table, from 1
        deals: hands dealt in this match
        rules: number of its rule set among those of the batch
        pool: of how many rule sets each match draws one; 0 if the table keeps its own
        phase, seat: the phase and the seat to act, -1 if none
        num_players, dealer, truncated
        drawn, stacked, deck: cards drawn, how many of the first were given, the pack; cards that
            the rules leave out of it lie in front and count as drawn
    """
    common = [
        ("seed", np.uint64),
        ("match_key", np.uint64),
        ("rng", np.uint64),
        ("reward", np.float64, (max_players,)),
        ("matches", np.int32),
        ("deals", np.int32),
        ("rules", np.int32),
        ("pool", np.int32),
        ("phase", np.int8),
        ("seat", np.int8),
        ("num_players", np.int8),
        ("dealer", np.int8),
        ("truncated", np.int8),
        ("drawn", np.int8),
        ("stacked", np.int8),
        ("deck", np.int8, (pack_size,)),
    ]
    return np.dtype((np.record, np.dtype([*common, *fields], align=True)))


@kernel
def draw_rules(table):
    """Draw the rule set of the match that begins next, where each match draws one."""
    # By the seed and the match alone, so neither the cards nor the other tables change with it.
    if table["pool"] > 1:
        key = rng.derive(table["seed"] ^ _FOR_RULES, table["matches"] + 1)
        table["rules"] = np.int64(key % np.uint64(table["pool"]))


@kernel
def new_match(table, dealer):
    """Move a table to its next match: number, key, dealer (-1: drawn)."""
    table["matches"] += 1
    # From the number of the match, not from the last state: match 5 is the same however the first
    # four were played.
    table["match_key"] = rng.derive(table["seed"], table["matches"])
    table["rng"] = table["match_key"]
    table["dealer"] = dealer if dealer >= 0 else rng.below(table, np.int64(table["num_players"]))
    table["deals"] = 0
    table["truncated"] = 0
    table["seat"] = -1
    table["phase"] = DEAL
    table["reward"][:] = 0.0


@kernel
def new_deal(table):
    """Count a deal and move the generator to its own stream."""
    table["deals"] += 1
    table["rng"] = rng.derive(table["match_key"], table["deals"])
