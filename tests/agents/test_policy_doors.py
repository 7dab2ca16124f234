"""Kernels that policies bring along, and those that play them on, are checked at their doors."""

from typing import Any

import numpy as np
import pytest

import kille_env
from env.players import Wrong, below, beyond, network_metadata, network_weights
from kille_agents.greedy import Greedy
from kille_agents.network import NetworkPolicy
from kille_agents.perceptron import affine
from kille_agents.population.bot import Noisy
from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_agents.search import FlatSearch
from kille_agents.search.rollouts import earnings
from kille_env.errors import KilleError, PolicyError
from kille_env.play.decisions import Decisions, History
from kille_env.play.kernels import choices
from kille_env.play.policy import at_table, decide, let_transfer

RULES = kille_env.spec("byteskille").resolve(episode="deal")


def tables(number: int = 3, seats: int = 3) -> Any:
    batch = kille_env.make_batch("byteskille", number, seats, rules=RULES, seed=1, restart=False)
    batch.reset()
    return batch


def keys(number: int) -> np.ndarray:
    return np.arange(number, dtype=np.uint64)


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: Noisy(p, 0.5), Greedy])
@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_a_rule_of_thumb_is_refused_at_another_table(wrap: Any, game: str) -> None:
    rules = kille_env.spec(game).resolve()
    policy = wrap(rule_of_thumb(5, rules))
    assert at_table(policy, game, 5, rules) is policy
    for table in ((game, 3), ("krypkille", 5)):
        with pytest.raises(PolicyError, match=r"(3 seats|krypkille) instead of"):
            at_table(policy, *table, kille_env.spec(table[0]).resolve())


def test_what_may_play_at_another_table_does_in_every_way_but_by_a_kernel() -> None:
    metadata = network_metadata("byteskille", 3, RULES)
    made: Any = NetworkPolicy(metadata, network_weights(metadata))
    moved: Any = let_transfer(made)
    stake = kille_env.spec("byteskille").resolve(RULES, stake=4)
    for wrap in (lambda policy: policy, Greedy, lambda policy: Noisy(policy, 0.5)):
        at_table(wrap(moved), "byteskille", 3, stake)
        with pytest.raises(PolicyError, match="stake 4 instead of 2"):
            at_table(wrap(made), "byteskille", 3, stake)
    with pytest.raises(PolicyError, match="a kernel cannot play byteskille with 3"):
        at_table(let_transfer(rule_of_thumb(5, RULES)), "byteskille", 3, RULES)


@pytest.mark.parametrize("role", ["base", "opponents"])
def test_a_search_refuses_policies_of_other_tables(role: str) -> None:
    with pytest.raises(PolicyError, match="3 seats instead of 5"):
        FlatSearch(3, RULES, **{role: rule_of_thumb(5, RULES)})
    with pytest.raises(PolicyError, match="4 seats instead of 3"):
        at_table(FlatSearch(3, RULES), "byteskille", 4, RULES)


@pytest.mark.parametrize("choose", [below, pytest.param(beyond, marks=pytest.mark.slow)])
@pytest.mark.parametrize("beliefs", ["uniform", pytest.param("policy", marks=pytest.mark.slow)])
def test_a_search_names_a_policy_that_chooses_an_illegal_action(choose: Any, beliefs: str) -> None:
    few: Any = {"determinizations": 2, "candidates": 2, "beliefs": beliefs}
    player = FlatSearch(3, RULES, base=Wrong(choose), **few)
    batch = tables()
    history, actions = History(batch), batch.mask.argmax(axis=1)
    history.note(actions)
    batch.step(actions)
    rows = np.flatnonzero(batch.seat >= 0)
    with pytest.raises(PolicyError, match="kernel of policy 'wrong' chose the illegal action"):
        decide(player, Decisions(batch, rows, keys(len(rows)), history))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"determinizations": True}, "determinizations is True, expected a whole number from 1"),
        ({"determinizations": 2.0}, "whole number"),
        ({"tables": 0}, "whole number"),
        ({"deals": 0}, "deals is 0, expected a whole number from 1"),
        ({"candidates": 1.5}, "candidates is 1.5"),
        ({"margin": -1.0}, "margin is -1.0"),
        ({"margin": float("nan")}, "margin is nan, expected a number from 0"),
        ({"margin": "2"}, "margin is '2', expected a number from 0"),
        ({"doubt": "much"}, "doubt is 'much', expected a number"),
        ({"beliefs": ["uniform"]}, "beliefs is"),
        ({"beliefs": "certain"}, "beliefs is 'certain'"),
        ({"doubt": 0.0}, "doubt is 0.0"),
        ({"base": "rule_of_thumb"}, "base is 'rule_of_thumb', expected a policy"),
        ({"base": FlatSearch(3, RULES)}, "base looks ahead itself"),
    ],
)
def test_settings_that_are_impossible_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        FlatSearch(3, RULES, **changes)


ZEROS, ONE = np.zeros(3, np.int64), np.zeros(1, np.int64)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ((np.array([3]), ONE), "tables are 0 to 2"),
        ((ONE, ZEROS), r"shape \(1,\)"),
        ((ONE, ONE - 1), "action -1 of entry 0 is not legal"),
        ((ONE, ONE + 99), "action 99 of entry 0 is not legal"),
    ],
)
def test_rollouts_refuse_what_does_not_fit(arrays: Any, words: str) -> None:
    policy = rule_of_thumb(3, RULES)
    origins, actions = arrays
    with pytest.raises(KilleError, match=words):
        earnings(tables(), origins, actions, ONE, (policy, policy))
    with pytest.raises(KilleError, match="seats are 0 to 2"):
        earnings(tables(), ONE, ONE, ONE + 3, (policy, policy))


def test_weighing_refuses_what_does_not_fit() -> None:
    batch = tables()
    history = History(batch)
    history.note(batch.mask.argmax(axis=1))
    decisions = Decisions(batch, np.arange(3), keys(3), history)
    with pytest.raises(KilleError, match="numbers is int64"):
        decisions.weigh(2, below, np.zeros(3))
    with pytest.raises(KilleError, match="number is 0"):
        decisions.weigh(0, below, np.zeros(3, int))
    for name, value in (("seats", np.full(3, 10**9)), ("keys", keys(2))):
        changed = Decisions(batch, np.arange(3), keys(3), history)
        setattr(changed, name, value)
        with pytest.raises(KilleError, match=f"{name} are"):
            changed.weigh(2, below, np.zeros(3, int))


@pytest.mark.parametrize("choose", [below, beyond])
def test_choices_of_a_kernel_are_legal(choose: Any) -> None:
    batch = tables()
    with pytest.raises(PolicyError, match="kernel of policy 'wrong' chose the illegal action"):
        choices(Wrong(choose), batch.observation, batch.mask)


@pytest.mark.parametrize("thresholds", [THRESHOLDS[:, :5], THRESHOLDS.astype(float), "high", 3])
def test_thresholds_of_another_shape_are_refused(thresholds: Any) -> None:
    with pytest.raises(PolicyError, match=r"expected whole numbers \[2, 21, 20\]"):
        ByteskilleRuleOfThumb(3, RULES, thresholds)


def test_a_network_refuses_other_observations() -> None:
    made_for = network_metadata("byteskille", 3, RULES)
    network, features = (
        NetworkPolicy(made_for, network_weights(made_for)),
        made_for.observation_width,
    )
    for shape in ((2, features + 1), (2, features - 1), (features,)):
        with pytest.raises(PolicyError, match=rf"reads observations \[N, {features}\]"):
            network.logits(np.zeros(shape, np.uint8))
    with pytest.raises(PolicyError, match="its inputs are"):
        affine(
            np.zeros((2, 3), np.float32), (np.zeros((4, 5), np.float32), np.zeros(5, np.float32))
        )
