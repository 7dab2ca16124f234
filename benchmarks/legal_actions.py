"""What `BestLegalAction` is worth: `python benchmarks/legal_actions.py`.

PPO and DQN of Stable-Baselines3, which know no masks, learn single deals of Byteskille by their
recipes, with the wrapper and without it: then an illegal action loses the deal. NashConv is exact,
in stakes; seconds are processor time of one thread.
"""

import argparse
import sys
import time
from itertools import product
from pathlib import Path

from markdown_tables import table

import kille_training as kt

sys.path.append(str(Path(__file__).parents[1] / "training" / "recipes"))

import sb3_dqn  # pyright: ignore[reportMissingImports]
import sb3_ppo  # pyright: ignore[reportMissingImports]

ALGORITHMS = {"PPO": sb3_ppo.train, "DQN": sb3_dqn.train}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--decisions", type=int, default=1_200_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for (name, train), best_legal in product(ALGORITHMS.items(), (False, True)):
        began = time.process_time()
        model = train("byteskille", options.players, options.decisions, options.seed, best_legal)
        seconds = time.process_time() - began
        sampled, greedy = (
            kt.nash_conv(model, "byteskille", options.players, play=play).stakes
            for play in ("sampled", "greedy")
        )
        way = "the best legal action" if best_legal else "the deal is lost"
        rows.append([name, way, f"{sampled:.3f}", f"{greedy:.3f}", f"{seconds:.0f}"])
    heads = ["algorithm", "instead of an illegal action", "sampled", "greedy", "seconds"]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
