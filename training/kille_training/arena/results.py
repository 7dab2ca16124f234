"""What a tournament has come to: standings, crosstables, a page, from tallies.

Pandas is imported when a frame is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.errors import ConfigError
from kille_env.registry import Table, spec
from kille_env.words.text import listed, printable
from kille_training.arena.entrants import Entrant
from kille_training.arena.store import Store
from kille_training.labels import BEYOND_MEAN, most_apart, places_of, unit_of
from kille_training.results import Result, TextTable
from kille_training.statistics.intervals import Intervals, ScoreRange
from kille_training.statistics.standings import (
    CrossTable,
    Grouping,
    crosstable,
    differences,
    group,
    units,
)
from kille_training.statistics.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "seats": "int64",
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
"""Columns of the standings, with their types; Int64 has gaps."""


@dataclass(frozen=True)
class Standing:
    """A line of the standings at one table size.

    Attributes:
        place: 1 for the best; an entrant that has not played or is out has none.
        best: The best place that the results leave open, with all pairs tested together; None
            without a place.
        worst: The worst one.
        name: The entrant.
        mean: Units per deal, less the table's mean; None before it has played.
        half: Half the 95% interval; None before there is one.
        observations: Deals that it has played, each counted for every lineup.
        out: Why it is out of the tournament, None if it is not.
    """

    place: int | None
    best: int | None
    worst: int | None
    name: str
    mean: float | None
    half: float | None
    observations: int
    out: str | None

    def places(self) -> str:
        """Returns the places that the results leave open, see `labels.places_of`."""
        return places_of(self.place, self.best, self.worst, self.out)

    def cells(self) -> tuple[str, str, str, str]:
        """Returns places, name, mean with half the interval, and observations as texts."""
        mean = "" if self.mean is None else f"{self.mean:+.4f}"
        half = "" if self.half is None else f" ± {self.half:.4f}"
        return self.places(), self.name, mean + half, f"{self.observations:,}"


def told_apart(tally: Tally, entrants: Sequence[Entrant], gaps: Intervals) -> Grouping:
    """Returns which entrants can be told apart at tables of one size; those that are out are not.

    Args:
        tally: What was played.
        entrants: All entrants, in the order of their numbers.
        gaps: Their `differences`.
    """
    there = np.array([entrant.out is None for entrant in entrants])
    return group(np.where(there, units(tally).mean, np.nan), gaps)


def standings(
    tally: Tally,
    entrants: Sequence[Entrant],
    scale: ScoreRange,
    places: Grouping | None = None,
) -> list[Standing]:
    """Returns the standings at tables of one size, best first, entrants that are out last.

    Args:
        tally: What was played.
        entrants: All entrants, in the order of their numbers.
        scale: What is known of the scores.
        places: Which of them can be told apart; None finds out.
    """
    found = units(tally, scale)
    places = places or told_apart(tally, entrants, differences(tally, scale))
    rows = []
    for number, entrant in enumerate(entrants):
        played = int(found.count[number])
        mean = float(found.mean[number]) if played else None
        half = float(found.half[number]) if np.isfinite(found.half[number]) else None
        best, worst = int(places.best[number]) or None, int(places.worst[number]) or None
        rows.append(Standing(None, best, worst, entrant.name, mean, half, played, entrant.out))
    rows.sort(key=lambda row: (row.out is not None, row.mean is None, -(row.mean or 0.0), row.name))
    return [
        replace(row, place=place) if row.out is None and row.mean is not None else row
        for place, row in enumerate(rows, start=1)
    ]


def scales(store: Store) -> dict[int, ScoreRange]:
    """Returns what is known of the scores of a tournament, by table size."""
    rules = spec(store.tables["game"]).resolve(store.tables["rules"])
    return {
        seats: ScoreRange(most_apart(rules, seats), deals) for seats, deals in store.deals().items()
    }


ONE_LOOK = (
    "the intervals hold for one look, after a number of deals that was fixed beforehand; "
    "`kille compare` may be looked at as often as you like"
)


def caution(store: Store) -> str | None:
    """Returns why a tournament's intervals may not hold; None if it was played in one go."""
    deals = {str(seats): number for seats, number in store.deals().items()}
    if deals not in store.ends[-1:]:
        return f"Not finished: {ONE_LOOK}."
    if len(store.ends) > 1:
        return f"Extended, and finished {len(store.ends)} times: {ONE_LOOK}."
    return None


@dataclass(frozen=True, repr=False)
class TournamentResult(Result):
    """A tournament as it stands.

    Attributes:
        entrants: All entrants, by number.
        tallies: What was played, by table size: the input of `kille_training.statistics`.
        scales: What is known of the scores before any is seen, by table size.
        measure: What the means are, as "units per deal".
        table: The table with its smallest size; `tallies` names all sizes.
        folder: The folder of the tournament; without `out=`, one that lasts as long as this object.
        transferred: By the name of each entrant that was made for another table, that table.
        remarks: What else is to be said of entrants, by name.
        caution: Why the intervals may not hold: it is not finished, or was extended. None if it was
            played in one go.
    """

    entrants: tuple[Entrant, ...]
    tallies: Mapping[int, Tally]
    scales: Mapping[int, ScoreRange]
    measure: str
    table: Table | None
    folder: Path
    transferred: Mapping[str, str]
    remarks: Mapping[str, str]
    caution: str | None = None

    @classmethod
    def of(
        cls, store: Store, episode: str, folder: Path, remarks: Mapping[str, str] | None = None
    ) -> "TournamentResult":
        """Reads what has been played.

        Args:
            store: The results.
            episode: "deal" or "match".
            folder: The folder of the tournament.
            remarks: What is to be said of entrants, by name.
        """
        homes = {each.name: home for each in store.entrants for home in each.transferred.values()}
        return cls(
            tuple(store.entrants), dict(sorted(store.tallies.items())), scales(store),
            f"units per {unit_of(episode)}", store.table(), folder, homes, remarks or {},
            caution(store),
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """[E] names of the entrants, as the numbers in tallies and crosstables count them."""
        return [entrant.name for entrant in self.entrants]

    @cached_property
    def ranked(self) -> dict[int, list[Standing]]:
        """The lines of the standings by table size, best first."""
        return {
            seats: standings(tally, self.entrants, self.scales[seats])
            for seats, tally in sorted(self.tallies.items())
        }

    @cached_property
    def crosstables(self) -> dict[int, CrossTable]:
        """What each entrant earns where each other one sits, by table size; [E, E] arrays."""
        return {
            seats: crosstable(tally, self.scales[seats])
            for seats, tally in sorted(self.tallies.items())
        }

    def frame(self) -> "pd.DataFrame":
        """Return the standings of all table sizes, best first.

        Columns: `seats`; `place`; `best` and `worst`, the places that the results leave open, all
        pairs looked at together; `entrant`; `mean` units per deal, less the table's mean, with its
        95% interval from `low` to `high`; `observations`, deals that it has played, each counted
        for every lineup with it; `out`, why it is out.
        """
        import pandas as pd

        lines = [
            {
                "seats": seats,
                **{name: getattr(row, name) for name in ("place", "best", "worst")},
                "entrant": row.name,
                "mean": row.mean,
                "low": None if row.mean is None or row.half is None else row.mean - row.half,
                "high": None if row.mean is None or row.half is None else row.mean + row.half,
                "observations": row.observations,
                "out": row.out,
            }
            for seats, rows in self.ranked.items()
            for row in rows
        ]
        return pd.DataFrame(lines, columns=list(COLUMNS)).astype(COLUMNS)

    @property
    def standings(self) -> "pd.DataFrame":
        """See `frame`."""
        return self.frame()

    @property
    def cells(self) -> "pd.DataFrame":
        """The crosstables of all table sizes, a line for each two entrants that have met.

        Columns: `seats`, `row`, `column`; `mean` units per deal of the row's entrant where the
        column's also sits; `margin`, units per deal that it earned more than that one; `above`,
        share of observations in which it did; each with its 95% interval (`low`, `margin_low`,
        ...); `beats`, whether the margin is above 0, all pairs looked at together; `observations`.
        """
        import pandas as pd

        names, frames = np.array(self.names, dtype=object), []
        for seats, table in self.crosstables.items():
            row, column = met = np.nonzero(table.count)
            columns: dict[str, Any] = {"seats": seats, "row": names[row], "column": names[column]}
            for before, part in (("", table), ("margin_", table.margin), ("above_", table.above)):
                columns[before.rstrip("_") or "mean"] = part.mean[met]
                columns |= {f"{before}low": part.low[met], f"{before}high": part.high[met]}
            ends = {"beats": table.beats[met], "observations": table.count[met]}
            frames.append(pd.DataFrame(columns | ends))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def crosstable(self, num_players: int | None = None) -> "pd.DataFrame":
        """Returns what each entrant (row) earns where each other one (column) also sits.

        Args:
            num_players: The table size; None is the only one.

        Returns:
            Mean units per deal, both sides in the order of the standings; NaN where two never met.
            `cells` has the intervals.

        Raises:
            ConfigError: Nothing has been played at such tables, or there are several sizes.
        """
        import pandas as pd

        seats = self._size(num_players)
        order = [row.name for row in self.ranked[seats] if row.mean is not None]
        mean = self.crosstables[seats].mean
        frame = pd.DataFrame(mean, index=self.names, columns=self.names)
        return frame.loc[order, order].rename_axis(index="row", columns="column")

    def ratings(self, num_players: int | None = None) -> "pd.DataFrame":
        """Returns Plackett-Luce ratings in Elo points around the mean, highest first.

        Args:
            num_players: The table size; None is the only one.

        Returns:
            `elo` with its 95% interval from `low` to `high`, by entrant.

        Raises:
            ConfigError: As from `crosstable`.
        """
        import pandas as pd

        from kille_training.statistics import plackett_luce

        seats = self._size(num_players)
        found = plackett_luce.fit(self.tallies[seats], deals=self.scales[seats].deals)
        ends = {"low": found.low * plackett_luce.ELO, "high": found.high * plackett_luce.ELO}
        frame = pd.DataFrame({"elo": found.elo, **ends}, index=self.names)
        return frame.sort_values("elo", ascending=False, kind="stable")

    def _size(self, num_players: int | None) -> int:
        sizes = list(self.ranked)
        if num_players is None and len(sizes) == 1:
            (num_players,) = sizes
        if num_players not in sizes:
            raise ConfigError(
                f"num_players is {num_players}, expected a table size that has been played: "
                f"{listed([str(seats) for seats in sizes], 'or') or 'there is none'}"
            )
        return num_players

    def report(self, out: str | Path | None = None) -> "Page":
        """Writes the page of the tournament, and returns it for a notebook to show.

        Args:
            out: The page's file; None is report.html in the tournament's folder.

        Raises:
            KilleError: Nothing has been played, or the page cannot be written.
        """
        from kille_training import report  # pages are made from results, so they import these

        return Page(report(self.folder, out))

    @property
    def out(self) -> dict[str, str]:
        """Why entrants are out, by name."""
        return {each.name: each.out for each in self.entrants if each.out}

    def as_dict(self) -> dict[str, Any]:
        """Returns the standings as JSON can hold them."""
        return {
            **({} if self.table is None else self.table.as_dict()),
            "num_players": sorted(self.tallies),
            "transferred": dict(self.transferred),
            "remarks": dict(self.remarks),
            "measure": self.measure,
            "score": BEYOND_MEAN,
            "standings": {
                str(seats): [asdict(row) for row in rows] for seats, rows in self.ranked.items()
            },
            "out": self.out,
            "caution": self.caution,
        }

    def notes(self) -> list[str]:
        """Returns what is to be said beside the standings."""
        return [
            *([] if self.ranked else ["Nothing has been played to the end."]),
            *(f"{name} is transferred from {home}" for name, home in self.transferred.items()),
            *(f"{name} {remark}" for name, remark in self.remarks.items()),
            *(f"{name} is out: {why}" for name, why in self.out.items()),
            *([self.caution] if self.caution else []),
        ]

    def parts(self) -> list[str | TextTable]:
        """Returns the standings at each table size, and what is to be said beside them."""
        shown: list[str | TextTable] = []
        for seats, rows in self.ranked.items():
            at = f"{seats} seats" if self.table is None else replace(self.table, num_players=seats)
            head = [">place", "entrant", f">{self.measure}", ">observations"]
            shown.append(TextTable(f"{at}, {BEYOND_MEAN}", head, [row.cells() for row in rows]))
        return [*shown, *map(printable, self.notes())]


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
            'style="width: 100%; height: 700px; border: 1px solid #8888"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"
