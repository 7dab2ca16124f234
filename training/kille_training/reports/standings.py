"""The standings of a tournament for the terminal."""

from collections.abc import Sequence
from typing import Any

from kille_env.words.text import printable
from kille_training.arena.results import Standing, TournamentResult
from kille_training.results import TextTable


def renderable(rows: Sequence[Standing], title: str, measure: str) -> TextTable:
    """Returns standings for the terminal.

    Args:
        rows: The standings.
        title: The table's title.
        measure: What the means hold, as "units per deal".
    """
    cells = [row.cells() for row in rows]
    return TextTable(title, [">place", "entrant", f">{measure}", ">played"], cells)


def renderables(result: TournamentResult) -> list[Any]:
    """Returns the standings of all table sizes for the terminal."""
    shown: list[Any] = [
        renderable(rows, f"{seats} seats", result.measure) for seats, rows in result.ranked.items()
    ]
    return shown + [printable(note) for note in result.notes()]
