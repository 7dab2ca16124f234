"""NashConv of the recipes' learner at small tables: `python benchmarks/small_curves.py`.

A grid of runs of `kille train`: MaskablePPO with the settings of `configs/train/GAME.yaml` plays
all seats of the small tables of the five-card games and Knack, with exact NashConv at every point.
Run it again to resume. `docs/learning.py` draws docs/data/small_curves.jsonl, a copy of its
output.
"""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from kille_agents.catalog import load_policy
from kille_training.evaluation.nash_conv import nash_conv
from kille_training.learn.grid import Item, run_grid
from kille_training.learn.measuring import exact_of
from kille_training.learn.runs import Run
from kille_training.learn.settings import MeasureSettings, TableSettings, load_settings
from kille_training.learn.training import finish_item
from kille_training.progress import Bars
from kille_training.settings import recipes

GAMES = ("krypkille", "kungsholmskille", "femkortskille", "knack")
DECISIONS, POINTS, SEEDS = 491_520, 10, 5
OUT = Path("runs") / "small_curves"
MEASURE = MeasureSettings(every=DECISIONS // POINTS, exact=True, deals=0, final_deals=100)


def items() -> list[Item]:
    """Return the runs."""
    made = []
    for preset, game, seed in product(("tiny", "small"), GAMES, range(1, SEEDS + 1)):
        recipe = load_settings(recipes("train")[game])
        learner = {**recipe.learner, "decisions": DECISIONS}
        table = TableSettings(game, 2, {"preset": preset})
        run = replace(recipe, seed=seed, table=table, learner=learner, measure=MEASURE)
        made.append(Item(OUT / f"{game}-{preset}" / f"seed-{seed}", run))
    return made


def line_of(item: Item) -> dict[str, Any]:
    """Return NashConv in units, of baselines and at the points of a run."""
    table = item.settings.table
    points: dict[int, dict[str, Any]] = {}
    for row in exact_of(Run(item.folder)).read():
        decisions = int(row["decisions"])
        point = points.setdefault(decisions, {"decisions": decisions})
        for play in ("greedy", "sampled") if row["play"] == "deterministic" else (row["play"],):
            point[play] = [float(row["nash_conv"])]
    rules, baselines = table.resolve(), {}
    for name in ("uniform", "rule_of_thumb"):
        player = load_policy(name, table.game, 2, rules)
        baselines[name] = float(nash_conv(player, table.game, 2, rules=rules))
    about = {"game": table.game, "preset": table.rules["preset"], "seed": item.settings.seed}
    return {**about, "baselines": baselines, "points": [points[at] for at in sorted(points) if at]}


if __name__ == "__main__":
    with Bars(lines=True) as progress:
        run_grid(items(), OUT, finish_item, progress=progress)
    lines = "".join(json.dumps(line_of(item)) + "\n" for item in items())
    OUT.with_suffix(".jsonl").write_text(lines, encoding="utf-8")
