"""Recipes: settings that come with the package, by name.

They are the files of `configs/` in a checkout, and package data of an installed wheel.
"""

from pathlib import Path

from kille_env.errors import ConfigError, did_you_mean

_PACKAGE = Path(__file__).parent
_FOLDERS = (_PACKAGE / "configs", _PACKAGE.parents[1] / "configs")
DEMO = "demo"
KINDS = ("train", "tournament")


def folder() -> Path:
    """Returns where the recipes are.

    Raises:
        ConfigError: The installation lacks them.
    """
    for each in _FOLDERS:
        if (each / f"{DEMO}.yaml").is_file():
            return each
    raise ConfigError("this installation has no recipes; install kille-env again")


def names() -> list[str]:
    """Returns the names of all recipes: "demo", "train/byteskille", "tournament/byteskille", ..."""
    found = [DEMO]
    for kind in KINDS:
        found += [f"{kind}/{path.stem}" for path in sorted((folder() / kind).glob("*.yaml"))]
    return found


def recipe(name: str) -> Path:
    """Returns the file of a recipe.

    Raises:
        ConfigError: There is no such recipe.
    """
    if name not in names():
        raise ConfigError(f"there is no recipe {name!r}. {did_you_mean(name, names())}")
    return folder() / f"{name}.yaml"


def find(config: str | Path, kind: str) -> Path:
    """Returns the file or folder that a command is given: a path, or the name of a recipe.

    Args:
        config: A path, or a name as in "byteskille".
        kind: One of `KINDS`, the folder that a name is looked up in.

    Raises:
        ConfigError: There is neither.
    """
    path = Path(config)
    if path.exists():
        return path
    known = [name.partition("/")[2] for name in names() if name.startswith(f"{kind}/")]
    short = str(config).removeprefix(f"{kind}/")
    if short in known:
        return recipe(f"{kind}/{short}")
    raise ConfigError(
        f"{str(config)!r} is no file, no folder and no recipe for kille {kind}. "
        f"{did_you_mean(short, known)}"
    )


def about(name: str) -> str:
    """Returns the first line of a recipe, which says what it is for."""
    with recipe(name).open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()
