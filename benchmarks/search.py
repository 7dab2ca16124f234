"""What looking ahead earns: `python benchmarks/search.py`.

A player that searches sits among copies of its own base, the rule of thumb, in single deals; every
deal is played from each seat, and these games together are one observation, so everything it earns
is what the search has added. Name the parts on the command line:

    games     `search` with its default settings, in every game at its default table
    settings  one setting after another changed, of the search
    exact     Byteskille with two and three seats: the value of the search's strategy against the
              rule of thumb, exactly, beside that of the best response

Every line is also a line of JSON in `--out`.
"""

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.search import FlatSearch, SearchSettings
from kille_env.cards.pack import KILLE_CODES
from kille_env.core.batch import Batch
from kille_env.play.decisions import Decisions, History
from kille_env.registry import list_games, make_batch, spec
from kille_training.evaluation.duplicate import payoff
from kille_training.solving.build import grow_stage
from kille_training.solving.policies import strategy_of
from kille_training.solving.stages import Stage
from kille_training.solving.trees.values import best_response, expected_values

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"determinizations": 8},
    {"determinizations": 128},
    {"margin": 0.0},
    {"margin": 1.0},
    {"beliefs": "uniform"},
    {"doubt": 0.1},
)
ONE_DECISION = {"fraga": "off", "gok_call": "own_turn"}
"""Rules with which a seat decides once a deal: then one step of improvement is a best response."""
EXACT: dict[str, dict[str, Any]] = {
    f"{number} determinizations, {beliefs} beliefs, margin {margin:g}": {
        "determinizations": number,
        "beliefs": beliefs,
        "margin": margin,
        "doubt": 1e-6,
    }
    for beliefs in ("uniform", "policy")
    for margin in (0.0, 2.0)
    for number in (32, 256)
} | {
    "4096 determinizations, policy beliefs, margin 0": {
        "determinizations": 4096,
        "beliefs": "policy",
        "margin": 0.0,
        "doubt": 1e-6,
        "candidates": 4,
    }
}
MEASURED = {
    "games": [({}, "deal")],
    "settings": [(settings, "deal") for settings in SETTINGS],
}


class Counted:
    """A player whose decisions are counted and timed, in processor seconds."""

    def __init__(self, player: Any) -> None:
        self.player, self.name, self.remembers = player, player.name, player.remembers
        self.decisions, self.seconds = 0, 0.0

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Asks the player; decisions with one legal action do not count."""
        began = time.process_time()
        chances = self.player.decide(decisions)
        self.seconds += time.process_time() - began
        self.decisions += int((decisions.mask.sum(axis=1) > 1).sum())
        return chances


def measured(settings: dict[str, Any], game: str, episode: str, deals: int) -> dict:
    """Measures one player in one game."""
    seats = spec(game).default_players
    rules = spec(game).resolve(episode=episode)
    player = Counted(FlatSearch(seats, rules, SearchSettings(**settings)))
    against = rule_of_thumb(seats, rules)
    found = payoff(player, against, seats, rules, play="greedy", deals=deals, seed=77).estimate
    half = (found.high - found.low) / 2
    return {
        "settings": settings,
        "game": game,
        "seats": seats,
        "episode": episode,
        "deals": deals,
        "mean": found.mean,
        "half": half,
        "errors": found.mean / half * 1.96 if half else 0.0,
        "decisions_per_second": player.decisions / player.seconds,
    }


def line_of(row: dict) -> str:
    """Returns a measurement as a row of a table."""
    changed = ", ".join(f"{name}={value}" for name, value in row["settings"].items()) or "default"
    return (
        f"| {row['game']} | {row['episode']} | {changed} | {row['deals']:,} | "
        f"{row['mean']:+.4f} ± {row['half']:.4f} | {row['errors']:.1f} | "
        f"{row['decisions_per_second']:,.0f} |"
    )


def exact_rows(games: dict[str, dict[str, Any]], keys: int) -> Iterator[dict[str, Any]]:
    """Compares searches with the best response to the rule of thumb, seat by seat.

    Args:
        games: Settings of the searches, by what they are called.
        keys: How many times the search is asked about each information set; with thousands of
            determinizations once.
    """
    for seats in (2, 3):
        rules = spec("byteskille").resolve(ONE_DECISION, episode="deal")
        stage = grow_stage(seats, rules)
        base = rule_of_thumb(seats, rules)
        strategy = strategy_of(base, stage)
        plain = expected_values(stage.tree, strategy)
        best = [best_response(stage.tree, strategy, seat) for seat in range(seats)]
        for name, settings in games.items():
            player = FlatSearch(seats, rules, SearchSettings(**settings))
            times = 1 if settings["determinizations"] > 1000 else keys
            values = values_of(searched(player, stage, times), strategy, stage)
            yield {
                "seats": seats,
                "search": name,
                "settings": settings,
                "rule_of_thumb": plain.tolist(),
                "value": values.tolist(),
                "best_response": [float(answer.value) for answer in best],
            }


def values_of(mine: np.ndarray, theirs: np.ndarray, stage: Stage) -> np.ndarray:
    """Returns what each seat earns that plays the first strategy against the second, [P]."""
    owner = np.repeat(stage.tree.player, np.diff(stage.tree.first))
    return np.array(
        [
            expected_values(stage.tree, np.where(owner == seat, mine, theirs))[seat]
            for seat in range(stage.num_players)
        ]
    )


def searched(player: FlatSearch, stage: Stage, keys: int) -> np.ndarray:
    """Returns the strategy of a player that searches, [S]: the mean over some keys.

    Every combination of types is dealt and every sequence of actions is played, so each information
    set is met together with what was done before it.
    """
    hands = [hand for hand in product(KILLE_CODES, repeat=stage.num_players) if _dealt(hand)]
    start = make_batch(
        "byteskille", len(hands), stage.num_players, rules=stage.rules, seed=0, restart=False
    )
    start.reset(deck=[list(hand) for hand in hands], dealer=stage.num_players - 1)
    said: dict[bytes, np.ndarray] = {}
    for turns in product((0, 1), repeat=stage.num_players):
        batch = start.clone()
        history = History(batch)
        for turn in turns:
            _ask_about_new(player, batch, history, keys, said)
            second = np.where(batch.mask.sum(axis=1) > 1, turn, 0)
            order = np.argsort(-batch.mask, axis=1, kind="stable")
            actions = order[np.arange(len(order)), second]
            history.note(actions)
            batch.step(actions)
    rows = np.array([said[state.tobytes()] for state in stage.states])
    return rows[stage.masks != 0]


def _dealt(hand: tuple[str, ...]) -> bool:
    return max(hand.count(code) for code in hand) <= 2


def _ask_about_new(
    player: FlatSearch, batch: Batch, history: History, keys: int, said: dict[bytes, np.ndarray]
) -> None:
    """Asks about the information sets that have not been asked about yet."""
    acting = np.flatnonzero(batch.seat >= 0)
    states = batch.information_state(np.maximum(batch.seat, 0))
    first = {states[row].tobytes(): row for row in acting[::-1]}
    rows = np.array([row for state, row in first.items() if state not in said], dtype=np.int64)
    if not len(rows):
        return
    total = np.zeros(batch.mask[rows].shape)
    for number in range(keys):
        drawn = np.random.default_rng([number, len(said)]).integers(
            2**64, size=len(rows), dtype=np.uint64
        )
        total += player.decide(Decisions(batch, rows, drawn, history))
    for row, chances in zip(rows, total / keys, strict=True):
        said[states[row].tobytes()] = chances


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="+", choices=[*MEASURED, "exact"])
    parser.add_argument("--games", nargs="+", default=list(list_games()), choices=list_games())
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("runs/search.jsonl"))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("a", encoding="utf-8") as out:
        for part in options.parts:
            for row, line in rows(part, options):
                print(line, flush=True)
                out.write(json.dumps({"part": part, **row}) + "\n")
                out.flush()


def _shares(row: dict[str, Any]) -> str:
    """Returns which share of the possible gain is gained, all seats together."""
    plain, value, best = (sum(row[name]) for name in ("rule_of_thumb", "value", "best_response"))
    return f"{plain:+.4f} | {best:+.4f} | {(value - plain) / (best - plain):.1%}"


def rows(part: str, options: argparse.Namespace) -> Iterator[tuple[dict, str]]:
    """Measures a part, row by row."""
    if part == "exact":
        for row in exact_rows(EXACT, 4):
            found = ", ".join(f"{value:+.4f}" for value in row["value"])
            yield row, f"| {row['seats']} | {row['search']} | {found} | {_shares(row)} |"
        return
    for game in options.games:
        for settings, episode in MEASURED[part]:
            row = measured(settings, game, episode, options.deals)
            yield row, line_of(row)


if __name__ == "__main__":
    main()
