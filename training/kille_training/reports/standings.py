"""The standings: what each entrant earns, how sure that is, and who is out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table as RichTable
from rich.text import Text

from kille_env.core.text import printable
from kille_training.arena.store import KeptEntrant, Store
from kille_training.labels import plural_of
from kille_training.statistics.intervals import units
from kille_training.statistics.observations import Observations


@dataclass(frozen=True)
class Standing:
    """A line of the standings at one table size.

    Attributes:
        place: 1 for the best; who has not played or is out has none.
        name: The entrant.
        mean: Units a deal; None before he has played.
        half: Half the 95 % interval; None before there is one.
        deals: Deals that he has played.
        out: Why he is out of the tournament, None if he is not.
    """

    place: int | None
    name: str
    mean: float | None
    half: float | None
    deals: int
    out: str | None


def standings(observations: Observations, entrants: Sequence[KeptEntrant]) -> list[Standing]:
    """Returns the standings at tables of one size, best first, those out last.

    Args:
        observations: What was played.
        entrants: All entrants, in the order of their numbers.
    """
    found = units(observations, len(entrants))
    rows = []
    for number, entrant in enumerate(entrants):
        played = int(found.deals[number])
        mean = float(found.mean[number]) if played else None
        half = float(found.half[number]) if np.isfinite(found.half[number]) else None
        rows.append(Standing(None, entrant.name, mean, half, played, entrant.out))
    rows.sort(key=lambda row: (row.out is not None, row.mean is None, -(row.mean or 0.0)))
    return [
        replace(row, place=place) if row.out is None and row.mean is not None else row
        for place, row in enumerate(rows, start=1)
    ]


def renderable(rows: Sequence[Standing], title: str, measure: str, most: int = 0) -> RichTable:
    """Returns standings for the terminal.

    Args:
        rows: The standings.
        title: The table's title.
        measure: What the means hold, as "units per deal".
        most: How many to show, the best ones; 0 is all.
    """
    table = RichTable(title=title, title_justify="left")
    table.add_column("", justify="right")
    table.add_column("entrant")
    table.add_column(measure, justify="right")
    table.add_column(plural_of(measure.split()[-1]), justify="right")
    shown = rows[:most] if most else rows
    for row in shown:
        mean = "" if row.mean is None else f"{row.mean:+.4f}"
        half = "" if row.half is None else f" ± {row.half:.4f}"
        place = "out" if row.out is not None else str(row.place or "")
        # As text, because a name may hold what rich takes for markup.
        table.add_row(place, Text(printable(row.name)), mean + half, f"{row.deals:,}")
    if len(rows) > len(shown):
        table.add_row("", f"and {len(rows) - len(shown)} more", "", "")
    return table


@dataclass(frozen=True)
class Played:
    """A tournament as it stands.

    Attributes:
        by_size: The standings by table size, of those at which something has been played.
        out: Why entrants are out, by name.
        measure: What the means hold, as "units per deal".
    """

    by_size: dict[int, list[Standing]]
    out: dict[str, str]
    measure: str

    @classmethod
    def of(cls, store: Store, measure: str) -> "Played":
        """Computes the standings from the stored results."""
        entrants = store.entrants()
        found = store.observations()
        by_size = {seats: standings(found[seats], entrants) for seats in sorted(found)}
        return cls(by_size, {each.name: each.out for each in entrants if each.out}, measure)

    def as_dict(self) -> dict[str, Any]:
        """Returns the standings as JSON values."""
        return {
            "measure": self.measure,
            "standings": {
                str(seats): [asdict(row) for row in rows] for seats, rows in self.by_size.items()
            },
            "out": self.out,
        }

    def renderables(self) -> list[Any]:
        """Returns the standings for the terminal."""
        shown: list[Any] = [
            renderable(rows, f"{seats} seats", self.measure) for seats, rows in self.by_size.items()
        ]
        if not shown:
            shown.append("Nothing has been played to the end.")
        return shown + [printable(f"{name} is out: {why}") for name, why in self.out.items()]
