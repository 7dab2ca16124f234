"""The player who has everything written down: probabilities by what is observed.

A table is one `.npz` file of plain arrays and a line of JSON that says what it was made for. It is
read without pickle, so nothing in it can run.
"""

import io
import json
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.metadata import Card
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.files import write_whole
from kille_env.policy import check_probabilities, check_shapes

FORMAT = "kille-table 1"
SUFFIX = ".npz"
TABLE = "policy.npz"
"""What the table is called in the folder of a solution."""


BROKEN = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,  # by which NumPy reads a header
)
"""What reading a broken file may raise."""


@dataclass(frozen=True)
class TableCard(Card):
    """What a table was made for.

    Attributes:
        made: How it was made, for people.
    """

    made: Mapping[str, Any] = field(default_factory=dict)


class TablePolicy:
    """Looks up what it observes; it knows nothing else."""

    def __init__(
        self,
        card: TableCard,
        observations: np.ndarray,
        probabilities: np.ndarray,
        name: str = "table",
    ) -> None:
        """Checks and sorts the table.

        Args:
            card: What it was made for.
            observations: [K, F] uint8, each once.
            probabilities: [K, A] float64, what to do.
            name: What tables and reports call it.

        Raises:
            PolicyError: The arrays do not belong together, an observation stands there twice, or a
                row is no distribution.
        """
        self.card, self.name = card, name
        if (
            observations.ndim != 2
            or probabilities.ndim != 2
            or len(observations) != len(probabilities)
            or not observations.size
            or observations.dtype != np.uint8
        ):
            raise PolicyError(
                f"a table is observations [K, F] of uint8 and probabilities [K, A], got "
                f"{observations.dtype} {observations.shape} and {probabilities.shape}"
            )
        chances = np.asarray(probabilities, dtype=np.float64)
        check_probabilities(name, chances, np.ones(chances.shape, dtype=np.int8))
        keys = row_keys(observations)
        order = np.argsort(keys)
        self._keys = keys[order]
        if (self._keys[1:] == self._keys[:-1]).any():
            raise PolicyError(f"an observation stands twice in the table of {name}")
        self.observations, self.chances = observations[order], chances[order]

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns what the table says, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: An observation is not in the table, or the table plays what is not legal.
        """
        width, actions = self.observations.shape[1], self.chances.shape[1]
        check_shapes(self.name, observation, mask, width, actions)
        keys = row_keys(observation)
        rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        unknown = self._keys[rows] != keys
        if unknown.any():
            raise PolicyError(
                f"{int(unknown.sum())} of {len(keys)} observations are not in the table of "
                f"{self.name}, the first in row {int(unknown.argmax())}; it was made for a "
                "single deal of its rules"
            )
        chances = self.chances[rows]
        check_probabilities(self.name, chances, mask)
        return chances


def row_keys(rows: np.ndarray) -> np.ndarray:
    """Returns rows [K, F] uint8 as [K] byte strings of one length, which sort and compare whole."""
    rows = np.ascontiguousarray(rows, dtype=np.uint8)
    return rows.view(f"S{rows.shape[1]}").ravel()


def save_table(policy: TablePolicy, path: Path) -> Path:
    """Writes a table, whole or not at all; returns its path, which ends in `.npz`."""
    # By columns, which are much alike: that packs six times better.
    arrays = {
        "observations": np.asfortranarray(policy.observations),
        "probabilities": np.asfortranarray(policy.chances),
    }
    return write_table(path, {"format": FORMAT, **asdict(policy.card)}, arrays)


def write_table(path: Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Writes arrays and what they are for, whole or not at all; returns the path, with `.npz`."""
    path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    path.parent.mkdir(parents=True, exist_ok=True)
    told = np.frombuffer(json.dumps(about, sort_keys=True).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=told, **arrays)
    write_whole(path, buffer.getvalue())
    return path


def table_file(path: str | Path) -> Path | None:
    """Returns the file of the table that a path means; None if it means something else."""
    path = Path(path)
    if path.is_dir():
        path = path / TABLE
    return path if path.suffix == SUFFIX and path.is_file() else None


def table_name(path: Path) -> str:
    """Returns what the player in a file is called: by its folder, or by the file itself."""
    return path.parent.name if path.name == TABLE else path.stem


def load_table(path: Path, game: str, num_players: int, rules: Rules) -> TablePolicy:
    """Reads a table and checks that it is for this game, these seats and these rules.

    Raises:
        PolicyError: It cannot be read, or is for something else; the message names every
            difference.
    """
    about, arrays = read_arrays(path, FORMAT, ("observations", "probabilities"))
    card = card_of(about, path)
    if wrong := card.differences(game, num_players, rules):
        raise PolicyError(f"the table in {path} does not fit: {'; '.join(wrong)}")
    return TablePolicy(card, arrays["observations"], arrays["probabilities"], table_name(path))


def read_card(path: Path) -> tuple[str, TableCard]:
    """Reads what a table was made for, and its format: a table of deals or one of matches.

    Raises:
        PolicyError: It is no table, or cannot be read.
    """
    about, _ = read_arrays(path, None, ())
    return str(about["format"]), card_of(about, path)


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
        # Read as a whole first: NumPy leaves a file open that it cannot read.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            about = json.loads(bytes(file["about"]))
            arrays = {name: file[name] for name in names}
        if expected not in (None, about["format"]):
            raise ValueError(f"its format is {about['format']!r}")
        if strange := [name for name in names if arrays[name].dtype.kind not in "iuf"]:
            raise ValueError(f"{strange[0]} is no array of numbers")
        return about, arrays
    except BROKEN as error:
        kind = f" ({expected})" if expected else ""
        raise PolicyError(f"{path} is no table of a player{kind}: {error}") from None


def card_of(about: Mapping[str, Any], path: Path) -> TableCard:
    """Returns what a table was made for.

    Raises:
        PolicyError: Something is missing, or of another type; the message names it.
    """
    kinds = {"game": str, "game_version": int, "num_players": int, "rules": dict, "made": dict}
    for name, kind in kinds.items():
        if not isinstance(about.get(name), kind):
            raise PolicyError(
                f"{path} is no table of a player: {name} is {about.get(name)!r}, "
                f"expected {kind.__name__}"
            )
    return TableCard(**{name: about[name] for name in kinds})
