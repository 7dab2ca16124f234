"""A small learner of Stable-Baselines3, and tables for it."""

from contextlib import nullcontext
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from kille_env.sb3 import SeatPPO, SelfPlayVecEnv


def learner(venv: VecEnv, algorithm: Any = None, **options: Any) -> Any:
    """A model of SeatPPO where the tables are all seats', else of MaskablePPO, if none is named."""
    all_seats = isinstance(venv.unwrapped, SelfPlayVecEnv)
    options = {"n_steps": 8, "batch_size": 64, "n_epochs": 2, "gamma": 1.0, **options}
    return (algorithm or (SeatPPO if all_seats else MaskablePPO))(
        "MlpPolicy", venv, policy_kwargs={"net_arch": [16]}, seed=1, device="cpu", **options
    )


def self_play(num_tables: int = 16, num_players: int = 3, **options: Any) -> SelfPlayVecEnv:
    return SelfPlayVecEnv("byteskille", num_tables, num_players, **{"seed": 5, **options})


def step(venv: Any, actions: Any) -> Any:
    """Step tables of either form by hand."""
    with venv.crediting() if hasattr(venv, "crediting") else nullcontext():
        return venv.step(actions)
