"""Models of Stable-Baselines3 and sb3-contrib as policies. Importing this module imports torch."""

import copy
import zipfile
from pathlib import Path
from typing import Any, Self

import numpy as np

from kille_env.core.floats import Reading
from kille_env.core.spec import width
from kille_env.errors import PolicyError, shortened
from kille_env.extras import needs
from kille_env.files import MOST_JSON, parse_json
from kille_env.play.decisions import Decisions
from kille_env.play.policy import check_shapes
from kille_env.registry import Table, spec

with needs("train"):
    from sb3_contrib import QRDQN, TRPO, MaskablePPO, RecurrentPPO
    from stable_baselines3 import A2C, DQN, PPO
    from stable_baselines3.common.base_class import BaseAlgorithm

    from kille_env.adapters.sb3_asking import Asking, asking_of, check_space, read_asking
    from kille_env.adapters.sb3_models import meaning_of, memory_size

ALGORITHMS: dict[str, type[BaseAlgorithm]] = {
    algorithm.__name__: algorithm
    for algorithm in (MaskablePPO, PPO, A2C, TRPO, DQN, QRDQN, RecurrentPPO)
}


class SB3Policy:
    """Plays a model: its distribution over the legal actions, or the action of the highest value.

    See `kille_env.adapters.sb3_asking.Asking.chances` for models that know no masks. Exploring is
    not part of the policy. A model with an LSTM makes this a player with a memory.

    Attributes:
        model: The model, which may go on learning.
        name: What tables and reports call it.
        asking: How it is asked, and where it learned.
        memory_size: Numbers that it remembers: the state of the actor's LSTM, 0 for none.
    """

    def __init__(
        self, model: BaseAlgorithm, name: str = "sb3", asking: Asking | None = None
    ) -> None:
        """Wrap a model.

        Args:
            model: The model.
            name: What tables and reports call it.
            asking: How it is asked; None is as its own environment asks it.

        Raises:
            PolicyError: Nothing says how it is asked, or it gives neither a distribution nor
                values.
        """
        self.model, self.name, self.memory_size = model, name, memory_size(model)
        if not self.memory_size:
            meaning_of(model)
        self.asking = asking or asking_of(model)
        self._reading: Reading | None = None
        self._size: tuple[int, int] | None = None

    def at_table(self, game: str, num_players: int) -> Self:
        """Return the policy as it plays at a table, where it knows how to read features.

        Raises:
            PolicyError: The model has other observations or actions.
        """
        table, settled = spec(game), copy.copy(self)
        settled._reading = self.asking.reading(game, num_players)
        settled._size = width(table.observation(num_players)), table.num_actions
        check_space(self.name, self.model, self.asking, game, num_players)
        return settled

    def differences(self, table: Table) -> list[str]:
        """Return in words what a table has otherwise than those that the model learned at."""
        return self.asking.differences(table)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the distribution over the legal actions, [N, A] float64; see `Policy`."""
        self._check(observation, mask)
        return self.asking.chances(self.model, observation, mask, self._reading)

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the same; a model with an LSTM goes on from the memory of the decisions."""
        if not self.memory_size:
            return self.probabilities(decisions.observation, decisions.mask)
        self._check(decisions.observation, decisions.mask)
        return self.asking.remembering(self.model, decisions, self._reading)

    def _check(self, observation: np.ndarray, mask: np.ndarray) -> None:
        if self._size is None:
            raise PolicyError(
                f"the model {self.name} reads features as its table has them: say which one with "
                "at_table(game, num_players)"
            )
        check_shapes(self.name, observation, mask, *self._size)


def load_sb3(path: Path, *, trust: bool) -> SB3Policy:
    """Load a saved model. The file holds pickles: loading it can run any code in it.

    Args:
        path: The `.zip` file, which `kille_env.sb3.save` has written.
        trust: Whether the user trusts the file.

    Raises:
        PolicyError: Not trusted, no such model, or nothing says how it is asked.
    """
    if not trust:
        raise PolicyError(
            f"{path} is a Stable-Baselines3 model, and loading one can run code hidden in it. "
            "If you know where it comes from, load it with --trust (trust=True)"
        )
    name = algorithm_of(path)
    asking = read_asking(path)
    if asking is None:
        raise PolicyError(
            f"{path} says neither how its model is asked nor where it learned. Load it in the "
            "environment that it learned in, wrappers included, and save it again: "
            f'kille_env.sb3.save({name}.load("{path}", env=venv), "{path}")'
        )
    try:
        # What a rollout needs, the environment say, is of no use here, and need not exist here.
        plain = {"rollout_buffer_class": None, "rollout_buffer_kwargs": {}}
        model = ALGORITHMS[name].load(path, device="cpu", custom_objects=plain)
    except Exception as error:  # a pickle that is not what it says may raise anything
        raise PolicyError(
            f"{path} cannot be loaded as a model of {name}: "
            f"{type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    return SB3Policy(model, path.stem, asking)


def read_plain(path: Path) -> dict[str, Any]:
    """Reads the plain part of a saved model, which runs no code.

    Raises:
        PolicyError: It is no such model.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open("data") as file:
            data = parse_json(file.read(MOST_JSON + 1))
    except Exception as error:  # zipfile has many ways to say that a file is broken
        raise PolicyError(
            f"{path} is no model of Stable-Baselines3: {shortened(str(error))}"
        ) from None
    return data if isinstance(data, dict) else {}


def algorithm_of(path: Path) -> str:
    """Returns the algorithm of a saved model, from its plain part.

    Raises:
        PolicyError: It is no such model, or of an algorithm that is not supported.
    """
    data = read_plain(path)
    kind = data.get("policy_class")
    module = str(kind.get("__module__", "")) if isinstance(kind, dict) else ""
    if module.startswith("sb3_contrib.common.maskable"):
        return "MaskablePPO"
    if module.startswith("sb3_contrib.common.recurrent"):
        return "RecurrentPPO"
    for name, part in (("QRDQN", "qrdqn"), ("DQN", ".dqn."), ("TRPO", "trpo")):
        if part in module:
            return name
    if module == "stable_baselines3.common.policies":
        return "PPO" if "clip_range" in data else "TRPO" if "target_kl" in data else "A2C"
    raise PolicyError(
        f"{path} holds a policy of {module or 'an unknown kind'}; "
        f"supported are {', '.join(ALGORITHMS)}"
    )
