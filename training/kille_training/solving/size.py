"""Whether the tree of a single deal fits into memory: an estimate before anything is grown."""

from functools import lru_cache

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import KilleError
from kille_env.registry import load_game

MEMORY_LIMIT = 4 * 2**30
"""Bytes that a tree may take by default."""
SAMPLE = 4096  # deals from which the size of a tree is estimated
OWN = "byteskille"
"""The game whose trees are its own."""
MOST_SEATS = 4
"""Tables up to which the tree fits into the memory of an ordinary computer."""
MOST_STAGES = 1000
"""Rules that allow this many granted questions in a deal are refused: each is a stage to solve."""


class TreeTooLargeError(KilleError):
    """A tree would take more memory than allowed."""


def is_exact(num_players: int, rules: Rules) -> bool:
    """Return whether there is an exact tree of a table that fits into memory; see `check_deal`."""
    try:
        check_deal(num_players, rules)
    except KilleError:
        return False
    return True


def check_deal(num_players: int, rules: Rules, memory_limit: int = MEMORY_LIMIT) -> None:
    """Refuses a table whose deals have no tree that fits into memory, before any is grown.

    Args:
        num_players: P.
        rules: Its rules.
        memory_limit: Bytes that a tree may take.

    Raises:
        KilleError: The message says why, with the estimated size, and what is possible.
    """
    if rules["episode"] != "deal":
        raise KilleError(
            "this needs single deals (--rules episode=deal); kille_training.nash_conv measures "
            "whole matches of byteskille, too"
        )
    if rules.game == OWN:
        check_stages(num_players, rules)
        return
    ends = count_ends(num_players, rules)
    needed = ends * _end_bytes(num_players)
    if needed > memory_limit:
        raise too_large(rules.game, num_players, f"about {ends:.2g} ends", needed, memory_limit)


def check_seats(num_players: int) -> None:
    """Refuses tables whose tree fits into no memory.

    Raises:
        TreeTooLargeError: The message says what is possible.
    """
    if num_players > MOST_SEATS:
        raise TreeTooLargeError(
            f"the tree of a hand with {num_players} seats does not fit into memory; 2 to "
            f"{MOST_SEATS} seats do, 2 or 3 in a match"
        )


def can_ask(num_players: int, rules: Rules) -> bool:
    """Returns whether a question can have the cards dealt again."""
    return num_players <= 3 and rules["fraga"] != "off" and most_granted(rules) > 0


def check_stages(num_players: int, rules: Rules) -> None:
    """Refuses tables whose deals have no trees, before any is grown.

    Raises:
        KilleError: The message says why, and what is possible.
    """
    check_seats(num_players)
    if can_ask(num_players, rules) and most_granted(rules) >= MOST_STAGES:
        raise KilleError(
            f"max_redeals and max_deals allow {most_granted(rules)} granted questions in a deal, "
            f"and each is a stage to solve; expected fewer than {MOST_STAGES}"
        )


def most_granted(rules: Rules) -> int:
    """Returns the number of questions that the caps allow to be granted in a deal."""
    return min(rules.number("max_redeals"), rules.number("max_deals") - 1)


@lru_cache(maxsize=64)
def count_ends(num_players: int, rules: Rules) -> float:
    """Estimates how many ends a deal has: by a sample, each deal for as many as it is one of.

    A card that comes to a hand makes more of them only if its seat decides afterwards.
    """
    game = load_game(rules.game)
    batch = Batch(game, SAMPLE, num_players, rules, seed=0, restart=False)
    batch.reset(dealer=num_players - 1)
    rng, each = np.random.default_rng(0), np.arange(SAMPLE)
    kinds = np.arange(game.spec.pack.size) // game.spec.pack.copies
    kinds = np.delete(kinds, list(game.spec.left_out(rules)))
    left = np.tile(np.bincount(kinds, minlength=len(game.spec.pack.codes)), (SAMPLE, 1))
    drawn = np.full(SAMPLE, game.spec.pack.size - len(kinds))
    ends, waiting = np.ones(SAMPLE), np.ones((SAMPLE, num_players + 1))
    while True:
        drawn = _draw(batch, drawn, left, waiting)
        playing = batch.tables["phase"] != OVER
        if not playing.any():
            return float(ends.mean())
        seat = batch.seat
        for who in (seat, np.full(SAMPLE, num_players)):  # its own cards, and those in no hand
            ends *= np.where(playing, waiting[each, who], 1.0)
            waiting[each[playing], who[playing]] = 1.0
        ends *= np.where(playing, batch.mask.sum(axis=1), 1.0)
        actions = (rng.random(batch.mask.shape) * batch.mask).argmax(axis=1)
        batch.step(actions, which=playing)


def _draw(batch: Batch, drawn: np.ndarray, left: np.ndarray, waiting: np.ndarray) -> np.ndarray:
    """Counts, by the seat whose hand they have come to, in how many ways cards can be drawn.

    Args:
        batch: The tables, after a step.
        drawn: [N] cards that had left the pack before it.
        left: [N, K] cards of each type in the pack then; those drawn are taken away.
        waiting: [N, P + 1], what is multiplied; the last column is for cards that are in no hand.

    Returns:
        [N] cards that have left the pack now.
    """
    tables, seats = batch.tables, batch.num_players
    now = np.minimum(tables["drawn"].astype(np.int64), tables["deck"].shape[1])
    hands = tables["hand"][:, :seats] if tables["hand"].ndim == 2 else None
    held = np.zeros((len(now), seats + 1))
    same = np.zeros((*held.shape, left.shape[1]))
    for position in range(int(drawn.min()), int(now.max())):
        (some,) = np.nonzero((position >= drawn) & (position < now))
        card = tables["deck"][some, position].astype(np.int64)
        kind, holder = card // batch.spec.pack.copies, np.full(len(some), seats)
        if hands is not None and hands.dtype == np.uint64:
            inside = hands[some] >> card.astype(np.uint64)[:, None] & np.uint64(1) != 0
            holder = np.where(inside.any(axis=1), inside.argmax(axis=1), seats)
        held[some, holder] += holder < seats
        same[some, holder, kind] += holder < seats
        orders = np.where(holder < seats, held[some, holder] / same[some, holder, kind].clip(1), 1)
        waiting[some, holder] *= left[some].sum(axis=1) / left[some, kind] / orders
        left[some, kind] -= 1
    return now


def _end_bytes(num_players: int) -> int:
    """Returns the bytes that an end takes with all that solving needs beside it."""
    return 150 + 60 * num_players


def too_large(
    game: str, seats: int, ends: str, needed: float, memory_limit: int
) -> TreeTooLargeError:
    """Return the refusal of a tree, with its size and what would make it smaller."""
    return TreeTooLargeError(
        f"the tree of a deal of {game} with {seats} seats has {ends} and takes "
        f"{needed / 2**30:.3g} GiB, more than the limit of {memory_limit / 2**30:.3g}. Fewer seats "
        "or a smaller table of the game (its presets tiny and small) make it smaller; a higher "
        "limit allows it"
    )
