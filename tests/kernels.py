"""Compiles the kernels that most tests wait for, each once, on several processes side by side.

Without this every worker of pytest-xdist would compile all of them for itself.

    python tests/kernels.py --processes 2
"""

import argparse
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import kille_env
import kille_training


def compile_game(name: str) -> None:
    """Call every loop of a game once, what plays its seats, a search, and the solver if any."""
    batch = kille_env.make_batch(name, 1, seed=0)
    batch.reset()
    batch.step(batch.mask.argmax(axis=1))
    batch.observe(0)
    batch.legal_actions(0)
    batch.information_state(0)
    batch.full_state(0)
    batch.resample(0, np.zeros(1, np.uint64))
    kille_env.make_batch(name, 1, seed=0).reset(deal=False)  # compiles what plays hand by hand
    kille_env.collect(batch, "rule_of_thumb", seed=0)
    for opponents in ("uniform", "rule_of_thumb"):
        tables = kille_env.SeatVectorEnv(name, 2, opponents=opponents)
        _, info = tables.reset(seed=0)
        tables.step(info["action_mask"].argmax(axis=1))
    kille_training.evaluate("search", name, 2, baselines="rule_of_thumb", deals=2, exact=False)
    if name == "byteskille":
        kille_training.solve(name, 2, iterations=1)
        kille_training.play_tournament(["uniform", "rule_of_thumb"], name, num_players=2, deals=2)


def main() -> None:
    """Share the games out among the processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.processes, mp_context=context) as pool:
        list(pool.map(compile_game, kille_env.list_games()))  # a failure is raised here


if __name__ == "__main__":
    main()
