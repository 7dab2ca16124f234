"""Worlds played on by players who do not search: what a searcher measures his actions by.

Luck belongs to a world and the number of the decision in it, so that copies of one world that begin
with different actions differ by these actions as little as possible (common random numbers).
"""

from collections.abc import Sequence

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.keys import mix as scramble
from kille_env.core.rng import GOLDEN
from kille_env.core.table import OVER
from kille_env.policy import Policy, check_probabilities
from kille_env.policy import pick_actions as pick

_LUCK = np.uint64(0x5EA7C4)


def earnings(
    batch: Batch,
    searchers: np.ndarray,
    players: Sequence[Policy],
    deals: int | None = None,
    number: int = 0,
) -> np.ndarray:
    """Plays tables on and returns what each seat earns from there, [N, P].

    Money that moved since the last step, but has not been paid out yet, is part of it.

    Args:
        batch: The tables, somebody is to act or they are over; they are played on.
        searchers: [N] a seat of each table.
        players: Who plays in that seat, and who in all others.
        deals: Hands to be played, the present one included; None plays matches to the end. What
            lies on the table then belongs to nobody.
        number: How many decisions there have been in these worlds.

    Raises:
        PolicyError: A player says what is no distribution over the legal actions.
    """
    earned = np.zeros((batch.num_tables, batch.num_players))
    rows = np.arange(batch.num_tables)
    luck = luck_of(batch)
    last = batch.tables["deals"] + (deals or 0)
    same = players[0] is players[1]
    while True:
        tables = batch.tables
        waiting = batch.at_chance
        done = tables["phase"] == OVER
        if deals is not None:
            done = done | (waiting & (tables["deals"] + 1 >= last))
        # Tables that are done stay a while: to leave them out is to copy the others.
        if done.all() or (waiting & ~done).any() or 4 * done.sum() > len(rows):
            earned[rows[done]] = tables["reward"][done, : batch.num_players]
            if done.all():
                return earned
            if done.any():
                left = np.flatnonzero(~done)
                batch, rows, searchers = batch.take(left), rows[left], searchers[left]
                luck, last = luck[left], last[left]
            if batch.at_chance.any():
                batch.deal()
                continue  # a hand can be over before anybody acts
        actions = np.zeros(len(rows), dtype=np.int64)
        number += 1
        for which, player in enumerate(players[:1] if same else players):
            acting = batch.seat >= 0
            if not same:
                acting = acting & ((batch.seat == searchers) == (which == 0))
            at = np.flatnonzero(acting)
            if len(at):
                actions[at] = drawn_actions(player, batch, at, luck[at], number)
        batch.apply(actions)


def luck_of(batch: Batch) -> np.ndarray:
    """Returns where the luck of each table's players comes from, [N] uint64."""
    return scramble(batch.tables["match_key"] ^ _LUCK)


def drawn_actions(
    player: Policy, batch: Batch, rows: np.ndarray, luck: np.ndarray, number: int
) -> np.ndarray:
    """Returns actions of a player, drawn as his probabilities say, [M] int64.

    Args:
        player: The player.
        batch: The tables.
        rows: [M] tables at which he is to act.
        luck: [M], as `luck_of` returns it for these tables.
        number: How many decisions there have been in these worlds.

    Raises:
        PolicyError: He says what is no distribution over the legal actions.
    """
    wanted = player.probabilities(batch.observation[rows], batch.mask[rows])
    check_probabilities(player.name, wanted, batch.mask[rows])
    noise = scramble(luck + np.uint64(number * int(GOLDEN) % 2**64))
    return pick(wanted, (noise >> np.uint64(32)) / 2.0**32)
