"""The page of a tournament: one file that needs nothing beside it.

Everything on it is computed from the stored results; nothing is played again, and equal results
give an equal page, byte for byte.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import ConfigError
from kille_env.registry import Table, spec
from kille_training.arena.entrants import Entrant
from kille_training.arena.results import Standing, caution, scales, standings, told_apart
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder
from kille_training.labels import BEYOND_MEAN, plural_of, unit_of
from kille_training.reports import tournament_words as words
from kille_training.reports.pages import (
    figure,
    render,
    signed,
    within,
    write,
    yaml_lines,
)
from kille_training.reports.scales import Scale
from kille_training.settings import plain
from kille_training.statistics import plackett_luce
from kille_training.statistics.crosstable import CrossTable, crosstable
from kille_training.statistics.intervals import Intervals, ScoreRange, differences
from kille_training.statistics.plackett_luce import ELO, Ratings
from kille_training.statistics.tally import NANO, Tally

MOST_IN_CROSSTABLE = 60
"""Entrants in a crosstable, the best ones; more do not fit on a page."""


def write_tournament_page(
    folder: Folder,
    out: Path | None = None,
) -> Path:
    """Writes the page of a tournament, as far as it has been played, and returns where it is.

    Args:
        folder: The tournament's; commands on the page name it by its path as it is.
        out: The page's file; None is report.html in the tournament's folder.

    Raises:
        KilleError: Nothing has been played, the results cannot be read, or the page cannot be
            written.
    """
    settings = folder.settings()
    with Store(folder.results, readonly=True) as store:
        entrants, known, warned = store.entrants, scales(store), caution(store)
        tallies = {seats: each for seats, each in store.tallies.items() if each.observations}
    if not tallies:
        raise ConfigError(
            f"nothing has been played in {folder.path} yet; play with: "
            f"{words.command('tournament', folder.path)}"
        )
    sizes = []
    for seats, tally in sorted(tallies.items()):
        sizes.append(Size(tally, entrants, settings, known[seats]))
    unit = unit_of(settings.table.episode)
    page = render(
        "tournament.html.j2",
        name=folder.path.resolve().name,
        caution=warned,
        about=[words.truth(settings), words.FIELD],
        game=spec(settings.table.game),
        settings=settings,
        settings_lines=yaml_lines(plain(settings)),
        rules=store.tables["rules"],
        versions=store.made_with,
        unit=unit,
        unit_s=plural_of(unit),
        measure=f"units per {unit}",
        score=BEYOND_MEAN,
        entrants=entrants,
        sizes=sizes,
        command=lambda verb, *more: words.command(verb, folder.path, *more),
    )
    return write(out or folder.report, page)


class Size:
    """What the page shows of tables of one size.

    Arrays are by the entrants' numbers.

    Attributes:
        seats: The table size, P.
        table: The table.
        observations: Deals, each counted for every lineup.
        deals: Deals, or matches.
        names: [E] names.
        labels: [E] names as tables show them, without the name of the game before them.
        verdict: Who is best, as far as the results tell.
        design: Who met whom.
        rows: The standings, see `_standings`; `scale` is that of their chart.
        crosstable: What each earns where each other one sits.
        shown: Numbers of those in the crosstable, best first.
        shades: Class of each cell of the crosstable, as "better firm".
        undefeated: Names of those that no other beats significantly where both sit.
        ratings: See `_ratings`; `rating_scale` is that of their chart.
    """

    def __init__(
        self,
        tally: Tally,
        entrants: Sequence[Entrant],
        settings: TournamentSettings,
        scale: ScoreRange,
    ) -> None:
        self._tally = tally
        self._unit = unit_of(settings.table.episode)
        self.seats, self.observations, self.deals = tally.seats, tally.observations, scale.deals
        self.table = Table.of(settings.table.game, self.seats, settings.table.resolve())
        self.names = [entrant.name for entrant in entrants]
        self.labels = words.labels(self.names, settings.table.game)
        self.design = words.design(settings, self.seats)

        self.crosstable = crosstable(tally, scale)
        self._gaps = differences(tally, scale)
        apart = told_apart(tally, entrants, self._gaps)
        found = [row for row in standings(tally, entrants, scale, apart) if row.mean is not None]
        order = [self.names.index(row.name) for row in found]
        self.rows = self._standings(found, order)
        found = [replace(row, name=self.labels[at]) for at, row in zip(order, found, strict=True)]
        self.verdict = words.verdict(found, f"units per {self._unit}")
        ends = (np.array([row[end] for row in self.rows]) for end in ("low", "mean", "high"))
        self.scale = Scale.over(*ends)

        self.shown = order[:MOST_IN_CROSSTABLE]
        self.shades = _shades(self.crosstable)
        beaten = np.flatnonzero(self.crosstable.beats.any(axis=0))
        self.undefeated = [self.labels[number] for number in order if number not in beaten]

        self.ratings = self._ratings(plackett_luce.fit(tally, deals=scale.deals))
        ends = (np.array([row[end] for row in self.ratings]) for end in ("low", "elo", "high"))
        self.rating_scale = Scale.over(*ends)

    def cell(self, row: int, column: int) -> str:
        """Returns what a cell of the crosstable says in words."""
        table, gaps = self.crosstable, self._gaps
        one, other = self.labels[row], self.labels[column]
        return (
            f"{one} where {other} sits: {_around(table, row, column)} units per {self._unit}, "
            f"{table.count[row, column]:,} observations. It scores above {other} in "
            f"{100 * table.above.mean[row, column]:.1f}"
            f"{within(100 * table.above.half[row, column], 1)}% of them. "
            f"In all it has played it earns {_around(gaps, row, column)} more than {other}."
        )

    def _standings(self, found: Sequence[Standing], order: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the lines of the standings, best first.

        Beside what a `Standing` holds each has its `number`, the ends of its interval, how far it
        is `behind` the first with half that interval, and how often `above` it.
        """
        first, lines = order[0], []
        for number, standing in zip(order, found, strict=True):
            mean = np.nan if standing.mean is None else standing.mean
            half = np.nan if standing.half is None else standing.half
            lines.append(
                {
                    "number": number,
                    "name": self.labels[number],
                    "place": standing.places(),
                    "text": signed(mean) + within(half),
                    "mean": mean,
                    "half": half,
                    "low": mean - half,
                    "high": mean + half,
                    "behind": figure(self._gaps.mean[first, number])
                    + within(self._gaps.half[first, number]),
                    "above": self.crosstable.above.mean[number, first],
                    "observations": standing.observations,
                }
            )
        return lines

    def _ratings(self, strengths: Ratings) -> list[dict[str, Any]]:
        """Returns the lines of ratings and mean places, the highest rating first."""
        finishes, lines = self._tally.finishes.sum(axis=0) / NANO, []
        for number in np.argsort(-strengths.strength, kind="stable").tolist():
            if not np.isfinite(strengths.strength[number]):
                continue
            lines.append(
                {
                    "name": self.labels[number],
                    "elo": strengths.elo[number],
                    "low": ELO * strengths.low[number],
                    "high": ELO * strengths.high[number],
                    "finish": np.average(np.arange(1, self.seats + 1), weights=finishes[number]),
                }
            )
        return lines


def _shades(table: CrossTable) -> dict[tuple[int, int], str]:
    """Returns the class of each cell: better or worse, and whether firmly so."""
    return {
        cell: " ".join(["", "better", "worse"][sign : sign + 1] + ["firm"] * bool(table.firm[cell]))
        for cell, sign in np.ndenumerate(table.mark)
    }


def _around(found: Intervals, row: int, column: int) -> str:
    """Returns a mean of a table of intervals with half its interval."""
    return signed(found.mean[row, column]) + within(found.half[row, column])
