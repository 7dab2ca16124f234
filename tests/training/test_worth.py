"""What choices are worth, against plain enumeration and play."""

from functools import cache

import numpy as np
import pytest

import kille_training as kt
from kille_agents.population.byteskille import solution as solution_of
from kille_env.cards.pack import KILLE_CODES
from kille_env.core.batch import Batch
from kille_env.games.byteskille.rules import Action
from kille_env.play.policy import UniformPolicy
from kille_env.play.seating import SeatedPolicies
from kille_env.records import Recorder
from kille_env.registry import load_game
from kille_training.evaluation.replay import ComparedPolicies, Numbered, replay_page, review
from kille_training.evaluation.worth import worth

GAME = load_game("byteskille")


solved = cache(solution_of)


def table(num_players, preset, episode="deal", **options):
    """A batch of single deals, dealt as the options say."""
    tables = len(options.get("seed", [0]))
    rules = GAME.spec.resolve(preset, episode=episode)
    batch = Batch(GAME, tables, num_players, rules, seed=0, restart=False)
    batch.reset(**options)
    return batch


def played(batch, actions):
    """Play an action by name at all tables."""
    for action in actions:
        batch.apply([int(Action[action])] * batch.num_tables)
    return batch


def chances(batch, number=0):
    """The solution's probabilities of the legal actions."""
    policy = solved(batch.num_players, batch.rules)
    found = policy.probabilities(batch.observation, batch.mask)[number]
    return found[batch.mask[number] != 0]


def dealt(cards):
    """How likely cards are dealt in this order, by type."""
    left, chance = dict.fromkeys(KILLE_CODES, 2), 1.0
    for number, card in enumerate(cards):
        chance *= left[card] / (2 * len(KILLE_CODES) - number)
        left[card] -= 1
    return chance


@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
@pytest.mark.parametrize("num_players", [2, 3])
def test_the_solution_loses_nothing_where_it_comes(num_players, preset):
    rng, asked = np.random.default_rng(0), 0
    batch = table(num_players, preset)
    for seed in range(100):
        batch.reset(seed=seed)
        while batch.seat[0] >= 0:
            share, units = chances(batch), worth(batch)
            assert units is not None and units.shape == share.shape
            assert units.max() - units @ share < 1e-8
            legal, asked = np.flatnonzero(batch.mask[0]), asked + 1
            batch.apply([rng.choice(legal, p=share)])
            while batch.at_chance[0]:
                batch.deal()
    assert asked > 100


def test_what_the_choices_are_worth_averages_to_what_the_seat_earns():
    earned = total = 0.0
    for own in KILLE_CODES:
        for other in KILLE_CODES:
            if "KI" in (own, other):
                continue  # thrown in under these rules
            batch = table(2, "wikipedia", deck=[own, other], dealer=1)
            total += (chance := dealt((own, other)))
            if batch.seat[0] < 0:  # a gök ends the hand at once
                earned += chance * batch.tables["reward"][0, 0]
            else:
                earned += chance * (worth(batch) @ chances(batch))
    exact = kt.nash_conv("byteskille/solved", "byteskille", 2, rules="wikipedia")
    assert exact.value[0] == pytest.approx(earned / total, abs=1e-9)


def test_a_hand_that_is_dealt_again_begins_anew():
    batch = played(table(2, "svensk", seed=[3], dealer=0), ["ASK", "YES"])
    assert batch.seat[0] < 0 and worth(batch) is None
    batch.deal()
    assert worth(batch) is not None


def test_nothing_is_said_after_what_the_solution_never_does():
    batch = table(3, "svensk", deck=["L1", "L5", "L6"], dealer=2)
    assert worth(batch) is not None and chances(batch)[2] < 1e-6  # it never asks
    played(batch, ["ASK"])
    assert worth(batch) is None  # of the seat that answers


def test_seats_count_from_forehand_wherever_the_dealer_sits():
    one = table(3, "wikipedia", deck=["L3", "L8", "BL"], dealer=2)
    other = table(3, "wikipedia", deck=["L3", "L8", "BL"], dealer=0)
    assert worth(one) == pytest.approx(worth(other))


@pytest.mark.parametrize(
    ("num_players", "rules", "episode"),
    [(5, "svensk", "deal"), (3, "svensk", "match"), (2, {"stake": 4}, "deal")],
)
def test_nothing_is_said_where_no_deal_is_solved(num_players, rules, episode):
    batch = table(num_players, rules, episode)
    assert worth(batch) is None


def test_nothing_is_said_of_another_game():
    batch = Batch(load_game("knack"), 1, seed=0)
    batch.reset()
    assert worth(batch) is None


SMALLEST = {"preset": "tiny", "pack": "BL+L8+KI"}
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "game",
    ["krypkille", *(pytest.param(n, marks=SLOW) for n in ("kungsholmskille", "femkortskille"))],
)
def test_a_solution_of_your_own_reviews_the_matches_of_its_table(game, tmp_path):
    solution = kt.solve(game, 2, rules=SMALLEST, iterations=200, out=tmp_path / "solved")
    policy, rules = solution.policy, solution.settings.resolve()
    batch = Batch(load_game(game), 20, 2, rules, seed=0, restart=False)
    recorder = Recorder(batch)
    recorder.reset(seed=list(range(20)))
    players = SeatedPolicies(batch, [policy], np.zeros(2, np.int64), recorder.step)
    while (batch.seat >= 0).any():
        players.run()
    records = [recorder.record(table) for table in range(20)]
    assert {record["first_dealer"] for record in records} == {0, 1}
    lost, asked = 0.0, 0
    for record in records:
        for moment in review(record, {"solution": policy}, policy)[1]:
            if moment.decision is None or len(moment.decision["choices"]) == 1:
                continue
            choices = moment.decision["choices"]
            units = np.array([choice["worth"] for choice in choices], float)
            shares = [choice["shares"][0] for choice in choices]
            lost += max(units) - np.dot(shares, units)
            asked += 1
    assert asked > 20 and lost / asked < 20 * max(solution.nash_conv, 1e-4)
    page = replay_page(
        [Numbered(1, records[0])],
        source="m.jsonl",
        compared=ComparedPolicies([str(tmp_path / "solved")]),
    )
    assert b"worth" in page.lower()


def test_a_policy_that_is_no_solution_says_what_choices_are_worth_beside_it():
    rules = load_game("byteskille").spec.resolve({"stake": 4, "fraga": "off"}, episode="deal")
    batch = Batch(load_game("byteskille"), 1, 2, rules, seed=0, restart=False)
    batch.reset(seed=1)
    found = worth(batch, policy=UniformPolicy())
    assert found is not None and found.shape == (batch.mask[0].sum(),)
