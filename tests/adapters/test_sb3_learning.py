"""Annealing, legal play without masks, and self-play of every kind of learner."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize  # noqa: E402

from kille_env.errors import IllegalActionError, KilleError, PolicyError  # noqa: E402
from kille_env.sb3 import (  # noqa: E402
    Anneal,
    BestLegalAction,
    ScaledRewards,
    SeatStreamBuffer,
    SeatVecEnv,
    SelfPlayVecEnv,
)

ON_POLICY: dict[str, Any] = {"n_steps": 8, "batch_size": 64, "n_epochs": 2}
OFF_POLICY: dict[str, Any] = {"buffer_size": 1000, "learning_starts": 64, "train_freq": 1}


def seats(num_tables: int = 16, **options: Any) -> SeatVecEnv:
    return SeatVecEnv("byteskille", num_tables, 3, **{"episode": "deal", "seed": 5, **options})


def small(algorithm: Any, venv: Any, **options: Any) -> Any:
    policy = "MlpLstmPolicy" if algorithm is RecurrentPPO else "MlpPolicy"
    shape: dict[str, Any] = {"net_arch": [16]}
    if algorithm is QRDQN:
        shape["n_quantiles"] = 5
    kind = OFF_POLICY if algorithm in (DQN, QRDQN) else ON_POLICY
    if algorithm is A2C:
        kind = {"n_steps": 8}
    return algorithm(policy, venv, policy_kwargs=shape, seed=1, device="cpu", **{**kind, **options})


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


@pytest.mark.parametrize("algorithm", [PPO, A2C, RecurrentPPO])
def test_both_rates_shrink_to_nothing_and_are_put_back(algorithm: Any) -> None:
    model = small(algorithm, seats(opponents="uniform", illegal="lose"), learning_rate=0.01)
    model.ent_coef = 0.2
    for _ in range(2):  # a second run begins as the first one did
        rates = Rates()
        model.learn(16 * 8 * 4, callback=[Anneal(), rates])
        assert np.allclose(rates.seen, [(0.01 * x, 0.2 * x) for x in (0.75, 0.5, 0.25, 0.0)])
        assert (model.ent_coef, model.lr_schedule(0.0)) == (0.2, 0.01)


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
    model = small(DQN, BestLegalAction(seats(opponents="uniform")), learning_rate=0.01)
    model.learn(16 * 8, callback=[Anneal(learning_rate=0.002), rates])
    assert rates.seen[-1] == (pytest.approx(0.002), None)
    assert rates.seen[0][0] == pytest.approx(0.002 + 0.008 * (1 - 80 / 128))
    with pytest.raises(KilleError, match="ent_coef is -1"):
        Anneal(ent_coef=-1)


def test_annealing_beside_self_play() -> None:
    venv = SelfPlayVecEnv("byteskille", 16, 3, episode="deal", seed=1)
    buffer = {
        "rollout_buffer_class": SeatStreamBuffer,
        "rollout_buffer_kwargs": {"env": venv},
    }
    rates = Rates()
    small(MaskablePPO, venv, ent_coef=0.1, **buffer).learn(16 * 8 * 2, callback=[Anneal(), rates])
    assert [entropy for _, entropy in rates.seen] == pytest.approx([0.05, 0.0])


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN, QRDQN])
@pytest.mark.parametrize("around", [VecMonitor, lambda venv: VecNormalize(venv, norm_reward=False)])
def test_algorithms_without_masks_play_legally_against_themselves(
    algorithm: Any, around: Any
) -> None:
    tables = seats(opponents="self")
    legal = BestLegalAction(tables)
    model = small(algorithm, around(legal))
    model.learn(16 * 16)
    assert tables.live.model is model
    assert all(bool(torch.isfinite(values).all()) for values in model.policy.parameters())


def test_an_illegal_action_becomes_the_legal_one_of_the_highest_rank() -> None:
    tables = seats(64, opponents="uniform")
    venv = BestLegalAction(tables)
    model = small(DQN, venv)
    venv.follow(model)
    seen, given, step = venv.reset(), [], tables.tables.step

    def noted(actions: np.ndarray, **kept: Any) -> None:
        given.append(actions.copy())
        step(actions, **kept)

    tables.tables.step = noted  # type: ignore[method-assign]
    mask = tables.action_masks()
    with torch.no_grad():
        values = model.q_net(torch.as_tensor(seen)).numpy()
    chosen = np.where(np.arange(64) % 2, mask.argmin(axis=1), mask.argmax(axis=1))
    venv.step(chosen)
    best = np.where(mask, values, -np.inf).argmax(axis=1)
    wrong = mask[np.arange(64), chosen] == 0
    assert wrong.sum() == 32
    assert np.array_equal(venv.replaced, wrong)
    assert np.array_equal(given[0], np.where(wrong, best, chosen))
    with pytest.raises(IllegalActionError):
        venv.step(np.full(64, 99))


def test_without_a_model_there_is_no_rank() -> None:
    venv = BestLegalAction(seats(4))
    venv.reset()
    with pytest.raises(KilleError, match=r"follow\(model\)"):
        venv.step(venv.venv.action_masks().argmin(axis=1))
    with pytest.raises(PolicyError, match="int has neither"):
        venv.follow(3)


@pytest.mark.parametrize("algorithm", [DQN, QRDQN])
def test_a_learner_of_values_plays_the_others_by_them(algorithm: Any) -> None:
    tables = seats(32, opponents="self")
    model = small(algorithm, BestLegalAction(tables), exploration_final_eps=0.2)
    model.learn(32 * 8)
    model.exploration_rate = 0.0
    raw, mask = tables.tables.batch.observation, tables.tables.batch.mask
    greedy = tables.live.probabilities(raw, mask)
    assert set(np.unique(greedy)) == {0.0, 1.0}
    model.exploration_rate = 0.25
    expected = 0.75 * greedy + 0.25 * mask / mask.sum(axis=1, keepdims=True)
    assert np.allclose(tables.live.probabilities(raw, mask), expected)


def test_scaled_rewards_stay_within_one_and_results_stay_in_units() -> None:
    plain, scaled = seats(), ScaledRewards(seats(), units=8)
    assert np.array_equal(plain.reset(), scaled.reset())
    some = False
    for _ in range(12):
        actions = plain.action_masks().argmax(axis=1)
        _, rewards, dones, infos = plain.step(actions)
        _, small_rewards, small_dones, small_infos = scaled.step(actions)
        assert np.allclose(small_rewards * 8, rewards)
        assert np.array_equal(small_dones, dones)
        for i in np.flatnonzero(dones):
            assert small_infos[i]["episode"]["r"] == infos[i]["episode"]["r"]
        some |= bool(rewards.any())
    assert some
