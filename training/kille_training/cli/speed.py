"""How fast the suite is on this machine: figures, their spread, and what they were to reach.

Every figure is the median of several runs in one process; a shared machine moves between two runs,
so compare ratios within one table rather than two tables.
"""

import contextlib
import io
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo

import kille_env
from kille_agents.network import NetworkPolicy
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_training.learning.runs import versions

TABLES = (64, 1024, 4096, 16384, 65536)


@dataclass(frozen=True)
class Row:
    """A measured figure.

    Attributes:
        what: What was measured.
        value: The median.
        low: The least run.
        high: The largest run.
        unit: Unit of the three.
        target: The goal as a text; empty if there is none.
    """

    what: str
    value: float
    low: float
    high: float
    unit: str
    target: str = ""


def _row(what: str, runs: Iterable[float], unit: str, target: str = "") -> Row:
    values = list(runs)
    return Row(what, statistics.median(values), min(values), max(values), unit, target)


def machine() -> dict[str, str]:
    """Returns what the figures were measured on."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        named = re.search(r"(?m)^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text())
        model = named[1] if named else model
    about = {"cpu": model, "cores": str(os.cpu_count()), "pettingzoo": pettingzoo.__version__}
    return about | versions()


def _seconds(repeats: int, work: Callable[..., object], *arguments: Any) -> list[float]:
    """Returns how long a call took each time."""
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        work(*arguments)
        spent.append(time.perf_counter() - start)
    return spent


def _random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns uniform legal actions [N]."""
    return (mask * rng.random(mask.shape, dtype=np.float32)).argmax(axis=1)


def _step_rate(batch: Batch, decisions: int, rng: np.random.Generator) -> float:
    """Returns decisions a second inside `step`; choosing the actions is not counted."""
    steps = max(3, decisions // batch.num_tables)
    inside = 0.0
    for _ in range(steps):
        actions = _random_actions(batch.mask, rng)
        start = time.perf_counter()
        batch.step(actions)
        inside += time.perf_counter() - start
    return steps * batch.num_tables / inside


def _played(
    game: str, tables: int, players: int, episode: str = "match", threads: int = 1
) -> Batch:
    """Returns a batch in the middle of its matches."""
    batch = kille_env.make_batch(game, tables, players, seed=0, threads=threads, episode=episode)
    batch.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        batch.step(_random_actions(batch.mask, rng))
    return batch


def _rates(batches: Mapping[str, Batch], repeats: int) -> Iterator[Row]:
    """Steps of several batches, in turn, so that their figures can be compared."""
    rng = np.random.default_rng(1)
    runs = [
        [_step_rate(batch, 400_000, rng) / 1e6 for batch in batches.values()]
        for _ in range(repeats)
    ]
    for (what, batch), rates in zip(batches.items(), zip(*runs, strict=True), strict=True):
        target = "12 (one card)" if batch.spec.name == "byteskille" else "6.5"
        yield _row(what, rates, "M decisions/s", target)


def bench_batch(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Steps with observation, mask and rewards on one core, by number of tables and of seats."""
    spec = kille_env.spec(game)
    seats = sorted({spec.min_players, min(3, spec.max_players), spec.max_players} - {players})
    cases = [(tables, players, "match") for tables in TABLES]
    cases += [(4096, players, "deal"), *((4096, p, "match") for p in seats)]
    batches = {
        f"batch step, {tables} tables, {p} seats, {episode}": _played(game, tables, p, episode)
        for tables, p, episode in cases
    }
    yield from _rates(batches, repeats)


def bench_games(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Every game at its own number of seats."""
    batches = {}
    for name, episode in product(kille_env.list_games(), ("match", "deal")):
        seats = kille_env.spec(name).default_players
        batches[f"{name}, {seats} seats, {episode}"] = _played(name, 4096, seats, episode)
    yield from _rates(batches, repeats)


def bench_one(game: str, players: int, repeats: int) -> Iterator[Row]:
    """One table of the native batch, driven from Python."""
    batch, rng = _played(game, 1, players), np.random.default_rng(1)
    runs = [1e6 / _step_rate(batch, 5000, rng) for _ in range(repeats)]
    yield _row(f"one table through the batch, {players} seats", runs, "µs a decision", "2")


def bench_threads(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Two threads over one, run alternately."""
    rng = np.random.default_rng(1)
    one, two = (_played(game, 16384, players, threads=threads) for threads in (1, 2))
    ratios = [_step_rate(two, 600_000, rng) / _step_rate(one, 600_000, rng) for _ in range(repeats)]
    yield _row("two threads over one, 16384 tables", ratios, "times", "1.7 (idle machine)")


def bench_shares(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Where a step's time goes: its observation and its mask, and the rest, which is the rules."""
    rng = np.random.default_rng(1)
    batch = _played(game, 4096, players)
    batch.observe(0)  # compiled before they are timed
    batch.legal_actions(0)
    shares = []
    for _ in range(repeats):
        step = batch.num_tables / _step_rate(batch, 400_000, rng)
        seats = np.array(batch.seat)
        looks = [
            100 * statistics.mean(_seconds(50, look, seats)) / step
            for look in (batch.observe, batch.legal_actions)
        ]
        shares.append([*looks, 100 - sum(looks)])
    names = ("observation", "mask", "rules, dealing, rewards")
    for name, runs in zip(names, zip(*shares, strict=True), strict=True):
        yield _row(f"share of a step: {name}", runs, "%")


def bench_state(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Size of a table and of what a seat sees."""
    batch = kille_env.make_batch(game, 1, players, seed=0)
    yield _row("state of a table", [batch.spec.table.itemsize], "bytes", "1024")
    yield _row(f"observation, {players} seats", [batch.observation.shape[1]], "bytes")


def bench_aec(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A decision through PettingZoo: `last`, choose from the mask, `step`."""
    from pettingzoo.test import performance_benchmark

    env = kille_env.make(game, num_players=players)
    rng = np.random.default_rng(1)
    runs = []
    for repeat in range(repeats):
        env.reset(seed=repeat)
        decisions = 0
        start = time.perf_counter()
        while decisions < 5000:
            _, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = np.flatnonzero(info["action_mask"])
            env.step(int(legal[int(rng.random() * len(legal))]))
            decisions += 1
        runs.append((time.perf_counter() - start) / decisions * 1e6)
    yield _row(f"AEC decision, {players} seats", runs, "µs a decision", "10")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        performance_benchmark(env)
    for line in printed.getvalue().splitlines():
        number = line.partition(" turns per second")[0]
        with contextlib.suppress(ValueError):
            yield _row("pettingzoo.test.performance_benchmark", [float(number)], "turns/s")


def bench_train(game: str, players: int, repeats: int) -> Iterator[Row]:
    """MaskablePPO end to end on seat streams, 64x64 network, one thread."""
    from kille_training.learning.sb3 import make_model, update
    from kille_training.learning.settings import LearnerSettings, TableSettings, TrainSettings

    learner = LearnerSettings(num_tables=512, n_steps=32, batch_size=4096)
    runs = []
    for seed in range(min(repeats, 3)):
        settings = TrainSettings(seed=seed, table=TableSettings(game, players), learner=learner)
        model = make_model(settings, settings.table.resolve())
        _, *spent = _seconds(9, update, model, learner, lambda: 1.0)  # the first one compiles
        runs.append(8 * 512 * 32 / sum(spent) / 1e3)
    yield _row(f"MaskablePPO end to end, {players} seats, deals", runs, "k decisions/s", "45")


def _fresh(code: str, cache: str | None = None) -> float:
    """Returns the seconds that a fresh interpreter prints."""
    environment = {**os.environ, **({"KILLE_CACHE_DIR": cache} if cache else {})}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout.strip().splitlines()[-1])


def bench_start(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Importing, the first compilation, and a warm start, each in fresh interpreters."""
    clock = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    imported = [_fresh(clock.format("import kille_env")) for _ in range(repeats)]
    yield _row("import kille_env", imported, "s", "0.5")
    start = (
        f"import kille_env; b = kille_env.make_batch({game!r}, 8, {players}, seed=0); b.reset(); "
        "b.step(b.mask.argmax(axis=1))"
    )
    first, warm = [], []
    for _ in range(min(repeats, 3)):
        with tempfile.TemporaryDirectory() as cache:
            first.append(_fresh(clock.format(start), cache))
            warm += [_fresh(clock.format(start), cache) for _ in range(2)]
    yield _row("first compilation: import, reset, step", first, "s", "20")
    yield _row("warm start: import, reset, step", warm, "s", "1")


def bench_solve(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Exact trees of Byteskille: growing, solving a hand and a match, NashConv of a network.

    Whatever game and seats are asked for: there are trees of 2 to 4 seats of this one.
    """
    from kille_training.solving.byteskille.deals import build_deal
    from kille_training.solving.byteskille.match_build import build_match
    from kille_training.solving.byteskille.match_solver import solve_match
    from kille_training.solving.byteskille.policies import nash_conv
    from kille_training.solving.trees.cfr import CFR
    from kille_training.solving.trees.tree import FlatTree

    def solve(tree: FlatTree, method: str, iterations: int, until: float) -> None:
        CFR(tree, method).run(iterations, until=until)

    for seats, part, promised in ((2, 1e-9, "2"), (3, 1e-6, "20"), (4, 1e-4, "180")):
        deal = build_deal(seats)  # each of these is compiled before it is timed
        yield _row(f"tree of a deal, {seats} seats", _seconds(repeats, build_deal, seats), "s")
        stage = deal.stages[-1]
        target = part * float(stage.rules.number("stake"))
        for method in ("cfr+", "pcfr+", "dcfr"):
            solve(stage.tree, method, 1, 1e-300)
            spent = _seconds(repeats, solve, stage.tree, method, 1_000_000, target)
            what = f"NashConv below {part:.0e} of the stake, {seats} seats, {method}"
            yield _row(what, spent, "s", promised)
        network = random_network(seats, stage.rules)
        nash_conv(network, stage)
        what = f"nash_conv of a 64x64 network, {seats} seats, {len(deal.stages)} hands"
        spent = _seconds(repeats, nash_conv, network, deal)
        yield _row(what, spent, "s", {3: "0.5", 4: "10"}.get(seats, ""))
    solve_match(build_match(2))
    for seats in (2, 3):  # once with three: that takes minutes
        match = build_match(seats)
        spent = [solve_match(match).seconds for _ in range(repeats if seats == 2 else 1)]
        what = f"NashConv of a match below 1e-04 of the pot, {seats} seats"
        yield _row(what, spent, "s", {3: "900"}.get(seats, ""))


def random_network(seats: int, rules: Rules) -> NetworkPolicy:
    """Returns a network that has not learnt anything."""
    from kille_training.learning.sb3 import export, make_model
    from kille_training.learning.settings import TableSettings, TrainSettings

    settings = TrainSettings(table=TableSettings.of(rules, seats))
    return export(make_model(settings, rules), settings, rules, "random")


def bench_peers(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Random play in other suites, where they are installed; their games are not ours."""
    for what, play in (
        ("OpenSpiel leduc_poker, Python loop", _open_spiel),
        ("RLCard leduc-holdem", _rlcard),
    ):
        with contextlib.suppress(ImportError):
            yield _row(what, [play() / 1e6 for _ in range(repeats)], "M decisions/s")


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


BENCHES: dict[str, Callable[[str, int, int], Iterator[Row]]] = {
    "batch": bench_batch,
    "games": bench_games,
    "one": bench_one,
    "threads": bench_threads,
    "shares": bench_shares,
    "state": bench_state,
    "aec": bench_aec,
    "train": bench_train,
    "solve": bench_solve,
    "start": bench_start,
    "peers": bench_peers,
}
