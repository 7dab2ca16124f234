"""Numbers of a run: lines of CSV files and TensorBoard's event files."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kille_env.errors import ConfigError
from kille_env.files import write_whole

PROGRESS = (
    "decisions",
    "updates",
    "seconds",
    "decisions_per_second",
    "learning_rate",
    "ent_coef",
    "entropy",
    "policy_loss",
    "value_loss",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
)
"""Columns of progress.csv: one line an update."""
MEASUREMENTS = ("decisions", "seconds", "against", "play", "mean", "low", "high", "deals")
"""Columns of measurements.csv: units a deal with a 95 % interval."""


class Table:
    """A CSV file that grows by a line at a time; its first column counts decisions."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.path, self.columns = path, columns

    def begin(self, up_to: int) -> None:
        """Keeps the lines up to a number of decisions; what follows will be done again."""
        kept = [row for row in self.read() if int(row["decisions"]) <= up_to]
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
        write_whole(self.path, text.getvalue().encode())

    def add(self, row: Mapping[str, Any]) -> None:
        """Appends a line."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerow(row)

    def read(self) -> list[dict[str, str]]:
        """Returns the lines; none if there is no file, and not the last one if it is cut off.

        Raises:
            ConfigError: The file has other columns.
        """
        if not self.path.is_file():
            return []
        with self.path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
        if tuple(reader.fieldnames or ()) != self.columns:
            raise ConfigError(f"{self.path} has other columns than {', '.join(self.columns)}")
        return [row for row in rows if None not in row.values() and None not in row]


class TensorBoard:
    """Writes the same numbers for TensorBoard."""

    def __init__(self, folder: Path, up_to: int) -> None:
        """Opens an event file; what an earlier one says beyond `up_to` decisions is hidden."""
        from torch.utils.tensorboard import SummaryWriter  # slow to import, and only a run needs it

        self._writer = SummaryWriter(str(folder), purge_step=up_to + 1)

    def add(self, prefix: str, row: Mapping[str, Any], names: Iterable[str]) -> None:
        """Writes some columns of a line."""
        for name in names:
            self._writer.add_scalar(f"{prefix}/{name}", float(row[name]), int(row["decisions"]))

    def close(self) -> None:
        """Ends the event file."""
        self._writer.close()
