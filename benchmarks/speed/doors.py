"""Rows for the doors that Python code comes through, one table at a time."""

import contextlib
import io
import time
from collections.abc import Iterator

import numpy as np

import kille_env
from kille_env.adapters.aec import KilleAEC
from kille_env.adapters.gym import KilleEnv
from kille_env.core.batch import Batch
from speed.batch import played
from speed.rows import Row, row

DECISIONS = 2000


def _choose(mask: np.ndarray, rng: np.random.Generator) -> int:
    """Returns a uniform legal action."""
    legal = np.flatnonzero(mask)
    return int(legal[int(rng.random() * len(legal))])


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
        env.step(_choose(info["action_mask"], rng))
        done += 1
    return (time.perf_counter() - start) / decisions * 1e6


def _batch_turn(batch: Batch, rng: np.random.Generator, decisions: int = 5000) -> float:
    """Returns the microseconds of choosing and `step` at one table of a batch."""
    actions = np.zeros(1, dtype=np.int64)
    start = time.perf_counter()
    for _ in range(decisions):
        actions[0] = _choose(batch.mask[0], rng)
        batch.step(actions)
    return (time.perf_counter() - start) / decisions * 1e6


def bench_aec(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A decision through PettingZoo: `last`, choose from the mask, `step`."""
    from pettingzoo.test import performance_benchmark

    env = kille_env.make(game, num_players=players)
    batch, rng = played(game, 1, players), np.random.default_rng(1)
    runs = [(_batch_turn(batch, rng), _aec_turn(env, rng, repeat)) for repeat in range(repeats)]
    yield row(f"AEC decision, {players} seats", [aec for _, aec in runs], "µs a decision", "10")
    times = [aec / batch for batch, aec in runs]
    yield row("AEC turn over one-table batch turn, choosing in both", times, "times", "at most 5")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        performance_benchmark(env)
    for line in printed.getvalue().splitlines():
        number = line.partition(" turns per second")[0]
        with contextlib.suppress(ValueError):
            yield row("pettingzoo.test.performance_benchmark", [float(number)], "turns/s")


def bench_gym(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A decision through Gymnasium's `KilleEnv`: the others' decisions and the resets included."""
    rng = np.random.default_rng(1)
    for opponents in ("rule_of_thumb", "uniform"):
        env = KilleEnv(game, players, opponents=opponents)
        env.reset(seed=0)
        _seconds_of_play(env, rng)  # compiles
        spent = [_seconds_of_play(env, rng) for _ in range(repeats)]
        what = f"KilleEnv decision, {players} seats, against {opponents}"
        target = "15" if opponents == "rule_of_thumb" else ""
        yield row(what, [1e6 * seconds / DECISIONS for seconds in spent], "µs a decision", target)


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
