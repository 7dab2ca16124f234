"""Tables on a GPU: `python benchmarks/gpu.py steps train --out docs/data/gpu.jsonl`.

- `steps`: decisions per second over the number of tables, every game, with observations, masks and
  rewards. A step is timed by events of the GPU; choosing random actions is not counted, and is in
  `all_rate`, by the clock of the wall. Beside it, one core of the processor.
- `start`: seconds from nothing to the first step, with nothing compiled and with all kept.
- `train`: PPO with tables and network on the GPU (`training/recipes/ppo.py --device cuda`), and
  NashConv after 10, 30 and 100 seconds.
- `pgx`: Pgx's games on the same GPU, if it is installed.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import kille_env
from kille_env.core.device import DeviceBatch, cuda, kernels_of

SIZES = tuple(2**power for power in range(10, 23, 2))
WARM, STEPS, REPEATS = 30, 20, 5
CORE_TABLES = 4096
TRAINING_TABLES = {"cpu": 2048, "cuda": 32768}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "one_start"])
    parser.add_argument("--games", nargs="+", default=kille_env.list_games())
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seconds", nargs="+", type=float, default=(10.0, 30.0, 100.0))
    parser.add_argument("--devices", nargs="+", default=list(TRAINING_TABLES), help="of training")
    parser.add_argument("--out", type=Path, help="file for a line of JSON per figure")
    options = parser.parse_args()
    for part in options.parts:
        if part == "one_start":
            print(first_step(options.games[0]))
            continue
        for row in PARTS[part](options):
            line = json.dumps(row | {"part": part} | machine())
            print(line, flush=True)
            if options.out:
                with options.out.open("a") as file:
                    print(line, file=file)


def machine() -> dict[str, str]:
    """Returns what is measured on."""
    name = cuda.get_current_device().name
    return {
        "gpu": name.decode() if isinstance(name, bytes) else name,
        **{package: version(package) for package in ("numba", "numba-cuda", "numpy")},
    }


# Steps


def steps(options: argparse.Namespace) -> Any:
    """Yields the rates of every game by its number of tables."""
    for game in options.games:
        core = core_rate(game)
        for tables in options.sizes:
            batch = on_gpu(game, tables)
            yield {
                "game": game,
                "seats": batch.num_players,
                "tables": tables,
                **rates(batch),
                "core_rate": core,
                "table_bytes": table_bytes(batch),
                **kernel_report(game),
            }
            del batch


def on_gpu(game: str, tables: int) -> DeviceBatch:
    """Returns tables on the GPU whose matches have begun."""
    batch: Any = kille_env.make_batch(game, tables, seed=0, episode="match", device="cuda")
    batch.reset()
    return batch


def rates(batch: DeviceBatch) -> dict[str, float]:
    """Returns decisions per second: the median, least and largest of some runs."""
    for _ in range(WARM):
        batch.step(batch.random_actions())
    inside, whole = [], []
    for _ in range(REPEATS):
        marks = [(cuda.event(), cuda.event()) for _ in range(STEPS)]
        cuda.synchronize()
        start = time.perf_counter()
        for before, after in marks:
            actions = batch.random_actions()
            before.record()
            batch.step(actions)
            after.record()
        cuda.synchronize()
        whole.append(time.perf_counter() - start)
        inside.append(sum(cuda.event_elapsed_time(*pair) for pair in marks) / 1000)
    batch.check()
    decisions = STEPS * batch.num_tables
    return {
        "rate": decisions / statistics.median(inside),
        "low": decisions / max(inside),
        "high": decisions / min(inside),
        "all_rate": decisions / statistics.median(whole),
    }


def table_bytes(batch: DeviceBatch) -> int:
    """Returns how much memory of the GPU a table takes, with all that is shown of it."""
    shown = batch.seat, batch.observation, batch.mask, batch.reward, batch.terminated
    arrays = batch.tables, *shown, batch.truncated
    return sum(array.size * array.dtype.itemsize for array in arrays) // batch.num_tables


def kernel_report(game: str) -> dict[str, int]:
    """Returns registers of a thread, and bytes that did not fit into them, of a step."""
    step = kernels_of(kille_env.load_game(game))["step"]
    (registers,), (local,) = (
        set(report().values())
        for report in (step.get_regs_per_thread, step.get_local_mem_per_thread)
    )
    return {"registers": registers, "spilled_bytes": local}


def core_rate(game: str) -> float:
    """Returns decisions per second on one core of the processor."""
    batch = kille_env.make_batch(game, CORE_TABLES, seed=0, episode="match")
    batch.reset()
    rng, runs = np.random.default_rng(1), []
    for number in range(WARM + 100):
        actions = (batch.mask * rng.random(batch.mask.shape)).argmax(axis=1)
        start = time.perf_counter()
        batch.step(actions)
        if number >= WARM:
            runs.append(time.perf_counter() - start)
    return CORE_TABLES / statistics.median(runs)


# The first step


def start(options: argparse.Namespace) -> Any:
    """Yields seconds to the first step, in processes of their own."""
    for game in options.games:
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = (in_process(game, folder) for _ in range(2))
        yield {"game": game, "cold_seconds": cold, "warm_seconds": warm}


def in_process(game: str, cache: str) -> float:
    command = [sys.executable, __file__, "one_start", "--games", game]
    environment = os.environ | {"KILLE_CACHE_DIR": cache, "CUDA_CACHE_DISABLE": "1"}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def first_step(game: str) -> float:
    began = time.perf_counter()
    batch = on_gpu(game, 1024)
    batch.step(batch.random_actions())
    cuda.synchronize()
    return time.perf_counter() - began


# Training


def train(options: argparse.Namespace) -> Any:
    """Yields NashConv of Byteskille's deal of three seats after some seconds of PPO."""
    import torch

    import kille_training

    file = Path(__file__).parents[1] / "training" / "recipes" / "ppo.py"
    spec = importlib.util.spec_from_file_location("ppo", file)
    assert spec and spec.loader
    ppo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ppo)
    for device in options.devices:
        tables = TRAINING_TABLES[device]
        more = {"device": device, "tables": tables}
        ppo.train(decisions=1, **more)  # compiles
        probe, began = 60 * tables, time.perf_counter()
        ppo.train(decisions=probe, **more)
        rate = probe / (time.perf_counter() - began)
        for seconds in options.seconds:
            decisions, began = int(rate * seconds), time.perf_counter()
            player = ppo.train(decisions=decisions, **more)
            torch.cuda.synchronize()
            took = time.perf_counter() - began
            measured = kille_training.nash_conv(player, "byteskille", 3)
            yield {
                **more,
                "seconds": took,
                "decisions": decisions,
                "nash_conv": float(measured),
            }


# Pgx


def pgx(options: argparse.Namespace) -> Any:
    """Yields the rates of Pgx's games, by the clock of the wall, without choosing actions."""
    import jax  # pyright: ignore[reportMissingImports]
    import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
    import pgx as library  # pyright: ignore[reportMissingImports]
    from pgx.experimental import auto_reset  # pyright: ignore[reportMissingImports]

    for name in ("kuhn_poker", "leduc_holdem"):
        env = library.make(name)
        step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
        for tables in options.sizes:
            state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), tables))

            @jax.jit
            def choose(key: Any, mask: Any, tables: int = tables) -> Any:
                key, choice, cards = jax.random.split(key, 3)
                actions = jnp.argmax(mask * jax.random.uniform(choice, mask.shape), axis=1)
                return key, actions, jax.random.split(cards, tables)

            key, runs = jax.random.PRNGKey(1), []
            for _ in range(WARM + 20):
                key, actions, cards = jax.block_until_ready(choose(key, state.legal_action_mask))
                began = time.perf_counter()
                state = jax.block_until_ready(step(state, actions, cards))
                runs.append(time.perf_counter() - began)
            rate = tables / statistics.median(runs[WARM:])
            yield {"game": f"Pgx {name}", "tables": tables, "rate": rate, "pgx": version("pgx")}


PARTS = {"start": start, "steps": steps, "train": train, "pgx": pgx}

if __name__ == "__main__":
    main()
