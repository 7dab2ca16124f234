"""Estimate whether the tree of a single deal fits into memory."""

from functools import lru_cache

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import KilleError
from kille_env.registry import load_game

MEMORY_LIMIT = 6 * 2**30  # default memory limit of a tree in bytes
SAMPLE = 4096  # deals from which the size of a tree is estimated
MATCH_GAME = "byteskille"  # game with solvable matches
MOST_STAGES = 1000  # number of redeals from which a deal is refused: each is a stage to solve


class TreeTooLargeError(KilleError):
    """Raised if a tree would exceed the memory limit."""


def has_exact_tree(num_players: int, rules: Rules) -> bool:
    """Return whether a table has an exact tree that fits into memory; see `check_deal`."""
    try:
        check_deal(num_players, rules)
    except KilleError:
        return False
    return True


def check_deal(num_players: int, rules: Rules, memory_limit: int = MEMORY_LIMIT) -> None:
    """Refuse a table without a tree that fits into memory, before growing it."""
    if rules["episode"] != "deal":
        raise KilleError(
            "this needs single deals (--rules episode=deal); kille_training.nash_conv measures "
            "whole matches of byteskille, too"
        )
    if (most := load_game(rules.game).spec.redeals(rules, num_players)) >= MOST_STAGES:
        raise KilleError(
            f"max_redeals and max_deals allow {most} granted questions in a deal, expected fewer "
            f"than {MOST_STAGES}: each is a stage to solve"
        )
    ends = count_ends(num_players, rules)
    needed = ends * (60 + 15 * num_players)  # bytes of a growing tree, everything included
    if needed > memory_limit:
        count = f"about {ends:.2g} terminal nodes"
        raise too_large(rules.game, num_players, count, needed, memory_limit)


@lru_cache(maxsize=64)
def count_ends(num_players: int, rules: Rules) -> float:
    """Estimate the number of terminal nodes of a deal from a sample of random play."""
    # Each sampled deal counts inversely to its probability. A card that comes to a hand multiplies
    # the nodes only if its seat decides afterwards.
    game = load_game(rules.game)
    batch = Batch(game, SAMPLE, num_players, rules, seed=0, restart=False)
    batch.reset(dealer=num_players - 1)
    rng, deals = np.random.default_rng(0), np.arange(SAMPLE)
    kinds = np.arange(game.spec.pack.size) // game.spec.pack.copies
    kinds = np.delete(kinds, list(game.spec.left_out(rules)))
    any_order = len(own_cards(rules, num_players)) > 0
    left = np.tile(np.bincount(kinds, minlength=len(game.spec.pack.codes)), (SAMPLE, 1))
    drawn = np.full(SAMPLE, game.spec.pack.size - len(kinds))
    ends, ways = np.ones(SAMPLE), np.ones((SAMPLE, num_players + 1))
    hand = batch.tables["deals"].copy()
    while True:
        drawn = _count_draws(batch, drawn, left, ways, any_order)
        playing = (batch.tables["phase"] != OVER) & (batch.tables["deals"] == hand)
        if not playing.any():
            return float(ends.mean())
        for holder in (batch.seat, np.full(SAMPLE, num_players)):  # cards of the seat, of no seat
            ends *= np.where(playing, ways[deals, holder], 1.0)
            ways[deals[playing], holder[playing]] = 1.0
        ends *= np.where(playing, batch.mask.sum(axis=1), 1.0)
        actions = (rng.random(batch.mask.shape) * batch.mask).argmax(axis=1)
        batch.step(actions, which=playing)


def own_cards(rules: Rules, num_players: int) -> np.ndarray:
    """Return the places of dealt and drawn cards in an information state.

    Empty for games without unseen draws. The order in which a seat received its cards is not
    informative about the others, so all orders are one set.
    """
    parts = {part.name: part for part in load_game(rules.game).spec.information_state(num_players)}
    both = [parts[name].slice for name in ("dealt", "drawn")] if "drawn" in parts else []
    return np.array([place for part in both for place in range(part.start, part.stop)], np.int64)


def _count_draws(
    batch: Batch, drawn: np.ndarray, left: np.ndarray, ways: np.ndarray, any_order: bool
) -> np.ndarray:
    """Multiply `ways` [N, P + 1] by those to draw the new cards; return the cards drawn, [N]."""
    # A hand is a set of cards where a state forgets their order, so its orders are one way.
    tables, seats = batch.tables, batch.num_players
    cards, copies = np.arange(batch.spec.pack.size), batch.spec.pack.copies
    drawn_now = np.minimum(tables["drawn"].astype(np.int64), len(cards))
    hands = tables["hand"][:, :seats] if tables["hand"].ndim == 2 else None
    of_kind = np.zeros((len(drawn), seats + 1, left.shape[1]))  # a holder's cards of each kind
    if any_order and hands is not None:
        new_places = (cards >= drawn[:, None]) & (cards < drawn_now[:, None])
        new = np.zeros(new_places.shape, dtype=np.bool_)
        np.put_along_axis(new, tables["deck"].astype(np.int64), new_places, axis=1)
        old = (hands[..., None] >> cards.astype(np.uint64) & np.uint64(1) != 0) & ~new[:, None]
        of_kind[:, :seats] = old.reshape(len(drawn), seats, -1, copies).sum(axis=3)
    in_hand = of_kind.sum(axis=2)
    for place in range(int(drawn.min()), int(drawn_now.max())):
        (rows,) = np.nonzero((place >= drawn) & (place < drawn_now))
        card = tables["deck"][rows, place].astype(np.int64)
        kind, holder = card // copies, np.full(len(rows), seats)
        if hands is not None and hands.dtype == np.uint64:
            held = hands[rows] >> card.astype(np.uint64)[:, None] & np.uint64(1) != 0
            holder = np.where(held.any(axis=1), held.argmax(axis=1), seats)
        in_hand[rows, holder] += holder < seats
        of_kind[rows, holder, kind] += holder < seats
        orders = in_hand[rows, holder] / of_kind[rows, holder, kind].clip(1)
        orders = np.where(holder < seats, orders, 1)
        ways[rows, holder] *= left[rows].sum(axis=1) / left[rows, kind] / orders
        left[rows, kind] -= 1
    return drawn_now


def too_large(
    game: str, seats: int, ends: str, needed: float, memory_limit: int
) -> TreeTooLargeError:
    """Return the error of a tree that is too large, with ways to make it smaller."""
    if game == MATCH_GAME:
        smaller = f"2 to 4 seats fit into {MEMORY_LIMIT >> 30} GiB, 5 into 16"
    elif "tiny" in load_game(game).spec.presets:
        smaller = "The rules tiny and small fit with 2 seats, some with 3"
    else:
        smaller = "Fewer seats or cards make it smaller"
    return TreeTooLargeError(
        f"the tree of a deal of {game} with {seats} seats has {ends} and takes "
        f"{needed / 2**30:.3g} GiB, more than the limit of {memory_limit / 2**30:.3g}. {smaller}; "
        "a higher limit (memory, with a command --set memory=GIB) allows it"
    )
