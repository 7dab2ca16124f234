"""Stored policies: of a deal by observation, of a match by its state."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular import deals, matches
from kille_agents.tabular.deals import TabularPolicy
from kille_agents.tabular.files import (
    SUFFIX,
    TABULAR,
    read_arrays,
    tabular_file,
    tabular_name,
    write_arrays,
)
from kille_agents.tabular.matches import TabularMatchPolicy
from kille_env.errors import PolicyError

__all__ = [
    "SUFFIX",
    "TABULAR",
    "TabularMatchPolicy",
    "TabularPolicy",
    "load_tabular",
    "read_metadata",
    "save_tabular",
    "tabular_file",
]


def save_tabular(policy: TabularPolicy | TabularMatchPolicy, path: Path) -> Path:
    """Write a tabular policy, whole or not at all; return its path, which ends in `.npz`."""
    if isinstance(policy, TabularMatchPolicy):
        about, arrays = {"format": matches.FORMAT, "capped": policy.capped}, policy.arrays
    else:
        # By columns, which are much alike: that packs six times better.
        arrays = {
            "observations": np.asfortranarray(policy.observations),
            "probabilities": np.asfortranarray(policy.action_probabilities),
        }
        about = {"format": deals.FORMAT}
    return write_arrays(path, {**about, **asdict(policy.metadata)}, arrays)


def load_tabular(path: Path) -> TabularPolicy | TabularMatchPolicy:
    """Read a tabular policy of any table."""
    wanted = {deals.FORMAT: deals.ARRAYS, matches.FORMAT: matches.ARRAYS}
    about, metadata, arrays = read_arrays(path, wanted)
    name = tabular_name(path)
    if about["format"] == deals.FORMAT:
        return TabularPolicy(metadata, arrays["observations"], arrays["probabilities"], name)
    try:
        return TabularMatchPolicy(metadata, about.get("capped") is True, arrays, name)
    except (IndexError, ValueError) as error:
        raise PolicyError(
            f"the arrays of the tabular policy {name} do not belong together: {error}"
        ) from None


def read_metadata(path: Path) -> Metadata:
    """Read the metadata of a tabular policy."""
    return read_arrays(path, {deals.FORMAT: (), matches.FORMAT: ()})[1]
