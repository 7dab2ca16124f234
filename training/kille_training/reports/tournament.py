"""The page of a tournament: one file that needs nothing beside it.

Everything on it is computed from the stored results; nothing is played again, and equal results
give an equal page, byte for byte.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from kille_env.core.text import printable
from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.arena.exact import exact_units
from kille_training.arena.results import standings
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.tournament import Folder
from kille_training.evaluation.collusion import pair_gains, pairs
from kille_training.labels import plural_of, unit_of
from kille_training.reports import tournament_plots as plots
from kille_training.reports.pages import Verdict, interval, plot, render, write, yaml_lines
from kille_training.settings import plain
from kille_training.statistics import plackett_luce
from kille_training.statistics.alpha_rank import settle
from kille_training.statistics.crosstable import crosstable
from kille_training.statistics.intervals import (
    convergence,
    difference,
    entrant_scores,
    sums_by_deal,
)
from kille_training.statistics.ladder import climb
from kille_training.statistics.lotteries import levels
from kille_training.statistics.nash_averaging import nash_average
from kille_training.statistics.observations import Observations
from kille_training.statistics.places import places, worst_opponents
from kille_training.statistics.plackett_luce import ELO
from kille_training.statistics.rankings import rankings

BOOTSTRAPS = 200
MOST_ON_LADDER = 50_000
"""Observations that the ladder is computed from."""
MOST_PAIRS = 10
MOST_IN_CROSSTABLE = 60
"""Entrants in a crosstable, the best ones; more do not fit on a page."""
LEAST_DEALS = 10
"""Deals from which the page shows how the intervals narrow."""


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
    exactly = _exactly(found, entrants, settings, trust) if exact else {}
    sizes = [
        Size(each, entrants, settings.seed, measure, exactly.get(seats))
        for seats, each in sorted(found.items())
    ]
    contents = [(f"seats-{size.seats}", f"{size.seats} seats") for size in sizes]
    if len(sizes) > 1:
        contents.append(("sizes", "Rating over table size"))
    page = render(
        "tournament.html.j2",
        name=name,
        contents=[*contents, ("entrants", "Entrants")],
        verdicts=[size.verdict for size in sizes],
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
        over_sizes=_over_sizes(sizes) if len(sizes) > 1 else None,
        cell=lambda row, column: (
            f"kille tournament {run} --cell {shlex.quote(row)} {shlex.quote(column)}"
        ),
        bootstraps=BOOTSTRAPS,
        most_on_ladder=MOST_ON_LADDER,
    )
    return write(out or folder.report, page)


class Size:
    """What the page shows of tables of one size.

    Statistics of entrants are arrays by their numbers.

    Attributes:
        tables: Deals, each counted for every lineup.
        deals: Different deals.
        number: Numbers of the entrants, by name.
        exact: [E] expected units per deal, if they have been computed.
        shown: Numbers of those in the crosstable, best first.
        shades: Class of each cell of the crosstable.
        undefeated: Names of those that no other beats significantly where both sit.
        rating_interval: Ends of the ratings' intervals in Elo points, [E] each.
        finish: [E] mean place, 1 for the best.
        pairs: The two, their gain and half its interval, of the pairs that gain most from each
            other.
        votes: What voting and evolution say, see `_votes`.
        verdict: Who is first, and whether it is clearly ahead of the second.
    """

    def __init__(
        self,
        found: Observations,
        entrants: Sequence[KeptEntrant],
        seed: int,
        measure: str,
        exact: np.ndarray | None,
    ) -> None:
        self.seats, self.tables = found.seats, len(found)
        self.deals = len(np.unique(found.deal))
        self.names = [entrant.name for entrant in entrants]
        self.number = {name: number for number, name in enumerate(self.names)}
        self.exact = exact
        count, labels = len(entrants), [printable(name) for name in self.names]

        self.standings = standings(found, entrants)
        self.verdict = self._verdict(found, measure)
        self.crosstable = crosstable(found, count)
        order = [self.number[row.name] for row in self.standings if row.mean is not None]
        self.shown = order[:MOST_IN_CROSSTABLE]
        self.shades = plots.shades(self.crosstable.mark, self.crosstable.firm)
        beaten = np.flatnonzero(self.crosstable.beats.any(axis=0))
        self.undefeated = [self.names[number] for number in self.shown if number not in beaten]
        self.worst = worst_opponents(self.crosstable)

        ranked = rankings(found, count)
        self.ratings = plackett_luce.fit(ranked, bootstraps=BOOTSTRAPS, seed=seed)
        low, high = (ELO * end for end in self.ratings.interval())
        self.rating_interval = low, high
        # More would take longer than all the rest.
        self.ladder = climb(ranked.take(np.arange(min(MOST_ON_LADDER, len(ranked)))))
        shares = places(found, count).mean
        self.finish = shares @ np.arange(1, self.seats + 1)
        self.pairs = self._pairs(found) if self.seats > 2 else []
        there = [self.number[row.name] for row in self.standings if row.place is not None]
        self.votes = self._votes(there)

        self.rating_plot = plot(
            lambda width: plots.ratings(labels, self.ratings.elo, low, high, width)
        )
        self.place_plot = plot(lambda width: plots.places(labels, shares, width))
        self.convergence_plot = None
        if self.deals >= LEAST_DEALS:
            played, half = convergence(sums_by_deal(found.deal, entrant_scores(found, count)))
            self.convergence_plot = plot(
                lambda width: plots.convergence(played, half, measure, width)
            )

    def _verdict(self, found: Observations, measure: str) -> Verdict:
        there = [row for row in self.standings if row.place is not None]
        if len(there) < 2:
            return Verdict(f"{self.seats} seats: fewer than two entrants have played.")
        first, second = there[:2]
        ahead = difference(found, self.number[first.name], self.number[second.name])
        low, high = float(ahead.low[0]), float(ahead.high[0])
        clearly = "and is clearly" if low > 0 else "but is not clearly"
        return Verdict(
            f"{self.seats} seats: {first.name} earns most, {first.mean:+.4f} {measure}, "
            f"{clearly} ahead of {second.name} "
            f"(difference {float(ahead.mean[0]):+.4f}; {interval(low, high)}).",
            "better" if low > 0 else "",
        )

    def _pairs(self, found: Observations) -> list[tuple[Any, ...]]:
        gains, who = pair_gains(found, len(self.names)), pairs(len(self.names))
        known = np.flatnonzero(np.isfinite(gains.half))
        best = known[np.argsort(-gains.mean[known], kind="stable")][:MOST_PAIRS]
        return [
            (*(self.names[number] for number in who[row]), gains.mean[row], gains.half[row])
            for row in best.tolist()
        ]

    def _votes(self, there: Sequence[int]) -> list[dict[str, Any]] | None:
        """Returns what voting and evolution say of those who are there; None unless all have met.

        Each has its `name`; the `level` of the maximal lottery that draws it, from 1; how often it
        is `drawn` there; how often the equilibrium of largest entropy has `chosen` it; its
        `rating`: what it earns against that equilibrium; and its `alpha_rank` at two seats.
        """
        among = np.ix_(there, there)
        above = self.crosstable.above.mean[among]
        alone = np.eye(len(there), dtype=bool)
        margin = np.where(alone, 0.0, self.crosstable.margin.mean[among])
        if len(there) < 2 or np.isnan(margin).any():
            return None
        nash, lottery = nash_average(margin), levels(np.where(alone, 0.0, above - above.T))
        ranks = settle(margin)[0] if self.seats == 2 else np.full(len(there), np.nan)
        votes = [
            {
                "name": self.names[number],
                "level": lottery.level[place] + 1,
                "drawn": lottery.chosen[place],
                "chosen": nash.chosen[place],
                "rating": nash.rating[place],
                "alpha_rank": ranks[place],
            }
            for place, number in enumerate(there)
        ]
        return sorted(votes, key=lambda vote: (vote["level"], -vote["drawn"], -vote["rating"]))


def _exactly(
    found: Mapping[int, Observations],
    entrants: Sequence[KeptEntrant],
    settings: TournamentSettings,
    trust: bool,
) -> dict[int, np.ndarray]:
    """Returns expected earnings, [E], by table size, where they can be computed."""
    exact, reasons = {}, []
    for seats, each in sorted(found.items()):
        try:
            exact[seats] = exact_units(each, entrants, settings, trust=trust)
        except ConfigError as error:
            reasons.append(f"{seats} seats: {error}")
    if not exact:
        raise ConfigError(f"nothing is exact here; leave out --exact ({'; '.join(reasons)})")
    return exact


def _over_sizes(sizes: Sequence[Size]) -> Markup:
    elo = np.array([size.ratings.elo for size in sizes])
    half = np.array([np.subtract(*size.rating_interval[::-1]) / 2 for size in sizes])
    labels = [printable(name) for name in sizes[0].names]
    seats = [size.seats for size in sizes]
    return plot(lambda width: plots.by_size(labels, seats, elo, half, width))
