"""Measure the suite's players, and import players from runs.

python docs/players.py measure [GAME ...]   earnings of all players, for `kille players`
python docs/players.py trained [GAME ...]   details of trained players; minutes each
python docs/players.py take FOLDER          import the policies of the runs FOLDER/GAME_trained, and
                                            their learning curves for docs/learning.py
python docs/players.py solved               solve and import `byteskille/solved`
"""

import csv
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from blocks import lines_of

import kille_agents.population
from kille_agents.catalog import MEASURED, load_policy
from kille_agents.network import WEIGHTS, NetworkPolicy, load_network, save_network
from kille_agents.population import population
from kille_agents.tabular import save_tabular
from kille_agents.trained import CARDS, FOLDER, TRAINED, trained
from kille_env.files import write_whole
from kille_env.registry import list_games, spec
from kille_training.evaluation.duplicate import payoff
from kille_training.evaluation.exact import exact_rows
from kille_training.learn.best_response import Search, search_response
from kille_training.learn.runs import Run
from kille_training.solving.solve import solve

CURVES = Path(__file__).parent / "data" / "trained.jsonl"
"""Earnings of the networks during training, one measurement per line."""
AGAINST = ("rule_of_thumb", "uniform")
DEALS, SEED = 5_000, 1_000_003
TRAINED_DEALS, TRAINED_SEED = 20_000, 2_000_003
BY_TABLE = {"deal": 4_000, "match": 400}
"""Observations of trained players at every table size, by episode."""
RESPONSE = {"learning_rate": 5e-4, "ent_coef": 0.02}
"""Hyperparameters of a response, which begins with the network itself."""
SEATS = (2, 3, 4)  # tables with a solution, and with a tree that fits into memory


def earned(
    game: str, player: str, other: str, seats: int, episode: str, deals: int, seed: int
) -> list[float]:
    """Return units per deal of a player in one seat among copies of another: mean, low, high."""
    rules = spec(game).resolve(episode=episode)
    one, others = (load_policy(name, game, seats, rules) for name in (player, other))
    found = payoff(one, others, seats, rules, deals=deals, seed=seed).estimate
    print(f"{player} against {other}, {seats} seats, {episode}: {found}", file=sys.stderr)
    return [round(value, 6) for value in (found.mean, found.low, found.high)]


def measure(game: str) -> dict[str, Any]:
    """Return the earnings of all players against the baselines, in single deals."""
    seats = spec(game).default_players
    return {
        "num_players": seats,
        "rules": spec(game).resolve(episode="deal").as_dict(),
        "earned": {
            name: {
                other: earned(game, name, other, seats, "deal", DEALS, SEED) for other in AGAINST
            }
            for name in ("uniform", "rule_of_thumb", *trained(game), *population(game))
        },
    }


def measure_trained(game: str) -> dict[str, Any]:
    """Return the metadata of a game's network, in sampled play."""
    name, seats = f"{game}/trained", spec(game).default_players
    sizes = range(spec(game).min_players, spec(game).max_players + 1)
    card: dict[str, Any] = {
        "weights_sha256": hashlib.sha256((TRAINED[name] / WEIGHTS).read_bytes()).hexdigest(),
        "num_players": seats,
        "against": {
            other: earned(game, name, other, seats, "deal", TRAINED_DEALS, TRAINED_SEED)
            for other in ("rule_of_thumb", *population(game, "held_out"))
        },
        "by_table": {
            episode: {
                str(size): earned(game, name, "rule_of_thumb", size, episode, deals, TRAINED_SEED)
                for size in sizes
            }
            for episode, deals in BY_TABLE.items()
        },
    }
    return card | (exact_figures(game) if game == "byteskille" else learned_figures(game))


def exact_figures(game: str) -> dict[str, Any]:
    """Return NashConv in stakes, by play and seats."""
    rules = spec(game).resolve(episode="deal")
    found: dict[str, dict[str, float]] = {"sampled": {}, "greedy": {}}
    for seats in SEATS:
        network = load_policy(f"{game}/trained", game, seats, rules)
        for row in exact_rows(network, seats, rules, tuple(found)):
            found[row.play][str(seats)] = round(row.stakes, 6)
    return {"nash_conv": found}


def learned_figures(game: str) -> dict[str, Any]:
    """Return the gain of a response that begins with the network, at the default table."""
    name, seats = f"{game}/trained", spec(game).default_players
    rules = spec(game).resolve(episode="deal")
    network = load_policy(name, game, seats, rules)
    assert isinstance(network, NetworkPolicy)
    about = network.metadata
    look = {"begin_with": name, "layers": about.layers, "activation": about.activation}
    search = Search(decisions=600_000, learner={**look, **RESPONSE}, seeds=1)
    found = search_response(network, seats, rules, search)
    print(f"{name}: a response gains {found.total}", file=sys.stderr)
    total = [round(value, 6) for value in (found.total.mean, found.total.low, found.total.high)]
    return {"response": {"total": total, "decisions": list(found.decisions)}}


def curve(run: Run) -> list[dict[str, Any]]:
    """Return the learning curve of a run, appended to that of its initial network."""
    begun = run.settings().learner["begin_with"]
    lines = curve(Run(Path(begun))) if begun else []
    before = lines[-1]["decisions"] if lines else 0
    with run.measurements.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = {key: json.loads(row[key]) for key in ("decisions", "mean", "low", "high")}
            if found["decisions"] or not before:  # where it begins, the other one has ended
                found["decisions"] += before
                lines.append({"against": row["against"], "play": row["play"], **found})
    return lines


def take_trained(runs: Path) -> None:
    """Copy the policies of finished runs into the package, and their curves to docs/data."""
    kept = lines_of(CURVES)
    for game in list_games():
        run = Run(runs / f"{game}_trained")
        if run.config.is_file():
            network = load_network(run.folder)
            print(save_network(network, FOLDER / game), file=sys.stderr)
            kept = [line for line in kept if line["game"] != game]
            kept += [{"game": game, **line} for line in curve(run)]
    write_whole(CURVES, "".join(f"{json.dumps(line)}\n" for line in kept).encode())


def take_solved() -> None:
    """Write the solved policies into the package, compressed."""
    folder = Path(kille_agents.population.__file__).parent / "solved"
    for preset in spec("byteskille").presets:
        for seats in SEATS:
            kept = Path("runs") / "solutions" / f"{preset}-{seats}"
            policy = solve("byteskille", seats, rules=preset, out=kept).policy
            print(save_tabular(policy, folder / f"{preset}-{seats}"), file=sys.stderr)


def update(file: Path, games: dict[str, Any], **about: Any) -> None:
    """Write the measurements of some games; the file keeps the others."""
    known = json.loads(file.read_text(encoding="utf-8"))["games"] | games
    content = {**about, "games": {game: known[game] for game in list_games() if game in known}}
    write_whole(file, (json.dumps(content, indent=1) + "\n").encode())


def main(what: str, *words: str) -> None:
    """Run the script."""
    games = words or list_games()
    if what == "measure":
        update(MEASURED, {game: measure(game) for game in games}, deals=DEALS, seed=SEED)
    elif what == "trained":
        about = {"deals": TRAINED_DEALS, "by_table": BY_TABLE, "seed": TRAINED_SEED}
        update(CARDS, {game: measure_trained(game) for game in games}, **about)
    elif what == "take":
        take_trained(Path(words[0]))
    elif what == "solved":
        take_solved()
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["help"]))
