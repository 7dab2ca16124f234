"""Results of `kille_env.sb3.settings`, and the effect of each setting.

SeatPPO learns single deals by self-play in every game with `settings(venv)` and `Anneal()`, at
two tables each, with several seeds; then, in two games, with one setting changed at a time, with
the library's own defaults, and in one seat against the rule of thumb. Results are measured by
`kille_training.evaluate`, exactly if possible. Every finished run is a line of `--out` and is not
repeated; `docs/learning.py` makes the tables of docs/training.md from it.
"""

import time
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from journal import Case, Key, make_runs
from kille_env.registry import list_games

DEALS, DECISIONS = 5_000, 500_000
TABLES = [(game, seats) for game in list_games() for seats in (2, 3 if game == "byteskille" else 4)]
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
        "only": ("policy", "env", "device"),
    },
    "one seat, MaskablePPO": {"opponents": "rule_of_thumb"},
    "one seat, PPO": {"opponents": "rule_of_thumb", "algorithm": "PPO"},
}
"""Changed settings; PPO has no masks, so an illegal action loses the deal."""
CHANGED_AT = (("byteskille", 3), ("krypkille", 4))


def cases(seeds: int) -> Iterator[Case]:
    """Yield the runs, unchanged settings first."""
    bare = ("byteskille", "value loss weighs 0.5")  # the default there
    changed = [
        (table, change)
        for table, change in product(CHANGED_AT, CHANGES)
        if change != PLAIN and (table[0], change) != bare
    ]
    for runs in ([(table, PLAIN) for table in TABLES], changed):
        for seed, ((game, seats), change) in product(range(seeds), runs):
            key = {"game": game, "num_players": seats, "change": change, "seed": seed}
            yield key | {"decisions": DECISIONS}, {"deals": DEALS}


def measure(key: Key, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Train and measure in one thread."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import PPO

    import kille_training as kt
    from kille_env import sb3

    torch.set_num_threads(1)
    game, seats, change = key["game"], key["num_players"], dict(CHANGES[key["change"]])
    tables = change.pop("tables", 512 if game == "byteskille" else 256)
    opponents = change.pop("opponents", None)
    algorithm: Any = PPO if change.pop("algorithm", "") == "PPO" else MaskablePPO
    if opponents is None:
        algorithm = sb3.SeatPPO
        env: Any = sb3.SelfPlayVecEnv(game, tables, seats)
    else:
        illegal = "lose" if algorithm is PPO else "raise"
        env = sb3.SeatVecEnv(game, tables, seats, opponents=opponents, illegal=illegal)
    anneal, only = change.pop("anneal", True), change.pop("only", None)
    anneal = anneal and only is None
    found = {**sb3.settings(env), **change}
    if only:
        found = {name: found[name] for name in only}
    began = time.process_time()
    model = algorithm(**found, seed=key["seed"])
    model.learn(key["decisions"], callback=sb3.Anneal() if anneal else None)
    seconds = time.process_time() - began
    baselines = ["uniform", "rule_of_thumb"]
    evaluation = kt.evaluate(model, game, seats, baselines=baselines, deals=DEALS)
    earned = {
        row.against: [round(row.estimate.mean, 6), round(row.estimate.high - row.estimate.mean, 6)]
        for row in evaluation.rows
        if row.play == "sampled"
    }
    exact = None
    if game == "byteskille":
        exact = round(float(kt.nash_conv(model, game, seats)), 9)
    return {"earned": earned, "nash_conv": exact, "seconds": round(seconds, 1)}


if __name__ == "__main__":
    make_runs(__doc__, "sb3_settings", cases, measure)
