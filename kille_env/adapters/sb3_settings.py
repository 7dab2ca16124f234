"""Settings of Stable-Baselines3 that learn each game; see docs/training.md.

`benchmarks/sb3_settings.py` measures the results, and the effect of each setting.
"""

from copy import deepcopy
from typing import Any

from kille_env.adapters.sb3 import SeatVecEnv, SelfPlayVecEnv
from kille_env.adapters.sb3_extractor import SeatExtractor
from kille_env.errors import KilleError
from kille_env.extras import needs

with needs("train"):
    from torch import nn

_ONE_CARD: dict[str, Any] = {
    "n_steps": 8_192,  # decisions of a rollout, at all tables together
    "batch_size": 2048,
    "learning_rate": 2e-3,
    "ent_coef": 0.1,  # nearly every deal is decided by one swap: it has to be tried
    "policy_kwargs": {"net_arch": [64, 64], "activation_fn": nn.Tanh},
}
_TRICKS: dict[str, Any] = {
    "n_steps": 16_384,  # a deal has five to forty decisions: most are to fit in whole
    "batch_size": 2048,
    "learning_rate": 1e-3,
    "ent_coef": 0.05,
    "vf_coef": 0.01,  # returns are tens of units; their gradient must not drown the policy's
    "policy_kwargs": {"net_arch": [128, 128], "activation_fn": nn.ReLU},
}


def settings(env: SelfPlayVecEnv | SeatVecEnv) -> dict[str, Any]:
    """Return the arguments of a PPO that learns the game of an environment.

    They are those of `SeatPPO` in a `SelfPlayVecEnv`, and of `MaskablePPO` and `PPO` in a
    `SeatVecEnv`; `Anneal` shrinks the learning rate and the entropy bonus over the run.

    Example:
        >>> from kille_env.sb3 import Anneal, SeatPPO, SelfPlayVecEnv, settings
        >>> venv = SelfPlayVecEnv("krypkille", num_tables=256)
        >>> model = SeatPPO(**settings(venv), seed=0).learn(20_000, callback=Anneal())

    Args:
        env: The environment, itself and not a wrapper of it.

    Returns:
        The environment and every argument beside it that differs from the library's default. The
        number of steps follows from the number of tables, so that a rollout has about 8,000
        decisions in Byteskille and 16,000 in the other games. `learn` makes whole rollouts, so
        never fewer decisions, whatever its `total_timesteps`. Where the environment shows "seats",
        the first layer fits tables of every size: the nearest seats have weights of their own,
        those farther away share one set and are summed.

    Raises:
        KilleError: It is not such an environment.
    """
    if not isinstance(env, SelfPlayVecEnv | SeatVecEnv):
        raise KilleError(
            f"settings are of a SelfPlayVecEnv or a SeatVecEnv, got a {type(env).__name__}; give "
            "the environment before it is wrapped, and change `env` in what is returned"
        )
    chosen = deepcopy(_ONE_CARD if env.table.game == "byteskille" else _TRICKS)
    if env.observation == "seats" and env.features is None:
        network = chosen["policy_kwargs"]
        units, *network["net_arch"] = network["net_arch"]
        activation = network["activation_fn"]
        network["features_extractor_class"] = SeatExtractor
        network["features_extractor_kwargs"] = {
            "game": env.table.game,
            "units": units,
            "activation_fn": activation,
            **({"observe_rules": True} if env.observe_rules else {}),
        }
        network["share_features_extractor"] = False
    n_steps = max(1, chosen["n_steps"] // env.num_envs)
    # MaskablePPO makes NaN of the advantage of a minibatch of one decision.
    while n_steps * env.num_envs % chosen["batch_size"] == 1:
        chosen["batch_size"] -= 1
    return {
        **chosen,
        "policy": "MlpPolicy",
        "env": env,
        "n_steps": n_steps,
        "n_epochs": 4,
        "gamma": 1.0,  # rewards are money
        "gae_lambda": 1.0,
        "device": "cpu",
    }
