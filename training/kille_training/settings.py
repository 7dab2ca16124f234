"""Settings: frozen dataclasses that pydantic checks, read from YAML and overridden by `KEY=VALUE`.

Files of settings that come with the package are recipes, named as in `kille train knack`: those of
`configs/` in a checkout, and package data of an installed wheel.

    @settings
    class Recipe:
        seed: Annotated[int, Field(ge=0)] = 1

    load(Recipe, Path("recipe.yaml"), ["seed=3"])

An invalid value raises a `ConfigError` with its key and the expected value.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

import yaml
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter
from pydantic import ValidationError as Invalid
from pydantic.dataclasses import dataclass as checked
from pydantic_core import to_jsonable_python

import kille_env
from kille_env.core.jit import source_digest
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError, did_you_mean, shortened
from kille_env.registry import Table, load_game
from kille_env.yaml_text import parse

S = TypeVar("S")
Overrides = Mapping[str, Any] | Sequence[str]

LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")
SUFFIXES = (".yaml", ".yml")
MOST_BYTES = 1 << 20  # maximum size of a file of settings
_PACKAGE = Path(__file__).parent
_FOLDERS = (_PACKAGE / "configs", _PACKAGE.parents[1] / "configs")
KINDS = ("train", "tournament", "benchmark")  # commands that accept recipes


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def settings(cls: type[S]) -> type[S]:
    """Make a frozen dataclass that checks its values; errors are `ConfigError` with the key."""
    strict = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, ser_json_inf_nan="constants"
    )
    made: Any = checked(frozen=True, config=strict)(cls)
    validate = made.__init__

    def __init__(self: Any, *arguments: Any, **values: Any) -> None:
        try:
            validate(self, *arguments, **values)
        except Invalid as error:
            raise _refusal(made, error) from None

    made.__init__ = __init__
    return made


@settings
class TableSettings:
    """The table to play at.

    Attributes:
        game: Name of the game.
        num_players: Seats of a table; 0 is the game's default.
        rules: Preset and switches, as `kille_env.make(rules=...)` takes them.
        episode: "deal" is one deal, "match" the whole game until a pot is won.
    """

    game: str = "byteskille"
    num_players: int = 0
    rules: Mapping[str, Any] = field(default_factory=dict)
    episode: str = "deal"

    def __post_init__(self) -> None:
        """Fill in the game's default number of seats."""
        if self.num_players == 0:
            object.__setattr__(self, "num_players", load_game(self.game).spec.default_players)

    @classmethod
    def of(cls, rules: Rules, num_players: int) -> "TableSettings":
        """Return the settings of a table with complete rules."""
        switches = rules.as_dict()
        return cls(rules.game, num_players, switches, str(switches.pop("episode")))

    def table(self) -> Table:
        """Return the table with complete rules, or raise if it does not exist."""
        return Table.of(self.game, self.num_players, self.resolve())

    def resolve(self) -> Rules:
        """Return the complete rules, or raise if the game, a switch or the table does not exist."""
        if "episode" in self.rules:
            raise ConfigError("table.rules has the key 'episode'; set table.episode instead")
        game = load_game(self.game).spec
        rules = game.resolve(dict(self.rules), episode=self.episode)
        game.check_players(self.num_players, rules)
        return rules


def folder_name(name: str) -> str:
    """Return a valid name of a folder of results, or raise."""
    if not name or not name.isprintable() or Path(name).name != name or name.startswith("."):
        raise ConfigError(f"name is {name!r}, expected the name of a folder, without / and ..")
    return name


FolderName = Annotated[str, AfterValidator(folder_name)]  # name of a run's folder
List = Annotated[tuple[S, ...], Field(strict=False)]  # list in YAML, a tuple or list in Python
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(gt=0.0, le=1.0)]


def recipes(kind: str) -> dict[str, Path]:
    """Return the recipes of a kind by name, as "knack" for `kille train knack`."""
    for folder in _FOLDERS:
        if found := {path.stem: path for path in sorted((folder / kind).glob("*.yaml"))}:
            return found
    raise ConfigError("this installation has no recipes; install kille-env again")


def find_settings(config: str | Path, kind: str) -> Path:
    """Return the file or folder of a path or of the name of a recipe."""
    path = Path(config)
    if path.exists():
        return path
    known = recipes(kind)
    name = str(config).removeprefix(f"{kind}/")
    if name not in known:
        raise ConfigError(
            f"{str(config)!r} is not a file, a folder or a recipe of kille {kind}. "
            f"{did_you_mean(name, known)}"
        )
    return known[name]


def load(cls: type[S], path: Path, overrides: Overrides = (), **values: Any) -> S:
    """Read settings."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"the settings {path} cannot be read: {error}") from None
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{path} is too large for settings: more than {MOST_BYTES >> 20} MiB")
    try:
        content = parse(data, str(path))
    except ConfigError as error:
        if path.suffix in SUFFIXES:
            raise
        raise ConfigError(
            f"{path} is not a file of settings ({', '.join(SUFFIXES)}): {error}; name a recipe, "
            f"such a file, or a folder of results"
        ) from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} has no settings, expected keys with values")
    return changed(cls, content, overrides, str(path), **values)


def changed(
    cls: type[S], content: dict[str, Any], overrides: Overrides, where: str, **values: Any
) -> S:
    """Make settings from plain values and overrides; arguments as for `load`."""
    for key, value in each_override(overrides):
        _put(content, key, value)
    content |= {key: value for key, value in values.items() if value is not None}
    return build(cls, content, f"{where}: ")


def build(cls: type[S], content: Mapping[str, Any], before: str) -> S:
    """Make settings from plain values."""
    try:
        # Strict JSON has lists and nested keys for tuples and classes, as YAML has.
        return TypeAdapter(cls).validate_json(json.dumps(content, default=str))
    except Invalid as error:
        refusal = _refusal(cls, error)
        raise type(refusal)(f"{before}{refusal}") from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{before}{error}") from None


def plain(content: Any) -> Any:
    """Return settings as plain values for YAML and JSON."""
    return to_jsonable_python(content)


def as_yaml(content: Any) -> str:
    """Return settings or plain values as YAML for `load`."""
    return yaml.safe_dump(plain(content), sort_keys=False, allow_unicode=True)


def each_override(overrides: Overrides) -> list[tuple[str, Any]]:
    """Return the dotted keys of overrides with their values."""
    if isinstance(overrides, Mapping):
        return [(key.strip(), value) for key, value in overrides.items()]
    return list(map(override, overrides))


def override(text: str) -> tuple[str, Any]:
    """Return the key and the value of "key=value"."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ConfigError(
            f"{text!r} is not a setting, expected KEY=VALUE as in learner.decisions=100000"
        )
    return key.strip(), parse(value, f"{text!r}")


def _put(content: dict[str, Any], key: str, value: Any) -> None:
    """Set one value in plain settings, in place, by its dotted key."""
    *path, last = key.split(".")
    for name in path:
        content = content.setdefault(name, {})
        if not isinstance(content, dict):
            raise ConfigError(f"{key!r}: {name} has no keys below it")
    content[last] = value


def _refusal(cls: Any, error: Invalid) -> KilleError:
    """Return an error with the key, the value and the expected value."""
    found = error.errors()[0]
    cause = found.get("ctx", {}).get("error")
    if isinstance(cause, KilleError):  # from a check of ours, which names the key
        return cause
    if not found["loc"]:  # half a surrogate pair
        return ConfigError(found["msg"])
    path: Any
    *path, last = found["loc"]
    if isinstance(last, int) and not path:  # given by position
        last = fields(cls)[last].name
    key = ".".join(name for name in (*path, last) if isinstance(name, str))
    if found["type"] == "unexpected_keyword_argument":
        for name in path:
            cls = get_type_hints(cls)[name]
        if below := _keys_below(cls, str(last)):
            return ConfigError(f"{key} is an unknown key. Did you mean {below[0]!r}?")
        known = [each.name for each in fields(cls)]
        return ConfigError(f"{key} is an unknown key. {did_you_mean(last, known)}")
    if found["type"] == "missing":
        return ConfigError(f"{key} is missing")
    expected = _WORDS.get(found["type"], found["msg"].removeprefix("Input should be "))
    for theirs, ours in _COMPARED.items():
        expected = expected.replace(theirs, ours)
    return ConfigError(f"{key} is {shortened(found['input'])}, expected {expected}")


def _keys_below(cls: Any, key: str) -> list[str]:
    """Return the dotted keys of a name one level down."""
    groups = {name: hint for name, hint in get_type_hints(cls).items() if is_dataclass(hint)}
    return [
        f"{name}.{key}"
        for name, group in groups.items()
        if key in (each.name for each in fields(group))
    ]


_WORDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "too_short": "at least one entry",
    "dict_type": "keys with values",
    "dataclass_type": "keys with values",
}
"""Descriptions of expected values, by pydantic's error types."""
_COMPARED = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}
"""Replacements of pydantic's comparisons in errors."""


def versions() -> dict[str, str]:
    """Return the versions of this package, Python and the libraries."""
    found = {
        "kille-env": kille_env.__version__,
        "sources": source_digest(Path(kille_env.__file__).parent),
        "python": platform.python_version(),
    }
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "missing"
    return found
