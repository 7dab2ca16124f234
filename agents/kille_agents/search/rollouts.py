"""Determinizations played on by policies: what a searcher measures its actions by.

What is random in the policies' choices belongs to a determinization, a seat and the number of its
decision (`kille_env.play.play`), so copies of one determinization that begin with different actions
differ by these actions as little as possible (common random numbers).
"""

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.table import OVER
from kille_env.play.play import Players
from kille_env.play.policy import Policy


def seated(batch: Batch, searchers: np.ndarray, base: Policy, opponents: Policy) -> Players:
    """Seats policies at determinizations, to be played without dealing the next hand.

    Args:
        batch: The tables.
        searchers: [N] the seat of each table that is searched for.
        base: Plays in that seat.
        opponents: Plays in all others.
    """
    seating = np.full((batch.num_tables, batch.num_players), int(base is not opponents))
    seating[np.arange(batch.num_tables), searchers] = 0
    return Players(batch, (base, opponents), seating, batch.apply)


def earnings(players: Players, deals: int | None = None) -> np.ndarray:
    """Plays tables on and returns what each seat earns from there, [N, P].

    Money that moved since the last step, but has not been paid out yet, is part of it.

    Args:
        players: As `seated` returns them; somebody is to act or the tables are over.
        deals: Deals to be played, the present one included; None plays matches to the end. What
            lies on the table then belongs to nobody.

    Raises:
        PolicyError: A player returned what is no distribution over the legal actions.
    """
    batch = players.batch
    earned = np.zeros((batch.num_tables, batch.num_players))
    rows = np.arange(batch.num_tables)
    last = batch.tables["deals"] + (deals or 0)
    while True:
        tables, waiting = batch.tables, batch.at_chance
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
                batch, rows, last = batch.take(left), rows[left], last[left]
                players = players.take(left, batch, batch.apply)
            if batch.at_chance.any():
                batch.deal()
                continue  # a hand can be over before anybody acts
        players.play()
