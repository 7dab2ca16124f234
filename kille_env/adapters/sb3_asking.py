"""How a model of Stable-Baselines3 is asked: as the environment that it learned in asked it.

A model is weights, how they are asked, and where they were trained. The last two are read off its
environment: which observations it gives, and what the wrappers around it make of these. Unknown
wrappers are refused, since nobody could say what they do. `save` keeps both beside the weights.
"""

import json
import zipfile
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Self, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import (
    OrderEnforcing,
    PassiveEnvChecker,
    RecordEpisodeStatistics,
    TimeLimit,
)

from kille_env.extras import needs

with needs("train"):
    from sb3_contrib.common.wrappers import ActionMasker
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.running_mean_std import RunningMeanStd
    from stable_baselines3.common.vec_env import (
        DummyVecEnv,
        VecCheckNan,
        VecEnv,
        VecEnvWrapper,
        VecMonitor,
        VecNormalize,
    )

from kille_env.adapters.sb3_models import meaning_of, memory_size, scores, scores_with_memory
from kille_env.adapters.spaces import Observations
from kille_env.core.arguments import one_of
from kille_env.core.floats import OBSERVATION
from kille_env.errors import KilleError, PolicyError, shortened
from kille_env.files import MOST_JSON, parse_json, write_whole
from kille_env.play.decisions import Decisions
from kille_env.play.functions import Network
from kille_env.play.own import Features
from kille_env.play.policy import UniformPolicy, at_table, masked_softmax, with_uniform
from kille_env.registry import Table, spec

MEMBER, FORMAT, FORMAT_WITH_FEATURES = "kille.json", "kille-sb3 1", "kille-sb3 2"
SAME = 1e-4
PASS_ON = (VecMonitor, VecCheckNan)
"""Wrappers of vector environments that leave observations and actions as they are."""
PASS_ON_ONE = (
    ActionMasker,
    Monitor,
    OrderEnforcing,
    PassiveEnvChecker,
    RecordEpisodeStatistics,
    TimeLimit,
)
"""The same of single environments."""
BY_HAND = (
    "hand it over as a function of observations and masks: kille_agents.as_policy(function, "
    'observation="box", returns="logits")'
)


@dataclass(frozen=True)
class Asking:
    """How a model is asked, and where it learned.

    Attributes:
        observation: What its environment showed it; see `kille_env.adapters.spaces.Observations`.
        tables: Where it learned; empty where nobody has said.
        steps: What each `VecNormalize` makes of the observations, the innermost first: the wrapper
            itself where it is at hand, so that what becomes of it is followed.
        features: What its environment made of observations and masks, before `steps`; of a file
            that has not been trusted yet, where the function is, "module:name".
    """

    observation: str
    tables: tuple[Table, ...] = ()
    steps: tuple["Normalization | VecNormalize", ...] = ()
    features: Features | str | None = None

    def normalizations(self) -> list["Normalization"]:
        """Return what the steps make of observations now."""
        return [Normalization.of(step) for step in self.steps]

    def wrapped(self, shown: np.ndarray, mask: np.ndarray) -> Any:
        """Return what the model saw, [N, ...] or a mapping of such arrays.

        Args:
            shown: [N, F] what its environment shows, before any wrapper.
            mask: [N, A] int8.
        """
        seen: Any = shown
        if self.observation == "dict":
            seen = {"observation": shown, "action_mask": mask}
        for step in self.normalizations():
            seen = step(seen)
        return seen

    def scores(self, model: Any, seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return what a model returns for each action, [N, A] float32.

        Args:
            model: A model without memory.
            seen: [N, F] what its environment shows, before any wrapper.
            mask: [N, A] int8.
        """
        return scores(model, self.wrapped(seen, mask))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it.

        Raises:
            PolicyError: A function is code that JSON cannot name.
        """
        features = self.features
        place = features.place if isinstance(features, Features) else features
        return {
            "format": FORMAT if place is None else FORMAT_WITH_FEATURES,
            **({} if place is None else {"features": place}),
            "observation": self.observation,
            "tables": [table.as_dict() for table in self.tables],
            "steps": [step.as_dict() for step in self.normalizations()],
        }


@dataclass(frozen=True)
class Normalization:
    """What a `VecNormalize` makes of observations.

    Attributes:
        parts: Mean and variance, [F] each, by the key of a mapping; "" is an observation by itself.
        epsilon: Added to variances.
        clip: Largest absolute value.
    """

    parts: dict[str, RunningMeanStd]
    epsilon: float
    clip: float

    @classmethod
    def of(cls, step: "Normalization | VecNormalize") -> "Normalization":
        """Return what a wrapper makes of observations now; what was read from a file is kept."""
        if isinstance(step, Normalization):
            return step
        found: Any = step.obs_rms if step.norm_obs else {}
        parts = found if isinstance(found, dict) else {"": found}
        return cls(parts, step.epsilon, float(step.clip_obs))

    def __call__(self, seen: Any) -> Any:
        """Return normalized observations."""
        if isinstance(seen, dict):
            return {key: self._one(key, value) for key, value in seen.items()}
        return self._one("", seen)

    def _one(self, key: str, seen: np.ndarray) -> np.ndarray:
        if key not in self.parts:
            return seen
        part = self.parts[key]
        scaled = (seen - part.mean) / np.sqrt(part.var + self.epsilon)
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        parts = {key: [part.mean.tolist(), part.var.tolist()] for key, part in self.parts.items()}
        return {"parts": parts, "epsilon": self.epsilon, "clip": self.clip}

    @classmethod
    def read(cls, content: dict[str, Any]) -> Self:
        """Return what `as_dict` has written."""
        parts = {}
        for key, (mean, variance) in content["parts"].items():
            parts[key] = RunningMeanStd()
            parts[key].mean = np.array(mean, dtype=np.float64)
            parts[key].var = np.array(variance, dtype=np.float64)
        return cls(parts, float(content["epsilon"]), float(content["clip"]))


def asking_of(model: Any) -> Asking:
    """Return how a model is asked, as its own environment asks it.

    Raises:
        PolicyError: It has neither distribution nor values, no environment, none of ours, or
            something around it that is not known. The message says how to hand the model over.
    """
    name = type(model).__name__
    if not memory_size(model):
        meaning_of(model)
    env = model.get_env()
    if env is None:
        raise PolicyError(
            f"the {name} has no environment that says how it is asked; load it with the one that "
            f"it learned in, wrappers included: {name}.load(path, env=venv)"
        )
    outside: list[VecNormalize] = []
    for wrapper in wrappers_of(env):
        if type(wrapper) is VecNormalize:
            outside.append(wrapper)
        elif type(wrapper) not in PASS_ON:
            raise PolicyError(_unknown(name, wrapper))
    env = env.unwrapped
    if type(env) is DummyVecEnv:
        env = _one_environment(name, env)
    tables: tuple[Any, ...] = getattr(env, "kinds", (getattr(env, "table", None),))
    shown = getattr(env, "observation", None)
    if not isinstance(tables[0], Table) or not isinstance(shown, str):
        raise PolicyError(
            f"the {name} lives in a {type(env).__name__}, where nothing says how it is asked: give "
            "it an environment of this process, made as the one that it learned in, with "
            f"set_env(DummyVecEnv([make])), or {BY_HAND}"
        )
    asking = Asking(shown, tables, tuple(reversed(outside)), getattr(env, "features", None))
    check_space(name, model, asking, tables[0].game, tables[0].num_players)
    return asking


def wrappers_of(env: VecEnv | None) -> list[VecEnvWrapper]:
    """Return what is around the environment of a model, the outermost first."""
    found = []
    while isinstance(env, VecEnvWrapper):
        found.append(env)
        env = env.venv
    return found


def _one_environment(name: str, venv: DummyVecEnv) -> Any:
    """Return the environment inside a vector of single ones and what wraps them."""
    env: Any = venv.envs[0]
    while isinstance(env, gymnasium.Wrapper):
        if type(env) not in PASS_ON_ONE and not isinstance(env, gymnasium.RewardWrapper):
            raise PolicyError(_unknown(name, env))
        env = env.env
    return env


def _unknown(name: str, wrapper: Any) -> str:
    return (
        f"nothing says what {type(wrapper).__name__} around the environment of the {name} makes of "
        "observations and actions: make the environment with features=, which does the same and "
        f"is measured, use VecNormalize, or {BY_HAND}"
    )


def check_space(name: str, model: Any, asking: Asking, game: str, num_players: int) -> None:
    """Refuse a table at which a model would be shown other observations than it reads.

    Raises:
        PolicyError: Its observations or its actions are others.
    """
    table = spec(game)
    here = Observations(asking.observation, table, num_players, features=asking.features).space
    shown, reads = _shapes(here), _shapes(model.observation_space)
    actions = int(getattr(model.action_space, "n", 0))
    if reads != shown or actions != table.num_actions:
        raise PolicyError(
            f"the model {name} reads {_in_words(reads)} and knows {actions} actions; {game} with "
            f"{num_players} seats shows it {_in_words(shown)} and has {table.num_actions}"
        )


def _shapes(space: spaces.Space[Any]) -> dict[str, Any]:
    parts = space.spaces if isinstance(space, spaces.Dict) else {"": space}
    return {key: part.shape for key, part in parts.items()}


def _in_words(shapes: dict[str, Any]) -> str:
    return " and ".join(
        f"{'x'.join(map(str, shape)) or 1} {key or 'features'}" for key, shape in shapes.items()
    )


class SB3Policy(Network):
    """Plays a model: its distribution over the legal actions, or the action of the highest value.

    Of a model that knows no masks the share of illegal actions is spread over the legal ones in
    proportion. Exploring is not part of the policy. A model with an LSTM makes this a player with a
    memory.

    Attributes:
        model: The model, which may go on learning.
        name: What tables and reports call it.
        asking: How it is asked, and where it learned.
        memory_size: Numbers that it remembers: the state of the actor's LSTM, 0 for none.
    """

    def __init__(self, model: Any, name: str = "sb3", asking: Asking | None = None) -> None:
        """Wrap a model.

        Args:
            model: The model.
            name: What tables and reports call it.
            asking: How it is asked; None is as its own environment asks it.

        Raises:
            PolicyError: Nothing says how it is asked, or it gives neither a distribution nor
                values.
        """
        self.model, self.memory_size = model, memory_size(model)
        self.asking = asking or asking_of(model)
        shown = self.asking.observation
        super().__init__(
            partial(self.asking.scores, model),
            observation="box" if shown == "dict" else shown,
            returns="logits" if self.memory_size else meaning_of(model),
            features=cast("Features | None", self.asking.features),
            name=name,
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Where the model learned."""
        return self.asking.tables

    def at_table(self, game: str, num_players: int) -> Self:
        """Return the policy as it plays at a table, where it knows how to read features.

        Raises:
            PolicyError: The model has other observations or actions.
        """
        check_space(self.name, self.model, self.asking, game, num_players)
        return super().at_table(game, num_players)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the distribution over the legal actions, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: As from `Network`, or the model remembers, and is asked by `decide`.
        """
        if self.memory_size:
            meaning_of(self.model)  # says what to do
        return super().probabilities(observation, mask)

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the same; a model with an LSTM goes on from the memory of the decisions."""
        if not self.memory_size:
            return self.probabilities(decisions.observation, decisions.mask)
        shown = self.shown(decisions.observation, decisions.mask)
        seen = self.asking.wrapped(shown, decisions.mask)
        logits, decisions.memory = scores_with_memory(self.model, seen, decisions.memory)
        return masked_softmax(self.name, logits, decisions.mask)


def check_last_seen(model: Any) -> None:
    """Refuse a model that saw other observations than it would be shown, while it learns.

    Nothing else finds an environment that was changed from within, as by a subclass. To be called
    while a rollout is collected, when what it saw last is what stands on the tables. Of tables of
    several sizes the first ones are compared.

    Raises:
        PolicyError: They differ.
    """
    env, last = model.get_env().unwrapped, model._last_obs
    tables = getattr(env, "tables", env)
    if last is None or not hasattr(tables, "batch"):
        return  # nothing was seen yet, or single environments
    batch = tables.batch
    features = batch.observation if tables is env else tables.observation()
    player = SB3Policy(model).at_table(batch.spec.name, batch.num_players)
    seen = player.asking.wrapped(player.shown(features, batch.mask), batch.mask)
    first = last[: len(seen)]
    if seen.shape != first.shape or not np.allclose(seen, first, atol=SAME):
        raise PolicyError(
            f"the {type(model).__name__} saw other observations in its environment than it would "
            f"be shown for the same decisions; {BY_HAND}"
        )


class LivePolicy:
    """The policy of a model as it stands while it learns; uniform as long as there is none.

    The model is asked as its own environment asks it, wrappers included, and explores as it does:
    one with values plays a uniform legal action as often as the model explores.

    Attributes:
        model: The model that is followed, or None.
        memory_size: Numbers that it remembers, 0 for a model without memory.
    """

    name = "self"
    memory_size = 0

    def __init__(self, table: Table) -> None:
        """Follow no model yet; it plays at this table."""
        self.model: Any = None
        self._table = table
        self._player: Any = None
        self._env: Any = None

    def follow(self, model: Any) -> None:
        """Play by a model from now on, asked as the environment does that it has now.

        Raises:
            PolicyError: The model has neither a distribution over actions nor values of them,
                nothing says how it is asked, or it learned at another table.
        """
        player, table = SB3Policy(model, type(model).__name__), self._table
        self._player = at_table(player, table.game, table.num_players, table.rules)
        self._env, self.model, self.memory_size = model.get_env(), model, player.memory_size

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the model's distribution over the legal actions, [N, A] float64."""
        if self.model is None:
            return UniformPolicy().probabilities(observation, mask)
        if self.model.get_env() is not self._env:
            self.follow(self.model)
        explores = float(getattr(self.model, "exploration_rate", 0.0))
        return with_uniform(self._player.probabilities(observation, mask), mask, explores)

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the same; a model with a memory goes on from that of the decisions."""
        if not self.memory_size:
            return self.probabilities(decisions.observation, decisions.mask)
        return self._player.decide(decisions)

    def __getstate__(self) -> dict[str, Any]:  # the model holds the environment that holds this
        none = dict.fromkeys(("model", "_player", "_env"))
        return {**self.__dict__, **none, "memory_size": 0}


def save(model: Any, path: str | Path) -> Path:
    """Save a model with how it is asked and where it learned.

    The file is Stable-Baselines3's own, which its `load` reads, with one more member: the table,
    the kind of observation and the statistics of `VecNormalize`, as plain numbers; and of own
    features the module and name of their function, which whoever trusts the file imports. Whatever
    takes the path of a player takes it.

    Example:
        >>> from stable_baselines3 import PPO
        >>> from kille_env.sb3 import SeatVecEnv, save
        >>> model = PPO("MlpPolicy", SeatVecEnv("byteskille", 16, 3, illegal="lose"))
        >>> save(model, "model.zip").name
        'model.zip'

    Args:
        model: The model, with the environment that it learned in.
        path: The file; ".zip" is added where it has no such end.

    Returns:
        The file.

    Raises:
        PolicyError: Nothing says how it is asked, or its features are code.
    """
    if not hasattr(model, "get_env"):
        raise PolicyError(f"a model of Stable-Baselines3 is saved, got {shortened(model)}")
    told = json.dumps(asking_of(model).as_dict())
    content = BytesIO()
    model.save(content)
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, told)
    file = Path(path)
    file = file if file.suffix == ".zip" else file.with_name(file.name + ".zip")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content.getvalue())
    return file


def read_asking(path: Path) -> Asking | None:
    """Return how a saved model is asked; None if the file does not say it. This runs no code.

    Raises:
        PolicyError: It is no model, or what it says is broken.
    """
    if not zipfile.is_zipfile(path):
        raise PolicyError(
            f"{path} is no model of Stable-Baselines3: the file is not a zip file. Save the model "
            "again with kille_env.sb3.save, or name another file"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            if MEMBER not in archive.namelist():
                return None
            with archive.open(MEMBER) as member:
                content = parse_json(member.read(MOST_JSON + 1))
        place = content.get("features")
        expected = FORMAT if place is None else FORMAT_WITH_FEATURES
        if content["format"] != expected or not isinstance(place, (str, type(None))):
            raise KilleError(f"the format is {shortened(content['format'])}, expected {expected}")
        observation = one_of("observation", content["observation"], OBSERVATION)
        tables = tuple(Table.read(one) for one in content["tables"])
        steps = tuple(Normalization.read(step) for step in content["steps"])
        if content.get("best_legal"):
            raise KilleError("it learned behind BestLegalAction, which is gone; train it again")
        return Asking(observation, tables, steps, place)
    except Exception as error:  # what is broken may be so in any way
        raise PolicyError(
            f"{path} says how its model is asked in a way that cannot be read: "
            f"{shortened(str(error))}"
        ) from None
