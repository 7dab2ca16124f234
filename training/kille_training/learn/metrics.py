"""Numbers of a run: lines of CSV files and TensorBoard's event files."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.evaluation.duplicate import known_play

PROGRESS = (
    "decisions",
    "updates",
    "seconds",
    "decisions_per_second",
)
"""First columns of progress.csv, one line per update; then come those of the method."""
MEASUREMENTS = ("decisions", "seconds", "against", "play", "mean", "low", "high", "deals")
"""Columns of measurements.csv: units per deal with a 95% interval."""
EXACT = ("decisions", "seconds", "play", "nash_conv")
"""Columns of exact.csv: NashConv in units per deal."""
TEXTS = ("against", "play")
"""Columns that hold no numbers."""


class Table:
    """A CSV file that grows by a line at a time; its first column counts decisions.

    The file may have more columns than are asked for, behind these.
    """

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.path, self.columns = path, columns

    def begin(self, up_to: int) -> None:
        """Keeps the lines up to a number of decisions; later ones will be computed again."""
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
            ConfigError: The file has other columns, or something else than numbers in them.
        """
        if not self.path.is_file():
            return []
        try:
            text = self.path.read_text(encoding="utf-8")
            reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]), strict=True)
            rows = list(reader)
            self._check(reader.fieldnames, rows)
        except (ValueError, csv.Error) as error:
            raise ConfigError(
                f"{self.path} is damaged: {error}. Move it away and run the command again; the run "
                "continues without its history"
            ) from None
        return rows

    def _check(self, columns: Sequence[str] | None, rows: list[dict[str, str]]) -> None:
        """Raises a `ValueError` where the content is no such table."""
        if tuple(columns or ())[: len(self.columns)] != self.columns:
            raise ValueError(f"expected the columns {', '.join(self.columns)}")
        for number, row in enumerate(rows, start=2):
            for name, value in row.items():
                try:
                    if name not in TEXTS:
                        float(value)
                except (TypeError, ValueError):
                    raise ValueError(f"line {number} has no number under {name}") from None
        if "play" in self.columns:
            for row in rows:
                known_play(row["play"])


class TensorBoard:
    """Writes the same numbers for TensorBoard."""

    def __init__(self, folder: Path, up_to: int) -> None:
        """Opens an event file that hides what an earlier one holds beyond `up_to` decisions."""
        from torch.utils.tensorboard import SummaryWriter  # only a run needs it

        self._writer = SummaryWriter(str(folder), purge_step=up_to + 1)

    def add(self, prefix: str, row: Mapping[str, Any], names: Iterable[str]) -> None:
        """Writes some columns of a line."""
        for name in names:
            self._writer.add_scalar(f"{prefix}/{name}", float(row[name]), int(row["decisions"]))
        self._writer.flush()

    def close(self) -> None:
        """Closes the event file."""
        self._writer.close()
