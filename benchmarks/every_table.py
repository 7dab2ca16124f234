"""One network for all table sizes beside a network for each: `python benchmarks/every_table.py`.

Single deals of Byteskille. `byteskille/trained` plays at 2 to 20 seats; at each of `--players` it
is put beside a network of the recipe `byteskille` that has learned there and nowhere else. Where
the tree of a deal fits into memory both are measured exactly; everywhere the network for all sizes
plays one seat among copies of the specialist, over duplicate deals.

Specialists that are there are resumed or used as they are, and a table that is in `--out` is not
measured again.
"""

import argparse
from pathlib import Path

import kille_training
from curves import Journal
from kille_agents import load_policy
from kille_agents.greedy import PLAYS
from kille_agents.identity import fingerprint
from kille_env.registry import Table
from kille_training.evaluation.duplicate import payoff
from kille_training.evaluation.exact import exact_rows
from kille_training.learn.runs import Run
from kille_training.learn.settings import TrainSettings, load_settings
from kille_training.solving.size import is_exact

RECIPE = Path(__file__).parents[1] / "configs" / "train" / "byteskille.yaml"


def specialist_settings(seats: int, seed: int) -> TrainSettings:
    """Returns the settings of a network for one table size."""
    changes = {
        "table.num_players": seats,
        "measure.exact": False,
        "measure.every": 0,
        "measure.final_deals": 2_000,
    }
    return load_settings(RECIPE, changes, name=f"specialist_{seats}_{seed}", seed=seed)


def trained(settings: TrainSettings, runs: Path) -> Run:
    """Returns a finished run, and trains it to its end first."""
    run = Run(runs / settings.name)
    if run.config.exists():
        run.check_same(settings)
    print(f"{run.folder}: {settings.learner.total:,} decisions", flush=True)
    return kille_training.train(run.folder if run.config.exists() else settings, out=runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--network", default="byteskille/trained")
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 4, 5, 8, 13, 20])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--out", type=Path, default=Path("runs/every_table.jsonl"))
    options = parser.parse_args()
    journal = Journal(options.out)
    for seats in options.players:
        settings = specialist_settings(seats, options.seed)
        own = Table.of("byteskille", seats, settings.table.resolve())
        known = load_policy(options.network, "byteskille", seats, own.rules)
        key = {
            "num_players": seats,
            "seed": options.seed,
            "deals": options.deals,
            "network": fingerprint(known, own),
        }
        if journal.has(key, settings):
            continue
        run, rules = trained(settings, options.runs), settings.table.resolve()
        network, specialist = (
            load_policy(player, "byteskille", seats, rules)
            for player in (options.network, run.folder)
        )
        exact = None
        if is_exact(seats, rules):
            exact = {
                name: {row.play: row.stakes for row in exact_rows(player, seats, rules, PLAYS)}
                for name, player in (("network", network), ("specialist", specialist))
            }
        row = payoff(network, specialist, seats, rules, deals=options.deals, seed=options.seed)
        earned = {"mean": row.estimate.mean, "low": row.estimate.low, "high": row.estimate.high}
        decisions = settings.learner.total
        journal.add(key, settings, exact=exact, earned=earned, specialist_decisions=decisions)
        found = f"NashConv in stakes {exact}" if exact else "no exact tree"
        print(f"{seats} seats: {found}; {row.estimate} units per deal", flush=True)


if __name__ == "__main__":
    main()
