"""Coverage of the 95% intervals of tournaments: `python benchmarks/arena_coverage.py`.

Eleven players of a game play deals at *every* table of two and of three: all lineups, all orders
round the table, all positions. That is a population with known means. Tournaments are sampled from
it, with random deals and the arena's schedules and statistics; an interval counts if it covers the
population's value. The populations are stored in `--cache`. Prints the table of
docs/statistics.md.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import platformdirs

from kille_agents.catalog import load_policy
from kille_env.core.keys import deal_seeds
from kille_env.files import whole_file
from kille_env.play.policy import Policy
from kille_env.registry import spec
from kille_training.arena.entrants import Entrant
from kille_training.arena.play import rotations
from kille_training.arena.schedule import (
    Cohorts,
    Lineups,
    Schedule,
    cohorts_of,
    random_tables,
    round_robin,
)
from kille_training.evaluation.duplicate import play_deals
from kille_training.labels import most_apart
from kille_training.statistics.intervals import ScoreRange
from kille_training.statistics.plackett_luce import fit
from kille_training.statistics.standings import crosstable, differences, group, units
from kille_training.statistics.tally import Tally
from markdown_tables import table

CACHE = Path(platformdirs.user_cache_dir("kille-env")) / "populations"
SEED = 1
PLAYERS: dict[str, tuple[str, ...]] = {
    "byteskille": (
        *("rule_of_thumb", "byteskille/caller", "byteskille/solved", "byteskille/restless"),
        *("byteskille/forgetful", "byteskille/tipsy", "uniform", "byteskille/ladder"),
        *("byteskille/contented", "byteskille/copycat", "byteskille/stone"),
    ),
    "knack": (
        *("rule_of_thumb", "knack/saver", "knack/low_leader", "knack/enough", "knack/tipsy"),
        *("knack/loose", "uniform", "knack/any_trump", "knack/tight", "knack/ace"),
        "knack/lone_wolf",
    ),
}
"""Good and bad players, and nearly equal ones."""
DEALS = (20, 200, 2_000, 20_000)  # deals after which a tournament is evaluated
POPULATION = {3: 3_000, 2: 60_000}  # deals of a population, by seats
BATCH = 16_384  # approximate number of tables played at a time
AT_ONCE = 50  # tournaments per task of a process


# --- the population ---


def circles(entrants: int, seats: int = 3) -> np.ndarray:
    """Return every lineup in every order round the table, [C, P], lowest number first."""
    lineups = combinations(range(entrants), seats)
    return np.array([(first, *rest) for first, *others in lineups for rest in permutations(others)])


def play(
    game: str, players: Sequence[Policy], deals: np.ndarray, seed: int, seats: int = 3
) -> np.ndarray:
    """Play deals at all tables of one size of players, from all positions."""
    tables, turn = circles(len(players), seats), np.arange(seats)
    turned = tables[:, (turn + turn[:, None]) % seats]  # [C, rotations, seats]
    shape = (len(deals), *turned.shape)
    rules = spec(game).resolve({}, episode="deal")
    seated = np.broadcast_to(turned, shape).reshape(-1, seats)
    seeds = np.repeat(deal_seeds(seed, seats, deals), len(seated) // len(deals))
    earned = play_deals(players, rules, seeds, seated).reshape(shape)
    # In rotation t the member at place p sits in seat p - t.
    by_place = earned[:, :, turn, (turn[:, None] - turn) % seats]
    return by_company(by_place.mean(axis=3), len(players))


def by_company(scores: np.ndarray, entrants: int) -> np.ndarray:
    """Return scores by place of the lineups of `circles`, [M, C, P], as `play` returns them."""
    seats = scores.shape[2]
    found = np.zeros((len(scores), *[entrants] * seats))
    for place in range(seats):
        company = np.roll(circles(entrants, seats), -place, axis=1).T
        found[(slice(None), *company)] = scores[:, :, place]
    return found


def stored(game: str, seats: int, cache: Path) -> Path:
    """Return the file of a game's population, see `play`, playing it if missing."""
    names, deals = PLAYERS[game], POPULATION[seats]
    path = cache / f"{game}-{seats}-{deals}-{crc32(' '.join(names).encode()):08x}.npy"
    if path.is_file():
        return path
    rules = spec(game).resolve({}, episode="deal")
    players = [load_policy(name, game, seats, rules) for name in names]
    at_once = max(1, BATCH // (seats * len(circles(len(names), seats))))
    parts = [
        play(game, players, np.arange(first, min(first + at_once, deals)), SEED, seats)
        for first in range(0, deals, at_once)
    ]
    cache.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.save(file, np.concatenate(parts))
    return path


def add(tally: Tally, population: np.ndarray, drawn: np.ndarray, lineups: Lineups) -> None:
    """Add earnings of sampled deals of the population to a tally."""
    members, seats = lineups.members, lineups.members.shape[1]
    company = [np.roll(members, -place, axis=1) for place in range(seats)]
    at = drawn[lineups.deal]
    scores = np.stack([population[(at, *each.T)] for each in company], axis=1)
    tally.add(members, lineups.deal, scores[:, rotations(seats)])


# --- tournaments ---


@dataclass(frozen=True)
class Page:
    """Figures of the page of a tournament."""

    values: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    beats: np.ndarray
    clear: np.ndarray
    margins: np.ndarray
    gaps: np.ndarray


def page(tally: Tally, scale: ScoreRange) -> Page:
    """Return the figures of a tournament's page."""
    crossed, gaps = crosstable(tally, scale), differences(tally, scale)
    ratings = fit(tally, deals=scale.deals)
    pairs, cells = np.triu_indices(tally.entrants, 1), ~np.eye(tally.entrants, dtype=bool)
    kinds = {
        "standings": (units(tally, scale), ...),
        "differences": (gaps, pairs),
        "cells": (crossed, cells),
        "margins": (crossed.margin, pairs),
        "above": (crossed.above, pairs),
    }
    values = {
        name: (each.mean[where], each.low[where], each.high[where])
        for name, (each, where) in kinds.items()
    } | {"ratings": (ratings.strength, ratings.low, ratings.high)}
    clear = group(units(tally).mean, gaps).clear
    return Page(values, crossed.beats, clear, crossed.margin.mean, gaps.mean)


def truth(population: np.ndarray) -> Page:
    """Return the figures of the whole population, without meaningful intervals."""
    seats, entrants = population.ndim - 1, population.shape[1]
    tally = Tally.empty(seats, entrants)
    tables = circles(entrants, seats)
    for first in range(0, len(population), 1000):
        deals = np.arange(first, min(first + 1000, len(population)))
        row = np.tile(np.arange(len(tables)), len(deals))
        at = Lineups(tables[row], deals.repeat(len(tables)), row)
        add(tally, population, np.arange(len(population)), at)
    return page(tally, ScoreRange(0.0, 1))


@dataclass(frozen=True)
class Design:
    """Lineups of a tournament of the first E players."""

    name: str
    entrants: int
    seating: Callable[[int, int], Lineups]
    seats: int = 3
    games: tuple[str, ...] = tuple(PLAYERS)


def scheduled(
    name: str, schedule: Callable[[Cohorts], list[Schedule]], *sizes: int, seats: int = 3
) -> Design:
    """Return a design with the arena's lineups, resampled at every deal."""
    entrants = [
        Entrant(number, f"player {number}", "", cohort=cohort)
        for number, cohort in enumerate(np.repeat(np.arange(len(sizes)), sizes).tolist())
    ]
    schedules = schedule(cohorts_of(entrants))
    keys = {each.number: each.key for each in entrants}

    def seating(seed: int, deals: int) -> Lineups:
        parts = [each.lineups(seed, keys, 0, deals) for each in schedules]
        return Lineups(*map(np.concatenate, zip(*parts, strict=True)))

    return Design(
        name, len(entrants), seating, seats, tuple(PLAYERS) if seats == 3 else ("byteskille",)
    )


DESIGNS = (
    scheduled("all lineups, order by lot", partial(round_robin, seats=3), 7),
    scheduled("random lineups, fresh at each deal", partial(random_tables, seats=3, lineups=3), 11),
    scheduled("random lineups, four enter late", partial(random_tables, seats=3), 7, 4),
    scheduled("two seats, all pairs", partial(round_robin, seats=2), 7, seats=2),
    # They differ in about one deal of a thousand.
    scheduled("two seats, rule_of_thumb and caller", partial(round_robin, seats=2), 2, seats=2),
)


def simulate(
    population: np.ndarray,
    design: Design,
    seeds: Sequence[int],
    largest: float,
    deals: Sequence[int] = DEALS,
) -> pd.DataFrame:
    """Simulate tournaments on deals sampled from the population."""
    own = np.ascontiguousarray(population[(slice(None), *[slice(design.entrants)] * design.seats)])
    true, rows = truth(own), []
    for seed in seeds:
        drawn = np.random.default_rng(seed).integers(len(own), size=deals[-1])
        lineups = design.seating(seed, deals[-1])
        tally = Tally.empty(design.seats, design.entrants)
        for begin, end in pairwise((0, *deals)):
            there = (begin <= lineups.deal) & (lineups.deal < end)
            add(tally, own, drawn, Lineups(*(each[there] for each in lineups)))
            told = page(tally, ScoreRange(largest, end))
            held = {
                kind: np.mean((low <= true.values[kind][0]) & (true.values[kind][0] <= high))
                for kind, (_, low, high) in told.values.items()
            }
            arrow = (told.beats & (true.margins <= 0)).any()
            place = (told.clear & (true.gaps <= 0)).any()
            rows.append({"deals": end, **held, "a wrong arrow": arrow, "a wrong place": place})
    return pd.DataFrame(rows)


def _job(file: Path, game: str, number: int, seeds: range) -> pd.DataFrame:
    design = DESIGNS[number]
    population = np.load(file, mmap_mode="r")
    largest = most_apart(spec(game).resolve({}, episode="deal"), design.seats)
    found = simulate(population, design, seeds, largest)
    print(f"{game}, {design.name}: {seeds.stop}", file=sys.stderr, flush=True)
    return found.assign(game=game, lineups=design.name)


def coverage(found: pd.DataFrame) -> str:
    """Return the table of coverage, least and most over the numbers of deals."""
    by_deals: Any = found.groupby(["game", "lineups", "deals"], sort=False).mean()
    low, high = (
        getattr(by_deals.groupby(["game", "lineups"], sort=False), end)() for end in ("min", "max")
    )
    rows = []
    for key in low.index:
        *shares, arrow, place = zip(low.loc[key], high.loc[key], strict=True)
        rows.append((*key, *(_between(*each) for each in shares), _between(arrow[1], arrow[1]),
                     _between(place[1], place[1])))  # fmt: skip
    return table(("game", "lineups", *low.columns), rows)


def _between(least: float, most: float) -> str:
    low, high = f"{100 * least:.1f}", f"{most:.1%}"
    return high if f"{low}%" == high else f"{low} to {high}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="tournaments of each kind")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the populations")
    options = parser.parse_args()
    jobs = [
        (stored(game, design.seats, options.cache), game, number, range(first, first + AT_ONCE))
        for number, design in enumerate(DESIGNS)
        for game in design.games
        for first in range(0, options.runs, AT_ONCE)
    ]
    with ProcessPoolExecutor(options.workers) as pool:
        print(coverage(pd.concat(pool.map(_job, *zip(*jobs, strict=True)))))


if __name__ == "__main__":
    main()
