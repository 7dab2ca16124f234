"""Models of Stable-Baselines3: which one steps an environment, and what its network returns."""

import sys
from typing import Any, Literal

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from kille_env.errors import PolicyError


def algorithm_that_steps(venv: VecEnv) -> BaseAlgorithm | None:
    """Returns the algorithm whose rollout on `venv` makes the step at hand.

    Stable-Baselines3 does not tell an environment who steps it; the caller's frame does.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "collect_rollouts":
        frame = frame.f_back
    caller = None if frame is None else frame.f_locals.get("self")
    learns_in = caller.get_env() if isinstance(caller, BaseAlgorithm) else None
    return caller if learns_in is not None and learns_in.unwrapped is venv else None


def meaning_of(model: Any) -> Literal["logits", "values"]:
    """Returns what a model's network returns for each action.

    Raises:
        PolicyError: Neither logits nor values, or only with a memory of what it has seen.
    """
    policy, name = getattr(model, "policy", None), type(model).__name__
    if hasattr(policy, "lstm_actor"):
        raise PolicyError(
            f"{name} remembers what it has seen, but a player is asked about single decisions. It "
            "can learn in SeatVecEnv against opponents other than itself; measure it there with "
            "the library's evaluate_policy"
        )
    if hasattr(policy, "q_net") or hasattr(policy, "quantile_net"):
        return "values"
    if hasattr(policy, "action_net") and hasattr(policy, "get_distribution"):
        return "logits"
    raise PolicyError(
        f"{name} has neither a distribution over actions nor values of them; expected a model of "
        "PPO, A2C, TRPO, MaskablePPO, DQN or QR-DQN"
    )


def scores(model: Any, observation: Any) -> np.ndarray:
    """Returns what a model's network returns for each action, [N, A] float32.

    Args:
        model: A model that `meaning_of` knows.
        observation: As the environment shows it, [N, F] or a mapping of arrays; what a
            `VecNormalize` around the environment does to it is done here.
    """
    normalized = model.get_vec_normalize_env()
    if normalized is not None:
        observation = normalized.normalize_obs(observation)
    policy = model.policy
    with torch.no_grad():
        seen, _ = policy.obs_to_tensor(observation)
        if hasattr(policy, "q_net"):
            found = policy.q_net(seen)
        elif hasattr(policy, "quantile_net"):
            found = policy.quantile_net(seen).mean(1)
        else:
            found = policy.get_distribution(seen).distribution.logits
    return found.cpu().numpy()
