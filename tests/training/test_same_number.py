"""One policy, one number: every way of handing a policy over, by every way of measuring it.

The reference asks a model exactly as its environment did, written here from the model's own raw
distribution, and goes through the tree by itself.
"""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from gymnasium.wrappers import TimeAwareObservation, TimeLimit, TransformReward
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecNormalize

import kille_env
import kille_training as kt
from kille_agents import as_policy, save_policy
from kille_env import SeatVectorEnv
from kille_env.adapters.gym import KilleEnv
from kille_env.core.keys import deal_seeds
from kille_env.errors import KilleError
from kille_env.play.experience import collect
from kille_env.sb3 import SeatPPO, SeatVecEnv, SelfPlayVecEnv, save
from reference.ways import (
    HERE,
    SCALE,
    TABLE,
    WAYS,
    A,
    Reference,
    asked_as_it_learned,
    even,
    every_other,
    every_second,
    made_network,
    nash_conv_of,
    normalizing,
    on_streams,
    raw,
    softmax,
    with_preferences,
)


@pytest.fixture(params=WAYS)
def both(request: Any, tmp_path: Path, monkeypatch: Any) -> tuple[Any, Any]:
    monkeypatch.syspath_prepend(tmp_path)
    return WAYS[request.param](tmp_path)


def earned_in_an_own_loop(ask: Any, deals: int, seed: int) -> float:
    """Units per deal of greedy play against the rule of thumb, played with PettingZoo alone."""
    env = kille_env.make("byteskille", 2, rules=TABLE.rules)
    other = as_policy("rule_of_thumb", "byteskille", 2, TABLE.rules)
    total = 0.0
    for first in deal_seeds(seed, 2, np.arange(deals)).tolist():
        for hero in env.possible_agents:
            env.reset(seed=first)
            for agent in env.agent_iter():
                seen, reward, terminated, truncated, _ = env.last()
                total += reward if agent == hero else 0.0
                if terminated or truncated:
                    env.step(None)
                    continue
                how = ask if agent == hero else other.probabilities
                chances = how(seen["observation"][None], seen["action_mask"][None])
                env.step(int(np.argmax(chances[0])))
    return total / (2 * deals)


def plain(ask: Any, game: str = "byteskille") -> Any:
    return as_policy(Reference(ask), game, 2, TABLE.rules)


def test_every_measure_gives_the_same_number(both: tuple[Any, Any]) -> None:
    player, ask = both
    weights = getattr(player, "policy", getattr(player, "function", None))
    state = getattr(weights, "state_dict", dict)()
    before = {name: value.clone() for name, value in state.items()}
    exact = nash_conv_of(ask)
    assert float(kt.nash_conv(player, "byteskille", **HERE)) == pytest.approx(exact, abs=2e-5)

    measures = {"baselines": ["rule_of_thumb"], "deals": 60, "play": "sampled", **HERE}
    found = kt.evaluate(player, "byteskille", **measures)
    wanted = kt.evaluate(plain(ask), "byteskille", **measures)
    assert found.exact is not None
    assert found.exact[0].nash_conv == pytest.approx(exact, abs=2e-5)
    assert found.rows[0].estimate == wanted.rows[0].estimate

    greedy = kt.evaluate(player, "byteskille", **{**measures, "play": "greedy", "deals": 20})
    own = earned_in_an_own_loop(ask, 20, greedy.seed)
    assert greedy.rows[0].estimate.mean == pytest.approx(own, abs=1e-6)

    tournament: dict[str, Any] = {"num_players": 2, "rules": {"fraga": "off"}, "deals": 30}
    cells = [
        kt.play_tournament({"mine": one, "chance": "uniform"}, "byteskille", **tournament).frame()
        for one in (player, plain(ask))
    ]
    assert cells[0].equals(cells[1])

    compare: dict[str, Any] = {"by": 0.05, "most": 500, **HERE}
    compared = [kt.compare(one, "uniform", **compare) for one in (player, plain(ask))]
    assert compared[0].played == compared[1].played and compared[0].mean == compared[1].mean

    batches = [kille_env.make_batch("byteskille", 16, 2, rules=TABLE.rules) for _ in range(2)]
    mine, theirs = (
        collect(batch, one, observation="box", seed=3)
        for batch, one in zip(batches, (player, plain(ask)), strict=True)
    )
    assert np.array_equal(mine.action, theirs.action)
    assert mine.log_probability == pytest.approx(theirs.log_probability, abs=1e-4)
    rewards = []
    for one in (player, plain(ask)):
        venv = SeatVectorEnv("byteskille", 16, 2, rules=TABLE.rules, opponents=one)
        _, infos = venv.reset(seed=4)
        for _ in range(6):
            _, reward, *_, infos = venv.step(infos["action_mask"].argmax(axis=1))
            rewards.append(reward.tolist())
    assert rewards[:6] == rewards[6:]
    after = getattr(weights, "state_dict", dict)()
    assert all(before[name].equal(value) for name, value in after.items())


SAVED = ["model on floats", "model on seats", "model under VecNormalize", "DQN"]


@pytest.mark.parametrize("way", SAVED)
def test_a_saved_model_is_measured_as_it_was_trained_and_where(way: str, tmp_path: Any) -> None:
    model, ask = WAYS[way](None)
    path = save(model, tmp_path / "model")
    found = kt.nash_conv(path, trust=True)  # the file says where
    assert float(found) == pytest.approx(nash_conv_of(ask), abs=2e-5)
    assert float(kt.nash_conv(model)) == float(found)
    again = type(model).load(path, device="cpu")
    assert again.policy.state_dict().keys() == model.policy.state_dict().keys()


def test_a_model_whose_statistics_change_is_another_entrant(tmp_path: Any) -> None:
    """Asked here or in another process: nothing but the file says what it reads."""
    model, _ = asked_as_it_learned("float", normalizing)

    def play(deals: int, workers: int) -> Any:
        path = save(model, tmp_path / "model")
        entrants = {"mine": str(path), "rule": "rule_of_thumb"}
        return kt.play_tournament(
            entrants, "byteskille", deals=deals, workers=workers, out=tmp_path / "runs", trust=True,
            **HERE,
        )  # fmt: skip

    play(5, 0)
    statistics = model.get_env().obs_rms
    statistics.mean = statistics.mean + np.sqrt(statistics.var)
    with pytest.raises(KilleError, match=r"'mine' has changed: it entered as .*model\.zip"):
        play(6, 0)
    statistics.mean = statistics.mean - np.sqrt(statistics.var)
    assert play(6, 1).tally.observations == 6


class Doubled(VecEnvWrapper):
    """Shows other observations, in a way that nobody knows."""

    def reset(self) -> Any:
        return self.venv.reset() * 2.0

    def step_wait(self) -> Any:
        seen, *others = self.venv.step_wait()
        return seen * 2.0, *others


def loaded(folder: Path, model: Any, venv: Any) -> Any:
    return SeatPPO.load(save(model, folder / "model"), env=venv, device="cpu")


def bare(folder: Path, model: Any) -> Path:
    """Write a model as its library does."""
    model.save(folder / "bare")
    return folder / "bare.zip"


def tables(features: Any = None, kind: Any = SelfPlayVecEnv, **options: Any) -> Any:
    return kind("byteskille", 8, 2, rules=TABLE.rules, features=features, **options)


def masked(*makes: Any) -> Any:
    return MaskablePPO("MlpPolicy", DummyVecEnv([*makes]), device="cpu")


def env_of(**options: Any) -> Any:
    options = {"observation": "float", "rules": TABLE.rules, **options}
    return lambda: KilleEnv("byteskille", 2, **options)


def centring(kind: Any) -> Any:
    """Return a kind of environments that shows other observations than it says, from within."""

    def reset(self: Any, **options: Any) -> Any:
        seen, info = kind.reset(self, **options)
        return seen * 2 - 1, info

    observe = {"observe": lambda self: kind.observe(self) * 2 - 1}
    changed = {"reset": reset} if kind is KilleEnv else observe
    return type(f"Centred{kind.__name__}", (kind,), changed)


def centred(kind: Any) -> Any:
    return MaskablePPO("MlpPolicy", tables(kind=centring(kind)), n_steps=8, device="cpu")


UNTOLD = "learned behind a VecNormalize, whose statistics"
ELSEWHERE = r"does not fit this table: .*transfer=True"
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (lambda _: on_streams("float", Doubled), {}, "nothing says what Doubled"),
    (
        lambda _: PPO("MlpPolicy", TimeAwareObservation(TimeLimit(env_of()(), 99)), device="cpu"),
        {},
        "nothing says what TimeAwareObservation",
    ),
    (
        lambda _: masked(env_of(), lambda: TransformReward(env_of()(), abs)),
        {},
        "nothing says what TransformReward",
    ),
    (
        lambda _: masked(env_of(features=every_other), env_of(features=every_second)),
        {},
        "show different observations or features",
    ),
    (lambda _: masked(lambda: centring(KilleEnv)("byteskille", 2)), {}, "CentredKilleEnv, where"),
    (lambda _: centred(SeatVecEnv), {}, "CentredSeatVecEnv, where nothing says how"),
    (lambda _: centred(SelfPlayVecEnv), {}, "CentredSelfPlayVecEnv, where nothing says how"),
    (  # nothing but the last observations of the model tells
        lambda folder: bare(folder, centred(SeatVecEnv).learn(64)),
        {"game": "byteskille", "trust": True, **HERE},
        "does not show that its MaskablePPO saw the observations of",
    ),
    (
        lambda folder: bare(folder, on_streams("float")),
        {"trust": True},
        r"bare\.zip is unknown: give the game",
    ),
    (
        lambda folder: MaskablePPO.load(bare(folder, on_streams("float")), device="cpu"),
        {},
        r"MaskablePPO\.load\(path, env=venv\)",
    ),
    (lambda folder: loaded(folder, on_streams("float", normalizing), tables()), {}, UNTOLD),
    (
        lambda folder: loaded(
            folder, on_streams("float", normalizing), VecNormalize(tables(), norm_reward=False)
        ),
        {},
        UNTOLD,
    ),
    (
        lambda folder: SeatPPO.load(
            bare(folder, on_streams("float", normalizing).learn(64)), env=tables(), device="cpu"
        ),
        {},
        UNTOLD,
    ),
    (
        lambda folder: loaded(
            folder, on_streams("float", features=every_other), tables(every_second)
        ),
        {},
        "learned with features=.*every_other, and its environment here",
    ),
    (lambda _: on_streams("float"), {"rules": "wikipedia"}, ELSEWHERE),
    (lambda _: made_network()[0], {"rules": "wikipedia"}, ELSEWHERE),
]


@pytest.mark.parametrize(("make", "options", "words"), REFUSED)
def test_what_cannot_be_measured_as_it_was_trained_is_refused(
    make: Any, options: dict[str, Any], words: str, tmp_path: Any
) -> None:
    asked = make(tmp_path)
    with pytest.raises(KilleError, match=words):
        kt.nash_conv(asked, **options)


@pytest.mark.parametrize(
    ("keep", "model", "words"),
    [
        (save, {"features": lambda seen, mask: seen}, "'<lambda>' are code of this program"),
        (save_policy, {"features": every_other}, "reads features of your own, which are code"),
        (save_policy, {"around": normalizing}, r"learned in a VecNormalize.*kille_env\.sb3\.save"),
    ],
)
def test_what_no_file_can_hold_is_not_saved(
    keep: Any, model: dict[str, Any], words: str, tmp_path: Path
) -> None:
    made = on_streams("float", **model)
    with pytest.raises(KilleError, match=words):
        keep(made, tmp_path / "model")


def test_a_player_measured_elsewhere_says_so() -> None:
    for player in (on_streams("float"), made_network()[0]):
        found = kt.nash_conv(player, rules="wikipedia", transfer=True)
        assert found.transferred is not None


def test_a_function_that_draws_is_no_deterministic_player() -> None:
    rng = np.random.default_rng(1)

    def draws(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.eye(A)[(mask * rng.random(mask.shape)).argmax(axis=1)]

    found = kt.evaluate(draws, "byteskille", baselines="uniform", deals=20, **HERE)
    assert found.exact is None
    assert [row.play for row in found.rows] == ["sampled"]
    assert found.rows[0].policy == "draws (draws at random or keeps state)"
    for measure in (kt.nash_conv, lambda *a, **k: kt.evaluate(*a, exact=True, **k)):
        with pytest.raises(KilleError, match="'draws' cannot be measured exactly"):
            measure(draws, "byteskille", **HERE)


def test_self_play_meets_the_policy_that_learns() -> None:
    tables = SeatVecEnv(
        "byteskille", 8, 2, rules=TABLE.rules, opponents="self", seed=1, illegal="lose"
    )
    venv = VecNormalize(tables, norm_reward=False)
    model = with_preferences(PPO("MlpPolicy", venv, n_steps=8, batch_size=32, device="cpu"))
    tables.follow(model)
    model.learn(64)
    player = as_policy(model, "byteskille", 2, TABLE.rules)
    batch = kille_env.make_batch("byteskille", 8, 2, rules=TABLE.rules, seed=2)
    batch.reset()
    seen, mask = batch.observation, batch.mask
    assert np.array_equal(tables.live.probabilities(seen, mask), player.probabilities(seen, mask))
    logits = raw(model, venv.normalize_obs(seen * SCALE))
    wanted = softmax(logits, mask)
    assert player.probabilities(seen, mask) == pytest.approx(wanted, abs=1e-5)


def test_the_callback_measures_where_and_as_the_model_learns() -> None:
    model = on_streams("float", normalizing)
    callback = kt.NashConvCallback(every=1_000, play="sampled")
    model.learn(64, callback=callback)

    def ask(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return softmax(raw(model, model.get_env().normalize_obs(seen * SCALE)), mask)

    assert callback.rules == TABLE.rules and callback.num_players == 2
    assert callback.found[-1][1][0].nash_conv == pytest.approx(nash_conv_of(ask), abs=2e-5)
    elsewhere = kt.NashConvCallback("byteskille", 2, rules="wikipedia")
    with pytest.raises(KilleError, match="does not fit this table"):
        model.learn(64, callback=elsewhere)


def test_a_player_follows_the_wrapper_of_its_model() -> None:
    model, ask = asked_as_it_learned("float", normalizing)
    venv, player = model.get_env(), as_policy(model, "byteskille", 2, TABLE.rules)
    batch = kille_env.make_batch("byteskille", 8, 2, rules=TABLE.rules, seed=2)
    batch.reset()
    seen, mask = batch.observation, batch.mask
    found = [player.probabilities(seen, mask)]
    other = copy.deepcopy(venv.obs_rms)
    other.mean = other.mean + 0.5
    for name, value in (("obs_rms", other), ("norm_obs", False)):
        setattr(venv, name, value)
        found.append(player.probabilities(seen, mask))
        assert found[-1] == pytest.approx(ask(seen, mask), abs=1e-5)
        assert np.abs(found[-1] - found[-2]).max() > 1e-3


def test_a_model_of_several_sizes_is_measured_where_it_is_asked_to_be() -> None:
    rules = {"fraga": "off"}
    venv = SelfPlayVecEnv("byteskille", 8, (2, 3), observation="seats", rules=rules, seed=1)
    model, here = SeatPPO("MlpPolicy", venv, n_steps=8, batch_size=32), kt.NashConvCallback(**HERE)
    model.learn(64, callback=here)
    assert [decisions for decisions, _ in here.found] == [0, 64]


@pytest.mark.parametrize("kind", ["float", "box", "seats"])
def test_a_plain_file_is_measured_at_the_table_that_is_named_with_it(
    kind: str, tmp_path: Any
) -> None:
    model = on_streams(kind).learn(64)
    model.save(tmp_path / "plain")
    file, named = tmp_path / "plain.zip", {"game": "byteskille", "trust": True, **HERE}
    assert float(kt.nash_conv(file, **named)) == float(kt.nash_conv(model))
    words = "does not show" if kind == "seats" else "reads other observations than byteskille, 3"
    with pytest.raises(KilleError, match=words):
        kt.nash_conv(file, "byteskille", 3, trust=True)


def test_a_model_without_an_environment_is_asked_as_its_file_says(tmp_path: Any) -> None:
    model, _ = asked_as_it_learned("float", normalizing)
    path = save(model, tmp_path / "model")
    again = type(model).load(path, device="cpu")
    assert float(kt.nash_conv(again)) == float(kt.nash_conv(model))
    again.num_timesteps += 1  # it has learned on, so the record is of an earlier time
    with pytest.raises(KilleError, match="has no environment that says how it is asked"):
        kt.nash_conv(again)


def test_all_environments_of_a_vector_are_homes_of_a_model() -> None:
    other = lambda: KilleEnv("byteskille", 2, observation="float", episode="match")  # noqa: E731
    model = MaskablePPO("MlpPolicy", DummyVecEnv([env_of(), other]), device="cpu")
    tables = as_policy(model).tables
    assert [table.rules["episode"] for table in tables] == ["deal", "match"]


def test_losses_are_those_of_the_play_that_is_measured() -> None:
    player = even
    shown: dict[str, Any] = {"baselines": "uniform", "deals": 2, "losses": 10_000, **HERE}
    found = kt.evaluate(player, "byteskille", play="greedy", **shown)
    assert found.exact is not None
    lost = sum(loss.loss for loss in found.losses)
    assert lost == pytest.approx(found.exact[0].nash_conv, abs=1e-6)
    assert {chance for loss in found.losses for chance in loss.plays.values()} == {0.0, 1.0}
