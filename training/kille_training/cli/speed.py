"""How fast the suite is on this machine: figures, their spread, and what they were to reach.

Every figure is the median of several runs in one process; a shared machine moves between two runs,
so compare ratios within one table rather than two tables.
"""

import contextlib
import io
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import kille_env
from kille_agents.network import NetworkMetadata, NetworkPolicy
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules, width

TABLES = (64, 1024, 4096, 16384, 65536)
PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "stable-baselines3",
    "sb3-contrib",
    "torch",
)


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
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    found = {"cpu": model, "cores": str(os.cpu_count()), "python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    found["kille-env"] = kille_env.__version__
    return found


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
    game: str, tables: int, players: int, threads: int = 1, episode: str = "match"
) -> Batch:
    """Returns a batch in the middle of its matches."""
    batch = kille_env.make_batch(game, tables, players, seed=0, threads=threads, episode=episode)
    batch.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        batch.step(_random_actions(batch.mask, rng))
    return batch


def bench_batch(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Steps with observation, mask and rewards on one core, by number of tables and of seats."""
    rng = np.random.default_rng(1)
    spec = kille_env.spec(game)
    seats = sorted(
        {spec.min_players, 3, players, spec.max_players} & set(range(2, spec.max_players + 1))
    )
    cases = [(tables, players, "match") for tables in TABLES]
    cases += [(4096, players, "deal")] + [(4096, p, "match") for p in seats if p != players]
    for tables, p, episode in cases:
        batch = _played(game, tables, p, episode=episode)
        runs = [_step_rate(batch, 400_000, rng) / 1e6 for _ in range(repeats)]
        what = f"batch step, {tables} tables, {p} seats, {episode}"
        yield _row(what, runs, "M decisions/s", _to_reach(game))


def _to_reach(game: str) -> str:
    """Millions of decisions a second that were promised."""
    return "12 (one card)" if game == "byteskille" else "6.5"


def bench_games(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Every game at its own number of seats, in turn, so that their figures can be compared."""
    rng = np.random.default_rng(1)
    cases = [
        (_played(name, 4096, kille_env.spec(name).default_players, episode=episode), episode)
        for name in kille_env.list_games()
        for episode in ("match", "deal")
    ]
    runs: list[list[float]] = [[] for _ in cases]
    for _ in range(repeats):
        for number, (batch, _) in enumerate(cases):
            runs[number].append(_step_rate(batch, 400_000, rng) / 1e6)
    for (batch, episode), rates in zip(cases, runs, strict=True):
        name = batch.spec.name
        what = f"{name}, {batch.num_players} seats, {episode}"
        yield _row(what, rates, "M decisions/s", _to_reach(name))


def bench_one(game: str, players: int, repeats: int) -> Iterator[Row]:
    """One table of the native batch, driven from Python."""
    batch = _played(game, 1, players)
    rng = np.random.default_rng(1)
    runs = []
    for _ in range(repeats):
        actions = [_random_actions(batch.mask, rng)]
        inside = 0.0
        for _ in range(5000):
            start = time.perf_counter()
            batch.step(actions[0])
            inside += time.perf_counter() - start
            actions[0] = _random_actions(batch.mask, rng)
        runs.append(inside / 5000 * 1e6)
    yield _row(f"one table through the batch, {players} seats", runs, "µs a decision", "2")


def bench_threads(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Two threads over one, run alternately."""
    rng = np.random.default_rng(1)
    one, two = _played(game, 16384, players), _played(game, 16384, players, threads=2)
    ratios = [_step_rate(two, 600_000, rng) / _step_rate(one, 600_000, rng) for _ in range(repeats)]
    yield _row("two threads over one, 16384 tables", ratios, "times", "1.7 (idle machine)")


def bench_shares(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Where a step's time goes: its observation and its mask, and the rest, which is the rules."""
    rng = np.random.default_rng(1)
    batch = _played(game, 4096, players)
    batch.observe(0)  # compiled before they are timed
    batch.legal_actions(0)
    parts: dict[str, list[float]] = {"observation": [], "mask": [], "rules, dealing, rewards": []}
    for _ in range(repeats):
        step = 1e9 / _step_rate(batch, 400_000, rng)
        seats = np.array(batch.seat)
        looks = []
        for look in (batch.observe, batch.legal_actions):
            start = time.perf_counter()
            for _ in range(50):
                look(seats)
            looks.append((time.perf_counter() - start) / 50 / batch.num_tables * 1e9)
        for name, spent in zip(parts, (*looks, step - sum(looks)), strict=True):
            parts[name].append(100 * spent / step)
    for name, runs in parts.items():
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
    import torch
    from sb3_contrib import MaskablePPO

    from kille_env.adapters.sb3 import SeatStreamBuffer, SelfPlayVecEnv

    torch.set_num_threads(1)
    runs = []
    for repeat in range(min(repeats, 3)):
        venv = SelfPlayVecEnv(
            game, num_tables=512, num_players=players, episode="deal", seed=repeat
        )
        model = MaskablePPO(
            "MlpPolicy",
            venv,
            rollout_buffer_class=SeatStreamBuffer,
            rollout_buffer_kwargs={"env": venv},
            n_steps=32,
            batch_size=4096,
            n_epochs=4,
            gamma=1.0,
            gae_lambda=1.0,
            policy_kwargs={"net_arch": [64, 64]},
            seed=repeat,
            device="cpu",
        )
        model.learn(512 * 32)
        start = time.perf_counter()
        model.learn(512 * 32 * 8, reset_num_timesteps=False)
        runs.append(512 * 32 * 8 / (time.perf_counter() - start) / 1e3)
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
    from kille_training.solving.trees.cfr import CFR, VARIANTS

    for seats, part, promised in ((2, 1e-9, "2"), (3, 1e-6, "20"), (4, 1e-4, "180")):
        deal = build_deal(seats)  # compiled before it is timed
        spent = []
        for _ in range(repeats):
            start = time.perf_counter()
            build_deal(seats)
            spent.append(time.perf_counter() - start)
        yield _row(f"tree of a deal, {seats} seats", spent, "s")
        stage = deal.stages[-1]
        for method in ("cfr+", "pcfr+", "dcfr"):
            solver = CFR(stage.tree, VARIANTS[method])
            solver.run(1, until=1e-300)
            spent = []
            for _ in range(repeats):
                start = time.perf_counter()
                solver = CFR(stage.tree, VARIANTS[method])
                solver.run(1_000_000, until=part * float(stage.rules.number("stake")))
                spent.append(time.perf_counter() - start)
            what = f"NashConv below {part:.0e} of the stake, {seats} seats, {method}"
            yield _row(what, spent, "s", promised)
        network = random_network(seats, stage.rules)
        nash_conv(network, stage)
        spent = []
        for _ in range(repeats):
            start = time.perf_counter()
            nash_conv(network, deal)
            spent.append(time.perf_counter() - start)
        what = f"nash_conv of a 64x64 network, {seats} seats, {len(deal.stages)} hands"
        yield _row(what, spent, "s", {3: "0.5", 4: "10"}.get(seats, ""))
    solve_match(build_match(2))  # compiled before it is timed
    for seats in (2, 3):  # once with three: that takes minutes
        match = build_match(seats)
        spent = [solve_match(match).seconds for _ in range(repeats if seats == 2 else 1)]
        what = f"NashConv of a match below 1e-04 of the pot, {seats} seats"
        yield _row(what, spent, "s", {3: "900"}.get(seats, ""))


def random_network(seats: int, rules: Rules) -> NetworkPolicy:
    """Returns a network with random weights."""
    spec = kille_env.spec(rules.game)
    sizes = (width(spec.observation(seats)), 64, 64, spec.num_actions)
    card = NetworkMetadata(
        game=spec.name,
        game_version=spec.version,
        num_players=seats,
        rules=rules.as_dict(),
        observation_width=sizes[0],
        num_actions=sizes[-1],
        layers=sizes[1:-1],
        activation="tanh",
        made={},
    )
    rng = np.random.default_rng(0)
    weights = {}
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        weights[f"weight.{layer}"] = rng.normal(0, 0.3, (outputs, inputs)).astype(np.float32)
        weights[f"bias.{layer}"] = np.zeros(outputs, dtype=np.float32)
    return NetworkPolicy(card, weights)


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


def as_object(rows: list[Row]) -> dict[str, Any]:
    """Returns the table as one object."""
    return {"machine": machine(), "rows": [asdict(row) for row in rows]}
