"""Rows for playing: batches by tables, seats and game, one table from Python, and the start."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

import kille_env
from kille_env.adapters.gym import KilleEnv
from kille_env.core.batch import Batch
from kille_env.core.rule_space import RuleSpace
from kille_env.rule_spaces import list_rule_spaces, rule_space
from speed.rows import Row, random_actions, row, seconds, spread

TABLES = (64, 1024, 4096, 16384, 65536)
DECISIONS = 5000  # decisions of a run with one table


def played(game: str, tables: int, players: int, episode: str = "match", **options: Any) -> Batch:
    """Return a batch in the middle of its matches."""
    batch = kille_env.make_batch(game, tables, players, seed=0, episode=episode, **options)
    batch.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        batch.step(random_actions(batch.mask, rng))
    return batch


def step_rate(
    batch: Batch,
    decisions: int,
    rng: np.random.Generator,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return decisions a second inside `step`; choosing the actions is not counted."""
    steps = max(3, decisions // batch.num_tables)
    inside = 0.0
    for _ in range(steps):
        actions = random_actions(batch.mask, rng)
        start = clock()
        batch.step(actions)
        inside += clock() - start
    return steps * batch.num_tables / inside


def _rates(batches: Mapping[str, Batch], repeats: int) -> Iterator[Row]:
    """Step several batches in turn, for comparable figures."""
    rng = np.random.default_rng(1)
    runs = [
        [step_rate(batch, 400_000, rng) / 1e6 for batch in batches.values()] for _ in range(repeats)
    ]
    for what, rates in zip(batches, zip(*runs, strict=True), strict=True):
        yield row(what, rates, "M decisions/s")


def bench_batch(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Step with observation, mask and rewards on one core, by number of tables and of seats."""
    spec = kille_env.spec(game)
    seats = sorted({spec.min_players, min(3, spec.max_players), spec.max_players} - {players})
    cases = [(tables, players, "match") for tables in TABLES]
    cases += [(4096, players, "deal"), *((4096, p, "match") for p in seats)]
    batches = {
        f"batch step, {tables} tables, {p} seats, {episode}": played(game, tables, p, episode)
        for tables, p, episode in cases
    }
    yield from _rates(batches, repeats)


def bench_rules(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Tables with rules of their own beside those of one rule set; 4,096 tables, deals."""
    for space in map(rule_space, list_rule_spaces()):
        if space.game == game:
            yield from _by_table(space, min(players, *space.seats), repeats)


def _by_table(space: RuleSpace, seats: int, repeats: int) -> Iterator[Row]:
    """Step batches of one rule set and of many in turn, by CPU time."""
    several = list(space.draw(4096, seed=1))
    cases: dict[str, list[dict[str, Any]]] = {
        "one rule set, mean of eight": [{"rules": one} for one in several[:8]],
        "rules by table": [{"rules": several}],
        "rules drawn at each match": [{"rules": space}],
        "rules by table, observed": [{"rules": several, "observe_rules": True}],
    }
    batches = [
        [played(space.game, 4096, seats, "deal", **options) for options in each]
        for each in cases.values()
    ]
    rng = np.random.default_rng(1)
    runs = [
        [
            statistics.harmonic_mean(
                [step_rate(batch, 400_000 // len(each), rng, time.thread_time) for batch in each]
            )
            / 1e6
            for each in batches
        ]
        for _ in range(repeats)
    ]
    alone, *_ = by_case = list(zip(*runs, strict=True))
    for what, rates in zip(cases, by_case, strict=True):
        times = spread(rate / one for rate, one in zip(rates, alone, strict=True))
        yield row(f"{space.name}, {seats} seats, {what}", rates, "M decisions/s", times=times)


def bench_games(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Every game at its own number of seats."""
    batches = {}
    for name, episode in product(kille_env.list_games(), ("match", "deal")):
        seats = kille_env.spec(name).default_players
        batches[f"{name}, {seats} seats, {episode}"] = played(name, 4096, seats, episode)
    yield from _rates(batches, repeats)


def bench_one(game: str, players: int, repeats: int) -> Iterator[Row]:
    """One table of the native batch, driven from Python."""
    batch, rng = played(game, 1, players), np.random.default_rng(1)
    runs = [1e6 / step_rate(batch, DECISIONS, rng) for _ in range(repeats)]
    yield row(f"one table through the batch, {players} seats", runs, "µs a decision")


def bench_shares(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Split the time of a step into observation, mask, and rules."""
    rng = np.random.default_rng(1)
    batch = played(game, 4096, players)
    batch.observe(0)  # compile before timing
    batch.legal_actions(0)
    shares = []
    for _ in range(repeats):
        step = batch.num_tables / step_rate(batch, 400_000, rng)
        seats = np.array(batch.seat)
        looks = [
            100 * statistics.mean(seconds(50, look, seats)) / step
            for look in (batch.observe, batch.legal_actions)
        ]
        shares.append([*looks, 100 - sum(looks)])
    names = ("observation", "mask", "rules, dealing, rewards")
    for name, runs in zip(names, zip(*shares, strict=True), strict=True):
        yield row(f"share of a step: {name}", runs, "%")


def bench_aec(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure a decision through PettingZoo: `last`, choose from the mask, `step`, and resets."""
    env, rng = kille_env.make(game, num_players=players), np.random.default_rng(1)

    def play() -> None:
        env.reset()
        done = 0
        while done < DECISIONS:
            _, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = np.flatnonzero(info["action_mask"])
            env.step(int(legal[int(rng.random() * len(legal))]))
            done += 1

    env.reset(seed=0)
    play()  # compiles
    runs = [1e6 * spent / DECISIONS for spent in seconds(repeats, play)]
    yield row(f"AEC decision, {players} seats", runs, "µs a decision")


def bench_gym(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure a decision through Gymnasium's `KilleEnv`, including opponents and resets."""
    env, rng = KilleEnv(game, players, opponents="rule_of_thumb"), np.random.default_rng(1)

    def play() -> float:
        inside = 0.0
        for chance in rng.random((DECISIONS, len(env.action_masks()))):
            action = int((env.action_masks() * chance).argmax())
            start = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
            inside += time.perf_counter() - start
        return 1e6 * inside / DECISIONS

    env.reset(seed=0)
    play()  # compiles
    what = f"KilleEnv decision, {players} seats, against rule_of_thumb"
    yield row(what, [play() for _ in range(repeats)], "µs a decision")


def bench_start(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure import, first compilation, warm start and help, each in fresh interpreters."""
    clock = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    imported = clock.format("import kille_env")
    step = clock.format(
        f"import kille_env; b = kille_env.make_batch({game!r}, 8, {players}, seed=0); b.reset(); "
        "b.step(b.mask.argmax(axis=1))"
    )
    yield row("import kille_env", [float(_fresh("-c", imported)) for _ in range(repeats)], "s")
    first, warm = [], []
    for _ in range(min(repeats, 3)):
        with tempfile.TemporaryDirectory() as cache:
            first.append(float(_fresh("-c", step, cache=cache)))
            warm += [float(_fresh("-c", step, cache=cache)) for _ in range(2)]
    yield row("first compilation: import, reset, step", first, "s")
    yield row("warm start: import, reset, step", warm, "s")
    helped = seconds(repeats, _fresh, "-m", "kille_training.cli.main", "--help")
    yield row("kille --help", helped, "s")


def _fresh(*words: str, cache: str = "") -> str:
    """Return the output of a fresh interpreter."""
    environment = os.environ | ({"KILLE_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, *words]
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
