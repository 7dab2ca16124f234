"""Tables of the truth set by name: docs/truth.md."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kille_env.errors import KilleError, did_you_mean, shortened
from kille_env.registry import list_games

if TYPE_CHECKING:
    from kille_training.solving.trees.stored import StoredTree

INDEX, FILE = "index.csv", "table.npz"
_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "truth", _PACKAGE.parents[1] / "truth")
"""The index alone in an installed wheel; the whole set in a checkout."""


@cache
def index() -> dict[str, dict[str, str]]:
    """Return the lines of the index by name."""
    file = next((folder / INDEX for folder in _FOLDERS if (folder / INDEX).is_file()), None)
    if file is None:
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row for row in csv.DictReader(lines)}


def named(game: str | None, num_players: int | None, rules: Any) -> tuple[Any, Any, Any]:
    """Return game, seats and rules, which may be those of a table of the set named as the game."""
    row = index().get(game) if isinstance(game, str) and game not in list_games() else None
    if row is None:
        return game, num_players, rules
    if row["game"] not in list_games():
        raise KilleError(
            f"{game} is a game of other authors; kille_training.load_tree({game!r}) reads it, and "
            "the solvers of kille_training.solving.trees solve it"
        )
    if row["cards"]:
        raise KilleError(
            f"{game} is played with a few cards of {row['game']}, which no rules describe; "
            f"kille_training.load_tree({game!r}) reads it"
        )
    if num_players not in (None, int(row["seats"])) or rules:
        raise KilleError(f"{game} has its own seats and rules; name its game to choose others")
    return row["game"], int(row["seats"]), json.loads(row["rules"])


def load_tree(table: str | Path) -> "StoredTree":
    """Read a table of the truth set with its solution.

    Example:
        >>> import kille_training as kt
        >>> found = kt.load_tree("kuhn-2")
        >>> found.nash_conv.total < 1e-5
        True

    Args:
        table: Its name, or the path of a `table.npz`.

    Returns:
        The game in sequence form (`tree`), its solution (`strategy`) and `nash_conv`.

    Raises:
        KilleError: No such table, or its file is not in the repository, or it is damaged.
    """
    from kille_training.solving.trees.stored import read_tree  # measuring needs only names

    if str(table) not in index():
        if Path(table).is_file():
            return read_tree(table)
        known = did_you_mean(str(table), index())
        raise KilleError(f"there is no table and no file {shortened(str(table))}. {known}")
    file = _FOLDERS[1] / table / FILE
    if not file.is_file():
        raise KilleError(
            f"{table} has no file here: a checkout of the repository has those of small tables, "
            f"and `python truth/make.py {table}` makes it"
        )
    return read_tree(file)
