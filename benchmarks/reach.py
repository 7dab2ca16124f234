"""How long MaskablePPO takes to reach a target: `python benchmarks/reach.py`.

Single deals of Byteskille at two and at three seats, without the question (fragekille) and with it,
one recipe for each number of seats, several seeds. NashConv is exact; measuring stops the clock.
The time is processor time of one thread, so it does not depend on what else the machine does. A run
ends when greedy and sampled play have both reached the target at one point, or with its decisions.
Every finished run is a line of `--out` and is not repeated.
"""

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path

from curves import Journal, learn
from kille_agents.greedy import PLAYS
from kille_training.learn.settings import load_settings
from kille_training.solving.build import build_deal

ROOT = Path(__file__).parents[1]
RECIPES = {
    seats: ROOT / "configs" / "learning" / f"reach_{name}_seats.yaml"
    for seats, name in ((2, "two"), (3, "three"))
}
TARGETS = {2: 0.005, 3: 0.01}
"""NashConv in stakes, by seats."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3], choices=TARGETS)
    parser.add_argument("--questions", nargs="+", default=["off", "forced"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--out", type=Path, default=Path("runs/reach.jsonl"))
    options = parser.parse_args()
    recipes = {seats: load_settings(path) for seats, path in RECIPES.items()}
    journal = Journal(options.out)
    deals = {}
    for seed, players, question in product(options.seeds, options.players, options.questions):
        recipe = recipes[players]
        table = replace(
            recipe.table, num_players=players, rules={**recipe.table.rules, "fraga": question}
        )
        settings = replace(recipe, seed=seed, table=table)
        key = {"question": question, "num_players": players, "seed": seed}
        if journal.has(key, settings):
            continue
        if (players, question) not in deals:
            deals[players, question] = build_deal(players, table.resolve())
        target, points, first = TARGETS[players], [], {}
        for point in learn(settings, deals[players, question]):
            points.append(point)
            reached = [play for play in PLAYS if sum(point[play]) <= target]
            for play in reached:
                first.setdefault(play, point["seconds"])
            if len(reached) == len(PLAYS):
                break
        journal.add(key, settings, target=target, points=points)
        last = points[-1]
        times = ", ".join(
            f"{play} {first[play]:.0f} s" if play in first else f"{play} not reached"
            for play in PLAYS
        )
        print(
            f"{players} seats, question {question}, seed {seed}: NashConv {target:g} {times}; "
            f"at the end, after {last['seconds']:.0f} s, {sum(last['greedy']):.4f} greedy, "
            f"{sum(last['sampled']):.4f} sampled",
            flush=True,
        )


if __name__ == "__main__":
    main()
