"""The tree of a single deal of any game, and whether it fits.

Most games are grown by `grow`. Byteskille has the cards dealt again, and plays whole pots hand by
hand, so its trees are its own (`byteskille.deals`).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.jit import announce_compilation
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import KilleError
from kille_env.registry import load_game
from kille_training.progress import ignore
from kille_training.solving.byteskille import deals as byteskille
from kille_training.solving.grow import DEALS, ENDS, NODES, Growth
from kille_training.solving.stages import MEMORY_LIMIT, DealStages, Stage, TreeTooLargeError

SAMPLE = 4096  # deals from which the size of a tree is estimated
OWN = "byteskille"
"""The game whose trees are its own."""


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
        byteskille.check_stages(num_players, rules)
        return
    ends = count_ends(num_players, rules)
    needed = ends * _end_bytes(num_players)
    if needed > memory_limit:
        raise _too_large(rules.game, num_players, f"about {ends:.2g} ends", needed, memory_limit)


def build_deal(
    num_players: int,
    rules: Rules,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[int], None] = ignore,
) -> DealStages[Stage]:
    """Grows the tree of a single deal.

    Args:
        num_players: P.
        rules: Its rules; a single deal.
        memory_limit: Bytes that the tree may take.
        progress: Called with the nodes that are done.

    Raises:
        TreeTooLargeError: It would not fit; the message says how large it is, and what would.
        KilleError: No tree can hold the game; the message says why.
    """
    check_deal(num_players, rules, memory_limit)
    if rules.game == OWN:
        return byteskille.build_deal(num_players, rules, memory_limit=memory_limit)
    stage = grow_stage(num_players, rules, memory_limit=memory_limit, progress=progress)
    return DealStages((stage,))


def grow_stage(
    num_players: int,
    rules: Rules,
    *,
    cards: Sequence[str] = (),
    memory_limit: int = MEMORY_LIMIT,
    merged: bool = True,
    progress: Callable[[int], None] = ignore,
) -> Stage:
    """Grows the tree of a deal that has one hand; see `build_deal`.

    Args:
        num_players: P.
        rules: Its rules.
        cards: Codes of the cards that can be dealt and drawn, for checks; none are the whole pack.
        memory_limit: Bytes that the tree may take.
        merged: Whether the orders in which cards come to a hand are merged; for checks.
        progress: Called with the nodes that are done.
    """
    game = load_game(rules.game)
    starts = _starts(num_players, rules, cards)
    end = len(game.spec.left_out(rules)) + len(cards) if cards else game.spec.pack.size
    growth = Growth(game, num_players, rules, starts, end, merged)
    with announce_compilation(f"{rules.game} for solving"):
        while not growth.done:
            before = int(growth.size[NODES])
            taken = growth.walk()
            if taken > memory_limit:
                ends = f"more than {growth.size[ENDS]:,} ends"
                raise _too_large(rules.game, num_players, ends, taken, memory_limit)
            progress(int(growth.size[NODES]) - before)
    tree, positions, masks = growth.finished(not game.spec.zero_sum)
    return Stage(
        rules=rules,
        num_players=num_players,
        num_deals=int(growth.size[DEALS]) // len(starts),
        num_nodes=int(growth.size[NODES]),
        tree=tree,
        masks=masks,
        positions=positions,
    )


def _starts(num_players: int, rules: Rules, cards: Sequence[str]) -> np.ndarray:
    """Returns the tables [K] at which a deal can begin, all equally likely; the last seat deals."""
    game = load_game(rules.game)
    tables = []
    for start in game.chances(rules, num_players):
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        batch.reset(dealer=num_players - 1, start=start, deal=False)
        table = np.array(batch.tables)
        table["deck"], _ = game.spec.stack(cards, rules)
        table["stacked"] = len(game.spec.left_out(rules))
        tables.append(table)
    return np.concatenate(tables)


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


def _too_large(
    game: str, seats: int, ends: str, needed: float, memory_limit: int
) -> TreeTooLargeError:
    return TreeTooLargeError(
        f"the tree of a deal of {game} with {seats} seats has {ends} and takes "
        f"{needed / 2**30:.3g} GiB, more than the limit of {memory_limit / 2**30:.3g}. Fewer seats "
        "or a smaller table of the game (its presets tiny and small) make it smaller; a higher "
        "limit allows it"
    )
