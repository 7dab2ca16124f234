"""Tables on a GPU: `python benchmarks/gpu.py steps train --out docs/data/gpu.jsonl`.

- `steps`: decisions per second over the number of tables, every game, with observations, masks and
  rewards. A step is timed by events of the GPU; choosing random actions is not counted. Beside it,
  one core of the processor.
- `start`: seconds from nothing to the first step, with nothing compiled and with all kept.
- `train`: PPO with tables and network on the GPU (`training/recipes/ppo.py --device cuda`), and
  NashConv after 10, 30 and 100 seconds.
- `pgx`: Pgx's games on the same GPU, if it is installed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import kille_env
from kille_env.core.device import DeviceBatch, cuda
from speed.libraries import pgx_batch
from speed.playing import played, step_rate

SIZES = tuple(2**power for power in range(10, 23, 2))
WARM, STEPS, REPEATS = 30, 20, 5
TRAINING = {"cpu": 2048, "cuda": 32768}  # tables by device
SECONDS = (10.0, 30.0, 100.0)

Rows = Iterator[dict[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="+", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--out", type=Path, help="file for a line of JSON per figure")
    options = parser.parse_args()
    if options.parts[0] == "first_step":
        print(first_step(options.parts[1]))
        return
    for part in options.parts:
        for row in PARTS[part]():
            line = json.dumps(row | {"part": part} | machine())
            print(line, flush=True)
            if options.out:
                with options.out.open("a") as file:
                    print(line, file=file)


def machine() -> dict[str, str]:
    """Return the device and the versions of libraries."""
    name = cuda.get_current_device().name
    return {
        "gpu": name.decode() if isinstance(name, bytes) else name,
        **{package: version(package) for package in ("numba", "numba-cuda", "numpy")},
    }


# Steps


def steps() -> Rows:
    """Yield the rates of every game by its number of tables."""
    for game in kille_env.list_games():
        seats = kille_env.spec(game).default_players
        core = step_rate(played(game, 4096, seats), 400_000, np.random.default_rng(1))
        for tables in SIZES:
            batch = on_gpu(game, tables)
            about = {"game": game, "seats": seats, "tables": tables, "table_bytes": size(batch)}
            yield {**about, **rates(batch), "core_rate": core}
            del batch


def on_gpu(game: str, tables: int) -> DeviceBatch:
    """Return tables on the GPU with begun matches."""
    batch: Any = kille_env.make_batch(game, tables, seed=0, episode="match", device="cuda")
    batch.reset()
    return batch


def rates(batch: DeviceBatch) -> dict[str, float]:
    """Return decisions per second: the median, least and largest of some runs."""
    for _ in range(WARM):
        batch.step(batch.random_actions())
    inside = []
    for _ in range(REPEATS):
        marks = [(cuda.event(), cuda.event()) for _ in range(STEPS)]
        cuda.synchronize()
        for before, after in marks:
            actions = batch.random_actions()
            before.record()
            batch.step(actions)
            after.record()
        cuda.synchronize()
        inside.append(sum(cuda.event_elapsed_time(*pair) for pair in marks) / 1000)
    batch.check()
    decisions = STEPS * batch.num_tables
    return {
        "rate": decisions / statistics.median(inside),
        "low": decisions / max(inside),
        "high": decisions / min(inside),
    }


def size(batch: DeviceBatch) -> int:
    """Return the GPU memory of a table, with its outputs."""
    shown = batch.seat, batch.observation, batch.mask, batch.reward, batch.terminated
    arrays = batch.tables, *shown, batch.truncated
    return sum(array.size * array.dtype.itemsize for array in arrays) // batch.num_tables


# The first step


def start() -> Rows:
    """Yield seconds to the first step, in fresh processes."""
    for game in kille_env.list_games():
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"KILLE_CACHE_DIR": cache, "CUDA_CACHE_DISABLE": "1"}
            command = [sys.executable, __file__, "first_step", game]
            cold, warm = (
                float(subprocess.check_output(command, env=environment, text=True).split()[-1])
                for _ in range(2)
            )
        yield {"game": game, "cold_seconds": cold, "warm_seconds": warm}


def first_step(game: str) -> float:
    began = time.perf_counter()
    batch = on_gpu(game, 1024)
    batch.step(batch.random_actions())
    cuda.synchronize()
    return time.perf_counter() - began


# Training


def train() -> Rows:
    """Yield NashConv of single deals of Byteskille with three seats after some seconds of PPO."""
    import torch

    import kille_training

    sys.path.insert(0, str(Path(__file__).parents[1] / "training" / "recipes"))
    import ppo  # pyright: ignore[reportMissingImports]

    for device, tables in TRAINING.items():
        more = {"device": device, "tables": tables}
        ppo.train(decisions=1, **more)  # compiles
        probe, began = 60 * tables, time.perf_counter()
        ppo.train(decisions=probe, **more)
        rate = probe / (time.perf_counter() - began)
        for seconds in SECONDS:
            decisions, began = int(rate * seconds), time.perf_counter()
            player = ppo.train(decisions=decisions, **more)
            torch.cuda.synchronize()
            took = time.perf_counter() - began
            measured = float(kille_training.nash_conv(player, "byteskille", 3))
            yield {**more, "seconds": took, "decisions": decisions, "nash_conv": measured}


# Pgx


def pgx() -> Rows:
    """Yield the rates of Pgx's games in wall-clock time, without choosing actions."""
    for name in ("kuhn_poker", "leduc_holdem"):
        for tables in SIZES[1::2]:
            play = pgx_batch(name, tables, time.perf_counter)
            runs = [play()[1] for _ in range(WARM + 20)][WARM:]
            rate = tables / statistics.median(runs)
            yield {"game": f"Pgx {name}", "tables": tables, "rate": rate, "pgx": version("pgx")}


PARTS = {"start": start, "steps": steps, "train": train, "pgx": pgx}

if __name__ == "__main__":
    main()
