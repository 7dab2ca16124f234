"""Checks of the knowledge of a seat: all that it may know, and nothing else.

A game's text (`describe`) and its numbers are written independently, so each is a witness against
the other: what a seat may know is what its text has shown so far.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.play.policy import sample_actions
from kille_env.registry import make_batch

VIEWS = ("observe", "legal_actions", "information_state")


def check_secrets(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Play pairs of games that differ in two cards of the pack; compare them for each seat."""
    rng = np.random.default_rng(seed)
    played = number = 0
    while played < decisions // 4 + 1:
        played += _compare_pair(name, players, rules, rng, seed + number)
        number += 1


def _compare_pair(
    name: str, players: int, rules: Rules, rng: np.random.Generator, seed: int
) -> int:
    """Play a pair until they part in public or the hand ends; return the decisions."""
    options = {"rules": rules, "seed": seed, "restart": False}
    pair = [make_batch(name, 1, players, **options) for _ in range(2)]
    pack = pair[0].spec.pack
    codes = rng.permutation(pack.codes_without(pair[0].spec.left_out(rules))).tolist()
    dealer = int(rng.integers(players))
    one = int(rng.integers(min(len(codes), 2 * players)))  # most likely a card that is dealt
    other = (one + int(rng.integers(1, len(codes)))) % len(codes)
    swapped = codes.copy()
    swapped[one], swapped[other] = swapped[other], swapped[one]
    for game, deck in zip(pair, (codes, swapped), strict=True):
        game.reset(deck=deck, dealer=dealer)
    knows = np.zeros(players, dtype=np.bool_)
    where = f"the cards {codes[one]} and {codes[other]} of the pack {codes} are exchanged"
    before: list[np.record] = []
    for number in range(10_000):
        seat = _compare_views(pair, knows, f"{where}, dealer {dealer}, {number} decisions later")
        first, second = pair
        deals = first.tables["deals"][0], second.tables["deals"][0]
        same = first.seat[0] == second.seat[0] and np.array_equal(first.mask, second.mask)
        # From the first difference in public on, the two are different games.
        if not same or deals != (1, 1) or first.over[0] or second.over[0]:
            return number + 1
        if before and seat is not None:
            same = _told_the_same(pair, before, seat)
            assert same, f"words tell seat {seat} what it may not know: {where}"
        before = [game.tables[0].copy() for game in pair]
        action = sample_actions(first.mask, rng)
        for game in pair:
            game.step(action)
    raise AssertionError("a hand did not end within 10000 decisions")


def _compare_views(pair: list[Batch], knows: np.ndarray, where: str) -> int | None:
    """Compare two games for each seat; return a seat to which they look the same, or None."""
    same = []
    for seat in range(len(knows)):
        views = VIEWS[-1:] if knows[seat] else VIEWS
        differ = [name for name in views if not _same(pair, name, seat)]
        if VIEWS[-1] not in differ:
            same.append(seat)
        if differ and not knows[seat]:
            knows[seat] = _texts_differ(pair, seat)
            assert knows[seat], (
                f"{' and '.join(differ)} tells seat {seat} what it may not know: {where}"
            )
    if not same:
        return None
    seat = same[len(where) % len(same)]  # texts take long: one of these stands for all of them
    assert not _texts_differ(pair, seat), (
        f"the information state of seat {seat} lacks what describe tells it: {where}"
    )
    return seat


def _same(pair: list[Batch], view: str, seat: int) -> bool:
    return np.array_equal(*(getattr(game, view)(seat) for game in pair))


def _texts_differ(pair: list[Batch], seat: int) -> bool:
    one, other = (game.describe(0, seat) for game in pair)
    return one != other


def _told_the_same(pair: list[Batch], before: list[np.record], seat: int) -> bool:
    """Return whether texts and questions to a seat are the same after the steps to two games."""
    one, other = (_told(was, game, seat) for was, game in zip(before, pair, strict=True))
    return one == other


def _told(before: np.record, batch: Batch, seat: int) -> list[Any]:
    """Return all texts about a step for a seat: events, changes, its question and choices."""
    game, table, rules = batch.game, batch.tables[0], batch.rules
    told: list[Any] = [
        game.narrate(before, table, rules, None, seat),
        game.change(before, table, rules, seat),
    ]
    if batch.seat[0] == seat:
        told.append(game.view(table, rules, seat).question)
        told += [game.choice(table, rules, int(a)) for a in np.flatnonzero(batch.mask[0])]
    return told


def check_recall(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check that an information state determines the rest of its seat's knowledge.

    Whenever the same information state comes up again, the seat must see the same observation and
    mask, and must have come there by the same decisions of its own in this hand.
    """
    tables = 32
    batch = make_batch(name, tables, players, rules=rules, seed=seed, restart=False)
    batch.reset()
    rng = np.random.default_rng(seed)
    known: dict[bytes, dict[str, Any]] = {}
    histories = defaultdict[Any, list[Any]](list)
    for _ in range(max(1, decisions // tables)):
        batch.begin_next()
        states, hands = batch.information_state(), batch.tables[["matches", "deals"]].tolist()
        actions = sample_actions(batch.mask, rng)
        for table, state in enumerate(map(bytes, states)):
            seat = int(batch.seat[table])
            history = histories[table, hands[table], seat]
            seen = {
                "own decisions in this hand": tuple(history),
                "observation": batch.observation[table].tobytes(),
                "mask": batch.mask[table].tobytes(),
            }
            before = known.setdefault(state, seen)
            wrong = " and ".join(name for name in seen if before[name] != seen[name])
            assert not wrong, (
                f"the same information state of seat {seat} came up with different {wrong}"
            )
            history.append((state, int(actions[table])))
        batch.step(actions)
