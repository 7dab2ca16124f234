"""The benchmark's methods: each learns, repeats itself to the bit, and says where it cannot."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from kille_env.core.batch import Batch
from kille_env.errors import ConfigError, KilleError
from kille_env.play.experience import collect
from kille_env.play.policy import Policy, check_probabilities
from kille_env.registry import Table, make_batch
from kille_training.evaluation.exact import exact_rows
from kille_training.learn.method import Learned, Learner, method_named, settings_of
from kille_training.learn.methods import mccfr
from kille_training.learn.methods.mmd import weights
from kille_training.learn.methods.psro import equilibrium
from kille_training.learn.networks import Network, distinct
from kille_training.solving.trees.values import nash_conv, normalised, uniform
from reference.small_games import leduc

TABLES = {
    "byteskille-2": Table.of("byteskille", 2),
    "byteskille-2-noquestion": Table.of("byteskille", 2, {"fraga": "off"}),
    "byteskille-2-match": Table.of("byteskille", 2, episode="match"),
    "kungsholmskille-4": Table.of("kungsholmskille", 4),
    "krypkille-4": Table.of("krypkille", 4),
    "knack-4": Table.of("knack", 4),
    "femkortskille-4": Table.of("femkortskille", 4),
}
UNIFORM = 0.75
"""NashConv of uniform play with two seats, in stakes."""


@dataclass(frozen=True)
class Trial:
    """How a method is tried: a small budget, and the NashConv in stakes that it has to reach."""

    settings: dict[str, Any]
    decisions: int
    bound: float


TRIALS = {
    "mccfr": Trial({"iterations": 500}, 100_000, 0.1),
    "monte_carlo": Trial({"tables": 512}, 40_000, 0.375),
    "dqn": Trial({"tables": 512, "minibatch": 512}, 40_000, 0.375),
    "nfsp": Trial({"tables": 512, "minibatch": 512}, 80_000, 0.375),
    "psro": Trial({"tables": 512, "oracle": 10}, 100_000, 0.375),
    "maskable_ppo": Trial({"num_tables": 128, "learning_rate": 2e-3}, 40_000, 0.375),
    "mmd": Trial({"tables": 512}, 40_000, 0.375),
    "population": Trial({"tables": 512}, 40_000, 0.375),
}
ANYWHERE = [name for name in TRIALS if name != "mccfr"]
"""The methods that play every table."""

PLAYED = ("maskable_ppo", "krypkille-4")
"""A method that `make test` tries at every table, and a table at which it tries every method."""
FAMILIES = ("mccfr", "dqn", "psro", "maskable_ppo")
"""One method of each family, which `make test` lets learn."""
INEXACT = [
    name
    for name, table in TABLES.items()
    if table.game != "byteskille" or table.rules["episode"] == "match"
]
"""Tables without an exact tree. `has_exact_tree` says the same, but compiles games."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Small networks are no faster with more, and on a busy machine threads wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def begun(name: str, table: Table, seed: int) -> Learner:
    """Return a learner before its first update."""
    return method_named(name).Learner(table, seed, settings_of(name, TRIALS[name].settings))


def learn(name: str, table: Table, seed: int, decisions: int) -> Learned:
    """Return the policy after a number of decisions."""
    learner, done = begun(name, table, seed), 0
    while done < decisions:
        learner.update(lambda: 1.0 - min(1.0, done / decisions))  # noqa: B023
        assert learner.decisions > done
        done = learner.decisions
    return learner.policy(name)


def tables_of(table: Table, count: int) -> Batch:
    """Return tables at the beginning of some matches."""
    rules = table.rules
    batch = make_batch(table.game, count, table.num_players, rules=rules, seed=3)
    batch.reset()
    return batch


def answers(policy: Policy, table: Table) -> np.ndarray:
    """Return what a policy does at the beginning of some matches, [N, A], checked."""
    batch = tables_of(table, 64)
    odds = policy.probabilities(batch.observation, batch.mask)
    check_probabilities(policy.name, odds, batch.mask)
    return odds


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAMILIES else pytest.mark.slow) for n in TRIALS]
)
def test_a_method_comes_closer_to_an_equilibrium(name: str) -> None:
    table, trial = TABLES["byteskille-2"], TRIALS[name]
    policy = learn(name, table, 11, trial.decisions)
    found = exact_rows(policy, 2, table.rules, ["sampled"])[0]
    assert found.stakes < trial.bound <= UNIFORM / 2


@pytest.mark.parametrize("name", TRIALS)
def test_equal_seeds_give_equal_policies(name: str) -> None:
    table = TABLES["byteskille-2-noquestion"]
    found = []
    for seed in (5, 5, 6):
        np.random.seed(7)  # numpy's own generator belongs to the run, not to the learner
        learner = begun(name, table, seed)
        for left in (1.0, 0.5):
            learner.update(lambda left=left: left)
        found.append(answers(learner.policy(name), table))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


@pytest.mark.parametrize("name", TRIALS)
def test_a_learner_continues_from_weights_and_counters(name: str) -> None:
    table = TABLES["byteskille-2-noquestion"]
    whole, pieces = begun(name, table, 5), begun(name, table, 5)
    for _ in range(2):
        whole.update(lambda: 0.5)
    state = whole.state()
    assert not any(array.dtype == np.uint8 for name, array in state.items() if "json" not in name)
    pieces.load(state)
    assert pieces.decisions == whole.decisions
    before = answers(whole.policy(name), table)
    assert np.array_equal(answers(pieces.policy(name), table), before)
    pieces.update(lambda: 0.5)
    assert pieces.decisions > whole.decisions
    assert not np.array_equal(answers(pieces.policy(name), table), before)
    again = begun(name, table, 5)
    again.load(pieces.state())
    assert again.decisions == pieces.decisions


def test_a_reservoir_is_refilled_by_the_average_policy() -> None:
    table = TABLES["byteskille-2-noquestion"]
    learner: Any = begun("nfsp", table, 5)
    for _ in range(3):
        learner.update(lambda: 0.5)
    again: Any = begun("nfsp", table, 5)
    again.load(learner.state())
    assert again.reservoir.count == learner.reservoir.count > 0
    seen, mask, action = again.reservoir.sample(1_000, np.random.default_rng(1))
    assert mask[np.arange(1_000), action].all() and seen.any()
    assert "reservoir" in again.refills


@pytest.mark.parametrize("tables", [2, 3])
def test_an_update_of_few_decisions_makes_no_nonsense(tables: int) -> None:
    """The spread of one decision is no number, and neither is the mean of an empty minibatch."""
    for name in ("ppo", "population"):
        learner: Any = method_named(name).Learner(
            TABLES["byteskille-2-noquestion"], 1, settings_of(name, {"tables": tables})
        )
        for _ in range(20):
            learner.update(lambda: 1.0)
        assert all(bool(values.isfinite().all()) for values in learner.parameters)
        played = collect(learner.batch, learner.actor.player(), observation="box")
        before = [values.clone() for values in learner.parameters]
        learner.learn(played, 1.0, np.arange(len(played.action)) == 0)
        assert all(one.equal(other) for one, other in zip(before, learner.parameters, strict=True))


@pytest.mark.parametrize(
    ("name", "changes"),
    [("ppo", {"tables": 1}), ("population", {"tables": 1}), ("maskable_ppo", {"batch_size": 1})],
)
def test_settings_that_leave_one_decision_to_normalize_are_refused(
    name: str, changes: dict[str, int]
) -> None:
    with pytest.raises(ConfigError, match="spread"):
        settings_of(name, changes)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param(
            name, table, marks=() if name in PLAYED or table in PLAYED else pytest.mark.slow
        )
        for name in ANYWHERE
        for table in INEXACT
    ],
)
def test_a_method_plays_other_games_and_matches(name: str, table: str) -> None:
    answers(learn(name, TABLES[table], 2, 1), TABLES[table])


@pytest.mark.parametrize(
    ("table", "why"),
    [("knack-4", "terminal nodes and takes"), ("byteskille-2-match", "needs single deals")],
)
def test_mccfr_needs_an_exact_tree(table: str, why: str) -> None:
    with pytest.raises(KilleError, match=f"{why}.*another method"):
        learn("mccfr", TABLES[table], 0, 1)


def test_mccfr_draws_cards_inside_a_deal() -> None:
    """Leduc poker turns a card between two rounds, as Krypkille draws some."""
    game, rng = leduc(), np.random.default_rng(0)
    stage = SimpleNamespace(tree=game.tree, nodes=game.nodes, masks=np.ones((1, 3)))
    stage.again = np.zeros(len(game.nodes.payoff))
    deal = SimpleNamespace(stages=(stage,), first_stage=stage)
    hands = mccfr._walkable(deal)
    memory = mccfr._empty(hands, deal)
    mccfr._iterate(np.arange(1.0, 100_001), hands, memory, rng)
    found = nash_conv(game.tree, normalised(game.tree, memory.average))
    assert found.total < 0.25 < nash_conv(game.tree, uniform(game.tree)).total
    assert found.values[0] == pytest.approx(-0.0856, abs=0.02)


def test_decisions_that_look_alike_are_computed_once() -> None:
    rng = np.random.default_rng(3)
    kinds = rng.integers(256, size=(40, 150), dtype=np.uint8)
    kinds[1::2] = kinds[::2]  # pairs that differ in a single feature
    kinds[1::2, rng.integers(150, size=20)] ^= 1
    number = np.append(np.arange(40), rng.integers(40, size=200))
    alike = distinct(kinds[number])
    assert np.array_equal(kinds[number][alike.first][alike.kind], kinds[number])
    assert len(alike.first) == len(np.unique(kinds, axis=0))
    action, worth = rng.integers(3, size=240), rng.normal(size=240)
    found, expected = alike.total(action, 3, worth), np.zeros((len(alike.first), 3))
    np.add.at(expected, (alike.kind, action), worth)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("name", ["mmd", "monte_carlo", "ppo"])
def test_merging_equal_observations_changes_the_last_digits_alone(name: str) -> None:
    found = []
    for merge in (True, False):
        settings = settings_of(name, {"tables": 64, "layers": [8], "merge": merge})
        table = TABLES["byteskille-2-noquestion"]
        learner = method_named(name).Learner(table, 5, settings)
        learner.update(lambda: 0.5)
        found.append(answers(learner.policy(name), table))
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_decisions_weigh_by_what_came_after_them() -> None:
    table, ratio = np.array([4, 7, 4, 4, 7]), np.array([0.5, 3.0, 2.0, 0.1, 5.0])
    assert weights(table, np.log(ratio)) == pytest.approx([0.2, 5.0, 0.1, 1.0, 1.0])


def test_an_exported_network_plays_as_the_network_does() -> None:
    torch.manual_seed(2)
    table = TABLES["knack-4"]
    network = Network(table, (16, 8))
    batch = tables_of(table, 32)
    seen = batch.observation, batch.mask
    played = network.player(temperature=0.1)(*seen)
    assert network.policy("some", 0.1, made={}).probabilities(*seen) == pytest.approx(
        played, abs=1e-5
    )
    even = batch.mask / batch.mask.sum(axis=1, keepdims=True)
    assert network.player(0.1, epsilon=0.5)(*seen) == pytest.approx((played + even) / 2)


@pytest.mark.parametrize(
    ("payoff", "expected"),
    [
        ([[0]], [1]),
        ([[0, 1], [-1, 0]], [1, 0]),
        ([[0, -1, 2], [1, 0, -3], [-2, 3, 0]], [1 / 2, 1 / 3, 1 / 6]),
        (
            [[0, -1, 1, 0.5], [1, 0, -1, 0.5], [-1, 1, 0, 0.5], [-0.5, -0.5, -0.5, 0]],
            [1 / 3] * 3 + [0],
        ),
    ],
)
def test_the_meta_solver_finds_the_equilibrium(payoff, expected):
    assert equilibrium(np.array(payoff, float)) == pytest.approx(expected, abs=1e-9)
