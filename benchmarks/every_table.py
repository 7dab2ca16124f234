"""One network for all table sizes beside a network for each: `python benchmarks/every_table.py`.

Single deals of Byteskille. The network of the recipe `byteskille_every_table` plays at 2 to 20
seats; at each of `--players` it is put beside one of the recipe `byteskille` that has learned there
and nowhere else. Where the tree of a deal fits into memory both are measured exactly; everywhere
the network for all sizes plays one seat among copies of the specialist, over duplicate deals.

Runs that are there are resumed or used as they are, and a table that is in `--out` is not measured
again.
"""

import argparse
from pathlib import Path

from curves import Journal

import kille_training
from kille_agents import load_policy
from kille_agents.greedy import PLAYS
from kille_env.policy import Player
from kille_training.evaluation.duplicate import payoff
from kille_training.evaluation.exact import exact_rows, why_not
from kille_training.learning.runs import Run
from kille_training.learning.settings import TrainSettings, load_settings

CONFIGS = Path(__file__).parents[1] / "configs" / "train"


def trained(recipe: Path, name: str, options: argparse.Namespace, **changes: object) -> Run:
    """Returns a finished run, and trains it to its end first.

    Args:
        recipe: Its settings.
        name: Folder below `--runs`.
        options: What the command was called with.
        **changes: Settings that win over the recipe's, with __ for a dot.
    """
    overrides = {key.replace("__", "."): value for key, value in changes.items()}
    settings = load_settings(recipe, overrides, name=name, seed=options.seed)
    folder = options.runs / name
    run = Run(folder)
    if run.config.exists():
        run.check_same(settings)
    print(f"{folder}: {settings.learner.total:,} decisions", flush=True)
    return kille_training.train(folder if run.config.exists() else settings, out=options.runs)


def seated(run: Run, settings: TrainSettings, seats: int) -> Player:
    """Returns the policy of a run at a table."""
    table = settings.table
    return load_policy(run.folder, table.game, seats, table.resolve())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 4, 5, 8, 13, 20])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--out", type=Path, default=Path("runs/every_table.jsonl"))
    options = parser.parse_args()
    every = trained(CONFIGS / "byteskille_every_table.yaml", f"every_table_{options.seed}", options)
    settings, journal = every.settings(), Journal(options.out)
    rules = settings.table.resolve()
    for seats in options.players:
        key = {"num_players": seats, "seed": options.seed, "deals": options.deals}
        if journal.has(key, settings):
            continue
        special = trained(
            CONFIGS / "byteskille.yaml",
            f"specialist_{seats}_{options.seed}",
            options,
            table__num_players=seats,
            measure__exact=False,
            measure__every=0,
            measure__final_deals=2_000,
        )
        network, specialist = (seated(run, settings, seats) for run in (every, special))
        exact = None
        if not why_not(seats, rules):
            exact = {
                name: {row.play: row.stakes for row in exact_rows(player, seats, rules, PLAYS)}
                for name, player in (("network", network), ("specialist", specialist))
            }
        row = payoff(network, specialist, seats, rules, deals=options.deals, seed=options.seed)
        earned = {"mean": row.estimate.mean, "low": row.estimate.low, "high": row.estimate.high}
        decisions = special.settings().learner.total
        journal.add(key, settings, exact=exact, earned=earned, specialist_decisions=decisions)
        found = f"NashConv in stakes {exact}" if exact else "no exact tree"
        print(f"{seats} seats: {found}; {row.estimate} units per deal", flush=True)


if __name__ == "__main__":
    main()
