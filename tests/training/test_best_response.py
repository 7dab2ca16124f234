"""A learnt best response is a lower bound, and says so honestly."""

import random
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch

from kille_agents.catalog import load_policy
from kille_agents.greedy import Greedy
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import spec
from kille_training.evaluation.duplicate import estimates
from kille_training.labels import most_apart
from kille_training.learn import best_response as module
from kille_training.learn.best_response import LEARNER, Search, gains, search_response
from kille_training.solving import grow
from kille_training.solving.policies import nash_conv, strategies_of
from kille_training.solving.trees.values import expected_values
from reference.trees import build_deal

DEAL = spec("byteskille").resolve({"fraga": "off"}, episode="deal")
TINY = Search(
    decisions=3 * 512,
    learner={"num_tables": 64, "n_steps": 8, "batch_size": 256, "layers": (8,)},
    seeds=2,
    choice_deals=300,
    deals=600,
)
SEEDS = np.arange(4000, dtype=np.uint64)


@pytest.fixture(scope="module")
def deal():
    return build_deal(2, DEAL)


@pytest.fixture(scope="module")
def found():
    return search_response(UniformPolicy(), 2, DEAL, TINY)


def test_the_bound_is_positive_where_there_is_much_to_gain_and_below_what_there_is(deal, found):
    exact = nash_conv(UniformPolicy(), deal)
    assert found.total.low > 0.0
    for gain, value, most, worth in zip(
        found.gains, found.values, exact.improvement, exact.values, strict=True
    ):
        assert gain.low <= most
        assert gain.groups == TINY.deals
        assert value == pytest.approx(worth, abs=0.25)
    assert found.total.mean == pytest.approx(sum(gain.mean for gain in found.gains))
    assert found.decisions == (3 * 512, 3 * 512)


def test_it_depends_on_the_seed_alone(found):
    again = search_response(UniformPolicy(), 2, DEAL, TINY)
    assert replace(again, seconds=0.0, players=()) == replace(found, seconds=0.0, players=())
    other = search_response(UniformPolicy(), 2, DEAL, replace(TINY, seed=2))
    assert other.gains != found.gains


def test_the_learners_are_chosen_over_other_deals_than_the_gain_is_measured_over(monkeypatch):
    played = []

    def spy(response, policy, num_players, rules, seeds, positions=None):
        played.append(set(seeds.tolist()))
        return gains(response, policy, num_players, rules, seeds, positions)

    monkeypatch.setattr(module, "gains", spy)
    found = search_response(UniformPolicy(), 2, DEAL, TINY)
    chosen, reported = played[: TINY.seeds], played[TINY.seeds :]
    assert [len(seeds) for seeds in chosen] == [TINY.choice_deals] * TINY.seeds
    assert len(reported) == len(set(found.chosen) - {module.KEEPS})
    assert reported
    assert all(mine.isdisjoint(theirs) for mine in chosen for theirs in reported)


def test_the_callers_random_numbers_go_on_as_if_nothing_had_been_learnt():
    def seeded():
        torch.manual_seed(5)
        np.random.seed(5)
        random.seed(5)

    def drawn():
        return random.random(), np.random.random(), float(torch.rand(1))

    seeded()
    wanted = drawn()
    seeded()
    search_response(UniformPolicy(), 2, DEAL, replace(TINY, seeds=1))
    assert drawn() == wanted


def test_each_position_is_played_by_its_best_learner(monkeypatch, deal):
    """One learner that is good as forehand, one that is good as dealer."""
    usual = ByteskilleRuleOfThumb(2, DEAL)
    layout = {part.name: part.slice for part in spec("byteskille").observation(2)}

    class GoodAt:
        name = "half"

        def __init__(self, to_come):
            self.to_come = to_come

        def probabilities(self, observation, mask):
            mine = observation[:, layout["to_come"]].sum(axis=1) == self.to_come
            plays = usual.probabilities(observation, mask)
            return np.where(mine[:, None], plays, UniformPolicy().probabilities(observation, mask))

    learners = iter([(GoodAt(0), 1), (GoodAt(1), 1)])
    monkeypatch.setattr(module, "_learn", lambda *given: next(learners))
    found = search_response(UniformPolicy(), 2, DEAL, replace(TINY, choice_deals=3000))
    assert found.chosen == (1, 0)
    assert min(gain.low for gain in found.gains) > 0.0


def test_where_no_learner_gains_the_response_keeps_to_the_policy(monkeypatch):
    monkeypatch.setattr(module, "_learn", lambda *given: (UniformPolicy(), 1))
    usual = ByteskilleRuleOfThumb(2, DEAL)
    found = search_response(usual, 2, DEAL, TINY)
    assert found.chosen == (module.KEEPS, module.KEEPS)
    assert all(gain.mean == 0.0 and gain.low == -gain.high < 0.0 for gain in found.gains)
    assert found.total.mean == 0.0


@pytest.mark.parametrize(
    ("game", "num_players", "episode"),
    [("byteskille", 3, "deal"), ("knack", 3, "deal"), ("krypkille", 2, "match")],
)
def test_who_responds_with_himself_gains_exactly_nothing(game, num_players, episode):
    """It samples its actions, with random numbers keyed by the deal."""
    rules = spec(game).resolve(episode=episode)
    gained = gains(UniformPolicy(), UniformPolicy(), num_players, rules, SEEDS[:20])
    assert gained.shape == (20, num_players)
    assert not gained.any()


def test_gains_are_those_of_the_tree(deal):
    threshold, uniform = ByteskilleRuleOfThumb(2, DEAL), UniformPolicy()
    gained = gains(threshold, uniform, 2, DEAL, SEEDS)
    tree = deal.stages[0].tree
    for position in range(2):
        among_its_like = expected_values(tree, strategies_of(uniform, deal)[0])[position]
        seated = [threshold, uniform] if position == 0 else [uniform, threshold]
        exact = expected_values(tree, strategies_of(seated, deal)[0])[position] - among_its_like
        measured = estimates(gained[:, [position]], most_apart(DEAL, 2))[0]
        half = (measured.high - measured.low) / 2
        assert abs(measured.mean - exact) < 1.5 * half


def test_chosen_positions_and_chunks_change_nothing(monkeypatch):
    policies = ByteskilleRuleOfThumb(3, DEAL), UniformPolicy()
    whole = gains(*policies, 3, DEAL, SEEDS[:50])
    monkeypatch.setattr(module, "TABLES", 16)
    parts = gains(*policies, 3, DEAL, SEEDS[:50], [2, 0])
    assert (parts == whole[:, [2, 0]]).all()


def test_progress_is_told_in_parts():
    parts = []
    search_response(UniformPolicy(), 2, DEAL, TINY, parts.append)
    assert sum(parts) == TINY.seeds * module.PARTS


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seeds": 0}, "seeds is 0, expected at least 1"),
        ({"deals": 1}, "deals is 1, expected at least 2"),
        ({"choice_deals": 1}, "choice_deals is 1"),
        ({"seed": -1}, "seed is -1"),
        ({"learner": {"form": "streams"}}, "expected 'seats'"),
        ({"learner": {"lerning_rate": 0.1}}, "learner.lerning_rate is an unknown key"),
    ],
)
def test_impossible_searches_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Search(**wrong)


def test_a_policy_that_cannot_play_is_refused_before_anything_is_learnt(monkeypatch):
    class Nonsense:
        name = "nonsense"

        def probabilities(self, observation, mask):
            return np.full(mask.shape, np.nan)

    monkeypatch.setattr(module, "_learn", lambda *given: pytest.fail("it learns"))
    with pytest.raises(PolicyError, match="'nonsense' returned"):
        search_response(Nonsense(), 2, DEAL, TINY)
    three = load_policy("rule_of_thumb", "byteskille", 3, DEAL)
    with pytest.raises(PolicyError, match="2 seats instead of 3"):
        search_response(three, 2, DEAL, TINY)


def test_the_likeliest_actions_of_a_policy():
    class Tossing:
        name = "tossing"

        def probabilities(self, observation, mask):
            return np.array([[0.2, 0.5, 0.3], [0.5, 0.0, 0.5]])

    played = Greedy(Tossing()).probabilities(np.zeros((2, 1)), np.ones((2, 3), dtype=np.int8))
    assert played.tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(PolicyError, match="an illegal action"):
        Greedy(Tossing()).probabilities(np.zeros((2, 1)), np.array([[1, 0, 1], [1, 1, 1]]))


WORDS = ["--decisions", "1", "--seeds", "1", "--deals", "30", "--seed", "3"]


@pytest.mark.parametrize("game", ["byteskille", "krypkille"])
def test_command(game, answer, tmp_path):
    found = answer("best-response", "rule_of_thumb", "--game", game, "--players", "3", *WORDS)
    assert found["lower_bound"] is True
    assert found["game"] == game
    assert len(found["gains"]) == len(found["values"]) == 3
    assert found["decisions"] == [LEARNER["num_tables"] * LEARNER["n_steps"]]
    assert found["gains"][0]["groups"] == 30
    assert list(tmp_path.iterdir()) == []


def test_command_for_people(kille):
    words = ["--players", "2", "--set", "play=greedy", *WORDS]
    said = kille("best-response", "uniform", *words).out
    assert "lower bound" in said
    assert "forehand" in said
    assert "gains at least as much" in said


def test_a_failed_search_says_so(kille, monkeypatch):
    monkeypatch.setattr(module, "_learn", lambda *given: (UniformPolicy(), 1))
    said = kille("best-response", "rule_of_thumb", "--players", "2", *WORDS).out
    assert "nothing found" in said and "+0.0000" not in said.split("sum")[1]
    assert "No learner gained anything" in said


def test_points_that_do_not_sum_to_zero_count_beyond_the_tables_mean_as_in_a_tree():
    rules = spec("krypkille").resolve("tiny")
    found = search_response(UniformPolicy(), 2, rules, TINY)
    exact = nash_conv(UniformPolicy(), grow.build_deal(2, rules))
    assert sum(found.values) == pytest.approx(0.0)
    assert found.values == pytest.approx(exact.values, abs=1.5)
    assert all(gain.low <= most for gain, most in zip(found.gains, exact.improvement, strict=True))
    assert "beyond the table's mean" in str(found)
