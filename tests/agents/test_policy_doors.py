"""Kernels that policies bring along, and those that play them on, are checked at their doors."""

import copy
from typing import Any

import numpy as np
import pytest

import kille_env
import kille_training as kt
from env.players import Own, Wrong, below, beyond, network_metadata, network_weights
from kille_agents.greedy import Greedy
from kille_agents.network import NetworkPolicy
from kille_agents.perceptron import affine
from kille_agents.population.bot import Noisy
from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_agents.search import FlatSearch
from kille_agents.search.rollouts import earnings
from kille_env.core.jit import kernel
from kille_env.errors import KilleError, PolicyError
from kille_env.play.decisions import Decisions, History
from kille_env.play.kernels import choices
from kille_env.play.policy import UniformPolicy, at_table, decide, let_transfer
from kille_env.play.seats import SeatTables

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
        ({"base": FlatSearch(3, RULES)}, "base is a search policy"),
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
    with pytest.raises(KilleError, match="number is 0"):
        decisions.weigh(0, Wrong(below))
    for policy in (UniformPolicy(), Greedy(UniformPolicy())):
        with pytest.raises(PolicyError, match="no deterministic kernel"):
            decisions.weigh(2, policy)
    for name, value in (("seats", np.full(3, 10**9)), ("keys", keys(2))):
        changed = Decisions(batch, np.arange(3), keys(3), history)
        setattr(changed, name, value)
        with pytest.raises(KilleError, match=f"{name} are"):
            changed.weigh(2, Wrong(below))


@pytest.mark.parametrize("choose", [below, beyond])
def test_choices_of_a_kernel_are_legal(choose: Any) -> None:
    batch = tables()
    with pytest.raises(PolicyError, match="kernel of policy 'wrong' chose the illegal action"):
        choices("wrong", choose, np.zeros(1, np.int64), batch.observation, batch.mask)


# Policies with a kernel of their own


@kernel
def first(_seen, mask, numbers, _uniform):
    for action in range(mask.shape[0]):
        if mask[action]:
            return action + numbers[0]
    return -1


@kernel
def last(_seen, mask, numbers, _uniform):
    found = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            found = action
    return found


@kernel
def by_sight(seen, mask, numbers, _uniform):
    wanted = numbers[1]  # beyond, where a policy brings but one
    for action in range(mask.shape[0]):
        if mask[action] and wanted == 0:
            return action
    return last(seen, mask, numbers, 0.0)


def takes_first(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.eye(mask.shape[1])[mask.argmax(axis=1)]


def even(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return mask / mask.sum(axis=1, keepdims=True)


def by_batch(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    share = 1.0 / len(mask)
    return share * even(observation, mask) + (1.0 - share) * takes_first(observation, mask)


AGREE = {
    "deterministic": Own(first, takes_first, deterministic=True),
    "stochastic": Own(UniformPolicy.kernel.choose, even),
}
CONTRADICT = {
    "another_action": (Own(last, takes_first, deterministic=True), "a kernel that chooses action"),
    "kernel_beside_mixing": (Own(first, even, deterministic=True), "probabilities that mix"),
    "mixing_beside_kernel": (
        Own(UniformPolicy.kernel.choose, takes_first),
        "a kernel that chooses action",
    ),
    "alone_and_in_a_batch": (Own(first, by_batch), "one decision alone and in a batch"),
    "reads_beyond": (
        Own(by_sight, takes_first, numbers=ONE, deterministic=True),
        "reads beyond its 1 numbers",
    ),
}


@pytest.mark.parametrize("form", AGREE)
def test_a_policy_whose_kernel_agrees_plays(form: str) -> None:
    at_table(AGREE[form], "byteskille", 3, RULES)
    assert float(kt.nash_conv(AGREE[form], "byteskille", 2)) > 0


@pytest.mark.parametrize("form", CONTRADICT)
def test_a_policy_that_contradicts_itself_is_refused_wherever_it_enters(form: str) -> None:
    policy, words = CONTRADICT[form]
    entries = (
        lambda: at_table(policy, "byteskille", 3, RULES),
        lambda: kt.nash_conv(policy, "byteskille", 3),
        lambda: kt.evaluate(policy, "byteskille", 3, deals=20),
        lambda: kille_env.collect(tables(), policy),
        lambda: SeatTables("byteskille", 2, 3, opponents=policy),
        lambda: FlatSearch(3, RULES, base=policy),
        lambda: Decisions(tables(), [0], [1], History(tables())).weigh(1, policy),
    )
    for enter in entries:
        with pytest.raises(PolicyError, match=words):
            enter()


def test_numbers_of_a_bot_cannot_be_written() -> None:
    bot = rule_of_thumb(3, RULES)
    for numbers in (bot.numbers, bot.kernel.numbers, copy.deepcopy(bot).numbers):
        with pytest.raises(ValueError, match="read-only"):
            numbers[:] = 10**6
        with pytest.raises(ValueError, match="WRITEABLE"):
            numbers.flags.writeable = True
    with pytest.raises(AttributeError):
        bot.kernel.numbers = np.zeros(1, np.int64)
    given = np.zeros(1, np.int64)
    own = Own(first, takes_first, numbers=given, deterministic=True)
    given[:] = 10**6  # nobody reads it any more
    kille_env.collect(tables(), own)


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
