"""Measures the trained players that come with the suite; `kille players knack/trained` quotes it.

python docs/trained.py --measure [GAME]    measure all of them, or one; minutes each
python docs/trained.py --take FOLDER       take the policies of the runs FOLDER/GAME_trained,
                                           and their learning curves for docs/learning.py
"""

import argparse
import csv
import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from kille_agents import load_policy
from kille_agents.network import WEIGHTS, NetworkPolicy, load_network, save_network
from kille_agents.population import population
from kille_agents.trained import CARDS, FOLDER, TRAINED, cards
from kille_env.core.spec import Rules
from kille_env.files import write_whole
from kille_env.registry import list_games, spec
from kille_training.learn.runs import Run

CURVES = Path(__file__).parent / "data" / "trained.jsonl"
"""What the networks earned while they learned, one measurement per line."""
DEALS, SEED = 20_000, 2_000_003
BY_TABLE = {"deal": 4_000, "match": 400}
"""Observations at every table size, by episode."""
RESPONSE = {"decisions": 600_000, "learning_rate": 5e-4, "ent_coef": 0.02}
"""How the response learns; it begins with the network itself."""
EXACT_SEATS = (2, 3, 4)


def measure(game: str) -> dict[str, Any]:
    """Returns the card of a game's network; it plays by its probabilities."""
    from kille_training.evaluation.duplicate import payoff  # needs scipy, which the page does not

    name, seats = f"{game}/trained", spec(game).default_players

    def earned(other: str, num_players: int, episode: str, deals: int) -> list[float]:
        rules = spec(game).resolve(episode=episode)
        network, baseline = (load_policy(each, game, num_players, rules) for each in (name, other))
        found = payoff(network, baseline, num_players, rules, deals=deals, seed=SEED).estimate
        print(f"{name} against {other}, {num_players} seats, {episode}: {found}", file=sys.stderr)
        return [round(value, 6) for value in (found.mean, found.low, found.high)]

    sizes = range(spec(game).min_players, spec(game).max_players + 1)
    card: dict[str, Any] = {
        "weights_sha256": hashlib.sha256((TRAINED[name] / WEIGHTS).read_bytes()).hexdigest(),
        "num_players": seats,
        "against": {
            other: earned(other, seats, "deal", DEALS)
            for other in ("rule_of_thumb", *population(game, "held_out"))
        },
        "by_table": {
            episode: {str(size): earned("rule_of_thumb", size, episode, deals) for size in sizes}
            for episode, deals in BY_TABLE.items()
        },
    }
    return card | (exact_figures(game) if game == "byteskille" else learnt_figures(game))


def _rules(game: str) -> Rules:
    return spec(game).resolve(episode="deal")


def exact_figures(game: str) -> dict[str, Any]:
    """Returns NashConv in stakes, by play and seats."""
    from kille_training.evaluation.exact import exact_rows

    rules = _rules(game)
    found: dict[str, dict[str, float]] = {"sampled": {}, "greedy": {}}
    for seats in EXACT_SEATS:
        network = load_policy(f"{game}/trained", game, seats, rules)
        for row in exact_rows(network, seats, rules, tuple(found)):
            found[row.play][str(seats)] = round(row.stakes, 6)
    return {"nash_conv": found}


def learnt_figures(game: str) -> dict[str, Any]:
    """Returns what a response gains at the default table that goes on learning from the network."""
    from kille_training.learn.best_response import LEARNER, Search, search_response

    name, seats, rules = f"{game}/trained", spec(game).default_players, _rules(game)
    network = load_policy(name, game, seats, rules)
    assert isinstance(network, NetworkPolicy)
    learner = replace(
        LEARNER,
        begin_with=name,
        layers=network.metadata.layers,
        activation=network.metadata.activation,
        **RESPONSE,
    )
    found = search_response(network, seats, rules, Search(learner=learner, seeds=1))
    print(f"{name}: a response gains {found.total}", file=sys.stderr)
    total = [round(value, 6) for value in (found.total.mean, found.total.low, found.total.high)]
    return {"response": {"total": total, "decisions": list(found.decisions)}}


def curve(run: Run) -> list[dict[str, Any]]:
    """Returns what a run's policy earned while it learned, after the run that it began with."""
    begun = run.settings().learner.begin_with
    lines = curve(Run(Path(begun))) if begun else []
    before = lines[-1]["decisions"] if lines else 0
    with run.measurements.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = {key: json.loads(row[key]) for key in ("decisions", "mean", "low", "high")}
            if found["decisions"] or not before:  # where it begins, the other one has ended
                found["decisions"] += before
                lines.append({"against": row["against"], "play": row["play"], **found})
    return lines


def take(runs: Path) -> None:
    """Puts the policies of finished runs into the package, and their curves beside the page."""
    old = CURVES.read_text(encoding="utf-8").splitlines() if CURVES.is_file() else []
    kept = [json.loads(line) for line in old]
    for game in list_games():
        run = Run(runs / f"{game}_trained")
        if not run.config.is_file():
            continue
        network = load_network(run.folder, game, spec(game).default_players, _rules(game))
        print(save_network(network, FOLDER / game), file=sys.stderr)
        kept = [line for line in kept if line["game"] != game]
        kept += [{"game": game, **line} for line in curve(run)]
    write_whole(CURVES, "".join(f"{json.dumps(line)}\n" for line in kept).encode())


def main() -> None:
    """Runs the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measure", nargs="*", choices=list_games())
    parser.add_argument("--take", type=Path)
    options = parser.parse_args()
    if options.take:
        take(options.take)
    if options.measure is not None:
        found = cards() if CARDS.is_file() else {"games": {}}
        games = {game: measure(game) for game in options.measure or list_games()}
        content = {
            "deals": DEALS, "by_table": BY_TABLE, "seed": SEED,
            "games": {game: (found["games"] | games)[game]
                      for game in list_games() if game in found["games"] or game in games},
        }  # fmt: skip
        write_whole(CARDS, (json.dumps(content, indent=1) + "\n").encode())
        cards.cache_clear()


if __name__ == "__main__":
    main()
