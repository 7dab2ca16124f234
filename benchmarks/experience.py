"""What collecting costs, and what processes gain: `python benchmarks/experience.py`.

First the decisions per processor second that `kille_env.collect` and `Collector` return with a
policy that costs nothing, beside the forward pass of a network of two layers of 64. Then the wall
time of the recipe `ppo.py` for the same number of decisions with one and with two processes: what
a run takes beyond one of a quarter of the decisions, so that its start is left out. Each figure is
the median of `--repeats`.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import kille_env
from kille_env.experience import Decisions

ROOT = Path(__file__).parents[1]


def free(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return mask / mask.sum(axis=1, keepdims=True)


def rate(collected: Callable[[], Decisions], repeats: int) -> float:
    """Returns decisions per processor second."""
    collected()
    found = []
    for _ in range(repeats):
        began = time.process_time()
        count = len(collected().action)
        found.append(count / (time.process_time() - began))
    return median(found)


def collecting(tables: int, repeats: int) -> None:
    for kind in ("float", "box"):
        batch = kille_env.make_batch("byteskille", tables, 3, episode="deal", seed=1)
        collector = kille_env.Collector(batch, free, observation=kind)
        steps = rate(lambda: collector.collect(16), repeats)  # noqa: B023
        deals = rate(lambda: kille_env.collect(batch, free, observation=kind), repeats)  # noqa: B023
        print(f"{kind}: {steps:,.0f} decisions per second in steps, {deals:,.0f} in whole deals")
    features, rng = batch.observation.shape[1], np.random.default_rng(1)
    layers = [rng.normal(size=shape).astype(np.float32) for shape in ((features, 64), (64, 64))]
    seen, best = batch.observation.astype(np.float32), []
    for _ in range(repeats):
        began = time.process_time()
        np.tanh(np.tanh(seen @ layers[0]) @ layers[1])
        best.append(tables / (time.process_time() - began))
    print(f"forward pass alone: {median(best):,.0f} decisions per second")


def processes(decisions: int, repeats: int) -> None:
    recipe = [str(ROOT / "training" / "recipes" / "ppo.py"), "--deals", "2", "--json"]
    for count in (1, 2):
        launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command = [*launch, f"--nproc-per-node={count}", *recipe]
        short = decisions // 4
        found = [
            wall_seconds(command, decisions) - wall_seconds(command, short) for _ in range(repeats)
        ]
        made = (decisions - short) / median(found)
        print(f"{count} processes: {made:,.0f} decisions per wall second")


def wall_seconds(command: list[str], decisions: int) -> float:
    """Returns the elapsed seconds that a run of the recipe says it took."""
    words = [*command, "--decisions", str(decisions)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["wall_seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=4096)
    parser.add_argument("--decisions", type=int, default=800_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    collecting(asked.tables, asked.repeats)
    processes(asked.decisions, asked.repeats)


if __name__ == "__main__":
    main()
