"""What `kille_env.sb3.settings` reaches, and what each setting buys.

MaskablePPO learns single deals by self-play in every game with `settings(venv)` and `Anneal()`, at
two tables each, with several seeds; then, in two games, with one setting changed at a time, with
the library's own defaults, and in one seat against the rule of thumb. What came of it is measured
by `kille_training.evaluate`, and exactly where it can be. Every finished run is a line of `--out`
and is not repeated; `docs/learning.py` makes the tables of docs/training.md from it.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from curves import Journal

OUT = Path("runs/sb3_settings.jsonl")
DEALS = 5_000
SEATS = {
    "byteskille": (2, 3),
    "kungsholmskille": (2, 4),
    "krypkille": (2, 4),
    "knack": (2, 4),
    "femkortskille": (2, 4),
}
PLAIN = "settings(venv), Anneal()"
CHANGES: Mapping[str, Mapping[str, Any]] = {
    PLAIN: {},
    "no entropy bonus": {"ent_coef": 0.0},
    "nothing shrinks": {"anneal": False},
    "learning rate 3e-4": {"learning_rate": 3e-4},
    "10 epochs": {"n_epochs": 10},
    "gamma 0.99, lambda 0.95": {"gamma": 0.99, "gae_lambda": 0.95},
    "value loss weighs 0.5": {"vf_coef": 0.5},
    "MaskablePPO's defaults, 8 tables": {
        "tables": 8,
        "only": ("policy", "env", "rollout_buffer_class", "device"),
    },
    "one seat, MaskablePPO": {"opponents": "rule_of_thumb"},
    "one seat, PPO": {"opponents": "rule_of_thumb", "algorithm": "PPO"},
}
"""What is changed; PPO knows no masks, so an illegal action loses the deal."""
CHANGED_AT = (("byteskille", 3), ("krypkille", 4))


@dataclass(frozen=True)
class Run:
    """One run: a table, what is changed, a seed, and how many decisions it may make."""

    game: str
    num_players: int
    change: str
    seed: int
    decisions: int


def runs(decisions: int, seeds: int) -> Iterator[Run]:
    """Yields the runs of the benchmark, those of the first table first."""
    for seed in range(seeds):
        for game, sizes in SEATS.items():
            for num_players in sizes:
                yield Run(game, num_players, PLAIN, seed, decisions)
    for seed in range(seeds):
        for game, num_players in CHANGED_AT:
            for change, what in CHANGES.items():
                bare = change == "value loss weighs 0.5" and game == "byteskille"
                if what and not bare:  # there it is the default
                    yield Run(game, num_players, change, seed, decisions)


def measured(run: Run) -> dict[str, Any]:
    """Trains and measures; everything in one thread."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import PPO

    import kille_training as kt
    from kille_env.sb3 import Anneal, SeatVecEnv, SelfPlayVecEnv, settings

    torch.set_num_threads(1)
    change = dict(CHANGES[run.change])
    tables = change.pop("tables", 512 if run.game == "byteskille" else 256)
    opponents = change.pop("opponents", None)
    algorithm: Any = PPO if change.pop("algorithm", "") == "PPO" else MaskablePPO
    if opponents is None:
        env: Any = SelfPlayVecEnv(run.game, tables, run.num_players)
    else:
        illegal = "lose" if algorithm is PPO else "raise"
        env = SeatVecEnv(run.game, tables, run.num_players, opponents=opponents, illegal=illegal)
    anneal, only = change.pop("anneal", True), change.pop("only", None)
    anneal = anneal and only is None
    found = {**settings(env), **change}
    if only:
        found = {name: found[name] for name in only}
    began = time.process_time()
    model = algorithm(**found, seed=run.seed)
    model.learn(run.decisions, callback=Anneal() if anneal else None)
    seconds = time.process_time() - began
    baselines = ["uniform", "rule_of_thumb"]
    evaluation = kt.evaluate(model, run.game, run.num_players, baselines=baselines, deals=DEALS)
    earned = {
        row.against: [round(row.estimate.mean, 6), round(row.estimate.high - row.estimate.mean, 6)]
        for row in evaluation.rows
        if row.play == "sampled"
    }
    exact = None
    if run.game == "byteskille":
        exact = round(float(kt.nash_conv(model, run.game, run.num_players)), 9)
    return {"earned": earned, "nash_conv": exact, "seconds": round(seconds, 1)}


def main() -> None:
    """Does the runs that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=1_000_000, help="of each run")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=OUT, help="file of finished runs")
    options = parser.parse_args()
    journal = Journal(options.out)
    missing = [
        run
        for run in runs(options.decisions, options.seeds)
        if not journal.has(asdict(run), {"deals": DEALS})
    ]
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        jobs = {pool.submit(measured, run): run for run in missing}
        for done, job in enumerate(as_completed(jobs), 1):
            run = jobs[job]
            journal.add(asdict(run), {"deals": DEALS}, **job.result())
            print(f"{done} of {len(missing)}: {run}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
