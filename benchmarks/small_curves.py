"""What the recipes' learner reaches at small tables: `python benchmarks/small_curves.py`.

MaskablePPO with the settings of `configs/train/GAME.yaml` plays all seats of single deals of the
five-card games' and Knack's small tables, where NashConv is exact, at every point, for greedy and
for sampled play. Every finished run is a line of `--out` and is not repeated, so the benchmark can
be stopped and resumed. `docs/small_tables.py` draws docs/data/small_curves.jsonl.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from curves import Journal, learn
from kille_agents import load_policy
from kille_env.play.policy import UniformPolicy
from kille_training.learn.settings import MeasureSettings, TableSettings, load_settings
from kille_training.solving.build import build_deal
from kille_training.solving.policies import nash_conv

ROOT = Path(__file__).parents[1]
GAMES = "krypkille", "kungsholmskille", "femkortskille", "knack"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--presets", nargs="+", default=["tiny", "small"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=491_520)
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("runs/small_curves.jsonl"))
    options = parser.parse_args()
    journal = Journal(options.out)
    tables = [(preset, game) for preset in options.presets for game in options.games]
    for preset, game in tables:
        recipe = load_settings(ROOT / "configs" / "train" / f"{game}.yaml")
        deal, baselines = None, {}
        for seed in range(1, options.seeds + 1):
            settings = replace(
                recipe,
                seed=seed,
                table=TableSettings(game, 2, {"preset": preset}),
                learner=replace(recipe.learner, decisions=options.decisions),
                measure=MeasureSettings(every=options.decisions // options.points),
            )
            key = {"game": game, "preset": preset, "seed": seed}
            if journal.has(key, settings):
                continue
            if deal is None:
                rules = settings.table.resolve()
                deal = build_deal(2, rules)
                thumb = load_policy("rule_of_thumb", game, 2, rules)
                players = {"uniform": UniformPolicy(), "rule_of_thumb": thumb}
                baselines = {name: nash_conv(one, deal).total for name, one in players.items()}
            points = list(learn(settings, deal, stakes=False))
            journal.add(key, settings, baselines=baselines, points=points)
            last = {play: sum(points[-1][play]) for play in ("greedy", "sampled")}
            print(f"{game} {preset}, seed {seed}: {baselines}, {last}", flush=True)


if __name__ == "__main__":
    main()
