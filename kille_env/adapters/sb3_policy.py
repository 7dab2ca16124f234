"""How a model of Stable-Baselines3 is asked: as its own environment asks it.

A model is weights, how they are asked, and where they were trained. The last two are read off its
environment: the observations that it gives, and the wrappers around it. Only what is known is
asked: the environments of this suite themselves, the library's wrappers that pass observations on,
and `VecNormalize`. Anything else is refused, since it could show the model something else.

`save` writes both into the model's file, as plain JSON beside the library's own data.
"""

from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any, Self, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from kille_env.extras import needs

with needs("train"):
    from sb3_contrib.common.wrappers import ActionMasker
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.running_mean_std import RunningMeanStd
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from kille_env.adapters.sb3_models import meaning_of, scores
from kille_env.adapters.sb3_rollouts import PASS_ON, last_observations, saw_normalized, wrappers_of
from kille_env.adapters.spaces import Observations, feature_space
from kille_env.core.arguments import one_of
from kille_env.core.floats import OBSERVATION, reading_of
from kille_env.errors import KilleError, PolicyError, shortened
from kille_env.files import make_folder, write_whole
from kille_env.play.decisions import Decisions
from kille_env.play.functions import FunctionPolicy
from kille_env.play.policy import ObservationPolicy, UniformPolicy, at_table, with_uniform
from kille_env.play.user_functions import Features
from kille_env.registry import Table, spec

RECORD, FORMAT = "kille_env", "kille-sb3 3"
"""The attribute of a model that holds its record, which the library saves with it."""
SAME = 1e-3
"""Distance from a whole number within which a feature in single precision lies."""
PASS_ON_ONE = (
    ActionMasker,
    Monitor,
    OrderEnforcing,
    PassiveEnvChecker,
    RecordEpisodeStatistics,
    TimeLimit,
)
"""Wrappers of single environments that leave observations and actions as they are."""
BY_HAND = (
    "make the environment with features= for features of your own, or hand the model over as a "
    'function: kille_agents.as_policy(function, observation="box", returns="logits")'
)


@dataclass(frozen=True)
class ModelInputs:
    """How a model is asked and where it learned: as its environment or its file says.

    The normalization is the wrapper itself where it is at hand, so that changes are followed. The
    features of a file that is not trusted yet are the place of their function, "module:name".
    """

    observation: str
    tables: tuple[Table, ...]
    normalization: "Normalization | VecNormalize | None" = None
    features: Features | str | None = None
    observe_rules: bool = False

    def wrapped(self, shown: np.ndarray, mask: np.ndarray) -> Any:
        """Return the model's view of observations [N, F] of its environment, before any wrapper."""
        seen: Any = shown
        if self.observation == "dict":
            seen = {"observation": shown, "action_mask": mask}
        return seen if self.normalization is None else Normalization.of(self.normalization)(seen)

    def scores(self, model: Any, shown: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return a model's scores of the actions, [N, A] float32."""
        return scores(model, self.wrapped(shown, mask))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; features that it cannot name are refused."""
        features, step = self.features, self.normalization
        rules = {"observe_rules": True} if self.observe_rules else {}
        return {
            "format": FORMAT,
            "observation": self.observation,
            **rules,
            "tables": [table.as_dict() for table in self.tables],
            "normalization": None if step is None else Normalization.of(step).as_dict(),
            "features": features.place if isinstance(features, Features) else features,
        }

    @classmethod
    def read(cls, content: Any) -> Self:
        """Return the content of `as_dict`; anything else raises some error."""
        if content["format"] != FORMAT or not isinstance(content["features"], (str, type(None))):
            raise KilleError(f"the format is {shortened(content['format'])}, expected {FORMAT}")
        step = content["normalization"]
        return cls(
            one_of("observation", content["observation"], OBSERVATION),
            tuple(Table.read(one) for one in content["tables"]),
            None if step is None else Normalization.read(step),
            content["features"],
            content.get("observe_rules", False) is True,
        )


@dataclass(frozen=True)
class Normalization:
    """The statistics of a `VecNormalize`, by the key of a mapping or "" for an array."""

    parts: dict[str, RunningMeanStd]
    epsilon: float
    clip: float

    @classmethod
    def of(cls, step: "Normalization | VecNormalize") -> "Normalization":
        """Return the statistics of a wrapper as they are now."""
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
        parts = {
            key: [part.mean.tolist(), part.var.tolist(), float(part.count)]
            for key, part in self.parts.items()
        }
        return {"parts": parts, "epsilon": self.epsilon, "clip": self.clip}

    @classmethod
    def read(cls, content: dict[str, Any]) -> Self:
        """Return the statistics in the content of `as_dict`."""
        parts = {}
        for key, (mean, variance, count) in content["parts"].items():
            parts[key] = RunningMeanStd()
            parts[key].mean = np.array(mean, dtype=np.float64)
            parts[key].var = np.array(variance, dtype=np.float64)
            parts[key].count = float(count)
        return cls(parts, float(content["epsilon"]), float(content["clip"]))

    @property
    def count(self) -> float:
        """Observations that the statistics are of; 0 for none."""
        return min((float(part.count) for part in self.parts.values()), default=0.0)


def inputs_of(model: Any) -> ModelInputs:
    """Return how a model is asked, as its own environment asks it, or refuse it with a remedy."""
    name = type(model).__name__
    meaning_of(model)  # refuses a model without scores of actions
    env, kept = model.get_env(), _record_of(model)
    if env is None:
        if kept is None or kept.features is not None:
            raise PolicyError(
                f"the {name} has no environment that says how it is asked; load it with the one "
                f"that it learned in, wrappers included: {name}.load(path, env=venv)"
            )
        return kept
    normalization = None
    for wrapper in wrappers_of(env):
        if type(wrapper) is VecNormalize and normalization is None:
            normalization = wrapper
        elif type(wrapper) not in PASS_ON:
            raise PolicyError(_unknown(name, wrapper))
    env = env.unwrapped
    inside = env.envs if type(env) is DummyVecEnv else [env]
    shown = [_shown_by(name, each) for each in inside]
    if len({(one.observation, one.features, one.observe_rules) for one in shown}) > 1:
        raise PolicyError(
            f"the environments of the {name} show different observations or features; give it "
            "environments that are made alike"
        )
    tables = tuple(dict.fromkeys(table for one in shown for table in one.tables))
    inputs = replace(shown[0], tables=tables, normalization=normalization)
    for table in tables:
        check_space(name, model, inputs, table.game, table.num_players)
    _check_as_it_learned(model, inputs, kept)
    return inputs


def _shown_by(name: str, env: Any) -> ModelInputs:
    """Return the observations, features and tables of an environment of ours."""
    while isinstance(env, gymnasium.Wrapper):
        if type(env) not in PASS_ON_ONE:
            raise PolicyError(_unknown(name, env))
        env = env.env
    kind = type(env)
    # A subclass has the same attributes, but may show something else.
    if not kind.__module__.startswith("kille_env.adapters."):
        raise PolicyError(
            f"the {name} lives in a {kind.__module__}.{kind.__qualname__}, where nothing says how "
            f"it is asked: give it an environment of kille_env of this process, no subclass; "
            f"{BY_HAND}"
        )
    tables = getattr(env, "kinds", None) or (env.table,)
    features, rules = getattr(env, "features", None), getattr(env, "observe_rules", False)
    return ModelInputs(env.observation, tables, features=features, observe_rules=rules)


def _unknown(name: str, wrapper: Any) -> str:
    return (
        f"nothing says what {type(wrapper).__name__} around the environment of the {name} makes of "
        f"observations and actions: use VecNormalize, {BY_HAND}"
    )


def _record_of(model: Any) -> ModelInputs | None:
    """Return how a model was asked when it was saved, if it has learned nothing since."""
    kept = getattr(model, RECORD, None)
    # A model that has learned since may have done so in another environment.
    if not isinstance(kept, dict) or kept.get("num_timesteps") != model.num_timesteps:
        return None
    return ModelInputs.read(kept)


def _check_as_it_learned(model: Any, inputs: ModelInputs, kept: ModelInputs | None) -> None:
    """Refuse an environment that asks a loaded model otherwise than the one that it learned in."""
    name, now = type(model).__name__, inputs.normalization
    least = 0.0
    if kept is not None and kept.normalization is not None:
        least = Normalization.of(kept.normalization).count
    elif kept is None and last_observations(model) is None and saw_normalized(model):
        least = 1.0  # the library's own file keeps no statistics, but a trace that there were some
    if least > (0.0 if now is None else Normalization.of(now).count):
        raise PolicyError(
            f"the {name} learned behind a VecNormalize, whose statistics its environment here does "
            "not have: measure the file that kille_env.sb3.save wrote, or load the model with "
            f"them, {name}.load(path, env=VecNormalize.load(statistics, venv))"
        )
    if kept is not None and kept.as_dict()["features"] != _place(inputs.features):
        raise PolicyError(
            f"the {name} learned with features={kept.features}, and its environment here has "
            f"features={_place(inputs.features)}; make it with the same ones"
        )


def _place(features: Features | str | None) -> str | None:
    return features.place if isinstance(features, Features) else features


def check_space(name: str, model: Any, inputs: ModelInputs, game: str, num_players: int) -> None:
    """Refuse a table at which a model would be shown other observations than it reads."""
    table = spec(game)
    kind, features, rules = inputs.observation, inputs.features, inputs.observe_rules
    shown, other = (
        _shapes(Observations(kind, table, num_players, features=own, observe_rules=told).space)
        for told, own in ((rules, features), (not rules, None))
    )
    reads = _shapes(model.observation_space)
    if features is None and reads == other:
        raise PolicyError(
            f"the model {name} learned with observe_rules={not rules}, and its environment here "
            f"has observe_rules={rules}: make it like the one that it learned in"
        )
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


def inputs_at(model: Any, table: Table) -> ModelInputs:
    """Return how a model of the library's own file is asked at the table that is named with it.

    Its space has to be one that the table shows, and what it saw last has to be features of that
    table, which normalized or otherwise changed observations are not.
    """
    game, name = spec(table.game), type(model).__name__
    inputs, last = None, last_observations(model)
    for kind, rules in product(OBSERVATION, (False, True)):
        space = Observations(kind, game, table.num_players, observe_rules=rules).space
        if space == model.observation_space and model.action_space.n == game.num_actions:
            inputs = ModelInputs(kind, (table,), observe_rules=rules)
    if inputs is None:
        raise PolicyError(
            f"the {name} reads other observations than {table} shows, or has other actions: name "
            "the table at which it learned, or save it with kille_env.sb3.save where it learned"
        )
    if last is None or saw_normalized(model) or not _from_table(inputs, table, last):
        raise PolicyError(
            f"the file does not show that its {name} saw the observations of {table} as they are: "
            "load it in the environment that it learned in, wrappers included, and save it with "
            "kille_env.sb3.save(model, path)"
        )
    return inputs


def _from_table(inputs: ModelInputs, table: Table, seen: Any) -> bool:
    """Return whether observations are features of a table, whole numbers by their scale."""
    game, seats = spec(table.game), table.num_players
    reading = reading_of(inputs.observation, game, seats, inputs.observe_rules)
    if reading is None:
        features = seen["observation"] if inputs.observation == "dict" else seen
        layout = game.layout("observation", inputs.observe_rules)
        return bool((features <= feature_space(layout(seats)).high).all())
    scale = reading.scale
    features = seen / np.where(scale > 0.0, scale, 1.0)
    whole = np.abs(features - np.rint(features)) < SAME
    exists = (reading.source < 0) & (scale > 0.0)  # the numbers for the seats that the table has
    fits = whole & (seen >= exists) & (seen <= (scale > 0.0) + SAME)
    return bool(fits.all())


class SB3Policy(FunctionPolicy):
    """A model's distribution over the legal actions, or its action of the highest value.

    Of a model that knows no masks the share of illegal actions is spread over the legal ones in
    proportion. Exploring is not part of the policy.
    """

    def __init__(self, model: Any, name: str = "sb3", inputs: ModelInputs | None = None) -> None:
        """Wrap a model, which may go on learning; without `inputs` its environment says how."""
        self.model = model
        self.inputs = inputs or inputs_of(model)
        shown = self.inputs.observation
        super().__init__(
            partial(self.inputs.scores, model),
            observation="box" if shown == "dict" else shown,
            returns=meaning_of(model),
            features=cast("Features | None", self.inputs.features),
            observe_rules=self.inputs.observe_rules,
            name=name,
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables at which the model learned."""
        return self.inputs.tables

    def at_table(self, game: str, num_players: int) -> Self:
        """Return the policy as it plays at a table, where it knows how to read features."""
        check_space(self.name, self.model, self.inputs, game, num_players)
        return super().at_table(game, num_players)


class LivePolicy(ObservationPolicy):
    """The policy of a model as it stands while it learns, exploring; uniform until it follows one.

    A model of values plays a uniform legal action as often as it explores.
    """

    name = "self"

    def __init__(self, table: Table) -> None:
        """Follow no model yet; it plays at this table."""
        self.model: Any = None
        self._table = table
        self._player: Any = None
        self._env: Any = None

    def follow(self, model: Any) -> None:
        """Play by a model from now on, asked as its environment asks it."""
        player, table = SB3Policy(model, type(model).__name__), self._table
        self._player = at_table(player, table.game, table.num_players, table.rules)
        self._env, self.model = model.get_env(), model

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the model's distribution over the legal actions, [N, A] float64."""
        return self._exploring(self._plays().probabilities(observation, mask), mask)

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the same for decisions, [M, A], which say the rules to a model that reads them."""
        return self._exploring(self._plays().decide(decisions), decisions.mask)

    def _plays(self) -> Any:
        """Return the model as a policy, as its environment asks it now."""
        if self.model is None:
            return UniformPolicy()
        # `set_env` gives a model another environment, which may ask it otherwise.
        if self.model.get_env() is not self._env:
            self.follow(self.model)
        return self._player

    def _exploring(self, probabilities: np.ndarray, mask: np.ndarray) -> np.ndarray:
        explores = float(getattr(self.model, "exploration_rate", 0.0))
        return with_uniform(probabilities, mask, explores)

    def __getstate__(self) -> dict[str, Any]:  # the model holds the environment that holds this
        return {**self.__dict__, **dict.fromkeys(("model", "_player", "_env"))}


def save(model: Any, path: str | Path) -> Path:
    """Save a model with how it is asked and where it learned.

    The file is Stable-Baselines3's own, which its `load` reads. One more attribute of the model
    holds the table, the kind of observation and the statistics of `VecNormalize`, as plain numbers;
    and of own features the module and name of their function, which is imported where the file is
    trusted. Whatever takes the path of a player takes it.

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
    record = {**inputs_of(model).as_dict(), "num_timesteps": model.num_timesteps}
    # The library saves every attribute of a model, so the record needs no file of its own.
    setattr(model, RECORD, record)
    content = BytesIO()  # `model.save` would write a file in place, not whole or not at all
    model.save(content)
    file = Path(path)
    file = file if file.suffix == ".zip" else file.with_name(file.name + ".zip")
    make_folder(file.parent)
    write_whole(file, content.getvalue())
    return file


def read_inputs(data: dict[str, Any], path: Path) -> ModelInputs | None:
    """Return how a saved model is asked, by the plain data of its file; None if it says nothing."""
    record = data.get(RECORD)
    if record is None or record.get("num_timesteps") != data.get("num_timesteps"):
        return None  # or what it says is of an earlier time
    try:
        return ModelInputs.read(record)
    except Exception as error:  # what is broken may be so in any way
        raise PolicyError(
            f"{path} says how its model is asked in a way that cannot be read: "
            f"{shortened(str(error))}"
        ) from None
