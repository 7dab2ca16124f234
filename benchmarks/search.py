"""Gain of search over its base policy: `python benchmarks/search.py games settings exact`.

A search player sits among copies of its own base policy, the rule of thumb, in single deals; every
deal is played from each seat, and these games together are one observation, so its earnings are the
gain of the search. The parts are:

    games     `search` with its default settings, in every game at its default table
    settings  one setting of the search changed at a time
    exact     Byteskille with two and three seats: exact gain of the search's strategy as a share of
              the gain of the best response to the rule of thumb
"""

import argparse
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.search import FlatSearch
from kille_env.cards.pack import KILLE_CODES
from kille_env.core.batch import Batch
from kille_env.play.decisions import Decisions, History
from kille_env.registry import Table, list_games, make_batch, spec
from kille_training.evaluation.duplicate import payoff
from kille_training.solving.grow import grow_stage
from kille_training.solving.policies import strategy_of
from kille_training.solving.stages import Stage
from kille_training.solving.trees.values import best_response, expected_values
from markdown_tables import table

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
"""Rules with one decision per seat and deal, where one improvement step is a best response."""
EXACT: tuple[dict[str, Any], ...] = (
    *(
        {"determinizations": number, "beliefs": beliefs, "margin": margin}
        for beliefs, margin, number in product(("uniform", "policy"), (0.0, 2.0), (32, 256))
    ),
    {"determinizations": 4096, "beliefs": "policy", "margin": 0.0, "candidates": 4},
)


class Counted:
    """A player with a count of decisions and their CPU seconds."""

    def __init__(self, player: Any) -> None:
        self.player, self.name, self.remembers = player, player.name, player.remembers
        self.decisions, self.seconds = 0, 0.0

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the player's actions; do not count decisions with one legal action."""
        began = time.process_time()
        chances = self.player.decide(decisions)
        self.seconds += time.process_time() - began
        self.decisions += int((decisions.mask.sum(axis=1) > 1).sum())
        return chances


def played(game: str, settings: dict[str, Any], deals: int) -> tuple[str, ...]:
    """Return the row of a search in one game."""
    where = Table.of(game)
    seats, rules = where.num_players, where.rules
    player = Counted(FlatSearch(seats, rules, **settings))
    base = rule_of_thumb(seats, rules)
    found = payoff(player, base, seats, rules, play="greedy", deals=deals, seed=77).estimate
    rate = player.decisions / player.seconds
    return game, _named(settings), f"{deals:,}", str(found), f"{rate:,.0f}"


def _named(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "default"


def exact_rows(keys: int = 4) -> Iterator[tuple[str, ...]]:
    """Compare searches with the best response to the rule of thumb."""
    for seats in (2, 3):
        rules = spec("byteskille").resolve(ONE_DECISION, episode="deal")
        stage = grow_stage(seats, rules)
        strategy = strategy_of(rule_of_thumb(seats, rules), stage)
        plain = expected_values(stage.tree, strategy).sum()
        best = sum(best_response(stage.tree, strategy, seat).value for seat in range(seats))
        for settings in EXACT:
            player = FlatSearch(seats, rules, doubt=1e-6, **settings)
            times = 1 if settings["determinizations"] > 1000 else keys
            value = values_of(searched(player, stage, times), strategy, stage).sum()
            gains = (f"{each:+.4f}" for each in (value - plain, best - plain))
            yield str(seats), _named(settings), *gains, f"{(value - plain) / (best - plain):.1%}"


def values_of(mine: np.ndarray, theirs: np.ndarray, stage: Stage) -> np.ndarray:
    """Return each seat's value of the first strategy against the second, [P]."""
    owner = np.repeat(stage.tree.player, np.diff(stage.tree.first))
    return np.array(
        [
            expected_values(stage.tree, np.where(owner == seat, mine, theirs))[seat]
            for seat in range(stage.num_players)
        ]
    )


def searched(player: FlatSearch, stage: Stage, keys: int) -> np.ndarray:
    """Return the strategy of a search player, [S]: the mean over some keys.

    Every combination of card types is dealt and every sequence of actions is played, so each
    information set is met with its history.
    """
    every = product(KILLE_CODES, repeat=stage.num_players)
    hands = [hand for hand in every if max(map(hand.count, hand)) <= 2]  # a type has two cards
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


def _ask_about_new(
    player: FlatSearch, batch: Batch, history: History, keys: int, said: dict[bytes, np.ndarray]
) -> None:
    """Evaluate the player at new information sets."""
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
    parser.add_argument("parts", nargs="+", choices=["games", "settings", "exact"])
    parser.add_argument("--games", nargs="+", default=list(list_games()), choices=list_games())
    parser.add_argument("--deals", type=int, default=1000)
    options = parser.parse_args()
    for part in options.parts:
        if part == "exact":
            head = ("seats", "search", "gains", "the best response gains", "share")
            print(table(head, [*exact_rows()]), "\n")
            continue
        settings = SETTINGS if part == "settings" else SETTINGS[:1]
        rows = [played(*each, options.deals) for each in product(options.games, settings)]
        print(table(("game", "search", "deals", "units per deal", "decisions/s"), rows), "\n")


if __name__ == "__main__":
    main()
