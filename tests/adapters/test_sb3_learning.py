"""Annealing, legal play without masks, and self-play of every kind of learner."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import QRDQN, MaskablePPO  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize  # noqa: E402

from kille_env import list_games  # noqa: E402
from kille_env.adapters.sb3_extractor import SeatExtractor  # noqa: E402
from kille_env.errors import KilleError  # noqa: E402
from kille_env.sb3 import Anneal, SeatPPO, SeatVecEnv, SelfPlayVecEnv, settings  # noqa: E402

ON_POLICY: dict[str, Any] = {"n_steps": 8, "batch_size": 64, "n_epochs": 2}
OFF_POLICY: dict[str, Any] = {"buffer_size": 1000, "learning_starts": 64, "train_freq": 1}


def seats(num_tables: int = 16, **options: Any) -> SeatVecEnv:
    return SeatVecEnv("byteskille", num_tables, 3, **{"episode": "deal", "seed": 5, **options})


def small(algorithm: Any, venv: Any, **options: Any) -> Any:
    shape: dict[str, Any] = {"net_arch": [16]}
    if algorithm is QRDQN:
        shape["n_quantiles"] = 5
    kind = OFF_POLICY if algorithm in (DQN, QRDQN) else ON_POLICY
    if algorithm is A2C:
        kind = {"n_steps": 8}
    model = algorithm(
        "MlpPolicy", venv, policy_kwargs=shape, seed=1, device="cpu", **{**kind, **options}
    )
    if isinstance(venv.unwrapped, SeatVecEnv):
        venv.unwrapped.follow(model)
    return model


class Rates(BaseCallback):
    """Keeps the step size and the entropy bonus of every update."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[float, float | None]] = []

    def _on_step(self) -> bool:
        return True

    def _on_training_start(self) -> None:
        train = self.model.train

        def spying(*args: Any, **kwargs: Any) -> None:
            train(*args, **kwargs)
            rate = self.model.policy.optimizer.param_groups[0]["lr"]
            self.seen.append((rate, getattr(self.model, "ent_coef", None)))

        self.model.train = spying


@pytest.mark.parametrize("algorithm", [PPO, A2C])
def test_both_rates_shrink_to_nothing_and_are_put_back(algorithm: Any) -> None:
    model = small(algorithm, seats(opponents="uniform", illegal="lose"), learning_rate=0.01)
    model.ent_coef = 0.2
    for _ in range(2):  # a second run begins as the first one did
        rates = Rates()
        model.learn(16 * 8 * 4, callback=[Anneal(), rates])
        assert np.allclose(rates.seen, [(0.01 * x, 0.2 * x) for x in (0.75, 0.5, 0.25, 0.0)])
        assert (model.ent_coef, model.lr_schedule(0.0)) == (0.2, 0.01)


def test_no_rate_falls_below_the_end_where_the_last_rollout_goes_beyond_the_total() -> None:
    rates = Rates()
    small(PPO, seats(opponents="uniform", illegal="lose"), learning_rate=0.01).learn(
        16 * 8 + 1, callback=[Anneal(), rates]
    )
    assert [rate for rate, _ in rates.seen] == pytest.approx([0.01 / 129, 0.0])


def test_a_run_of_one_rollout_says_that_it_learns_nothing() -> None:
    model = small(PPO, seats(opponents="uniform", illegal="lose"), learning_rate=0.01)
    with pytest.warns(RuntimeWarning, match="one rollout learns nothing"):
        model.learn(16 * 8, callback=Anneal())


def test_a_run_that_is_broken_off_leaves_the_model_as_it_was_made() -> None:
    class Broken(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps >= limit:
                raise KeyboardInterrupt
            return True

    def broken(**options: Any) -> None:
        raise FloatingPointError

    model = small(PPO, seats(opponents="uniform", illegal="lose"), ent_coef=0.2, learning_rate=0.01)
    limit = 16 * 8 * 2
    with pytest.raises(KeyboardInterrupt):
        model.learn(16 * 8 * 4, callback=[Anneal(), Broken()])
    assert (model.ent_coef, model.lr_schedule(0.0)) == (0.2, 0.01)
    assert "train" not in vars(model)
    model.train = broken
    with pytest.raises(FloatingPointError):
        model.learn(16 * 8 * 4, callback=Anneal())
    assert (model.ent_coef, model.lr_schedule(0.0), model.train) == (0.2, 0.01, broken)


def test_rates_can_end_above_nothing_and_values_learn_without_a_bonus() -> None:
    rates = Rates()
    model = small(DQN, seats(opponents="uniform", illegal="lose"), learning_rate=0.01)
    model.learn(16 * 8, callback=[Anneal(learning_rate=0.002), rates])
    assert rates.seen[-1] == (pytest.approx(0.002), None)
    assert rates.seen[0][0] == pytest.approx(0.002 + 0.008 * (1 - 80 / 128))
    with pytest.raises(KilleError, match="ent_coef is -1"):
        Anneal(ent_coef=-1)


def test_annealing_beside_self_play() -> None:
    venv = SelfPlayVecEnv("byteskille", 16, 3, episode="deal", seed=1)
    rates = Rates()
    small(SeatPPO, venv, ent_coef=0.1).learn(16 * 8 * 2, callback=[Anneal(), rates])
    assert [entropy for _, entropy in rates.seen] == pytest.approx([0.05, 0.0])


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN, QRDQN])
@pytest.mark.parametrize("around", [VecMonitor, lambda venv: VecNormalize(venv, norm_reward=False)])
def test_algorithms_without_masks_learn_against_themselves(algorithm: Any, around: Any) -> None:
    tables = seats(opponents="self", illegal="lose")
    model = small(algorithm, around(tables))
    model.learn(16 * 16)
    assert tables.live.model is model
    assert all(bool(torch.isfinite(values).all()) for values in model.policy.parameters())


@pytest.mark.parametrize("algorithm", [DQN, QRDQN])
def test_a_learner_of_values_plays_the_others_by_them(algorithm: Any) -> None:
    tables = seats(32, opponents="self", illegal="lose")
    model = small(algorithm, tables, exploration_final_eps=0.2)
    model.learn(32 * 8)
    model.exploration_rate = 0.0
    raw, mask = tables.tables.batch.observation, tables.tables.batch.mask
    greedy = tables.live.probabilities(raw, mask)
    assert set(np.unique(greedy)) == {0.0, 1.0}
    model.exploration_rate = 0.25
    expected = 0.75 * greedy + 0.25 * mask / mask.sum(axis=1, keepdims=True)
    assert np.allclose(tables.live.probabilities(raw, mask), expected)


# Settings that learn each game


@pytest.mark.parametrize("game", list_games())
def test_a_model_takes_them_as_they_are_in_every_game(game):
    venv = SelfPlayVecEnv(game, num_tables=512)
    model = SeatPPO(**settings(venv), seed=0)
    assert model.gamma == 1.0
    decisions = model.n_steps * venv.num_envs
    assert 8_000 < decisions < 17_000
    if game == "krypkille":  # every game learns in test_every_game.py
        learned = model.learn(decisions, callback=Anneal(learning_rate=1e-5))
        assert learned.num_timesteps == decisions


def test_few_tables_take_longer_rollouts():
    env = SeatVecEnv("krypkille", 4, opponents="rule_of_thumb", illegal="lose")
    found = settings(env)
    assert found["n_steps"] * 4 == 16_384
    assert PPO(**found).learning_rate == found["learning_rate"]


def test_tables_of_several_sizes_share_a_first_layer():
    venv = SelfPlayVecEnv("knack", 8, (2, 5), observation="seats")
    model = SeatPPO(**settings(venv) | {"n_steps": 4, "batch_size": 32})
    policy = model.policy
    first = policy.pi_features_extractor
    assert isinstance(first, SeatExtractor) and first is not policy.vf_features_extractor
    assert first.linear.out_features == policy.action_net.in_features == 128
    assert model.learn(32).num_timesteps == 32


def test_what_is_returned_is_the_callers():
    venv = SelfPlayVecEnv("knack", num_tables=2)
    settings(venv)["policy_kwargs"]["net_arch"].append(8)
    assert settings(venv)["policy_kwargs"]["net_arch"] == [128, 128]


def test_a_wrapper_is_refused_with_what_to_do():
    with pytest.raises(KilleError, match="before it is wrapped"):
        settings(VecMonitor(SeatVecEnv("knack", 2)))


def test_no_minibatch_has_a_single_decision():
    """MaskablePPO would divide the advantage of one by a spread that is no number."""
    venv = SeatVecEnv("byteskille", 8_193, 2, opponents="uniform")
    found = settings(venv)
    assert found["n_steps"] == 1 and 8_193 % 2048 == 1 and 8_193 % found["batch_size"] != 1
    model = MaskablePPO(**found | {"n_epochs": 1}).learn(1)
    assert all(bool(values.isfinite().all()) for values in model.policy.parameters())
