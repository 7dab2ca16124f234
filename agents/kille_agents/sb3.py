"""Models of Stable-Baselines3 and sb3-contrib as policies. Importing this module imports torch."""

import copy
import zipfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from gymnasium import spaces

from kille_agents.metadata import check_size
from kille_env.core.floats import READINGS, Reading, seat_layout
from kille_env.core.spec import Rules, width
from kille_env.errors import PolicyError, shortened
from kille_env.extras import needs
from kille_env.files import MOST_JSON, parse_json
from kille_env.policy import check_shapes, masked_best, masked_softmax, read
from kille_env.registry import spec

with needs("train"):
    from sb3_contrib import QRDQN, TRPO, MaskablePPO, RecurrentPPO
    from stable_baselines3 import A2C, DQN, PPO
    from stable_baselines3.common.base_class import BaseAlgorithm

    from kille_env.adapters.sb3_models import meaning_of, memory_size, scores, scores_with_memory

ALGORITHMS: dict[str, type[BaseAlgorithm]] = {
    algorithm.__name__: algorithm
    for algorithm in (MaskablePPO, PPO, A2C, TRPO, DQN, QRDQN, RecurrentPPO)
}


class _SB3Player:
    """What players of a model share: its spaces, and the features as it was shown them.

    A model that has learned from features in 0 to 1, or seat by seat, is shown them so, once
    `at_table` has said at which table it plays.
    """

    def __init__(self, model: BaseAlgorithm, name: str = "sb3") -> None:
        """Wraps a model, which may go on learning.

        Args:
            model: With `Discrete` actions, and observations that are the vector itself or a `Dict`
                with "observation" and "action_mask".
            name: What tables and reports call it.

        Raises:
            PolicyError: The model has other spaces.
        """
        self.model, self.name = model, name
        space = model.observation_space
        self._in_dict = isinstance(space, spaces.Dict)
        inner: Any = space["observation"] if isinstance(space, spaces.Dict) else space
        action_space = model.action_space
        if not isinstance(action_space, spaces.Discrete) or len(inner.shape) != 1:
            raise PolicyError(
                f"{name} takes {space} and returns {action_space}; "
                "expected a vector and Discrete actions"
            )
        self._reads = self.width = int(inner.shape[0])
        self.num_actions = int(action_space.n)
        self._in_floats = inner == spaces.Box(0.0, 1.0, inner.shape, np.float32)
        self._reading: Reading | None = None

    def at_table(self, game: str, num_players: int) -> Self:
        """Returns the policy as it plays at a table, where it knows the scale of the features.

        Raises:
            PolicyError: The model has other observations or actions.
        """
        table, settled = spec(game), copy.copy(self)
        kind = "seats" if self._in_floats and self._reads == seat_layout(table).size else "float"
        if kind == "seats":  # also when it has been seated at another table before
            settled.width = width(table.observation(num_players))
        what = f"the model {self.name}"
        check_size(what, settled.width, self.num_actions, game, num_players)
        settled._reading = READINGS[kind](table, num_players)
        return settled

    def _seen(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        """Returns what the environment showed the model at such decisions."""
        check_shapes(self.name, observation, mask, self.width, self.num_actions)
        shown = read(self.name, observation, self._reading) if self._in_floats else observation
        return {"observation": shown, "action_mask": mask} if self._in_dict else shown


class SB3Policy(_SB3Player):
    """Plays a model: its distribution over the legal actions, or the action of the highest value.

    The model's distribution is taken with the mask where the model knows masks; otherwise its share
    of illegal actions is spread over the legal ones in proportion.
    """

    def __init__(self, model: BaseAlgorithm, name: str = "sb3") -> None:
        """Wraps a model; see `_SB3Player`.

        Raises:
            PolicyError: The model has other spaces, gives neither a distribution nor values, or
                remembers what it has seen (`sb3_player` takes it).
        """
        super().__init__(model, name)
        self._returns = meaning_of(model)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the distribution over the legal actions, [N, A] float64; see `Policy`."""
        made = masked_best if self._returns == "values" else masked_softmax
        return made(self.name, scores(self.model, self._seen(observation, mask)), mask)


class SB3Recurrent(_SB3Player):
    """Plays a model with an LSTM: its distribution over the legal actions, by what it remembers.

    The memory is the state of the actor's LSTM; see `kille_env.policy.Recurrent`.
    """

    def __init__(self, model: BaseAlgorithm, name: str = "sb3") -> None:
        """Wraps a model of `RecurrentPPO`; see `_SB3Player`."""
        super().__init__(model, name)
        self.memory_size = memory_size(model)

    def probabilities_with_memory(
        self, observation: np.ndarray, mask: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the distribution over the legal actions, [N, A] float64, and the memory."""
        logits, after = scores_with_memory(self.model, self._seen(observation, mask), memory)
        return masked_softmax(self.name, logits, mask), after


def sb3_player(model: BaseAlgorithm, name: str = "sb3") -> SB3Policy | SB3Recurrent:
    """Returns a model as a player, with memory if the model has one; arguments as `SB3Policy`."""
    return SB3Recurrent(model, name) if memory_size(model) else SB3Policy(model, name)


def load_sb3(
    path: Path, game: str, num_players: int, rules: Rules, *, trust: bool
) -> SB3Policy | SB3Recurrent:
    """Loads a saved model. The file holds pickles: loading it can run any code in it.

    Args:
        path: The `.zip` file.
        game: The game to be played.
        num_players: Seats of the table.
        rules: Its rules; the file does not say for which ones it was trained.
        trust: Whether the user trusts the file.

    Raises:
        PolicyError: Not trusted, no such model, or made for other spaces.
    """
    if not trust:
        raise PolicyError(
            f"{path} is a Stable-Baselines3 model, and loading one can run code hidden in it. "
            "If you know where it comes from, load it with --trust (trust=True)"
        )
    algorithm = ALGORITHMS[algorithm_of(path)]
    try:
        model = algorithm.load(path, device="cpu")
    except Exception as error:  # a pickle that is not what it says may raise anything
        raise PolicyError(
            f"{path} cannot be loaded as a model of {algorithm.__name__}: "
            f"{type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    return sb3_player(model, path.stem).at_table(game, num_players)


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
