"""Play determinizations to the end, by which a search measures its actions.

The random numbers of policies belong to a determinization, a seat and the number of its
decision (`kille_env.play.seating`), so copies of one determinization that begin with different
actions differ by these actions as little as possible (common random numbers).
"""

import numpy as np

from kille_env.core.batch import Batch
from kille_env.play import rollouts
from kille_env.play.policy import ObservationPolicy, deterministic_kernel
from kille_env.play.seating import SeatedPolicies


def earnings(
    drawn: Batch,
    origins: np.ndarray,
    actions: np.ndarray,
    searchers: np.ndarray,
    policies: tuple[ObservationPolicy, ObservationPolicy],
    deals: int | None = None,
) -> np.ndarray:
    """Play copies of tables on, each from an action, and return the earnings of seats, [n, P].

    Money that moved since the last step, but has not been paid out yet, is part of it. Policies
    that share a kernel are not asked: a table is played to its end by compiled code.
    """
    base, opponents = policies
    if rollouts.share_a_kernel(deterministic_kernel(base), deterministic_kernel(opponents)):
        return rollouts.earnings(drawn, origins, actions, searchers, deals, policies)
    batch = drawn.take(origins)
    seating = np.full((batch.num_tables, batch.num_players), int(base is not opponents))
    seating[np.arange(batch.num_tables), searchers] = 0
    players = SeatedPolicies(batch, policies, seating, batch.apply)
    players.step(actions)
    last = batch.tables["deals"] + (deals or 0)
    while True:
        waiting = batch.at_chance
        if deals is not None:
            waiting &= batch.tables["deals"] + 1 < last
        acting = batch.seat >= 0
        if waiting.any():
            batch.deal(which=waiting)  # a hand can be over before anybody acts
        elif acting.any():
            players.run(acting)
        else:
            return batch.tables["reward"][:, : batch.num_players].copy()
