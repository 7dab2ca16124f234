"""The page of a tournament: one file that needs nothing beside it.

Everything on it is computed from the stored results; nothing is played again, and equal results
give an equal page, byte for byte.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from kille_env.core.text import printable
from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.arena.exact import exact_units
from kille_training.arena.results import Standing, standings
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.tournament import Folder
from kille_training.evaluation.collusion import pair_gains, pairs
from kille_training.labels import plural_of, unit_of
from kille_training.reports import tournament_plots as plots
from kille_training.reports.pages import Verdict, interval, plot, render, write, yaml_lines
from kille_training.settings import plain
from kille_training.statistics import ladder, plackett_luce
from kille_training.statistics.alpha_rank import settle, single_population
from kille_training.statistics.crosstable import CrossTable, crosstable
from kille_training.statistics.intervals import (
    convergence,
    difference,
    entrant_scores,
    sums_by_deal,
)
from kille_training.statistics.lotteries import levels
from kille_training.statistics.meta_game import against
from kille_training.statistics.nash_averaging import nash_average
from kille_training.statistics.observations import Observations
from kille_training.statistics.places import Places, Worst, dominance, places, worst_opponents
from kille_training.statistics.plackett_luce import ELO, Ratings
from kille_training.statistics.rankings import rankings

BOOTSTRAPS = 200
MOST_ON_LADDER = 50_000
"""Observations that the ladder is computed from."""
MOST_PAIRS = 10
MOST_IN_CROSSTABLE = 60
"""Entrants in a crosstable, the best ones; more do not fit on a page."""


def write_tournament_page(
    folder: Folder, out: Path | None = None, *, exact: bool = False, trust: bool = False
) -> Path:
    """Writes the page of a tournament, as far as it has been played, and returns where it is.

    Args:
        folder: The tournament's.
        out: The page's file; None is report.html in the tournament's folder.
        exact: Whether to compute expected earnings as well, where that can be done; this asks
            the players for their probabilities.
        trust: Whether model files that can run code may be loaded for that.

    Raises:
        KilleError: Nothing has been played, the results cannot be read, no table size has exact
            expectations, or the page cannot be written.
    """
    settings = folder.settings()
    with Store(folder.results, readonly=True) as store:
        entrants, found = store.entrants(), store.observations()
        meta = store.meta()
    name = folder.path.resolve().name
    if not found:
        raise ConfigError(
            f"nothing has been played in {folder.path} yet; play with: kille tournament "
            f"{shlex.quote(str(folder.path))}"
        )
    run = shlex.quote(f"runs/{name}")
    unit = unit_of(settings.table.episode)
    measure = f"units per {unit}"
    sizes = [Size(seats, found[seats], entrants, settings.seed) for seats in sorted(found)]
    if exact:
        _compute_exactly(sizes, settings, trust)
    contents = [(f"seats-{size.seats}", f"{size.seats} seats") for size in sizes]
    if len(sizes) > 1:
        contents.append(("sizes", "Rating over table size"))
    page = render(
        "tournament.html.j2",
        name=name,
        contents=[*contents, ("entrants", "Entrants")],
        verdicts=[size.verdict(measure) for size in sizes],
        game=spec(settings.table.game),
        settings=settings,
        settings_lines=yaml_lines(plain(settings)),
        rules=meta["tables"]["rules"],
        versions=meta["made_with"],
        run=run,
        unit=unit,
        unit_s=plural_of(unit),
        measure=measure,
        entrants=entrants,
        sizes=sizes,
        exact=exact,
        over_sizes=_over_sizes(sizes, entrants) if len(sizes) > 1 else None,
        cell=lambda row, column: (
            f"kille tournament {run} --cell {shlex.quote(row)} {shlex.quote(column)}"
        ),
        bootstraps=BOOTSTRAPS,
        most_on_ladder=MOST_ON_LADDER,
    )
    return write(out or folder.report, page)


@dataclass(frozen=True)
class Vote:
    """What voting and evolution say of an entrant.

    Attributes:
        name: The entrant.
        alpha_rank: Share of an evolving population, None where it is not defined.
        chosen: How often the equilibrium of largest entropy chooses it.
        rating: What it earns against that equilibrium.
        level: Level of the maximal lottery that draws it, from 1.
        drawn: How often that lottery draws it.
    """

    name: str
    alpha_rank: float | None
    chosen: float
    rating: float
    level: int
    drawn: float


@dataclass(frozen=True)
class Pair:
    """What two entrants earn together beyond what each earns without the other.

    Attributes:
        one: The first.
        other: The second.
        gain: Units per deal.
        half: Half the 95% interval, of this pair by itself.
    """

    one: str
    other: str
    gain: float
    half: float


class Size:
    """Everything that the page shows of tables of one size."""

    def __init__(
        self, seats: int, found: Observations, entrants: Sequence[KeptEntrant], seed: int
    ) -> None:
        self.seats, self.found, self.entrants, self.seed = seats, found, list(entrants), seed
        self.exact: np.ndarray | None = None
        self.names = [entrant.name for entrant in entrants]
        self.labels = [printable(name) for name in self.names]
        self.number = {name: number for number, name in enumerate(self.names)}

    def verdict(self, measure: str) -> Verdict:
        """Returns who is first, and whether it is clearly ahead of the second."""
        there = [row for row in self.standings if row.place is not None]
        if len(there) < 2:
            return Verdict(f"{self.seats} seats: fewer than two entrants have played.")
        first, second = there[:2]
        ahead = difference(self.found, self.number[first.name], self.number[second.name])
        low, high = float(ahead.low[0]), float(ahead.high[0])
        text = f"{self.seats} seats: {first.name} earns most, {first.mean:+.4f} {measure}, "
        if low > 0:
            text += f"and is clearly ahead of {second.name}"
        else:
            text += f"but is not clearly ahead of {second.name}"
        text += f" (difference {float(ahead.mean[0]):+.4f}; {interval(low, high)})."
        return Verdict(text, "better" if low > 0 else "")

    @cached_property
    def tables(self) -> int:
        """Deals, each counted for every lineup."""
        return len(self.found)

    @cached_property
    def deals(self) -> int:
        """Different deals."""
        return len(np.unique(self.found.deal))

    @cached_property
    def standings(self) -> list[Standing]:
        """The standings, best first."""
        return standings(self.found, self.entrants)

    @cached_property
    def ratings(self) -> Ratings:
        """Batch Plackett-Luce."""
        order = rankings(self.found, len(self.names))
        return plackett_luce.fit(order, bootstraps=BOOTSTRAPS, seed=self.seed)

    @cached_property
    def rating_interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the ratings' intervals in Elo points, [E] each."""
        low, high = self.ratings.interval()
        return low * ELO, high * ELO

    @cached_property
    def ladder(self) -> ladder.Ladder:
        """OpenSkill's beliefs after the first deals; more would take longer than all the rest."""
        order = rankings(self.found, len(self.names))
        return ladder.climb(order.take(np.arange(min(MOST_ON_LADDER, len(self.found)))))

    @cached_property
    def places(self) -> Places:
        """How often each finishes where."""
        return places(self.found, len(self.names))

    @cached_property
    def worst(self) -> Worst:
        """Beside which entrant each earns least."""
        return worst_opponents(self.found, len(self.names))

    @cached_property
    def crosstable(self) -> CrossTable:
        """What each earns at tables with each other entrant."""
        return crosstable(self.found, len(self.names))

    @cached_property
    def shown(self) -> list[int]:
        """Numbers of those in the crosstable, in the order of the standings."""
        order = [self.number[row.name] for row in self.standings if row.mean is not None]
        return order[:MOST_IN_CROSSTABLE]

    @cached_property
    def shades(self) -> Any:
        """Class of each cell."""
        return plots.shades(self.crosstable.mark, self.crosstable.firm)

    @cached_property
    def undefeated(self) -> list[str]:
        """The entrants that no other beats significantly where both sit."""
        found = dominance(self.found, len(self.names)).undefeated
        return [self.names[number] for number in self.shown if found[number]]

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs that earn most together beyond what each earns without the other."""
        if self.seats == 2:
            return []
        gains = pair_gains(self.found, len(self.names))
        known = np.flatnonzero(np.isfinite(gains.half))
        best = known[np.argsort(-gains.mean[known], kind="stable")][:MOST_PAIRS]
        who = pairs(len(self.names))
        return [
            Pair(self.names[one], self.names[other], float(mean), float(half))
            for (one, other), mean, half in (
                (who[row], gains.mean[row], gains.half[row]) for row in best.tolist()
            )
        ]

    @cached_property
    def votes(self) -> list[Vote] | None:
        """What voting and evolution say; None unless all entrants have met each other."""
        there = np.array(
            [
                self.number[row.name]
                for row in self.standings
                if row.mean is not None and not row.out
            ]
        )
        if len(there) < 2:
            return None
        compared = against(self.found, len(self.names)).among(there)
        off = ~np.eye(len(there), dtype=bool)
        if not (np.isfinite(compared.margin) | ~off).all():
            return None
        nash, lottery = nash_average(compared.margin), levels(compared.majority)
        ranks = None
        if self.seats == 2:
            ranks, _ = settle(
                lambda alpha: single_population(compared.margin, alpha), compared.margin
            )
        votes = [
            Vote(
                self.names[number],
                None if ranks is None else float(ranks[place]),
                float(nash.chosen[place]),
                float(nash.rating[place]),
                int(lottery.level[place]) + 1,
                float(lottery.chosen[place]),
            )
            for place, number in enumerate(there.tolist())
        ]
        return sorted(votes, key=lambda vote: (vote.level, -vote.drawn, -vote.rating))

    def rating_plot(self) -> Markup:
        """Ratings with intervals."""
        low, high = self.rating_interval
        return plot(lambda width: plots.ratings(self.labels, self.ratings.elo, low, high, width))

    def convergence_plot(self, measure: str) -> Markup | None:
        """How intervals narrow; None with too few deals."""
        if self.deals < 10:
            return None
        sums = sums_by_deal(self.found.deal, entrant_scores(self.found, len(self.names)))
        played, _, half = convergence(sums)
        return plot(lambda width: plots.convergence(played, half, measure, width))

    def place_plot(self) -> Markup:
        """How often each finishes where."""
        return plot(lambda width: plots.places(self.labels, self.places.share, width))


def _compute_exactly(sizes: Sequence[Size], settings: TournamentSettings, trust: bool) -> None:
    """Computes expected earnings at every table size where that can be done."""
    reasons = []
    for size in sizes:
        try:
            size.exact = exact_units(size.found, size.entrants, settings, trust=trust)
        except ConfigError as error:
            reasons.append(f"{size.seats} seats: {error}")
    if len(reasons) == len(sizes):
        raise ConfigError(f"nothing is exact here; leave out --exact ({'; '.join(reasons)})")


def _over_sizes(sizes: Sequence[Size], entrants: Sequence[KeptEntrant]) -> Markup:
    elo = np.array([size.ratings.elo for size in sizes])
    half = np.array([np.subtract(*size.rating_interval[::-1]) / 2 for size in sizes])
    names = [printable(entrant.name) for entrant in entrants]
    seats = [size.seats for size in sizes]
    return plot(lambda width: plots.by_size(names, seats, elo, half, width))
