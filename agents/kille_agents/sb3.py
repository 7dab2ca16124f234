"""Models of Stable-Baselines3 and sb3-contrib as policies. Importing this module imports torch."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from kille_agents.objects import find_object
from kille_env.errors import PolicyError, shortened
from kille_env.extras import needs
from kille_env.files import MOST_JSON, parse_json
from kille_env.registry import Table

with needs("train"):
    from sb3_contrib import QRDQN, TRPO, MaskablePPO
    from stable_baselines3 import A2C, DQN, PPO
    from stable_baselines3.common.base_class import BaseAlgorithm

    from kille_env.adapters.sb3_policy import SB3Policy, inputs_at, read_inputs
    from kille_env.play.user_functions import Features

ALGORITHMS: dict[str, type[BaseAlgorithm]] = {
    algorithm.__name__: algorithm for algorithm in (MaskablePPO, PPO, A2C, TRPO, DQN, QRDQN)
}


def load_sb3(path: Path, table: Table, *, trust: bool) -> SB3Policy:
    """Load a saved model. The file holds pickles: loading it can run any code in it."""
    if not trust:
        raise PolicyError(
            f"{path} is a Stable-Baselines3 model, and loading one can run code hidden in it. "
            "If you know where it comes from, load it with --trust (trust=True)"
        )
    data = read_plain(path)
    name, inputs = algorithm_of(path, data), read_inputs(data, path)
    try:
        # A buffer of its own is of no use here, and its class need not exist here.
        plain = {"rollout_buffer_class": None, "rollout_buffer_kwargs": {}}
        model = ALGORITHMS[name].load(path, device="cpu", custom_objects=plain)
    except Exception as error:  # a pickle that is not what it says may raise anything
        raise PolicyError(
            f"{path} cannot be loaded as a model of {name}: "
            f"{type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    if inputs is None:
        inputs = inputs_at(model, table)
    if isinstance(inputs.features, str):
        inputs = replace(inputs, features=Features(find_object(inputs.features)))
    return SB3Policy(model, path.stem, inputs)


def read_plain(path: Path) -> dict[str, Any]:
    """Read the plain part of a saved model, which runs no code."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("data") as file:
            data = parse_json(file.read(MOST_JSON + 1))
            if not isinstance(data, dict):
                raise PolicyError(f"its data is {shortened(data)}, expected a mapping")
    except Exception as error:  # zipfile has many ways to say that a file is broken
        raise PolicyError(
            f"{path} is no model of Stable-Baselines3: {shortened(str(error))}. Save the model "
            "again with kille_env.sb3.save, or name another file"
        ) from None
    return data


def algorithm_of(path: Path, data: dict[str, Any]) -> str:
    """Return the algorithm of a saved model, from its plain part."""
    kind = data.get("policy_class")
    module = str(kind.get("__module__", "")) if isinstance(kind, dict) else ""
    if module.startswith("sb3_contrib.common.maskable"):
        return "MaskablePPO"
    for name, part in (("QRDQN", "qrdqn"), ("DQN", ".dqn."), ("TRPO", "trpo")):
        if part in module:
            return name
    # These three share a policy class, and differ in the settings that they save.
    if module == "stable_baselines3.common.policies":
        return "PPO" if "clip_range" in data else "TRPO" if "target_kl" in data else "A2C"
    raise PolicyError(
        f"{path} holds a policy of {module or 'an unknown kind'}; "
        f"supported are {', '.join(ALGORITHMS)}"
    )
