"""The page of a tournament: one self-contained file, computed from the stored results alone.

Equal results give equal pages, byte for byte.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_env.words.text import listed
from kille_training.arena.results import Standing, TournamentResult
from kille_training.arena.settings import Folder, TournamentSettings
from kille_training.arena.store import Store
from kille_training.labels import BEYOND_MEAN, episode_noun, plural_of
from kille_training.pages.page import (
    Scale,
    Verdict,
    figure,
    render,
    signed,
    within,
    yaml_lines,
)
from kille_training.settings import plain
from kille_training.statistics import plackett_luce
from kille_training.statistics.intervals import Intervals
from kille_training.statistics.plackett_luce import ELO, Ratings
from kille_training.statistics.standings import CrossTable
from kille_training.statistics.tally import NANO

MOST_IN_CROSSTABLE = 60  # maximum number of entrants in a crosstable
MOST_NAMES = 3  # maximum number of names in a verdict

FIELD = (
    "Units depend on the field: exploiting weak players earns more if there are many of them. "
    "With other entrants, all figures and possibly the order would change."
)


def write_tournament_page(folder: Folder, remarks: Mapping[str, str] | None = None) -> Path:
    """Write the page of a tournament, complete or not, and return its path."""
    settings = folder.settings()
    with Store(folder.results, readonly=True) as store:
        found, versions = TournamentResult.of(store, remarks), store.made_with
    again = " ".join(["kille", "tournament", quote(str(folder.path))])
    if not found.tally.observations:
        raise ConfigError(f"nothing has been played in {folder.path} yet; start with: {again}")
    page = render(
        "arena/tournament.html.j2",
        name=folder.path.resolve().name,
        found=found,
        about=[truth(settings), FIELD, *(f"{who} {said}." for who, said in found.remarks.items())],
        game=spec(found.table.game),
        settings=settings,
        settings_lines=yaml_lines(plain(settings)),
        rules=found.table.rules.as_dict(),
        versions=versions,
        unit=found.unit,
        unit_s=plural_of(found.unit),
        score=BEYOND_MEAN,
        shown=_Shown(found),
        again=again,
    )
    write_whole(folder.report, page)
    return folder.report


class _Shown:
    """Figures of the page; arrays are by the entrants' numbers."""

    def __init__(self, found: TournamentResult) -> None:
        self._found = found
        # [E] names of the entrants, without the game before them
        self.labels = short_names(found.names, found.table.game)
        ranked = [row for row in found.ranked if row.mean is not None]
        order = [found.names.index(row.name) for row in ranked]
        # standings, see `_standings`; `scale` is that of their chart
        self.rows = self._standings(ranked, order)
        labeled = [
            replace(row, name=self.labels[number])
            for number, row in zip(order, ranked, strict=True)
        ]
        self.verdict = verdict(labeled, found.measure)
        ends = (np.array([row[end] for row in self.rows]) for end in ("low", "mean", "high"))
        self.scale = Scale.over(*ends)

        # numbers of the entrants in the crosstable, best first
        self.order = order[:MOST_IN_CROSSTABLE]
        self.shades = _shades(found.cross)  # class of each cell of the crosstable, as "better firm"
        beaten = np.flatnonzero(found.cross.beats.any(axis=0))
        # names of the entrants that no other beats significantly where both sit
        self.undefeated = [self.labels[number] for number in order if number not in beaten]

        self.ratings = self._ratings(plackett_luce.fit(found.tally, deals=found.scale.deals))
        ends = (np.array([row[end] for row in self.ratings]) for end in ("low", "elo", "high"))
        self.rating_scale = Scale.over(*ends)

    def cell(self, row: int, column: int) -> str:
        """Return the description of a cell of the crosstable."""
        table, gaps = self._found.cross, self._found.gaps
        one, other = self.labels[row], self.labels[column]
        return (
            f"{one} where {other} sits: {_around(table, row, column)} {self._found.measure}, "
            f"{table.count[row, column]:,} observations. It scores above {other} in "
            f"{100 * table.above.mean[row, column]:.1f}"
            f"{within(100 * table.above.half[row, column], 1)}% of them. "
            f"In total it earns {_around(gaps, row, column)} more than {other}."
        )

    def _standings(self, ranked: Sequence[Standing], order: Sequence[int]) -> list[dict[str, Any]]:
        """Return the lines of the standings, best first.

        Each adds to its `Standing` the ends of its interval, its distance `behind` the first with
        half that interval, and its share of observations `above` it.
        """
        first, gaps, lines = order[0], self._found.gaps, []
        for number, standing in zip(order, ranked, strict=True):
            mean = np.nan if standing.mean is None else standing.mean
            half = np.nan if standing.half is None else standing.half
            lines.append(
                {
                    "name": self.labels[number],
                    "place": standing.places(),
                    "text": signed(mean) + within(half),
                    "mean": mean,
                    "half": half,
                    "low": mean - half,
                    "high": mean + half,
                    "behind": figure(gaps.mean[first, number]) + within(gaps.half[first, number]),
                    "above": self._found.cross.above.mean[number, first],
                    "observations": standing.observations,
                }
            )
        return lines

    def _ratings(self, strengths: Ratings) -> list[dict[str, Any]]:
        """Return the lines of ratings and mean places, the highest rating first."""
        finishes, lines = self._found.tally.finishes.sum(axis=0) / NANO, []
        places = np.arange(1, finishes.shape[1] + 1)
        for number in np.argsort(-strengths.strength, kind="stable").tolist():
            if not np.isfinite(strengths.strength[number]):
                continue
            lines.append(
                {
                    "name": self.labels[number],
                    "elo": strengths.elo[number],
                    "low": ELO * strengths.low[number],
                    "high": ELO * strengths.high[number],
                    "finish": np.average(places, weights=finishes[number]),
                }
            )
        return lines


def _shades(table: CrossTable) -> dict[tuple[int, int], str]:
    """Return the class of each cell: better or worse, and firm or not."""
    return {
        cell: " ".join(["", "better", "worse"][sign : sign + 1] + ["firm"] * bool(table.firm[cell]))
        for cell, sign in np.ndenumerate(table.mark)
    }


def _around(found: Intervals, row: int, column: int) -> str:
    """Return a mean with half its interval."""
    return signed(found.mean[row, column]) + within(found.half[row, column])


# Sentences


def short_names(names: Sequence[str], game: str) -> list[str]:
    """Return names without the prefix of the game, if they stay distinct."""
    short = [name.removeprefix(f"{game}/") for name in names]
    return [
        label if short.count(label) == 1 else name for name, label in zip(names, short, strict=True)
    ]


def verdict(rows: Sequence[Standing], measure: str) -> Verdict:
    """Return the best entrants, as far as the results tell; `rows` are best first."""
    there = [row for row in rows if row.place is not None]
    if len(there) < 2:
        return Verdict("Fewer than two entrants have played.")
    ahead = [row for row in there if row.best == 1]
    if len(ahead) == len(there):
        return Verdict(
            f"No clear winner: {listed([row.name for row in ahead])} cannot be told apart."
            if len(ahead) <= MOST_NAMES
            else f"No clear winner: none of the {len(ahead)} entrants can be told apart."
        )
    if len(ahead) > 1:
        names = [row.name for row in ahead]
        shown = listed(names, "or") if len(names) <= MOST_NAMES else f"any of {len(names)} entrants"
        rest = "the other one is" if len(there) == len(ahead) + 1 else "each of the others is"
        return Verdict(f"No clear winner: {shown} may be best; {rest} clearly behind some entrant.")
    first = there[0]
    others = "the other one" if len(there) == 2 else f"all {len(there) - 1} others"
    mean = signed(first.mean or 0.0)
    return Verdict(f"{first.name} is best: {mean} {measure}, clearly more than {others}.", "better")


def truth(settings: TournamentSettings) -> str:
    """Return the population of the 95% intervals, in a sentence."""
    chosen, unit = settings.matchmaking, episode_noun(settings.table.episode)
    hero = chosen.hero or "each entrant"
    if chosen.fill == "copies" and chosen.format != "random":
        means = f"tables of {hero} among copies of each other one, and"
    else:
        field = f"{hero} and others" if chosen.hero else "different entrants"
        means = f"all lineups of {field} of this field, all orders round the table, and"
    return (
        f"The 95% intervals are of the mean over {means} all {plural_of(unit)}: they allow for "
        "what other draws of these would have brought."
    )
