"""What `BestLegalAction` is worth: `python benchmarks/legal_actions.py`.

PPO and DQN of Stable-Baselines3, which know no masks, learn single deals of Byteskille by their
recipes, with the wrapper and without it: then an illegal action loses the deal. NashConv is exact,
in stakes: medians over seeds, with the smallest and the largest; seconds are processor time of one
thread.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import kille_training as kt
from markdown_tables import table

sys.path.append(str(Path(__file__).parents[1] / "training" / "recipes"))

import sb3_dqn  # pyright: ignore[reportMissingImports]
import sb3_ppo  # pyright: ignore[reportMissingImports]

ALGORITHMS = {"PPO": sb3_ppo.train, "DQN": sb3_dqn.train}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--decisions", type=int, default=1_200_000)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for (name, train), best_legal in product(ALGORITHMS.items(), (False, True)):
        runs = [_run(train, options, seed, best_legal) for seed in range(1, options.seeds + 1)]
        way = "the best legal action" if best_legal else "the deal is lost"
        rows.append([name, way, *(_spread(values) for values in zip(*runs, strict=True))])
    heads = ["algorithm", "instead of an illegal action", "sampled", "greedy", "seconds"]
    print(table(heads, rows))


def _run(
    train: Callable[..., Any], options: argparse.Namespace, seed: int, best_legal: bool
) -> tuple[float, float, float]:
    """Trains once; returns NashConv, sampled and greedy, and seconds."""
    began = time.process_time()
    model = train("byteskille", options.players, options.decisions, seed, best_legal)
    seconds = time.process_time() - began
    sampled, greedy = (
        kt.nash_conv(model, "byteskille", options.players, play=play).stakes
        for play in ("sampled", "greedy")
    )
    return sampled, greedy, seconds


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


if __name__ == "__main__":
    main()
