"""Recipes: settings that come with the package, by name: `kille train knack`.

They are the files of `configs/` in a checkout, and package data of an installed wheel.
"""

from pathlib import Path

from kille_env.errors import ConfigError, did_you_mean

_PACKAGE = Path(__file__).parent
_FOLDERS = (_PACKAGE / "configs", _PACKAGE.parents[1] / "configs")
KINDS = ("train", "tournament", "benchmark")


def recipes(kind: str) -> dict[str, Path]:
    """Return the files of a kind by name, as "knack" for `kille train knack`.

    Raises:
        ConfigError: The installation lacks them.
    """
    for folder in _FOLDERS:
        if found := {path.stem: path for path in sorted((folder / kind).glob("*.yaml"))}:
            return found
    raise ConfigError("this installation has no recipes; install kille-env again")


def find(config: str | Path, kind: str) -> Path:
    """Return the file or folder that a command is given: a path, or the name of a recipe.

    Args:
        config: A path, or a name as in "byteskille".
        kind: One of `KINDS`, the command.

    Raises:
        ConfigError: There is neither.
    """
    path = Path(config)
    if path.exists():
        return path
    known = recipes(kind)
    name = str(config).removeprefix(f"{kind}/")
    if name not in known:
        raise ConfigError(
            f"{str(config)!r} is no file, no folder and no recipe for kille {kind}. "
            f"{did_you_mean(name, known)}"
        )
    return known[name]
