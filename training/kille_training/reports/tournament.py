"""A tournament's page: one file that needs nothing beside it, and the same bytes for the same play.

Everything on it is worked out from what is kept; nothing is played again.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jinja2
import numpy as np
import yaml

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_training.arena.exact import exact_units
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.tournament import Folder
from kille_training.evaluation.collusion import pair_gains, pairs
from kille_training.labels import plural_of, unit_of
from kille_training.reports import tournament_plots as plots
from kille_training.reports.standings import Standing, standings
from kille_training.settings import plain
from kille_training.statistics import ladder, plackett_luce
from kille_training.statistics.alpha_rank import settle, single_population
from kille_training.statistics.crosstable import CrossTable, crosstable
from kille_training.statistics.intervals import convergence, entrant_scores, sums_by_deal
from kille_training.statistics.lotteries import levels
from kille_training.statistics.meta_game import against
from kille_training.statistics.nash_averaging import nash_average
from kille_training.statistics.observations import Observations
from kille_training.statistics.places import Places, Worst, dominance, places, worst_opponents
from kille_training.statistics.plackett_luce import ELO, Ratings
from kille_training.statistics.rankings import rankings

BOOTSTRAPS = 200
MOST_ON_LADDER = 50_000
"""Observations that the ladder is climbed with."""
MOST_PAIRS = 10
MOST_IN_CROSSTABLE = 60
"""Entrants in a crosstable, the best ones; more do not fit on a page."""


def write_page(folder: Folder, *, exact: bool = False, trust: bool = False) -> None:
    """Writes report.html of a tournament, as far as it has been played.

    Args:
        folder: The tournament's.
        exact: Whether to work out what everybody is expected to earn as well, where that can be
            done; the players are asked for it.
        trust: Whether model files that can run code may be loaded for that.

    Raises:
        KilleError: Nothing has been played, or what is kept cannot be read, or there is no exact
            expectation at any table size.
    """
    settings = folder.settings()
    with Store(folder.results, readonly=True) as store:
        entrants, found = store.entrants(), store.observations()
        meta = store.meta()
    if not found:
        raise ConfigError(
            f"nothing has been played in {folder.path} yet; play with: kille tournament "
            f"{shlex.quote(str(folder.path))}"
        )
    run = shlex.quote(f"runs/{folder.path.resolve().name}")
    unit = unit_of(settings.table.episode)
    sizes = [Size(seats, found[seats], entrants, settings.seed) for seats in sorted(found)]
    if exact:
        _work_out(sizes, settings, trust)
    page = (
        _environment()
        .get_template("tournament.html.j2")
        .render(
            name=folder.path.resolve().name,
            game=spec(settings.table.game),
            settings=settings,
            settings_text=yaml.safe_dump(plain(settings), sort_keys=False, allow_unicode=True),
            rules=meta["tables"]["rules"],
            versions=meta["made_with"],
            run=run,
            unit=unit,
            unit_s=plural_of(unit),
            measure=f"units per {unit}",
            entrants=entrants,
            sizes=sizes,
            over_sizes=_over_sizes(sizes, entrants) if len(sizes) > 1 else None,
            cell=lambda row, column: (
                f"kille tournament {run} --cell {shlex.quote(row)} {shlex.quote(column)}"
            ),
            interval=_interval,
            bootstraps=BOOTSTRAPS,
            most_on_ladder=MOST_ON_LADDER,
        )
    )
    write_whole(folder.report, page.encode())


@dataclass(frozen=True)
class Vote:
    """What tables of payoffs say of an entrant.

    Attributes:
        name: The entrant.
        alpha_rank: Share of an evolving population, None where it is not defined.
        chosen: How often the equilibrium of largest entropy chooses him.
        rating: What he earns against that equilibrium.
        level: Of the maximal lottery that draws him, from 1.
        drawn: How often it does.
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
        gain: Units a deal.
        half: Half the 95 % interval, of this pair by itself.
    """

    one: str
    other: str
    gain: float
    half: float


class Size:
    """Everything that the page says of tables of one size."""

    def __init__(
        self, seats: int, found: Observations, entrants: Sequence[KeptEntrant], seed: int
    ) -> None:
        self.seats, self.found, self.entrants, self.seed = seats, found, list(entrants), seed
        self.exact: np.ndarray | None = None
        self.names = [entrant.name for entrant in entrants]
        self.number = {name: number for number, name in enumerate(self.names)}

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
        """OpenSkill's beliefs after the first deals: it takes longer than all the rest."""
        order = rankings(self.found, len(self.names))
        return ladder.climb(order.take(np.arange(min(MOST_ON_LADDER, len(self.found)))))

    @cached_property
    def places(self) -> Places:
        """How often each finishes where."""
        return places(self.found, len(self.names))

    @cached_property
    def worst(self) -> Worst:
        """Beside whom each earns least."""
        return worst_opponents(self.found, len(self.names))

    @cached_property
    def crosstable(self) -> CrossTable:
        """What each earns where whom else sits."""
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
        """Those whom nobody beats significantly where both sit."""
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
        """What voting and evolution say; None unless everybody has met everybody."""
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

    def rating_plot(self) -> str:
        """Ratings with intervals."""
        return plots.ratings(self.names, self.ratings.elo, *self.rating_interval)

    def convergence_plot(self, measure: str) -> str | None:
        """How intervals narrow; None with too few deals."""
        if self.deals < 10:
            return None
        sums = sums_by_deal(self.found.deal, entrant_scores(self.found, len(self.names)))
        played, _, half = convergence(sums)
        return plots.convergence(played, half, measure)

    def place_plot(self) -> str:
        """How often each finishes where."""
        return plots.places(self.names, self.places.share)


def _work_out(sizes: Sequence[Size], settings: TournamentSettings, trust: bool) -> None:
    """Finds what is exact, wherever there is such a thing."""
    reasons = []
    for size in sizes:
        try:
            size.exact = exact_units(size.found, size.entrants, settings, trust=trust)
        except ConfigError as error:
            reasons.append(f"{size.seats} seats: {error}")
    if len(reasons) == len(sizes):
        raise ConfigError(f"nothing is exact here; leave out --exact ({'; '.join(reasons)})")


def _over_sizes(sizes: Sequence[Size], entrants: Sequence[KeptEntrant]) -> str:
    elo = np.array([size.ratings.elo for size in sizes])
    half = np.array([np.subtract(*size.rating_interval[::-1]) / 2 for size in sizes])
    names = [entrant.name for entrant in entrants]
    return plots.by_size(names, [size.seats for size in sizes], elo, half)


def _interval(low: float, high: float, digits: int) -> str:
    """Returns an interval in words; a single deal has none."""
    if not np.isfinite([low, high]).all():
        return "no interval yet"
    return f"{low:+.{digits}f} to {high:+.{digits}f}"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kille_training.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["signed"] = lambda value, digits=3: f"{value:+.{digits}f}"
    environment.filters["count"] = lambda value: f"{value:,}"
    return environment
