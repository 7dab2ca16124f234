"""Identities of players: their answers at fixed decisions, and whether these are the same twice.

The decisions are those of matches that uniform players play from fixed seeds, so they are the same
for every player of a table, in every process.
"""

import copy
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from kille_env.errors import PolicyError
from kille_env.play.policy import ObservationPolicy, Policy, UniformPolicy, kernel_of, name_of
from kille_env.play.seating import SeatedPolicies
from kille_env.registry import Table, make_batch


class UnsteadyError(PolicyError):
    """A player answers otherwise when it is asked again."""


SEED, TABLES, ROUNDS = 71, 48, 8
"""Seed and number of the matches, and decisions of each that are asked about."""
SEARCHED = 6  # matches for a player that looks ahead, which takes its time over each decision
TOLERANCE = 1e-4  # difference of two probabilities from which on they are different answers
DECIMALS = 6


def fingerprint(player: Policy, table: Table) -> str:
    """Return a digest of the answers of a policy at fixed decisions of a table.

    Every decision is asked about alone, so that the numbers depend neither on the size of a batch
    nor on the process. If the player has an attribute `fingerprint`, a text or a method that
    returns one, only that counts, and nothing is asked.
    """
    given = getattr(player, "fingerprint", None)
    given = given() if callable(given) else given
    digest = hashlib.sha256(str(table.as_dict()).encode())
    if isinstance(given, str) and given:
        digest.update(given.encode())
        return digest.hexdigest()
    for answers, again in _asked_twice(player, table):
        if _differ(answers, again):
            raise UnsteadyError(
                f"nothing would recognize the player {name_of(player)!r} later: {UNSTEADY}. Give "
                "it an attribute `fingerprint`, a text that you change when the player changes"
            )
        digest.update((answers.round(DECIMALS) + 0.0).tobytes())  # no minus before a zero
    return digest.hexdigest()


DRAWS = "draws at random or keeps state"
UNSTEADY = (
    "asked twice about the same decision, or about it in another batch, it answers differently: it "
    "draws at random, or keeps state"
)


def is_steady(player: Policy, table: Table) -> bool:
    """Return whether a player answers the same when it is asked again, in other batches.

    Every decision is asked about twice: alone, and later with others in another order. One that
    draws at random or keeps state of its own answers otherwise, by more than `TOLERANCE`.
    """
    return not any(_differ(*both) for both in _asked_twice(player, table))


def remarked(player: Policy, table: Table) -> Policy:
    """Return a player; one that does not answer the same twice, with a name that says so.

    Policies that look ahead draw by the keys of decisions, and kernels compute: they are not asked.
    """
    searches = not isinstance(player, ObservationPolicy)
    if searches or kernel_of(player) is not None or is_steady(player, table):
        return player
    found: Any = copy.copy(player)
    found.name = f"{name_of(player)} ({DRAWS})"
    return found


def _differ(answers: np.ndarray, again: np.ndarray) -> bool:
    return bool(np.abs(answers - again).max() > TOLERANCE)


def _asked_twice(player: Policy, table: Table) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield a player's answers at some decisions, [M, A]: asked one by one, and all in reverse."""
    size = TABLES if isinstance(player, ObservationPolicy) else SEARCHED
    batch = make_batch(
        table.game, size, table.num_players, rules=table.rules, seed=SEED, restart=False
    )
    batch.reset()
    players = SeatedPolicies(
        batch, [UniformPolicy(), player], np.zeros(table.num_players, np.int64)
    )
    for _ in range(ROUNDS):
        rows, _, keys, _ = players.due()
        if not len(rows):
            return
        again = players.ask(1, rows[::-1], keys[::-1])[::-1]
        ones = [slice(number, number + 1) for number in range(len(rows))]
        yield np.concatenate([players.ask(1, rows[one], keys[one]) for one in ones]), again
        players.run()
