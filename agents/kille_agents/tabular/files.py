"""The files of tabular policies: plain arrays, and a line of JSON with their metadata.

They are read without pickle, so nothing in them can run.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.metadata import Metadata
from kille_env import files
from kille_env.errors import PolicyError
from kille_env.files import BROKEN

SUFFIX = ".npz"
TABULAR = "policy.npz"  # file name of a tabular policy in the folder of a solution


def tabular_file(path: str | Path) -> Path | None:
    """Return the file of the tabular policy that a path means; None if it means something else."""
    path = Path(path)
    if path.is_dir():
        path = path / TABULAR
    return path if path.suffix == SUFFIX and path.is_file() else None


def tabular_name(path: Path) -> str:
    """Return the name of the policy in a file: that of its folder, or of the file itself."""
    return path.parent.name if path.name == TABULAR else path.stem


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write arrays and metadata, whole or not at all; return the path, with `.npz`."""
    path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    files.make_folder(path.parent)
    files.write_arrays(path, about, arrays)
    return path


def read_arrays(
    path: Path, wanted: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Any], Metadata, dict[str, np.ndarray]]:
    """Read the header of a file, its metadata, and its arrays, all of numbers."""
    try:
        about, found = files.read_arrays(path)
        if about["format"] not in wanted:
            raise ValueError(f"its format is {about['format']!r}")
        arrays = {name: found[name] for name in wanted[about["format"]]}
        if strange := [name for name, array in arrays.items() if array.dtype.kind not in "iuf"]:
            raise ValueError(f"{strange[0]} is no array of numbers")
        return about, Metadata.read(about), arrays
    except BROKEN as error:
        raise PolicyError(f"{path} is no tabular policy: {error}") from None


class Index:
    """Find rows of bytes."""

    def __init__(self, rows: np.ndarray, name: str, where: str) -> None:
        """Sort the rows."""
        keys = _row_keys(rows)
        self.order, self._name, self._where = np.argsort(keys), name, where
        self._keys = keys[self.order]
        if (self._keys[1:] == self._keys[:-1]).any():
            raise PolicyError(f"a row occurs twice in the tabular policy {name}")

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Return the number of each row [N, F]."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        keys = _row_keys(rows)
        places, unknown = np.searchsorted(self._keys, keys), np.ones(len(keys), dtype=np.bool_)
        if len(self._keys):
            places = np.minimum(places, len(self._keys) - 1)
            unknown = self._keys[places] != keys
        if unknown.any():
            raise PolicyError(
                f"{int(unknown.sum())} of {len(keys)} decisions cannot occur in {self._where} that "
                f"the tabular policy {self._name} was made for"
            )
        return self.order[places]


def _row_keys(rows: np.ndarray) -> np.ndarray:
    """Return rows [K, F] uint8 as [K] byte strings of one length, which sort and compare whole."""
    # NumPy compares byte strings without their zeros at the end, which rows of one length lose
    # alike.
    rows = np.ascontiguousarray(rows, dtype=np.uint8)
    return rows.view(f"S{rows.shape[1]}").ravel()
