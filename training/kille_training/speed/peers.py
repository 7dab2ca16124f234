"""Rows for the same kind of work in other libraries."""

import contextlib
import time
from collections.abc import Iterator

import numpy as np

from kille_training.speed.rows import Row, row


def bench_peers(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Random play in other suites, where they are installed; their games are not ours."""
    for what, play in (
        ("OpenSpiel leduc_poker, Python loop", _open_spiel),
        ("RLCard leduc-holdem", _rlcard),
    ):
        with contextlib.suppress(ImportError):
            yield row(what, [play() / 1e6 for _ in range(repeats)], "M decisions/s")


def _open_spiel() -> float:
    import pyspiel  # pyright: ignore[reportMissingImports]

    game = pyspiel.load_game("leduc_poker")
    rng = np.random.default_rng(0)
    decisions, start = 0, time.perf_counter()
    while decisions < 20_000:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                state.observation_tensor()
                decisions += 1
            state.apply_action(legal[int(rng.random() * len(legal))])
    return decisions / (time.perf_counter() - start)


def _rlcard() -> float:
    import rlcard  # pyright: ignore[reportMissingImports]

    env = rlcard.make("leduc-holdem", config={"seed": 0})
    rng = np.random.default_rng(0)
    decisions, start = 0, time.perf_counter()
    while decisions < 10_000:
        state, _ = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            decisions += 1
    return decisions / (time.perf_counter() - start)
