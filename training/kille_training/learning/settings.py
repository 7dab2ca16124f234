"""Settings: frozen dataclasses, read from a YAML file, overridden by `KEY=VALUE`.

An unknown key, a value of another kind and an impossible value fail with a sentence that says what
is possible. What a key means stands in the class that has it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import yaml

from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, did_you_mean
from kille_env.registry import load_game

S = TypeVar("S")


@dataclass(frozen=True)
class TableSettings:
    """What is played.

    Attributes:
        game: Name of the game.
        num_players: Seats of a table.
        rules: Preset and switches, as `kille_env.make(rules=...)` takes them.
        episode: "deal" is one deal, "match" the whole game until a pot is won.
    """

    game: str = "byteskille"
    num_players: int = 3
    rules: Mapping[str, Any] = field(default_factory=dict)
    episode: str = "deal"

    def resolve(self) -> Rules:
        """Returns the complete rules; refuses a game, switch or table that does not exist."""
        if "episode" in self.rules:
            raise ConfigError(
                "table.rules has the key 'episode'; it stands beside them, table.episode"
            )
        game = load_game(self.game).spec
        game.check_players(self.num_players)
        return game.resolve(dict(self.rules), episode=self.episode)


@dataclass(frozen=True)
class LearnerSettings:
    """How MaskablePPO learns. The defaults are the recipe for one-card games.

    Attributes:
        form: "streams": every decision of every seat is used, each seat's decisions form a stream;
            "seats": one seat a table learns, the others are played by the live policy.
        decisions: Decisions of the learner in the whole run.
        num_tables: Tables that are played side by side.
        n_steps: Decisions of each table between two updates.
        batch_size: Decisions a minibatch.
        n_epochs: Passes over the decisions of an update.
        learning_rate: Step of Adam at the beginning.
        anneal: Whether the step shrinks linearly to zero over the run.
        gamma: Discount a decision; 1 because rewards are money.
        gae_lambda: 1 credits a decision with what really came of it, less with what was expected.
        clip_range: How far an update may move the probability of an action.
        ent_coef: Weight of the entropy bonus at the beginning. With little, a choice that is wrong
            in some cases only is given up before these are told apart, and never tried again.
        ent_coef_end: The same at the end, reached linearly: 0.01 where pure play is near the
            optimum, 0.05 and more where bluffing pays.
        vf_coef: Weight of the value loss.
        max_grad_norm: Length that gradients are cut to.
        layers: Units of each hidden layer, of the policy and of the value network.
        activation: "tanh" or "relu".
        torch_threads: Threads of torch; two are slower than one for networks of this size.
    """

    form: str = "streams"
    decisions: int = 2_000_000
    num_tables: int = 512
    n_steps: int = 16
    batch_size: int = 1024
    n_epochs: int = 4
    learning_rate: float = 1e-3
    anneal: bool = True
    gamma: float = 1.0
    gae_lambda: float = 1.0
    clip_range: float = 0.2
    ent_coef: float = 0.1
    ent_coef_end: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    layers: tuple[int, ...] = (64, 64)
    activation: str = "tanh"
    torch_threads: int = 1

    @property
    def total(self) -> int:
        """Decisions of the whole run in whole updates."""
        update = self.num_tables * self.n_steps
        return -(-self.decisions // update) * update

    def __post_init__(self) -> None:
        """Refuses what cannot be trained with."""
        _finite("learner.", self)
        _one_of("learner.form", self.form, ("streams", "seats"))
        _one_of("learner.activation", self.activation, ("tanh", "relu"))
        for name in (
            "decisions",
            "num_tables",
            "n_steps",
            "batch_size",
            "n_epochs",
            "torch_threads",
        ):
            _at_least(f"learner.{name}", getattr(self, name), 1)
        for name in ("learning_rate", "clip_range", "max_grad_norm"):
            _above(f"learner.{name}", getattr(self, name), 0.0)
        for name in ("ent_coef", "ent_coef_end", "vf_coef"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"learner.{name} is {getattr(self, name)}, expected at least 0")
        for name in ("gamma", "gae_lambda"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise ConfigError(
                    f"learner.{name} is {getattr(self, name)}, expected above 0 and up to 1"
                )
        if not self.layers or min(self.layers) < 1:
            raise ConfigError(
                f"learner.layers is {list(self.layers)}, expected units of at least one layer"
            )
        if self.num_tables * self.n_steps % self.batch_size == 1:
            raise ConfigError(
                "learner.batch_size leaves a last minibatch of one decision, which has no spread "
                "to normalise by; choose a divisor of num_tables * n_steps"
            )


@dataclass(frozen=True)
class MeasureSettings:
    """How the agent is measured, while it learns and at the end.

    Attributes:
        against: Players in the other seats, one row of the table each.
        every: Decisions between two measurements while it learns; 0 measures at the end only.
        deals: Deals of each of those measurements, each played once from every seat.
        final_deals: Deals of the measurement at the end.
        seed: Seed of the deals. They are the same in every measurement, so that the curve shows the
            player change and not the cards.
    """

    against: tuple[str, ...] = ("uniform", "rule_of_thumb")
    every: int = 250_000
    deals: int = 2_000
    final_deals: int = 20_000
    seed: int = 1_000_003

    def __post_init__(self) -> None:
        """Refuses what cannot be measured."""
        _at_least("measure.every", self.every, 0)
        _at_least("measure.seed", self.seed, 0)
        for name in ("deals", "final_deals"):
            _at_least(f"measure.{name}", getattr(self, name), 2)


@dataclass(frozen=True)
class TrainSettings:
    """A run of `kille train`.

    Attributes:
        name: Folder of the run below `runs/`.
        seed: Seed of the deals, the network and the play while learning.
        table: What is played.
        learner: How it is learnt.
        measure: How it is measured.
        checkpoint_seconds: Seconds between two checkpoints; what is written does not depend on it.
        made_with: Versions that a run was made with; written by the run, not read.
    """

    name: str = "byteskille"
    seed: int = 1
    table: TableSettings = field(default_factory=TableSettings)
    learner: LearnerSettings = field(default_factory=LearnerSettings)
    measure: MeasureSettings = field(default_factory=MeasureSettings)
    checkpoint_seconds: float = 15.0
    made_with: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses what cannot be run."""
        _finite("", self)
        _at_least("seed", self.seed, 0)
        _above("checkpoint_seconds", self.checkpoint_seconds, 0.0)
        if not self.name or Path(self.name).name != self.name or self.name.startswith("."):
            raise ConfigError(f"name is {self.name!r}, expected the name of a folder below runs/")
        self.table.resolve()


def load_settings(path: Path, overrides: Sequence[str] = (), **values: Any) -> TrainSettings:
    """Reads settings.

    Args:
        path: YAML file.
        overrides: "key=value" with dotted keys ("learner.decisions=100000"); the value is YAML.
        **values: Further top-level values that win over both, as the command line gives them;
            None is none given.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value is impossible.
    """
    content = read_yaml(path)
    for text in overrides:
        override(content, text)
    content |= {key: value for key, value in values.items() if value is not None}
    return settings_from(TrainSettings, content, str(path))


def read_yaml(path: Path) -> dict[str, Any]:
    """Returns the mapping that a YAML file holds.

    Raises:
        ConfigError: The file is missing, no YAML, or holds something else.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings {path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} holds no settings, expected keys with values")
    return content


def settings_from(cls: type[S], content: Mapping[str, Any], where: str) -> S:
    """Builds settings from plain values.

    Args:
        cls: A dataclass of settings.
        content: Plain values by key.
        where: What the values were read from, for the message.

    Raises:
        ConfigError: A key is unknown, or a value has another kind.
    """
    kinds = get_type_hints(cls)
    known = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    for key in content:
        if key not in known:
            raise ConfigError(
                f"{where} has the unknown key {key!r}. {did_you_mean(str(key), known)}"
            )
    return cls(
        **{key: _convert(kinds[key], value, f"{where}: {key}") for key, value in content.items()}
    )


def plain(settings: Any) -> Any:
    """Returns settings as values that YAML and JSON can hold."""
    if is_dataclass(settings):
        return {f.name: plain(getattr(settings, f.name)) for f in fields(settings)}
    if isinstance(settings, Mapping):
        return {str(key): plain(value) for key, value in settings.items()}
    return [plain(value) for value in settings] if isinstance(settings, (tuple, list)) else settings


def _convert(kind: Any, value: Any, where: str) -> Any:
    """Returns a plain value as the kind that a field has."""
    if is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where} is {value!r}, expected keys with values")
        return settings_from(kind, value, where)  # type: ignore[arg-type]
    if kind is Any:
        return value
    origin = get_origin(kind) or kind
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{where} is {value!r}, expected a list")
        return tuple(_convert(get_args(kind)[0], entry, where) for entry in value)
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where} is {value!r}, expected keys with values")
        return dict(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is float and isinstance(value, str):  # YAML 1.1 reads 3e-4 as text
        try:
            return float(value)
        except ValueError:
            pass
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
        raise ConfigError(f"{where} is {value!r}, expected {words[kind]}")
    return value


def override(content: dict[str, Any], text: str) -> None:
    """Puts one "key=value" into plain settings, in place.

    Raises:
        ConfigError: It is no setting.
    """
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise ConfigError(
            f"{text!r} is no setting, expected KEY=VALUE as in learner.decisions=100000"
        )
    *path, last = key.strip().split(".")
    for name in path:
        below = content.setdefault(name, {})
        if not isinstance(below, dict):
            raise ConfigError(f"{key!r}: {name} has no keys below it")
        content = below
    try:
        content[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(
            f"{text!r}: the value is no YAML: {' '.join(str(error).split())}"
        ) from None


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"{name} is {value!r}. {did_you_mean(value, known)}")


def _finite(prefix: str, settings: Any) -> None:
    for f in fields(settings):
        value = getattr(settings, f.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{prefix}{f.name} is {value}, expected a finite number")


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"{name} is {value}, expected at least {least}")


def _above(name: str, value: float, bound: float) -> None:
    if not value > bound:
        raise ConfigError(f"{name} is {value}, expected above {bound:g}")
