"""Stable-Baselines3: both forms, live play, and the library's own checks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import TRPO, MaskablePPO, RecurrentPPO  # noqa: E402
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback  # noqa: E402
from sb3_contrib.common.maskable.evaluation import evaluate_policy  # noqa: E402
from sb3_contrib.common.maskable.utils import get_action_masks  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import (  # noqa: E402
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from adapters.sb3_tables import learner, self_play, step  # noqa: E402
from adapters.spies import random_legal  # noqa: E402
from kille_agents.catalog import load_policy  # noqa: E402
from kille_env.adapters.gym import KilleEnv  # noqa: E402
from kille_env.adapters.sb3_models import scores  # noqa: E402
from kille_env.errors import (  # noqa: E402
    KilleError,
    PolicyError,
    RulesError,
)
from kille_env.registry import spec  # noqa: E402
from kille_env.sb3 import (  # noqa: E402
    Checkpoints,
    SeatPPO,
    SeatRollouts,
    SeatVecEnv,
)

pytestmark = pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")

ROOT = Path(__file__).parents[2]


def one_seat(num_tables: int = 16, num_players: int = 3, **options: Any) -> SeatVecEnv:
    options = {"seed": 5, "opponents": "uniform", **options}
    return SeatVecEnv("byteskille", num_tables, num_players, **options)


FORMS: list[Callable[..., Any]] = [self_play, one_seat]


# Algorithms on both forms.


class Clipped(VecEnvWrapper):
    """Rewards of -1 to 1."""

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        seen, rewards, dones, infos = self.venv.step_wait()
        return seen, np.clip(rewards, -1.0, 1.0), dones, infos


def recurrent(venv: VecEnv) -> Any:
    return RecurrentPPO("MlpLstmPolicy", venv, n_steps=8, device="cpu")


def dqn(venv: VecEnv) -> Any:
    return DQN("MlpPolicy", venv, buffer_size=100, learning_starts=1, device="cpu")


@pytest.mark.parametrize(
    "make",
    [
        lambda: learner(self_play(), MaskablePPO),
        lambda: learner(VecMonitor(self_play()), PPO),
        lambda: learner(VecFrameStack(self_play(), 2), MaskablePPO),
        lambda: learner(VecNormalize(self_play()), MaskablePPO),
        lambda: learner(Clipped(self_play()), MaskablePPO),
        lambda: dqn(self_play()),
        lambda: recurrent(self_play()),
        lambda: A2C("MlpPolicy", self_play(), device="cpu"),
    ],
)
def test_an_algorithm_that_takes_rows_for_trajectories_is_told_of_another(make: Any) -> None:
    with pytest.raises(KilleError, match=r"SeatPPO\(\*\*settings\(venv\)\).* SeatVecEnv"):
        make().learn(100)


@pytest.mark.parametrize(
    ("around", "words"),
    [
        (lambda venv: VecFrameStack(venv, 2), "what VecFrameStack around SelfPlayVecEnv makes of"),
        (lambda venv: VecMonitor(Clipped(venv)), "what Clipped around SelfPlayVecEnv .*reward="),
        (lambda venv: VecNormalize(venv, norm_obs=False), "with norm_reward=False, .*reward="),
    ],
)
def test_wrappers_that_change_what_seats_see_or_earn_are_refused(around: Any, words: str) -> None:
    with pytest.raises(KilleError, match=words):
        learner(around(self_play())).learn(200)


def test_seat_ppo_says_which_environment_it_needs() -> None:
    with pytest.raises(KilleError, match=r"learns in a SelfPlayVecEnv, got a SeatVecEnv.*Maskable"):
        learner(one_seat(), SeatPPO).learn(100)


class SeatA2C(SeatRollouts, A2C):
    pass


class SeatTRPO(SeatRollouts, TRPO):
    pass


class SeatPlainPPO(SeatRollouts, PPO):
    pass


@pytest.mark.parametrize("algorithm", [SeatA2C, SeatTRPO, SeatPlainPPO])
def test_other_on_policy_algorithms_learn_from_every_seat(algorithm: Any) -> None:
    venv = self_play(32, rules={"fraga": "off"}, episode="deal")
    options: Any = {} if algorithm is SeatA2C else {"batch_size": 64}
    model = algorithm("MlpPolicy", venv, n_steps=16, gamma=1.0, seed=1, device="cpu", **options)
    model.learn(32 * 16 * 4)
    assert model.num_timesteps == 32 * 16 * 4
    buffer = model.rollout_buffer
    assert buffer.action_masks[range(len(buffer.actions)), buffer.actions[:, 0]].all()
    seen = torch.as_tensor(buffer.observations)
    assert all(bool(torch.isfinite(values).all()) for values in model.policy.parameters())
    assert model.policy.get_distribution(seen).distribution.probs.std() > 0


@pytest.mark.parametrize("wrapped", [lambda v: v, lambda v: VecMonitor(VecCheckNan(v, True))])
@pytest.mark.parametrize("form", FORMS)
def test_maskable_ppo_learns(
    form: Callable[..., Any], wrapped: Callable[[VecEnv], VecEnv], tmp_path: Path
) -> None:
    model = learner(wrapped(form()))
    model.learn(16 * 8 * 4)
    assert np.isfinite(model.logger.name_to_value["train/loss"])
    assert model.ep_info_buffer
    model.save(tmp_path / "model")
    assert (tmp_path / "model.zip").stat().st_size < 200_000
    venv = form(8)
    again = type(model).load(tmp_path / "model", env=venv, device="cpu")
    again.learn(8 * 8 * 2)
    observation, masks = np.asarray(form(4).reset()), form(4)
    masks.reset()
    actions, _ = again.predict(observation, action_masks=masks.action_masks())
    assert masks.action_masks()[np.arange(4), actions].all()


def test_evaluation_by_the_library() -> None:
    model = learner(VecMonitor(one_seat()))
    result: Any = evaluate_policy(model, VecMonitor(one_seat(episode="deal")), n_eval_episodes=50)
    mean, spread = result
    assert -2.0 <= mean <= 2.0
    assert spread > 0
    evaluation = MaskableEvalCallback(
        VecMonitor(one_seat(episode="deal", num_tables=2)),
        eval_freq=8,
        n_eval_episodes=5,
        verbose=0,
    )
    model.learn(16 * 16, callback=evaluation)
    assert len(evaluation.evaluations_results) == 0  # no log path
    assert np.isfinite(evaluation.last_mean_reward)


def test_the_librarys_checker() -> None:
    check_env(KilleEnv("byteskille", 3, seat=0), warn=False)


# The live policy in the other seats.


def test_the_learners_live_policy_plays_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(model: Any, observation: np.ndarray) -> np.ndarray:
        asked.append(len(observation))
        return scores(model, observation)

    monkeypatch.setattr("kille_env.adapters.sb3_policy.scores", counted)
    venv = SeatVecEnv("byteskille", 16, 3, seed=5, opponents="self")
    model = learner(venv)
    venv.follow(model)
    model.learn(16 * 8)
    assert sum(asked) > 16 * 8
    assert venv.live.model is model
    venv.reset()
    before = venv.live.probabilities(venv.tables.observation(), venv.action_masks())
    model.learn(16 * 8, reset_num_timesteps=False)
    seen, mask = venv.tables.observation(), venv.action_masks()
    assert not np.allclose(before, venv.live.probabilities(seen, mask))
    wanted = venv.live.probabilities(seen, mask)
    assert wanted.sum(axis=1) == pytest.approx(1)
    assert not wanted[mask == 0].any()


@pytest.mark.parametrize("activation", [torch.nn.Tanh, torch.nn.ReLU, torch.nn.ELU])
@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO])
def test_what_a_network_says_is_the_same_with_and_without_torch(
    algorithm: Any, activation: Any
) -> None:
    venv = SeatVecEnv("byteskille", 16, 3, seed=5, illegal="lose")
    kwargs = {"activation_fn": activation}
    model = algorithm("MlpPolicy", venv, policy_kwargs=kwargs, seed=1, device="cpu")
    seen = venv.reset()
    policy: Any = model.policy
    with torch.no_grad():
        policy.action_net.weight *= 100.0  # it begins with next to no preferences
        expected = policy.get_distribution(torch.as_tensor(seen)).distribution.logits.numpy()
    found = scores(model, seen)
    shift = (found - expected)[:, :1]  # logits are known up to a number for each row
    assert found == pytest.approx(expected + shift, abs=1e-5)


def test_live_play_beside_others_and_under_a_monitor() -> None:
    venv = SeatVecEnv("byteskille", 16, 3, seed=5, opponents=["self", "rule_of_thumb"])
    model = learner(VecMonitor(venv))
    venv.follow(model)
    model.learn(16 * 8)
    assert venv.live.model is model


def test_nobody_to_follow_is_an_error() -> None:
    venv = SeatVecEnv("byteskille", 4, 3, seed=5, opponents="self")
    venv.reset()
    with pytest.raises(KilleError, match="follow"):
        venv.step(venv.action_masks().argmax(axis=1))
    model = learner(one_seat(4))
    venv.follow(model)
    venv.step(venv.action_masks().argmax(axis=1))
    with pytest.raises(PolicyError, match="NoneType has neither"):
        venv.follow(None)
    with pytest.raises(PolicyError, match=r"does not fit this table: stake 2 inst"):
        venv.follow(learner(one_seat(4, rules={"stake": 4})))


def test_a_recurrent_model_is_told_what_to_do() -> None:
    venv = SeatVecEnv("knack", 4, 3, seed=5, opponents="self", illegal="lose")
    with pytest.raises(PolicyError, match=r"RecurrentPPO is recurrent.*decisions.history\(\)"):
        venv.follow(recurrent(venv))


# What a native environment owes the library.


@pytest.mark.parametrize("kind", ["float", "box"])
@pytest.mark.parametrize("form", FORMS)
def test_the_vector_environments_duties(form: Callable[..., Any], kind: str) -> None:
    venv = form(6, observation=kind)
    observation = venv.reset()
    assert observation.dtype == venv.observation_space.dtype
    assert observation.shape == (6, *venv.observation_space.shape)
    assert all(venv.observation_space.contains(row) for row in observation)
    masks = get_action_masks(venv)
    assert masks.reshape(6, -1).shape == (6, venv.action_space.n)
    (whole,) = venv.env_method("action_masks")
    assert np.array_equal(whole, masks.reshape(6, -1))
    some = venv.env_method("action_masks", indices=[4, 1])
    assert np.array_equal(some, whole[[4, 1]])
    assert len(venv.env_method("action_masks", indices=3)) == 1
    assert venv.has_attr("action_masks")
    assert not venv.has_attr("nothing")
    assert venv.get_attr("num_players") == [3] * 6
    assert venv.get_attr("render_mode", indices=[0, 1]) == [None, None]
    assert venv.env_is_wrapped(VecMonitor, indices=[0]) == [False]
    venv.set_attr("note", "kept")
    assert venv.get_attr("note", indices=2) == ["kept"]
    with pytest.raises(KilleError, match="share"):
        venv.set_attr("note", "lost", indices=[1])
    with pytest.raises(AttributeError):
        venv.get_attr("nothing")
    venv.close()


@pytest.mark.parametrize("form", FORMS)
def test_seeds_and_options_of_a_reset(form: Callable[..., Any]) -> None:
    venv, other = form(4), form(4)
    assert venv.seed(3) == [3, 4, 5, 6]
    other.seed(3)
    first = venv.reset()
    assert np.array_equal(first, other.reset())
    assert not np.array_equal(first, venv.reset())  # the seed is used up
    venv.set_options({"dealer": 1, "deck": ["L2", "L3", "L4"]})
    venv.reset()
    batch = venv.batch if form is self_play else venv.tables.batch
    assert set(batch.tables["dealer"].tolist()) <= {1} or form is one_seat
    venv.reset()
    assert len(set(batch.tables["deck"][:, 0].tolist())) > 1
    odd: Any
    for odd in ([{"dealer": 1}, {}, {}, {}], [{"dealer": 1}], [], 5):
        venv.set_options(odd)
        with pytest.raises(RulesError, match=r"all tables begin alike: .* a list of 4 that are"):
            venv.reset()


@pytest.mark.parametrize("form", FORMS)
def test_infos_of_the_end(form: Callable[..., Any]) -> None:
    venv = form(8, rules={"max_deals": 1})
    venv.reset()
    rng, told = np.random.default_rng(1), []
    for _ in range(40):
        _, rewards, dones, infos = step(venv, random_legal(venv.action_masks(), rng))
        assert rewards.dtype == np.float32
        assert all((infos[i] != {}) == dones[i] for i in range(8))
        told += [infos[i] for i in np.flatnonzero(dones)]
    assert any(info["truncated"] for info in told)
    for info in told:
        assert info["TimeLimit.truncated"] is False
        assert venv.observation_space.contains(info["terminal_observation"])
        assert info["terminal_observation"].any()
        assert {"r", "l", "t"} == info["episode"].keys()
        assert isinstance(info["episode"]["r"], float)
        assert info["returns"].shape == (3,)


@pytest.mark.filterwarnings("ignore:Training and eval env are not of the same type")
def test_the_librarys_evaluation_of_self_play_is_refused() -> None:
    model = learner(self_play())
    watched = MaskableEvalCallback(VecMonitor(self_play()), eval_freq=4, verbose=0)
    for call in (
        lambda: evaluate_policy(model, VecMonitor(self_play()), n_eval_episodes=2),
        lambda: evaluate_policy(model, model.get_env(), n_eval_episodes=2, warn=False),
        lambda: model.learn(16 * 8, callback=watched),
    ):
        with pytest.raises(KilleError, match="evaluate_policy a SeatVecEnv"):
            call()
    seated = MaskableEvalCallback(VecMonitor(one_seat(episode="deal")), eval_freq=4, verbose=0)
    assert model.learn(16 * 8, callback=seated).num_timesteps == 16 * 8


def test_a_monitor_sums_what_seat_0_earns() -> None:
    venv, rng = VecMonitor(self_play(8)), np.random.default_rng(1)
    venv.reset()
    ended = 0
    for _ in range(60):
        with venv.unwrapped.crediting():
            _, _, dones, infos = venv.step(random_legal(venv.unwrapped.action_masks(), rng))
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == pytest.approx(infos[i]["returns"][0])
            ended += 1
    assert ended


def test_checkpoints_are_players(tmp_path: Path) -> None:
    venv = self_play(16, 2, rules={"fraga": "off"}, episode="deal")
    model, saving = learner(venv), Checkpoints(128, tmp_path, "mine")
    model.learn(16 * 8 * 3, callback=saving)
    assert [file.name for file in saving.files] == [
        f"mine_{decisions}_steps.zip" for decisions in (128, 256, 384)
    ]
    rules = spec("byteskille").resolve({"fraga": "off"})
    player = load_policy(saving.files[-1], "byteskille", 2, rules, trust=True)
    assert player.tables == (venv.table,)
    again = SeatPPO.load(saving.files[0], env=self_play(16, 2, rules={"fraga": "off"}))
    assert again.learn(128, reset_num_timesteps=False).num_timesteps == 256
    here: Any = {"rules": {"fraga": "off"}, "episode": "deal"}
    plain = MaskablePPO.load(saving.files[0], env=one_seat(16, 2, **here))
    assert plain.learn(128, reset_num_timesteps=False).num_timesteps == 256
    with pytest.raises(KilleError, match="every is 0"):
        Checkpoints(0, tmp_path)
