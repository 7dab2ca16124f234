"""Measures the players that come with the suite; `kille players` quotes what they earn.

python docs/players.py --measure   measure all players (`make players`); some minutes
python docs/players.py --solved    take the policies of `byteskille/solved` from runs/solutions,
                                   which `make solutions` writes
"""

import json
import sys
from pathlib import Path
from typing import Any

import kille_agents.population
from kille_agents.catalog import MEASURED
from kille_agents.population import population
from kille_agents.tabular import TABULAR, load_tabular, save_tabular
from kille_agents.trained import trained
from kille_env.files import write_whole
from kille_env.registry import list_games, spec

SOLUTIONS = Path("runs") / "solutions"
SOLVED_SEATS = (2, 3, 4)
AGAINST = ("rule_of_thumb", "uniform")
DEALS, SEED = 5_000, 1_000_003


def measure() -> dict[str, Any]:
    """Returns what all players earn against the baselines, in single deals at default tables."""
    from kille_training.evaluation.api import evaluate  # needs scipy, which the page does not

    games: dict[str, Any] = {}
    for game in list_games():
        seats, rules = spec(game).default_players, spec(game).resolve(episode="deal")
        earned: dict[str, Any] = {}
        for name in ("uniform", "rule_of_thumb", *trained(game), *population(game)):
            measured = evaluate(
                name, game, seats, rules=rules, baselines=AGAINST, deals=DEALS, seed=SEED,
                play="sampled", exact=False,
            )  # fmt: skip
            found = [row.estimate for row in measured.rows]
            earned[name] = {
                against: [round(value, 6) for value in (one.mean, one.low, one.high)]
                for against, one in zip(AGAINST, found, strict=True)
            }
            print(f"{game} {name}: {earned[name]}", file=sys.stderr)
        games[game] = {"num_players": seats, "rules": rules.as_dict(), "earned": earned}
    return {"deals": DEALS, "seed": SEED, "games": games}


def take_solved() -> None:
    """Writes the solved policies into the package, compressed."""
    folder = Path(kille_agents.population.__file__).parent / "solved"
    for preset in spec("byteskille").presets:
        for seats in SOLVED_SEATS:
            rules = spec("byteskille").resolve(preset, episode="deal")
            solved = SOLUTIONS / f"{preset}-{seats}" / TABULAR
            policy = load_tabular(solved, "byteskille", seats, rules)
            print(save_tabular(policy, folder / f"{preset}-{seats}"), file=sys.stderr)


def main(words: list[str]) -> None:
    """Runs the script."""
    if "--solved" in words:
        take_solved()
    if "--measure" in words:
        write_whole(MEASURED, (json.dumps(measure(), indent=1) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1:])
