"""Rule spaces by name: YAML files in `configs/rules`, and files of your own."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from kille_env.core.rule_space import RuleSpace
from kille_env.core.spec import Part
from kille_env.errors import ConfigError, KilleError, RulesError, did_you_mean, shortened
from kille_env.registry import Table, spec

__all__ = ["SpaceTable", "list_rule_spaces", "rule_space", "rules_folder"]

MOST_BYTES = 1 << 20
"""Maximum size of a file."""
REQUIRED = ("game", "seats", "vary")
KEYS = (*REQUIRED, "base", "held_out", "dull")
"""Keys of a file: the game, and arguments of `RuleSpace`."""
SUFFIXES = (".yaml", ".yml")


def rules_folder() -> Path:
    """Return the folder of the rule spaces and their held-out tables.

    Raises:
        ConfigError: This installation has none.
    """
    package = Path(__file__).parent
    for folder in (package / "configs" / "rules", package.parent / "configs" / "rules"):
        if folder.is_dir():
            return folder
    raise ConfigError("this installation has no rule spaces; install kille-env again")


def list_rule_spaces() -> tuple[str, ...]:
    """Return the names of all rule spaces.

    Example:
        >>> import kille_env
        >>> "krypkille-scores" in kille_env.list_rule_spaces()
        True
    """
    return tuple(sorted(path.stem for path in rules_folder().glob("*.yaml")))


def rule_space(name: str | Path) -> RuleSpace:
    """Return a rule space: switches of a game that vary, with regions held out from training.

    Example:
        >>> import kille_env
        >>> space = kille_env.rule_space("krypkille-scores")
        >>> batch = kille_env.make_batch(space.game, 8, 2, rules=space.draw(1, seed=3)[0])

    Args:
        name: A name, see `list_rule_spaces`, or a YAML file with the same keys.

    Raises:
        RulesError: There is no such space, or the file names a switch or value that the game does
            not have.
        ConfigError: The file cannot be read, or has an unknown key.
    """
    if isinstance(name, (str, Path)) and Path(name).suffix in SUFFIXES:
        # In full, because runs and policies keep the name, and are read from other folders.
        path = Path(name).resolve()
        return _read(path, str(path))
    if name not in (known := list_rule_spaces()):
        raise RulesError(f"there is no rule space {shortened(name)}. {did_you_mean(name, known)}")
    return _built_in(str(name))


@cache
def _built_in(name: str) -> RuleSpace:
    """Return a space of `configs/rules`, one shared object: its pools are made once."""
    return _read(rules_folder() / f"{name}.yaml", name)


def _read(path: Path, name: str) -> RuleSpace:
    from kille_env.yaml_text import parse  # slow to import

    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ConfigError(f"it is larger than {MOST_BYTES >> 20} MiB")
        content = parse(data, "its text")
    except (OSError, ConfigError) as error:
        raise ConfigError(f"{path} is not a rule space: {shortened(str(error))}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is not a rule space, expected the keys {', '.join(KEYS)}")
    for key in content:
        if key not in KEYS:
            raise ConfigError(
                f"{path} has the unknown key {shortened(key)}. {did_you_mean(key, KEYS)}"
            )
    if missing := [key for key in REQUIRED if key not in content]:
        raise ConfigError(f"{path} lacks {', '.join(missing)}")
    game = content.pop("game")
    try:
        return RuleSpace(spec(game), name=name, **content)
    except KilleError as error:
        said = str(error).removeprefix(f"{name}: ")
        raise type(error)(f"{path}: {said}") from None


@dataclass(frozen=True)
class SpaceTable(Table):
    """A table that draws its rules from a space at each match.

    `rules` are the base of the space, or the first rules of its region where the base is in none.

    Attributes:
        space: The space.
        told: Whether observations hold the rules.
    """

    space: RuleSpace
    told: bool

    @classmethod
    def over(cls, space: RuleSpace, num_players: int, *, told: bool) -> Self:
        """Return a table of a space."""
        rules = space.base if space.region_of(space.base) else space.rules()[0]
        return cls(space.game, num_players, rules, spec(space.game).version, space, told)

    def observation(self) -> tuple[Part, ...]:
        """Return the layout of the observations, with the rules last if they are told."""
        return spec(self.game).layout("observation", self.told)(self.num_players)

    def __str__(self) -> str:
        return f"{self.game}, {self.num_players} seats, rules of {self.space.name}"
