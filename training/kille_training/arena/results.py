"""What a tournament has come to: standings, crosstables, tallies."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kille_training.arena.store import KeptEntrant, Store
from kille_training.labels import unit_of
from kille_training.statistics.crosstable import CrossTable, crosstable
from kille_training.statistics.grouping import group
from kille_training.statistics.intervals import differences, units
from kille_training.statistics.tally import Tally


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
        """Returns the places that the results leave open, as "1" or "1-3"; "out" if it is out."""
        if self.out is not None:
            return "out"
        if self.place is None:
            return ""
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"

    def cells(self) -> tuple[str, str, str, str]:
        """Returns places, name, mean with half the interval, and observations as texts."""
        mean = "" if self.mean is None else f"{self.mean:+.4f}"
        half = "" if self.half is None else f" ± {self.half:.4f}"
        return self.places(), self.name, mean + half, f"{self.observations:,}"


def standings(tally: Tally, entrants: Sequence[KeptEntrant]) -> list[Standing]:
    """Returns the standings at tables of one size, best first, entrants that are out last.

    Args:
        tally: What was played.
        entrants: All entrants, in the order of their numbers.
    """
    found = units(tally)
    there = np.array([entrant.out is None for entrant in entrants])
    places = group(np.where(there, found.mean, np.nan), differences(tally))
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


@dataclass(frozen=True, repr=False)
class TournamentResult:
    """A tournament as it stands.

    Attributes:
        entrants: All entrants, by number.
        tallies: What was played, by table size: the input of `kille_training.statistics`.
        measure: What the means are, as "units per deal".
        folder: The folder of the tournament; None if nothing was kept.
    """

    entrants: tuple[KeptEntrant, ...]
    tallies: Mapping[int, Tally]
    measure: str
    folder: Path | None

    @classmethod
    def of(cls, store: Store, episode: str, folder: Path | None) -> "TournamentResult":
        """Reads what has been played.

        Args:
            store: The results.
            episode: "deal" or "match".
            folder: The folder of the tournament.
        """
        measure = f"units per {unit_of(episode)}"
        return cls(tuple(store.entrants()), store.tallies(), measure, folder)

    @property
    def names(self) -> list[str]:
        """[E] names of the entrants, as the numbers in tallies and crosstables count them."""
        return [entrant.name for entrant in self.entrants]

    @cached_property
    def standings(self) -> dict[int, list[Standing]]:
        """The standings by table size, best first."""
        return {seats: standings(tally, self.entrants) for seats, tally in self.tallies.items()}

    @cached_property
    def crosstable(self) -> dict[int, CrossTable]:
        """What each entrant earns where each other one sits, by table size."""
        return {seats: crosstable(tally) for seats, tally in self.tallies.items()}

    @property
    def out(self) -> dict[str, str]:
        """Why entrants are out, by name."""
        return {each.name: each.out for each in self.entrants if each.out}

    def as_dict(self) -> dict[str, Any]:
        """Returns the standings as JSON can hold them."""
        return {
            "measure": self.measure,
            "standings": {
                str(seats): [asdict(row) for row in rows] for seats, rows in self.standings.items()
            },
            "out": self.out,
        }

    def __repr__(self) -> str:
        """Returns the standings as text."""
        width = max(len(name) for name in self.names)
        lines = []
        for seats, rows in self.standings.items():
            lines.append(f"{seats} seats: place, {self.measure}, observations")
            for row in rows:
                places, name, mean, observations = row.cells()
                lines.append(f"{places:>7}  {name:<{width}}  {mean}  {observations:>9}")
        if not lines:
            lines = ["Nothing has been played to the end."]
        return "\n".join(lines + [f"{name} is out: {why}" for name, why in self.out.items()])
