"""Checks of what a seat knows: what it may know, all of that, and nothing else.

A game's text (`describe`) and its numbers are written independently, so each is a witness against
the other: what a seat may know is what its text has shown so far.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.registry import load_game

VIEWS = ("observe", "legal_actions", "information_state")


def _make(name: str, number: int, players: int, rules: Rules, seed: int) -> Batch:
    return Batch(load_game(name), number, players, rules, seed=seed, restart=False)


def _random_legal(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (mask * (1.0 - rng.random(mask.shape))).argmax(axis=1)


def check_secrets(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Plays pairs of games that differ in two cards of the pack; compares what each seat sees."""
    rng = np.random.default_rng(seed)
    played = number = 0
    while played < decisions // 4 + 1:
        played += _compare_pair(name, players, rules, rng, seed + number)
        number += 1


def _compare_pair(
    name: str, players: int, rules: Rules, rng: np.random.Generator, seed: int
) -> int:
    """Plays a pair until they part in public or the hand ends; returns the decisions."""
    pair = [_make(name, 1, players, rules, seed) for _ in range(2)]
    pack = pair[0].spec.pack
    codes = [pack.code(card) for card in rng.permutation(pack.size)]
    dealer = int(rng.integers(players))
    one = int(rng.integers(min(pack.size, 2 * players)))  # most likely a card that is dealt
    other = (one + int(rng.integers(1, pack.size))) % pack.size
    swapped = codes.copy()
    swapped[one], swapped[other] = swapped[other], swapped[one]
    for game, deck in zip(pair, (codes, swapped), strict=True):
        game.reset(deck=deck, dealer=dealer)
    knows = np.zeros(players, dtype=np.bool_)
    where = f"the cards {codes[one]} and {codes[other]} of the pack {codes} are exchanged"
    for number in range(10_000):
        _compare_views(pair, knows, f"{where}, dealer {dealer}, {number} decisions later")
        first, second = pair
        if first.over[0] or second.over[0] or first.seat[0] != second.seat[0]:
            return number + 1
        if not np.array_equal(first.mask, second.mask):
            return number + 1
        if first.tables["deals"][0] != second.tables["deals"][0] or first.tables["deals"][0] > 1:
            return number + 1
        action = _random_legal(first.mask, rng)
        for game in pair:
            game.step(action)
    raise AssertionError("a hand did not end within 10000 decisions")


def _compare_views(pair: list[Batch], knows: np.ndarray, where: str) -> None:
    """Compares what each seat sees of two games; notes which seats may know the difference."""
    for seat in range(len(knows)):
        differ = [name for name in VIEWS if not _same(pair, name, seat)]
        if differ and not knows[seat]:
            knows[seat] = _texts_differ(pair, seat)
            if not knows[seat]:
                raise AssertionError(
                    f"{' and '.join(differ)} tells seat {seat} what it may not know: {where}"
                )
    # Texts take long, so one of the seats that see no difference stands for all of them.
    same = [s for s in range(len(knows)) if _same(pair, "information_state", s)]
    if same:
        seat = same[len(where) % len(same)]
        if _texts_differ(pair, seat):
            raise AssertionError(
                f"the information state of seat {seat} lacks what describe tells it: {where}"
            )


def _same(pair: list[Batch], view: str, seat: int) -> bool:
    return np.array_equal(*(getattr(game, view)(seat) for game in pair))


def _texts_differ(pair: list[Batch], seat: int) -> bool:
    one, other = (game.describe(0, seat) for game in pair)
    return one != other


def check_recall(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Checks that an information state fixes the rest of what its seat knows of the hand.

    Whenever the same information state comes up again, the seat must see the same observation and
    mask, and must have come there by the same decisions of its own in this hand.
    """
    tables = 32
    batch = _make(name, tables, players, rules, seed)
    batch.reset()
    rng = np.random.default_rng(seed)
    known: dict[bytes, Hashable] = {}
    histories: dict[tuple[int, int], list[Any]] = {}
    hands = np.zeros((tables, 2), dtype=np.int64)
    for _ in range(max(1, decisions // tables)):
        while batch.over.any():
            batch.reset(which=batch.over)
        states = batch.information_state()
        actions = _random_legal(batch.mask, rng)
        now = np.stack([batch.tables["matches"], batch.tables["deals"]], axis=1)
        for table in range(tables):
            if (now[table] != hands[table]).any():
                for seat in range(players):
                    histories.pop((table, seat), None)
            state, seat = states[table].tobytes(), int(batch.seat[table])
            history = histories.setdefault((table, seat), [])
            seen = (
                tuple(history),
                batch.observation[table].tobytes(),
                batch.mask[table].tobytes(),
            )
            before = known.setdefault(state, seen)
            if before != seen:
                _explain(before, seen, seat)
            history.append((state, int(actions[table])))
        hands = now
        batch.step(actions)


def _explain(before: Any, seen: Any, seat: int) -> None:
    names = ("own decisions in this hand", "observation", "mask")
    wrong = [name for name, a, b in zip(names, before, seen, strict=True) if a != b]
    raise AssertionError(
        f"the same information state of seat {seat} came up with different {' and '.join(wrong)}"
    )
