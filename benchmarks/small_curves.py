"""What the recipes' learner reaches at small tables: `python benchmarks/small_curves.py`.

MaskablePPO with the settings of `configs/train/GAME.yaml` plays all seats of single deals of the
five-card games' and Knack's small tables, where NashConv is exact, at every point, for greedy and
for sampled play. Every finished run is a line of `--out` and is not repeated, so the benchmark can
be stopped and resumed. `docs/solutions.py` draws docs/data/small_curves.jsonl.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from curves import ROOT, Case, Key, deal_of, learn, make_runs
from kille_agents.catalog import load_policy
from kille_training.learn.settings import (
    MeasureSettings,
    TableSettings,
    TrainSettings,
    load_settings,
)
from kille_training.solving.policies import nash_conv

GAMES = ("krypkille", "kungsholmskille", "femkortskille", "knack")
DECISIONS, POINTS = 491_520, 10


def cases(seeds: int) -> Iterator[Case]:
    """Yield the runs."""
    for preset, game, seed in product(("tiny", "small"), GAMES, range(1, seeds + 1)):
        recipe = load_settings(ROOT / "configs" / "train" / f"{game}.yaml")
        yield (
            {"game": game, "preset": preset, "seed": seed},
            replace(
                recipe,
                seed=seed,
                table=TableSettings(game, 2, {"preset": preset}),
                learner={**recipe.learner, "decisions": DECISIONS},
                measure=MeasureSettings(every=DECISIONS // POINTS),
            ),
        )


def measure(key: Key, settings: TrainSettings) -> dict[str, Any]:
    """Return NashConv in units, of baselines and at points of a run."""
    rules, deal = settings.table.resolve(), deal_of(settings.table)
    baselines = {
        name: nash_conv(load_policy(name, key["game"], 2, rules), deal).total
        for name in ("uniform", "rule_of_thumb")
    }
    return {"baselines": baselines, "points": list(learn(settings, stakes=False))}


if __name__ == "__main__":
    make_runs(__doc__, "small_curves", cases, measure)
