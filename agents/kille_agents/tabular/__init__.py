"""Policies that are stored: of a deal by what is observed, of a match by how it stands."""

from pathlib import Path

from kille_agents.tabular import matches
from kille_agents.tabular.deals import TabularPolicy, load_tabular, save_tabular
from kille_agents.tabular.files import (
    BROKEN,
    SUFFIX,
    TABULAR,
    TabularMetadata,
    read_metadata,
    tabular_file,
)
from kille_agents.tabular.matches import (
    TabularMatchPolicy,
    load_tabular_match,
    save_tabular_match,
)
from kille_env.core.spec import Rules

__all__ = [
    "BROKEN",
    "SUFFIX",
    "TABULAR",
    "TabularMatchPolicy",
    "TabularMetadata",
    "TabularPolicy",
    "load_tabular",
    "load_tabular_file",
    "load_tabular_match",
    "read_metadata",
    "save_tabular",
    "save_tabular_match",
    "tabular_file",
]


def load_tabular_file(
    path: Path, game: str, num_players: int, rules: Rules
) -> TabularPolicy | TabularMatchPolicy:
    """Reads a tabular policy of a deal or of a match, whichever the file holds.

    Raises:
        PolicyError: It cannot be read, or is for something else; the message names every
            difference.
    """
    of_match = read_metadata(path)[0] == matches.FORMAT
    load = load_tabular_match if of_match else load_tabular
    return load(path, game, num_players, rules)
