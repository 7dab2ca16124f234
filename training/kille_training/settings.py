"""Settings: frozen dataclasses that pydantic checks, read from YAML and overridden by `KEY=VALUE`.

    @settings
    class Recipe:
        seed: Annotated[int, Field(ge=0)] = 1

    load(Recipe, Path("recipe.yaml"), ["seed=3"])

Everything that a file can get wrong is refused here with a sentence: an unknown key, a value of
another type, a value out of bounds, and YAML that no settings need (aliases, deep nesting, dates).
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_type_hints

import yaml
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic import ValidationError as Invalid
from pydantic.dataclasses import dataclass as checked
from pydantic_core import to_jsonable_python

from kille_env.errors import ConfigError, KilleError, did_you_mean

S = TypeVar("S")
Overrides = Mapping[str, Any] | Sequence[str]

MOST_BYTES, MOST_DEPTH, MOST_DIGITS = 1 << 20, 32, 30
"""The size of a file of settings, its levels of nesting, and the length of a number, at most."""


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def settings(cls: type[S]) -> type[S]:
    """Makes a class of settings: a frozen dataclass whose values are checked whenever it is made.

    A value that does not fit raises a `ConfigError` that names the key.
    """
    strict = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    made: Any = checked(frozen=True, config=strict)(cls)
    validate = made.__init__

    def __init__(self: Any, *arguments: Any, **values: Any) -> None:
        try:
            validate(self, *arguments, **values)
        except Invalid as error:
            cause = error.errors()[0].get("ctx", {}).get("error")
            if isinstance(cause, KilleError):  # from a check of ours
                raise cause from None
            raise ConfigError(_sentence(made, error)) from None

    made.__init__ = __init__
    return made


def folder_name(name: str) -> str:
    """Returns the name of a folder of results, if it is one.

    Raises:
        ConfigError: It would lead elsewhere, or is hidden or cannot be printed.
    """
    if not name or not name.isprintable() or Path(name).name != name or name.startswith("."):
        raise ConfigError(f"name is {name!r}, expected the name of a folder, without / and ..")
    return name


def _one_size(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise ConfigError(f"num_players is {list(value)}, expected one number of seats here")
        return value[0]
    return value


def _sizes(value: Any) -> Any:
    sizes = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not sizes or len(set(map(str, sizes))) < len(sizes):
        raise ConfigError(
            f"num_players is {list(sizes)}, expected each table size once, as in 3 or [2, 3]"
        )
    return sizes


FolderName = Annotated[str, AfterValidator(folder_name)]
"""The name of a run's folder."""
OneSize = Annotated[int, BeforeValidator(_one_size)]
"""`num_players` where there is one table: 3, or a list of one number."""
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes)]
"""`num_players` where there may be several tables: 3 or [2, 3]."""
List = Annotated[tuple[S, ...], Field(strict=False)]
"""A list in YAML, a tuple or list in Python."""


def load(cls: type[S], path: Path, overrides: Overrides = (), **values: Any) -> S:
    """Reads settings.

    Args:
        cls: A class of settings.
        path: A YAML file.
        overrides: Values by dotted keys ({"learner.decisions": 100_000}), or texts "key=value" with
            YAML values.
        **values: Top-level values that win over both, as command-line options do; None means not
            given.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value is impossible.
    """
    content = read_yaml(path)
    given = overrides.items() if isinstance(overrides, Mapping) else map(parse_override, overrides)
    for key, value in given:
        override(content, key, value)
    content |= {key: value for key, value in values.items() if value is not None}
    return build(cls, content, str(path))


def build(cls: type[S], content: Mapping[str, Any], where: str) -> S:
    """Makes settings from plain values.

    Args:
        cls: A class of settings.
        content: Plain values by key.
        where: What the values were read from, for the message.

    Raises:
        ConfigError: A key is unknown, or a value does not fit.
    """
    try:
        return _build(cls, content, "")
    except KilleError as error:
        raise type(error)(f"{where}: {error}") from None


def _build(cls: type[S], content: Mapping[str, Any], prefix: str) -> S:
    kinds = get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in kinds:
            raise ConfigError(f"{prefix}{key} is an unknown key. {did_you_mean(key, kinds)}")
        nested = dataclasses.is_dataclass(kinds[key]) and isinstance(value, Mapping)
        values[key] = _build(kinds[key], value, f"{prefix}{key}.") if nested else value
    try:
        return cls(**values)
    except ConfigError as error:
        raise ConfigError(f"{prefix}{error}") from None


def plain(content: Any) -> Any:
    """Returns settings as values that YAML and JSON can hold."""
    return to_jsonable_python(content)


def as_yaml(content: Any) -> str:
    """Returns settings or plain values as YAML that `read_yaml` reads."""
    return yaml.safe_dump(plain(content), sort_keys=False, allow_unicode=True)


def read_yaml(path: Path) -> dict[str, Any]:
    """Returns the mapping that a YAML file holds.

    Raises:
        ConfigError: The file is missing, no YAML, or holds something else.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ConfigError(
                f"{path} is larger than {MOST_BYTES >> 20} MiB, too large for settings"
            )
        content = parse(data.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings {path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} holds no settings, expected keys with values")
    return content


def parse(text: str) -> Any:
    """Returns what a text of YAML says.

    Raises:
        yaml.YAMLError: It is not YAML, or holds what no settings need.
    """
    return yaml.load(text, Loader=_Loader)


def override(content: dict[str, Any], key: str, value: Any) -> None:
    """Puts one value into plain settings, in place.

    Args:
        content: The settings.
        key: With dots, as in "learner.decisions".
        value: The value.

    Raises:
        ConfigError: The key leads nowhere.
    """
    *path, last = key.strip().split(".")
    for name in path:
        below = content.setdefault(name, {})
        if not isinstance(below, dict):
            raise ConfigError(f"{key!r}: {name} has no keys below it")
        content = below
    content[last] = value


def parse_override(text: str) -> tuple[str, Any]:
    """Returns the key and the value of "key=value".

    Raises:
        ConfigError: It is no setting.
    """
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise ConfigError(
            f"{text!r} is no setting, expected KEY=VALUE as in learner.decisions=100000"
        )
    try:
        return key, parse(value)
    except yaml.YAMLError as error:
        raise ConfigError(
            f"{text!r}: the value is not valid YAML: {' '.join(str(error).split())}"
        ) from None


class _Loader(yaml.SafeLoader):
    """Reads the YAML that settings need, and refuses the rest before it can do harm."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Composes a node; refuses aliases, which can unfold to gigabytes, and deep nesting."""
        if self.check_event(yaml.AliasEvent):
            raise self._refusal(self.peek_event(), "an alias (*); write the value out")
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self._refusal(self.peek_event(), f"more than {MOST_DEPTH} nested levels")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_scalar(self, node: Any) -> Any:
        """Returns a scalar's text; refuses numbers and characters that nothing can be done with."""
        text = super().construct_scalar(node)
        if node.tag.endswith((":int", ":float")) and len(text) > MOST_DIGITS:
            raise self._refusal(node, f"a number of {len(text):,} characters")
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise self._refusal(node, "a text with a NUL or half a surrogate pair")
        return text

    @staticmethod
    def _refusal(at: Any, what: str) -> yaml.YAMLError:
        return yaml.constructor.ConstructorError(None, None, f"{what} is refused", at.start_mark)


def _resolvers() -> dict[str, list[Any]]:
    """Returns YAML's rules for plain scalars: without dates, and with 3e-4 as a number."""
    kept = {
        first: [(tag, rule) for tag, rule in rules if not tag.endswith(":timestamp")]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    exponent = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$")
    for first in "-+0123456789":
        kept[first] = [("tag:yaml.org,2002:float", exponent), *kept.get(first, [])]
    return kept


_Loader.yaml_implicit_resolvers = _resolvers()


def _sentence(cls: type, error: Invalid) -> str:
    """Returns which value does not fit, and what was expected."""
    found = error.errors()[0]
    key, limits = found["loc"][0], found.get("ctx", {})
    if isinstance(key, int):  # given by position
        key = dataclasses.fields(cls)[key].name
    key = str(key)
    if found["type"] == "unexpected_keyword_argument":
        return f"{key} is an unknown key. {did_you_mean(key, get_type_hints(cls))}"
    if found["type"] == "missing":
        return f"{key} is missing"
    said = f"{key} is {found['input']!r}"
    if found["type"] == "literal_error":
        return f"{said}. {did_you_mean(found['input'], get_args(get_type_hints(cls)[key]))}"
    for limit, words in _LIMITS.items():
        if limit in limits:
            return f"{said}, expected {words} {limits[limit]:g}"
    return f"{said}, expected {_EXPECTED.get(found['type'], found['msg'])}"


_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "too_short": "at least one entry",
    "dict_type": "keys with values",
    "mapping_type": "keys with values",
    "dataclass_type": "keys with values",
    "dataclass_exact_type": "keys with values",
}
"""What was expected, by pydantic's types of errors."""
