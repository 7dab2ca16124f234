"""What a tournament has come to: standings, crosstables, a page, from tallies."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.errors import ConfigError
from kille_env.registry import Table, spec
from kille_env.words.text import listed
from kille_training.arena import notebook
from kille_training.arena.store import KeptEntrant, Store
from kille_training.labels import BEYOND_MEAN, places_of, unit_of
from kille_training.scores import most_apart
from kille_training.statistics.crosstable import CrossTable, crosstable
from kille_training.statistics.grouping import Grouping, group
from kille_training.statistics.intervals import Intervals, ScoreRange, differences, units
from kille_training.statistics.tally import Tally

if TYPE_CHECKING:
    import pandas as pd


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


def told_apart(tally: Tally, entrants: Sequence[KeptEntrant], gaps: Intervals) -> Grouping:
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
    entrants: Sequence[KeptEntrant],
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
    tables = store.meta()["tables"]
    rules = spec(tables["game"]).resolve(tables["rules"])
    return {
        seats: ScoreRange(most_apart(rules, seats), deals) for seats, deals in store.deals().items()
    }


ONE_LOOK = (
    "the intervals hold for one look, after a number of deals that was fixed beforehand; "
    "`kille compare` may be looked at as often as you like"
)


def caution(store: Store) -> str | None:
    """Returns why a tournament's intervals may not hold; None if it was played in one go."""
    ends, deals = store.meta().get("ends", []), store.plain_deals()
    if deals not in ends[-1:]:
        return f"Not finished: {ONE_LOOK}."
    if len(ends) > 1:
        return f"Extended, and finished {len(ends)} times: {ONE_LOOK}."
    return None


@dataclass(frozen=True, repr=False)
class TournamentResult:
    """A tournament as it stands.

    Attributes:
        entrants: All entrants, by number.
        tallies: What was played, by table size: the input of `kille_training.statistics`.
        scales: What is known of the scores before any is seen, by table size.
        measure: What the means are, as "units per deal".
        table: The table with its smallest size; `tallies` names all sizes.
        folder: The folder of the tournament; without `out=`, one that lasts as long as this object.
        transferred: By the name of each player that was made for another table, that table.
        caution: Why the intervals may not hold: it is not finished, or was extended. None if it was
            played in one go.
    """

    entrants: tuple[KeptEntrant, ...]
    tallies: Mapping[int, Tally]
    scales: Mapping[int, ScoreRange]
    measure: str
    table: Table | None
    folder: Path
    transferred: Mapping[str, str] = field(default_factory=dict)
    caution: str | None = None

    @classmethod
    def of(cls, store: Store, episode: str, folder: Path) -> "TournamentResult":
        """Reads what has been played.

        Args:
            store: The results.
            episode: "deal" or "match".
            folder: The folder of the tournament.
        """
        measure, tallies = f"units per {unit_of(episode)}", store.tallies()
        table, made = None, store.meta().get("tables")
        if tallies and made is not None:
            about = {"num_players": min(tallies), "version": made["game_version"]}
            table = Table.read({"game": made["game"], "rules": made["rules"], **about})
        return cls(
            tuple(store.entrants()), tallies, scales(store), measure, table, folder,
            caution=caution(store),
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

    @property
    def standings(self) -> "pd.DataFrame":
        """The standings of all table sizes, best first.

        Columns: `seats`; `place`; `best` and `worst`, the places that the results leave open, all
        pairs looked at together; `entrant`; `mean` units per deal, less the table's mean, with its
        95% interval from `low` to `high`; `observations`, deals that it has played, each counted
        for every lineup with it; `out`, why it is out.
        """
        return notebook.standings_frame(self.ranked)

    @property
    def cells(self) -> "pd.DataFrame":
        """The crosstables of all table sizes, a line for each two entrants that have met.

        Columns: `seats`, `row`, `column`; `mean` units per deal of the row's entrant where the
        column's also sits; `margin`, units per deal that it earned more than that one; `above`,
        share of observations in which it did; each with its 95% interval (`low`, `margin_low`,
        ...); `beats`, whether the margin is above 0, all pairs looked at together; `observations`.
        """
        return notebook.cells_frame(self.crosstables, self.names)

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
        sizes = list(self.ranked)
        if num_players is None and len(sizes) == 1:
            (num_players,) = sizes
        if num_players not in sizes:
            raise ConfigError(
                f"num_players is {num_players}, expected a table size that has been played: "
                f"{listed([str(seats) for seats in sizes], 'or') or 'there is none'}"
            )
        order = [row.name for row in self.ranked[num_players] if row.mean is not None]
        return notebook.crosstable_frame(self.crosstables[num_players], self.names, order)

    def report(self, out: str | Path | None = None, *, exact: bool = False) -> notebook.Page:
        """Writes the page of the tournament, and returns it for a notebook to show.

        Args:
            out: The page's file; None is report.html in the tournament's folder.
            exact: Whether to compute expected earnings too, where the tree of a deal fits.

        Raises:
            KilleError: Nothing has been played, or the page cannot be written.
        """
        from kille_training import report  # pages are made from results, so they import these

        return notebook.Page(report(self.folder, out, exact=exact))

    def to_parquet(self, path: str | Path) -> int:
        """Write a row for each seat of each table, and return how many; see `arena.export`.

        Args:
            path: The file; replaced when the new one is whole.

        Raises:
            KilleError: The results cannot be read.
        """
        from kille_training.arena.export import export_parquet

        with Store(self.folder, readonly=True) as store:
            return export_parquet(store, Path(path))

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
            "measure": self.measure,
            "score": BEYOND_MEAN,
            "standings": {
                str(seats): [asdict(row) for row in rows] for seats, rows in self.ranked.items()
            },
            "out": self.out,
            "caution": self.caution,
        }

    def __repr__(self) -> str:
        """Returns the standings as text."""
        width = max(len(name) for name in self.names)
        lines = []
        for seats, rows in self.ranked.items():
            at = f"{seats} seats" if self.table is None else replace(self.table, num_players=seats)
            lines += [f"{at}", f"place, {self.measure} {BEYOND_MEAN}, observations"]
            for row in rows:
                places, name, mean, observations = row.cells()
                lines.append(f"{places:>7}  {name:<{width}}  {mean}  {observations:>9}")
        if not lines:
            lines = ["Nothing has been played to the end."]
        lines += [f"{name} is transferred from {home}" for name, home in self.transferred.items()]
        lines += [f"{name} is out: {why}" for name, why in self.out.items()]
        return "\n".join([*lines, *([self.caution] if self.caution else [])])

    def _repr_html_(self) -> str:
        """Returns the standings as a notebook shows them."""
        return notebook.standings_html(self.ranked, self.measure, self.out, self.caution)
