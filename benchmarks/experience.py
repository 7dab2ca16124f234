"""Measure the cost of collecting: `python benchmarks/experience.py`.

Decisions per CPU second that `kille_env.collect` and `Collector` return with a policy that costs
nothing, beside the forward pass of a network of two layers of 64. Each figure is the median of
`--repeats`.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np

import kille_env
from kille_env.play.experience import Decisions


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    collecting(asked.tables, asked.repeats)


if __name__ == "__main__":
    main()
