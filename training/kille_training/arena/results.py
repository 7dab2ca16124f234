"""Results of a tournament: standings, crosstable and ratings, from its tally.

Pandas is imported when a frame is asked for.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.registry import Table
from kille_env.words.text import printable
from kille_training.arena.entrants import Entrant
from kille_training.arena.store import Store
from kille_training.labels import BEYOND_MEAN, episode_noun, most_apart
from kille_training.results import Result, TextTable
from kille_training.statistics.intervals import Intervals, ScoreRange
from kille_training.statistics.standings import (
    CrossTable,
    crosstable,
    differences,
    group,
    units,
)
from kille_training.statistics.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "place": "Int64",
    "best": "Int64",
    "worst": "Int64",
    "entrant": "object",
    "mean": "float64",
    "low": "float64",
    "high": "float64",
    "observations": "int64",
    "out": "object",
}
"""Columns of the standings, with their types; Int64 allows missing values."""


@dataclass(frozen=True)
class Standing:
    """A line of the standings."""

    place: int | None
    best: int | None
    worst: int | None
    name: str
    mean: float | None
    half: float | None
    observations: int
    out: str | None

    def places(self) -> str:
        """Return the range of places consistent with the results, as "1" or "1-3", or "out"."""
        if self.out is not None:
            return "out"
        if self.place is None:
            return ""
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"

    def cells(self) -> tuple[str, str, str, str]:
        """Return places, name, mean with half the interval, and observations as texts."""
        mean = "" if self.mean is None else f"{self.mean:+.4f}"
        half = "" if self.half is None else f" ± {self.half:.4f}"
        return self.places(), self.name, mean + half, f"{self.observations:,}"


ONE_LOOK = (
    "the intervals are valid for a single look after a preset number of deals; "
    "`kille compare` is valid at every stopping time"
)


def caution(store: Store) -> str | None:
    """Return a warning about a tournament's intervals; None if it was played without a break."""
    if not store.ended():
        return f"Not finished: {ONE_LOOK}."
    if len(store.ends) > 1:
        return f"Extended, and finished {len(store.ends)} times: {ONE_LOOK}."
    return None


@dataclass(frozen=True, repr=False)
class TournamentResult(Result):
    """A tournament as it stands.

    Attributes:
        entrants: All entrants, by number.
        table: The table.
        tally: The input of `kille_training.statistics`.
        scale: Prior knowledge of the scores.
        folder: The folder of the tournament; without `out=`, one that lasts as long as this object.
        remarks: Remarks on entrants, by name.
        caution: A warning about the intervals of an unfinished or extended tournament, else None.
    """

    entrants: tuple[Entrant, ...]
    table: Table
    tally: Tally
    scale: ScoreRange
    folder: Path
    remarks: Mapping[str, str]
    caution: str | None = None

    @classmethod
    def of(cls, store: Store, remarks: Mapping[str, str] | None = None) -> "TournamentResult":
        """Return the results in a store, with remarks on entrants by name."""
        table = store.table
        scale = ScoreRange(most_apart(table.rules, table.num_players), store.deals())
        return cls(
            tuple(store.entrants), table, store.tally, scale, store.path.parent, remarks or {},
            caution(store),
        )  # fmt: skip

    @property
    def report(self) -> Path:
        """Path of the page."""
        return self.folder / "report.html"

    @property
    def unit(self) -> str:
        """The noun of an observation: "deal" or "match"."""
        return episode_noun(self.table.rules["episode"])

    @property
    def measure(self) -> str:
        """The unit of the means, as "units per deal"."""
        return f"units per {self.unit}"

    @property
    def names(self) -> list[str]:
        """[E] names of the entrants, in the order of the tally and the crosstable."""
        return [entrant.name for entrant in self.entrants]

    @cached_property
    def gaps(self) -> Intervals:
        """Differences of earnings of all pairs over the same deals, [E, E]."""
        return differences(self.tally, self.scale)

    @cached_property
    def ranked(self) -> list[Standing]:
        """The lines of the standings, best first, disqualified entrants last."""
        found = units(self.tally, self.scale)
        there = np.array([entrant.out is None for entrant in self.entrants])
        places = group(np.where(there, found.mean, np.nan), self.gaps)
        rows = []
        for number, entrant in enumerate(self.entrants):
            played = int(found.count[number])
            mean = float(found.mean[number]) if played else None
            half = float(found.half[number]) if np.isfinite(found.half[number]) else None
            best, worst = int(places.best[number]) or None, int(places.worst[number]) or None
            rows.append(Standing(None, best, worst, entrant.name, mean, half, played, entrant.out))
        rows.sort(
            key=lambda row: (row.out is not None, row.mean is None, -(row.mean or 0.0), row.name)
        )
        return [
            replace(row, place=place) if row.out is None and row.mean is not None else row
            for place, row in enumerate(rows, start=1)
        ]

    @cached_property
    def cross(self) -> CrossTable:
        """The crosstable; [E, E] arrays."""
        return crosstable(self.tally, self.scale)

    def frame(self) -> "pd.DataFrame":
        """Return the standings, best first.

        Columns: `place`; `best` and `worst`, the range of places consistent with the results, all
        pairs tested together; `entrant`; `mean` units per deal, less the table's mean, with its 95%
        interval from `low` to `high`; `observations`, its deals, each counted once per lineup;
        `out`, the reason of its disqualification.
        """
        import pandas as pd

        lines = [
            {
                **{name: getattr(row, name) for name in ("place", "best", "worst")},
                "entrant": row.name,
                "mean": row.mean,
                "low": None if row.mean is None or row.half is None else row.mean - row.half,
                "high": None if row.mean is None or row.half is None else row.mean + row.half,
                "observations": row.observations,
                "out": row.out,
            }
            for row in self.ranked
        ]
        return pd.DataFrame(lines, columns=list(COLUMNS)).astype(COLUMNS)

    @property
    def cells(self) -> "pd.DataFrame":
        """The crosstable, one line per pair of entrants that have met.

        Columns: `row`, `column`; `mean` units per deal of the row's entrant where the column's also
        sits; `margin`, its units per deal minus the other's; `above`, share of observations in
        which it earned more; each with its 95% interval (`low`, `margin_low`, ...); `beats`,
        whether the margin is significantly above 0, all pairs tested together; `observations`.
        """
        import pandas as pd

        names, table = np.array(self.names, dtype=object), self.cross
        row, column = met = np.nonzero(table.count)
        columns: dict[str, Any] = {"row": names[row], "column": names[column]}
        for before, part in (("", table), ("margin_", table.margin), ("above_", table.above)):
            columns[before.rstrip("_") or "mean"] = part.mean[met]
            columns |= {f"{before}low": part.low[met], f"{before}high": part.high[met]}
        ends = {"beats": table.beats[met], "observations": table.count[met]}
        return pd.DataFrame(columns | ends)

    def crosstable(self) -> "pd.DataFrame":
        """Return the earnings of each entrant (row) where each other one (column) also sits.

        Returns:
            Mean units per deal, rows and columns in the order of the standings; NaN for pairs that
            never met. `cells` has the intervals.
        """
        import pandas as pd

        order = [row.name for row in self.ranked if row.mean is not None]
        frame = pd.DataFrame(self.cross.mean, index=self.names, columns=self.names)
        return frame.loc[order, order].rename_axis(index="row", columns="column")

    def ratings(self) -> "pd.DataFrame":
        """Return Plackett-Luce ratings in Elo points around the mean, highest first.

        Returns:
            `elo` with its 95% interval from `low` to `high`, by entrant.
        """
        import pandas as pd

        from kille_training.statistics import plackett_luce

        found = plackett_luce.fit(self.tally, deals=self.scale.deals)
        ends = {"low": found.low * plackett_luce.ELO, "high": found.high * plackett_luce.ELO}
        frame = pd.DataFrame({"elo": found.elo, **ends}, index=self.names)
        return frame.sort_values("elo", ascending=False, kind="stable")

    @property
    def transferred(self) -> dict[str, str]:
        """Home tables of transferred entrants, by name."""
        return {each.name: each.transferred for each in self.entrants if each.transferred}

    @property
    def out(self) -> dict[str, str]:
        """Reasons of disqualified entrants, by name."""
        return {each.name: each.out for each in self.entrants if each.out}

    def as_dict(self) -> dict[str, Any]:
        """Return the standings as JSON values."""
        return {
            **self.table.as_dict(),
            "transferred": self.transferred,
            "remarks": dict(self.remarks),
            "measure": self.measure,
            "score": BEYOND_MEAN,
            "standings": [asdict(row) for row in self.ranked],
            "out": self.out,
            "caution": self.caution,
        }

    def parts(self) -> list[str | TextTable]:
        """Return the standings, remarks and cautions."""
        head = [">place", "entrant", f">{self.measure}", ">observations"]
        title = f"{self.table}, {BEYOND_MEAN}"
        notes = [
            *(f"{name} is transferred from {home}" for name, home in self.transferred.items()),
            *(f"{name} {remark}" for name, remark in self.remarks.items()),
            *(f"{name} is out: {why}" for name, why in self.out.items()),
            *([self.caution] if self.caution else []),
        ]
        return [
            TextTable(title, head, [row.cells() for row in self.ranked]),
            *map(printable, notes),
        ]
