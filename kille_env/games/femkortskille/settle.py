"""How a deal of Femkortskille ends, as kernels; for the pot see `kille_env.tricktaking.pots`."""

import numpy as np

from kille_env.cards.seats import has
from kille_env.cards.sets import how_many
from kille_env.core.jit import kernel
from kille_env.games.femkortskille.table import End
from kille_env.tricktaking.pots import pay_out, settle


@kernel
def end_in_checks(table, rules):
    """Nobody has knocked: the pot stays."""
    table["end"] = End.ALL_CHECKED
    settle(table, rules)


@kernel
def end_in_walk_over(table, rules, winner):
    """A single knocker takes the pot without play."""
    table["end"] = End.WALK_OVER
    table["winner"] = winner
    settle(table, rules)


@kernel
def end_in_play(table, rules):
    """The winner of the last trick takes the pot, and as much again from every other knocker."""
    winner, pot = np.int64(table["holder"]), table["pot"]
    for seat in range(table["num_players"]):
        pay_out(table, seat, -pot * has(table["knockers"], seat))
    pay_out(table, winner, pot * how_many(table["knockers"]))
    table["end"] = End.PLAYED
    table["winner"] = winner
    settle(table, rules)
