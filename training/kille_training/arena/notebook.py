"""What a notebook gets of a tournament: data frames, a table of the standings, the page.

Pandas is imported when a frame is asked for.
"""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.words.text import printable
from kille_training.statistics.crosstable import CrossTable

if TYPE_CHECKING:
    import pandas as pd

    from kille_training.arena.results import Standing

WHOLE = "Int64"
"""A column of whole numbers with gaps."""
STANDINGS = {
    "seats": "int64",
    "place": WHOLE,
    "best": WHOLE,
    "worst": WHOLE,
    "entrant": "object",
    "mean": "float64",
    "low": "float64",
    "high": "float64",
    "observations": "int64",
    "out": "object",
}
"""Columns of the standings, with their types."""
HEIGHT = 700
"""Pixels of a page in a notebook; it scrolls."""
WIDTH = 180
"""Pixels of the picture of an interval."""
CELL = "text-align: {}; padding: 2px 10px; white-space: nowrap"


def standings_frame(rows: "Mapping[int, Sequence[Standing]]") -> "pd.DataFrame":
    """Returns standings as a data frame, by table size and place.

    Args:
        rows: The standings by table size.
    """
    import pandas as pd

    lines = [
        {
            "seats": seats,
            "place": row.place,
            "best": row.best,
            "worst": row.worst,
            "entrant": row.name,
            "mean": row.mean,
            "low": None if row.mean is None or row.half is None else row.mean - row.half,
            "high": None if row.mean is None or row.half is None else row.mean + row.half,
            "observations": row.observations,
            "out": row.out,
        }
        for seats, each in rows.items()
        for row in each
    ]
    return pd.DataFrame(lines, columns=list(STANDINGS)).astype(STANDINGS)


def cells_frame(tables: Mapping[int, CrossTable], names: Sequence[str]) -> "pd.DataFrame":
    """Returns all cells of crosstables as a data frame, a line for each two that have met.

    Args:
        tables: [E, E] crosstables by table size.
        names: [E] names of the entrants.
    """
    import pandas as pd

    frames = [
        _cells(seats, table, np.array(names, dtype=object)) for seats, table in tables.items()
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _cells(seats: int, table: CrossTable, names: np.ndarray) -> "pd.DataFrame":
    import pandas as pd

    row, column = met = np.nonzero(table.count)
    columns: dict[str, Any] = {"seats": seats, "row": names[row], "column": names[column]}
    for name, part in (("mean", table), ("margin", table.margin), ("above", table.above)):
        before = "" if part is table else f"{name}_"
        columns[name] = part.mean[met]
        columns |= {f"{before}low": part.low[met], f"{before}high": part.high[met]}
    return pd.DataFrame({**columns, "beats": table.beats[met], "observations": table.count[met]})


def crosstable_frame(table: CrossTable, names: Sequence[str], order: Sequence[str]) -> Any:
    """Returns the means of a crosstable as a data frame with names on both sides.

    Args:
        table: [E, E].
        names: [E] names of the entrants.
        order: Those to show, in order.
    """
    import pandas as pd

    frame = pd.DataFrame(table.mean, index=list(names), columns=list(names))
    return frame.loc[list(order), list(order)].rename_axis(index="row", columns="column")


def standings_html(
    rows: "Mapping[int, Sequence[Standing]]",
    measure: str,
    out: Mapping[str, str],
    caution: str | None = None,
) -> str:
    """Returns standings as HTML that follows the notebook's colours.

    Args:
        rows: The standings by table size.
        measure: What the means are, as "units per deal".
        out: Why entrants are out, by name.
        caution: Why the intervals may not hold; None if they do.
    """
    parts = [_table(f"{seats} seats", each, measure) for seats, each in rows.items()]
    if not parts:
        parts = ["<p>Nothing has been played to the end.</p>"]
    parts += [f"<p>{_text(f'{name} is out: {why}')}</p>" for name, why in out.items()]
    parts += [f"<p>{_text(caution)}</p>"] if caution else []
    return "\n".join(parts)


def _table(title: str, rows: "Sequence[Standing]", measure: str) -> str:
    reach = max((abs(row.mean or 0.0) + (row.half or 0.0) for row in rows), default=0.0)
    head = ["place", "entrant", measure, "95% interval", "observations"]
    lines = [_line("th", head)]
    for row in rows:
        place, name, mean, sat = (_text(cell) for cell in row.cells())
        lines.append(_line("td", [place, name, mean, _picture(row, reach), sat]))
    return (
        '<table style="border-collapse: collapse; margin-bottom: 1em">'
        f'<caption style="text-align: left; font-weight: bold">{title}</caption>'
        f"{''.join(lines)}</table>"
    )


def _line(tag: str, cells: Sequence[str]) -> str:
    sides = ("right", "left", "right", "center", "right")
    return "".join((
        "<tr>",
        *(
            f'<{tag} style="{CELL.format(side)}">{cell}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        ),
        "</tr>",
    ))  # fmt: skip


def _picture(row: "Standing", reach: float) -> str:
    """Draws an interval on a line from -reach to +reach, with a mark at 0."""
    if row.mean is None or row.half is None or reach == 0.0:
        return ""
    low, mean, high = (
        WIDTH / 2 * (1 + 0.95 * value / reach)
        for value in (row.mean - row.half, row.mean, row.mean + row.half)
    )
    return (
        f'<svg width="{WIDTH}" height="14" role="img" stroke="currentColor" fill="currentColor">'
        f'<line x1="{WIDTH / 2}" x2="{WIDTH / 2}" y1="0" y2="14" opacity="0.4"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="7" y2="7" stroke-width="2"/>'
        f'<circle cx="{mean:.1f}" cy="7" r="3"/></svg>'
    )


def _text(text: str) -> str:
    return escape(printable(text))


class Page:
    """An HTML page that a notebook shows in a frame of its own.

    Attributes:
        path: Where it was written.
        html: The page.
    """

    def __init__(self, path: Path) -> None:
        """Reads a page that has been written."""
        self.path, self.html = path, path.read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" '
            f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #8888"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"
