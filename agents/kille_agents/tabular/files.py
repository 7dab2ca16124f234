"""The files of tabular policies: plain arrays, and a line of JSON that says what they are for.

They are read without pickle, so nothing in them can run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.metadata import Metadata
from kille_env import files
from kille_env.errors import PolicyError
from kille_env.files import BROKEN

SUFFIX = ".npz"
TABULAR = "policy.npz"
"""What a tabular policy is called in the folder of a solution."""


@dataclass(frozen=True)
class TabularMetadata(Metadata):
    """What a tabular policy was made for.

    Attributes:
        made: How it was made, for people.
    """

    made: Mapping[str, Any] = field(default_factory=dict)


def tabular_file(path: str | Path) -> Path | None:
    """Returns the file of the tabular policy that a path means; None if it means something else."""
    path = Path(path)
    if path.is_dir():
        path = path / TABULAR
    return path if path.suffix == SUFFIX and path.is_file() else None


def tabular_name(path: Path) -> str:
    """Returns the name of the policy in a file: that of its folder, or of the file itself."""
    return path.parent.name if path.name == TABULAR else path.stem


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Writes arrays and what they are for, whole or not at all; returns the path, with `.npz`."""
    path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_arrays(path, about, arrays)
    return path


def read_arrays(
    path: Path, expected: str | None, names: Sequence[str]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads what a file says it is for, and arrays out of it.

    Args:
        path: The file.
        expected: Its format; None takes any.
        names: The arrays, all of numbers.

    Raises:
        PolicyError: It is no such file, or cannot be read.
    """
    try:
        about, found = files.read_arrays(path)
        arrays = {name: found[name] for name in names}
        if expected not in (None, about["format"]):
            raise ValueError(f"its format is {about['format']!r}")
        if strange := [name for name in names if arrays[name].dtype.kind not in "iuf"]:
            raise ValueError(f"{strange[0]} is no array of numbers")
        return about, arrays
    except BROKEN as error:
        kind = f" ({expected})" if expected else ""
        raise PolicyError(f"{path} is no tabular policy{kind}: {error}") from None


def read_metadata(path: Path) -> tuple[str, TabularMetadata]:
    """Reads the format of a tabular policy and what it was made for.

    Raises:
        PolicyError: It is no tabular policy, or cannot be read.
    """
    about, _ = read_arrays(path, None, ())
    return str(about["format"]), metadata_of(about, path)


def metadata_of(about: Mapping[str, Any], path: Path) -> TabularMetadata:
    """Returns what a tabular policy was made for.

    Raises:
        PolicyError: Something is missing, or of another type; the message names it.
    """
    kinds = {"game": str, "game_version": int, "num_players": int, "rules": dict, "made": dict}
    for name, kind in kinds.items():
        if not isinstance(about.get(name), kind):
            raise PolicyError(
                f"{path} is no tabular policy: {name} is {about.get(name)!r}, "
                f"expected {kind.__name__}"
            )
    return TabularMetadata(**{name: about[name] for name in kinds})


def row_keys(rows: np.ndarray) -> np.ndarray:
    """Returns rows [K, F] uint8 as [K] byte strings of one length, which sort and compare whole."""
    rows = np.ascontiguousarray(rows, dtype=np.uint8)
    return rows.view(f"S{rows.shape[1]}").ravel()
