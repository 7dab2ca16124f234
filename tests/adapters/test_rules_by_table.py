"""Rules by table in every form: each table shows and earns what it does among equals."""

import pickle
from collections.abc import Callable
from functools import partial
from math import log2
from typing import Any

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO

import kille_env
import kille_env.gym
import kille_training as kt
from env.rule_tables import TABLES, Space, by_table, rule_sets
from env.test_rules_by_table import REFUSED
from kille_agents import save_policy
from kille_agents.greedy import with_action_selection
from kille_env.adapters.text import TextPlayer, rules_prompt
from kille_env.core.rule_space import RuleSpace
from kille_env.core.rules import Rules
from kille_env.errors import KilleError, PolicyError, RulesError
from kille_env.play.by_rules import PolicyByRules
from kille_env.play.decisions import Decisions
from kille_env.play.functions import FunctionPolicy
from kille_env.play.policy import at_table, let_transfer, resolve
from kille_env.play.seats import SeatTables
from kille_env.sb3 import SeatPPO, SeatVecEnv, SelfPlayVecEnv, save, settings
from kille_training.tables import homes_of, seat

GAME, SEATS = "krypkille", 2


def choose(mask: np.ndarray, step: int) -> np.ndarray:
    return (mask * np.random.default_rng(step).random(mask.shape)).argmax(axis=1)


def seat_tables(rules: Any, opponents: Any) -> Callable[[int], list[np.ndarray]]:
    tables = SeatTables(GAME, TABLES, SEATS, rules=rules, seed=3, seat=0, opponents=opponents)
    tables.begin()

    def step(number: int) -> list[np.ndarray]:
        actions = choose(tables.mask(), number)
        tables.step(actions)
        shown = [tables.observation(), tables.mask(), tables.reward.copy(), tables.own_seat.copy()]
        over = tables.over.copy()
        if over.any():
            tables.begin(which=over)
        return [*shown, over, tables.batch.tables["rules"].copy()]

    return step


def vector(rules: Any, opponents: Any) -> Callable[[int], list[np.ndarray]]:
    env = kille_env.SeatVectorEnv(GAME, TABLES, SEATS, rules=rules, opponents=opponents, seed=3)
    mask = [env.reset()[1]["action_mask"]]

    def step(number: int) -> list[np.ndarray]:
        seen, reward, terminated, _, infos = env.step(choose(mask[0], number))
        mask[0] = infos["action_mask"]
        return [seen, reward, terminated, mask[0], env.tables.batch.tables["rules"].copy()]

    return step


def self_play(rules: Any, _: Any) -> Callable[[int], list[np.ndarray]]:
    env = SelfPlayVecEnv(GAME, TABLES, SEATS, rules=rules, seed=3)
    env.reset()

    def step(number: int) -> list[np.ndarray]:
        played = env.play(choose(env.action_masks(), number))
        shown = [env.observe(), env.action_masks(), played.rewards, played.ended]
        return [*shown, env.batch.tables["rules"].copy()]

    return step


@pytest.mark.parametrize("opponents", ["rule_of_thumb", "uniform"])
@pytest.mark.parametrize("form", [seat_tables, vector, self_play])
def test_each_table_plays_as_among_tables_of_its_rules(form, opponents):
    rules = by_table(GAME)
    many, alone = form(rules, opponents), [form(one, opponents) for one in rule_sets(GAME)]
    for number in range(25):
        *shown, own = many(number)
        for which, step in enumerate(alone):
            for ours, theirs in zip(shown, step(number), strict=False):
                # A table that has another number of matches behind it than its neighbor does not
                # matter: cards follow from its own seed and match.
                assert ours[own == which].tobytes() == theirs[own == which].tobytes()


def test_opponents_are_asked_alike_by_kernel_and_by_answers():
    space, found = Space(GAME, rule_sets(GAME)), []
    for compiled in (True, False):
        tables = SeatTables(GAME, TABLES, SEATS, rules=space, seed=3)
        assert tables.players.compiled
        tables.players.compiled = compiled
        tables.begin()
        for number in range(30):
            tables.step(choose(tables.mask(), number))
            tables.begin(which=tables.over.copy())
            found.append((tables.observation().tobytes(), tables.reward.tobytes()))
    assert found[:30] == found[30:]


def test_collected_decisions_are_those_of_one_rule_set():
    def collected(rules: Any) -> Any:
        batch = kille_env.make_batch(GAME, TABLES, SEATS, rules=rules, seed=4)
        return kille_env.collect(batch, "rule_of_thumb", observation="box")

    many = collected(by_table(GAME))
    for which, rules in enumerate(rule_sets(GAME)):
        one = collected(rules)
        mine = [np.isin(found.table % len(rule_sets(GAME)), which) for found in (many, one)]
        for name in ("observation", "action", "reward", "table", "seat"):
            ours, theirs = getattr(many, name)[mine[0]], getattr(one, name)[mine[1]]
            assert sorted(map(bytes, ours)) == sorted(map(bytes, theirs)), name


def test_records_and_prompts_have_the_rules_of_their_table():
    asked = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "Answer: 1"

    rules = ["tiny", {"wrong_declarer_extra": 17}]
    tables = SeatTables(GAME, 2, SEATS, rules=rules, opponents=TextPlayer(answer), seed=1)
    tables.begin()
    while not tables.over.all():
        tables.step(tables.mask().argmax(axis=1), ~tables.over)
    told = [rules_prompt(GAME, tables.batch.rules_at(table), SEATS) for table in range(2)]
    assert {prompt.startswith(told[0]) for prompt in asked} == {True, False}
    assert all(prompt.startswith(tuple(told)) for prompt in asked)
    batch = kille_env.make_batch(GAME, 2, SEATS, rules=rules, restart=False)
    recorder = kille_env.Recorder(batch)
    recorder.reset(seed=[1, 2])
    while (batch.seat >= 0).any():
        recorder.step(batch.mask.argmax(axis=1))
    for table in range(2):
        record = recorder.record(table)
        assert record["rules"] == batch.rules_at(table).as_dict()
        kille_env.replay(record)  # refuses what its rules do not allow


def test_one_table_draws_rules_at_each_match():
    env = kille_env.make(
        GAME, SEATS, rules=Space(GAME, rule_sets(GAME)), observe_rules=True, seed=1
    )
    met = set()
    for _ in range(12):
        env.reset()
        met.add(env.rules)
        (features,) = env.game.spec.rules_features(env.rules)
        for agent in env.agents:
            seen = env.observe(agent)["observation"]
            assert env.observation_space(agent)["observation"].contains(seen)
            assert (seen[-len(features) :] == features).all()
        assert env.state_space.contains(env.state())
    assert len(met) > 2


# Policies that read the rules


class Reader:
    """Reads the limit of the points: the first legal action where it is 50, else the last."""

    name, observe_rules = "reader", True

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        spec = kille_env.spec(GAME)
        parts = {part.name: part for part in spec.layout("observation", True)(SEATS)}
        assert observation.shape[1] == parts["rules.hand"].offset + 1
        first = observation[:, parts["rules.limit_log"].offset] == round(8 * log2(1 + 50))
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        return np.eye(mask.shape[1])[np.where(first, mask.argmax(axis=1), last)]


@pytest.mark.parametrize("observe_rules", [False, True])
def test_a_policy_that_reads_rules_is_told_them_everywhere(observe_rules):
    rules = [{"limit": 50}, {"limit": 40}]
    batch = kille_env.make_batch(
        GAME, 2, SEATS, rules=rules, seed=2, restart=False, observe_rules=observe_rules
    )
    found = kille_env.collect(batch, Reader(), observation="box")
    first = found.action == found.mask.argmax(axis=1)
    last = found.action == found.mask.shape[1] - 1 - found.mask[:, ::-1].argmax(axis=1)
    assert np.where(found.table == 0, first, last).all()
    alone = resolve(Reader(), GAME, SEATS, kille_env.spec(GAME).resolve({"limit": 40}))
    plain = batch.arrays.shown.observation
    mask = np.ones_like(batch.mask)
    assert (alone.probabilities(plain, mask).argmax(axis=1) == mask.shape[1] - 1).all()
    many = at_table(Reader(), GAME, SEATS, batch.rules)
    with pytest.raises(PolicyError, match="reads the rules of each table"):
        many.probabilities(plain, mask)


class Made(Reader):
    """Is made for the rules of a table, as `kille_agents.as_policy` says of classes."""

    name, observe_rules = "made", False

    def __init__(self, num_players: int, rules: Rules) -> None:
        self.limit = rules.number("limit")

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.eye(mask.shape[1])[np.full(len(mask), self.limit % mask.shape[1])]


def test_a_policy_that_has_sat_at_a_table_plays_another_by_its_rules():
    spec = kille_env.spec(GAME)
    at_50, at_40, at_30 = (spec.resolve({"limit": limit}) for limit in (50, 40, 30))
    batch = kille_env.make_batch(GAME, 2, SEATS, rules=[at_40, at_50], seed=2)
    batch.reset()
    shown, mask = batch.arrays.shown.observation, np.ones_like(batch.mask)
    seated = resolve(Reader(), GAME, SEATS, at_50)
    for moved in (seated, let_transfer(seated)):
        there = resolve(moved, GAME, SEATS, at_40).probabilities(shown, mask)
        assert (there.argmax(axis=1) == mask.shape[1] - 1).all()
    alone = seated.probabilities  # which is told nothing
    assert resolve(alone, GAME, SEATS, at_50).probabilities(shown, mask)[:, 0].all()
    for other in (alone, with_action_selection(seated, "greedy")):
        with pytest.raises(PolicyError, match="limit 40 instead of 50"):
            resolve(other, GAME, SEATS, at_40)
    asked = FunctionPolicy(
        lambda _, mask: mask / mask.sum(axis=1, keepdims=True),
        observation="float", returns="probabilities", observe_rules=True,
    )  # fmt: skip
    larger = kille_env.make_batch(GAME, 2, 3, seed=2)
    larger.reset()
    there = resolve(resolve(asked, GAME, SEATS, at_50), GAME, 3, larger.rules)
    assert there.probabilities(larger.observation, larger.mask).sum() == pytest.approx(2)
    many = resolve(Made, GAME, SEATS, batch.rules)
    for rules, limits in (([at_40, at_50], (40, 50)), ([at_50, at_40], (50, 40))):
        sets = kille_env.make_batch(GAME, 2, SEATS, rules=rules).rules
        found = at_table(many, GAME, SEATS, sets)
        assert isinstance(found, PolicyByRules)
        assert tuple(one.limit for one in found.policies) == limits
    assert at_table(many, GAME, SEATS, at_50).limit == 50
    with pytest.raises(PolicyError, match="is seated at tables of 2 rule sets"):
        at_table(many, GAME, SEATS, at_30)


def test_a_function_of_an_environment_with_rules_gets_them():
    widths = []

    def even(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        widths.append(observation.shape[1])
        return mask / mask.sum(axis=1, keepdims=True)

    batch = kille_env.make_batch(GAME, 4, SEATS, observe_rules=True, rules=["tiny", "small"] * 2)
    found = kille_env.collect(batch, even, full_state=True)
    assert {found.observation.shape[1], *widths} == {batch.observation.shape[1]}
    assert found.full_state is not None and found.full_state.shape[1] > found.observation.shape[1]
    network = FunctionPolicy(even, observation="float", returns="probabilities", observe_rules=True)
    tables = SeatTables(GAME, 4, SEATS, opponents=network, seed=1)
    tables.begin()
    tables.step(tables.mask().argmax(axis=1))
    assert set(widths) == {batch.observation.shape[1]}


def learned(env: Any) -> SeatPPO:
    return SeatPPO(**{**settings(env), "n_steps": 4, "batch_size": 32, "n_epochs": 1}).learn(64)


@pytest.mark.parametrize("observation", ["float", "seats"])
def test_a_model_of_many_rules_plays_by_any_and_is_told_them(observation, tmp_path):
    space = Space(GAME, rule_sets(GAME))
    env = SelfPlayVecEnv(
        GAME, 16, SEATS, rules=space, observe_rules=True, observation=observation, seed=1
    )
    model = learned(env)
    file = save(model, tmp_path / "model")
    with pytest.raises(PolicyError, match="a policy folder keeps one rule set or a space"):
        save_policy(model, tmp_path / "model")
    rules = kille_env.spec(GAME).resolve({"limit": 33})
    read = resolve(str(file), GAME, SEATS, space.rules()[1], trust=True)
    live = resolve(model, GAME, SEATS, space.rules()[1])
    read, live = (resolve(let_transfer(one), GAME, SEATS, rules) for one in (read, live))
    batch = kille_env.make_batch(GAME, 8, SEATS, rules=rules, seed=1)
    batch.reset()
    shown = batch.observation.copy(), batch.mask.copy()
    told = SelfPlayVecEnv(
        GAME, 8, SEATS, rules=rules, observe_rules=True, observation=observation, seed=1
    )
    seen = told.reset()
    assert read.probabilities(*shown).tobytes() == live.probabilities(*shown).tobytes()
    assert np.allclose(
        model.policy.get_distribution(model.policy.obs_to_tensor(seen)[0], shown[1])
        .distribution.probs.detach()
        .numpy(),
        live.probabilities(*shown),
        atol=1e-5,
    )


@pytest.mark.parametrize("kind", ["list", "space", "own space"])
def test_a_model_remembers_the_rules_that_it_learned_by(kind, tmp_path):
    spec = kille_env.spec(GAME)
    rules: Any = ["tiny", "small"] * 8
    inside, outside = spec.resolve("small"), spec.resolve({"preset": "tiny", "limit": 33})
    if kind == "space":
        rules = kille_env.rule_space("krypkille-scores")
    elif kind == "own space":
        vary = {"right_declarer": [0, 5], "wrong_lowest": [0, 5]}
        held_out = {"test": [{"right_declarer": [5], "wrong_lowest": [5]}]}
        rules = RuleSpace(spec, seats=[2], base="tiny", vary=vary, held_out=held_out)
    if isinstance(rules, RuleSpace):
        inside = rules.rules("test")[0]  # held out, and told apart from others all the same
    env = SelfPlayVecEnv(GAME, 16, SEATS, rules=rules, seed=1)
    model = SeatPPO(**{**settings(env), "n_steps": 4, "batch_size": 32})
    file = save(model, tmp_path / "model")
    for one in (model, str(file)):
        assert seat([one], rules=inside).table.rules == inside
        with pytest.raises(PolicyError, match=r"rules outside of .*transfer=True"):
            seat([one], rules=outside)
        assert seat([one], rules=outside, transfer=True, trust=True).transferred
    kept, now = homes_of(str(file)), homes_of(model)
    assert [one.as_dict() for one in kept] == [one.as_dict() for one in now]
    assert pickle.loads(pickle.dumps(now)) == now
    others = kille_env.make_batch(GAME, 2, SEATS, rules=[inside, outside]).rules
    with pytest.raises(PolicyError, match="rules outside of"):
        resolve(model, GAME, SEATS, others)


@pytest.mark.parametrize("observation", ["box", "float", "seats"])
@pytest.mark.parametrize("told", [True, False])
def test_a_network_over_a_space_becomes_a_folder_that_plays_alike(observation, told, tmp_path):
    space = kille_env.rule_space("krypkille-scores")
    env = SelfPlayVecEnv(
        GAME, 16, SEATS, rules=space, observe_rules=told, observation=observation, seed=1
    )
    model = SeatPPO(**{**settings(env), "n_steps": 4, "batch_size": 32})
    folder = save_policy(model, tmp_path / "folder")
    batch = kille_env.make_batch(GAME, 8, SEATS, rules=space.rules("test")[:8], seed=1)
    batch.reset()
    asked = [
        seated.decide(Decisions(batch, np.arange(8), np.arange(8)))
        for seated in (resolve(one, GAME, SEATS, batch.rules) for one in (model, str(folder)))
    ]
    assert np.allclose(*asked, atol=1e-4)
    with pytest.raises(PolicyError, match="rules outside of the space krypkille-scores"):
        seat([str(folder)], rules={"preset": "tiny", "limit": 33})
    some = kille_env.make_batch(GAME, 2, SEATS, rules=[space.rules()[0], "small"]).rules
    with pytest.raises(PolicyError, match=r"^folder does not fit this table: rules outside"):
        resolve(str(folder), GAME, SEATS, some)


def test_a_model_and_an_environment_of_the_other_kind_are_refused(tmp_path):
    for told in (True, False):
        model = learned(SelfPlayVecEnv(GAME, 16, SEATS, observe_rules=told))
        other = SelfPlayVecEnv(GAME, 16, SEATS, observe_rules=not told)
        model.env = other
        with pytest.raises(PolicyError, match=f"learned with observe_rules={told}, and its env"):
            save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_model_plays_the_other_seats_of_tables_with_rules_of_their_own():
    space = Space(GAME, rule_sets(GAME))
    env = SeatVecEnv(GAME, 16, SEATS, rules=space, observe_rules=True, opponents="self")
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=32)
    env.follow(model)
    model.learn(256)


DOORS: dict[str, Callable[..., Any]] = {
    "AEC": kille_env.make,
    "Gymnasium": partial(gymnasium.make, "kille_env/krypkille-v1"),
    "SelfPlayVecEnv": partial(SelfPlayVecEnv, num_tables=4),
    "SeatVecEnv": partial(SeatVecEnv, num_tables=4),
    "SeatVectorEnv": partial(kille_env.SeatVectorEnv, num_envs=4),
    "nash_conv": partial(kt.nash_conv, "uniform"),
    "evaluate": partial(kt.evaluate, "uniform"),
    "compare": partial(kt.compare, "uniform", "rule_of_thumb"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("door", DOORS)
def test_rules_that_tables_cannot_have_are_refused_everywhere(door, case):
    options, words = REFUSED[case]
    one = "rule sets for 1 tables|a preset's name or a mapping for one table"
    game = () if door == "Gymnasium" else (GAME,)
    with pytest.raises(RulesError, match=f"{words}|{one}"):
        DOORS[door](*game, **options)


def test_lists_are_shared_out_among_kinds_of_tables():
    env = SelfPlayVecEnv(GAME, 4, (2, 3), observation="seats", rules=["tiny", {}, "tiny", "small"])
    assert [str(kind.batch.rules_at(1)["preset"]) for kind in env._kinds] == [
        "reconstructed",
        "small",
    ]
    with pytest.raises(KilleError, match="rules has 3 rule sets for 2 tables"):
        SelfPlayVecEnv(GAME, 4, (2, 3), observation="seats", rules=["tiny"] * 3)
