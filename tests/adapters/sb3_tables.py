"""A small learner of Stable-Baselines3, and tables for it."""

from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from kille_env.adapters.sb3 import SelfPlayVecEnv


def learner(venv: VecEnv, buffer: Any = None, algorithm: Any = MaskablePPO, **options: Any) -> Any:
    options = {"n_steps": 8, "batch_size": 64, "n_epochs": 2, "gamma": 1.0, **options}
    return algorithm(
        "MlpPolicy",
        venv,
        rollout_buffer_class=buffer,
        policy_kwargs={"net_arch": [16]},
        seed=1,
        device="cpu",
        **options,
    )


def self_play(num_tables: int = 16, num_players: int = 3, **options: Any) -> SelfPlayVecEnv:
    return SelfPlayVecEnv("byteskille", num_tables, num_players, **{"seed": 5, **options})
