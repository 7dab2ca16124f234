"""Rows for the doors that Python code comes through, one table at a time."""

import time
from collections.abc import Iterator

import numpy as np

import kille_env
from kille_env.adapters.aec import KilleAEC
from kille_env.adapters.gym import KilleEnv
from speed.rows import Row, row

DECISIONS = 2000


def _aec_turn(env: KilleAEC, rng: np.random.Generator, seed: int, decisions: int = 5000) -> float:
    """Returns the microseconds of `last`, choosing and `step`, with the resets between matches."""
    env.reset(seed=seed)
    done = 0
    start = time.perf_counter()
    while done < decisions:
        _, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.reset()
            continue
        legal = np.flatnonzero(info["action_mask"])
        env.step(int(legal[int(rng.random() * len(legal))]))
        done += 1
    return (time.perf_counter() - start) / decisions * 1e6


def bench_aec(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A decision through PettingZoo: `last`, choose from the mask, `step`."""
    env, rng = kille_env.make(game, num_players=players), np.random.default_rng(1)
    runs = [_aec_turn(env, rng, repeat) for repeat in range(repeats)]
    yield row(f"AEC decision, {players} seats", runs, "µs a decision", "10")


def bench_gym(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A decision through Gymnasium's `KilleEnv`: the others' decisions and the resets included."""
    rng, env = np.random.default_rng(1), KilleEnv(game, players, opponents="rule_of_thumb")
    env.reset(seed=0)
    _seconds_of_play(env, rng)  # compiles
    runs = [1e6 * _seconds_of_play(env, rng) / DECISIONS for _ in range(repeats)]
    what = f"KilleEnv decision, {players} seats, against rule_of_thumb"
    yield row(what, runs, "µs a decision", "15")


def _seconds_of_play(env: KilleEnv, rng: np.random.Generator) -> float:
    """Returns the seconds that some decisions take inside the environment."""
    mask = env.action_masks()
    chances = rng.random((DECISIONS, len(mask)))
    inside = 0.0
    for chance in chances:
        action = int((mask * chance).argmax())
        start = time.perf_counter()
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
        inside += time.perf_counter() - start
        mask = info["action_mask"]
    return inside
