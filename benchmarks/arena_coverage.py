"""How many 95% intervals of tournaments hold the truth: `python benchmarks/arena_coverage.py`.

Eleven players of a game play deals at *every* table of two and of three that they can form: all
lineups, all orders round the table, all positions. That is a population whose every mean is known.
Tournaments are drawn from it: deals at random, and who meets whom in which order at each deal by
the arena's own draws. Their intervals are made by the arena's own statistics, and counted if they
hold the population's value. The populations are stored in `--cache`; `--write` puts the tables into
docs/statistics.md.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from pathlib import Path
from zlib import crc32

import numpy as np
import platformdirs

from kille_agents.catalog import load_policy
from kille_env.core.keys import deal_seeds
from kille_env.files import whole_file
from kille_env.play.play import Players, play_out
from kille_env.play.policy import Player
from kille_env.registry import make_batch, spec
from kille_training.arena.entrants import Entrant
from kille_training.arena.schedule import Pairing, draws
from kille_training.labels import most_apart
from kille_training.statistics.intervals import ScoreRange
from kille_training.statistics.plackett_luce import fit
from kille_training.statistics.standings import crosstable, differences, group, grouping, units
from kille_training.statistics.tally import Tally
from markdown_tables import fill, table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "statistics.md"
CACHE = Path(platformdirs.user_cache_dir("kille-env")) / "populations"
SEED = 1
SEATS = 3
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
"""Good and bad ones, and some that are hard to tell apart."""
DEALS = (20, 200, 2_000, 20_000)
"""Deals after which a tournament is looked at."""
MORE = {SEATS: 1, 2: 20}
"""Deals of a population, as a multiple of those of tables of three."""
BATCH = 16_384
"""Tables that are played at a time, about."""
AT_ONCE = 50
"""Tournaments that a process simulates in one go."""


# --- the population ---


def circles(entrants: int, seats: int = SEATS) -> np.ndarray:
    """Returns every lineup in every order round the table, [C, P], its lowest number first."""
    lineups = combinations(range(entrants), seats)
    return np.array([(first, *rest) for first, *others in lineups for rest in permutations(others)])


def play(
    game: str, players: Sequence[Player], deals: np.ndarray, seed: int, seats: int = SEATS
) -> np.ndarray:
    """Plays deals at all tables of one size that players can form, from all positions.

    Args:
        game: The game; single deals under its default rules.
        players: [E].
        deals: [M] numbers of the deals.
        seed: Seed of the deals.
        seats: P.

    Returns:
        [M, E, E, E] units that the first earns with the second to its left and the third to the
        second's, mean over the positions; 0 where two are the same. With two seats [M, E, E].
    """
    tables, turn = circles(len(players), seats), np.arange(seats)
    turned = tables[:, (turn + turn[:, None]) % seats]  # [C, rotations, seats]
    shape = (len(deals), *turned.shape)
    rules = spec(game).resolve({}, episode="deal")
    size = int(np.prod(shape[:-1]))
    batch = make_batch(game, size, seats, rules=rules, seed=0, restart=False)
    batch.reset(seed=np.repeat(deal_seeds(seed, seats, deals), size // len(deals)))
    seated = np.broadcast_to(turned, shape).reshape(size, seats)
    earned = play_out(Players(batch, players, seated)).reshape(shape)
    # In rotation t the member at place p sits in seat p - t.
    by_place = earned[:, :, turn, (turn[:, None] - turn) % seats]
    return by_company(by_place.mean(axis=3), len(players))


def by_company(scores: np.ndarray, entrants: int) -> np.ndarray:
    """Returns scores by place of the lineups of `circles`, [M, C, P], as `play` returns them."""
    seats = scores.shape[2]
    found = np.zeros((len(scores), *[entrants] * seats))
    for place in range(seats):
        company = np.roll(circles(entrants, seats), -place, axis=1).T
        found[(slice(None), *company)] = scores[:, :, place]
    return found


def stored(game: str, deals: int, cache: Path, seats: int = SEATS) -> Path:
    """Returns the file of a game's population, see `play`, which is played if need be."""
    names = PLAYERS[game]
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


def add(
    tally: Tally, population: np.ndarray, drawn: np.ndarray, first: int, members: np.ndarray
) -> None:
    """Adds what deals of the population earn to a tally.

    Args:
        tally: The tally.
        population: [M, E, E, E], or [M, E, E] of two seats.
        drawn: [D] which of the population's deals they are.
        first: Number of the first in the tournament; the others follow.
        members: [D, L, P] who sits at each, as `Draw.lineups` returns it.
    """
    seats = members.shape[2]
    company = [np.roll(members, -place, axis=2) for place in range(seats)]
    scores = np.stack(
        [population[(drawn[:, None], *np.moveaxis(each, 2, 0))] for each in company], axis=2
    )
    deals = np.repeat(first + np.arange(len(drawn)), members.shape[1])
    unranked = np.zeros((len(deals), seats, seats))
    tally.add_scores(members.reshape(-1, seats), deals, scores.reshape(-1, seats), unranked)


# --- what is counted ---


@dataclass(frozen=True)
class Estimates:
    """What the page of a tournament says.

    Attributes:
        values: Values by kind, [K].
        low: Lower ends of their intervals.
        high: Upper ends.
        beats: [E, E] whether the row's entrant beats the column's.
        clear: [E, E] whether it is clearly above it in the standings.
    """

    values: dict[str, np.ndarray]
    low: dict[str, np.ndarray]
    high: dict[str, np.ndarray]
    beats: np.ndarray
    clear: np.ndarray


def estimates(tally: Tally, scale: ScoreRange) -> Estimates:
    """Returns what the page of a tournament says."""
    table, ratings, gaps = (
        crosstable(tally, scale),
        fit(tally, deals=scale.deals),
        differences(tally, scale),
    )
    pairs, cells = np.triu_indices(tally.entrants, 1), ~np.eye(tally.entrants, dtype=bool)
    kinds = {
        "standings": (units(tally, scale), ...),
        "differences": (gaps, pairs),
        "cells": (table, cells),
        "margins": (table.margin, pairs),
        "above": (table.above, pairs),
    }
    values = {name: each.mean[where] for name, (each, where) in kinds.items()}
    low = {name: each.low[where] for name, (each, where) in kinds.items()}
    high = {name: each.high[where] for name, (each, where) in kinds.items()}
    return Estimates(
        {**values, "ratings": ratings.strength},
        {**low, "ratings": ratings.low},
        {**high, "ratings": ratings.high},
        table.beats,
        group(units(tally).mean, gaps).clear,
    )


@dataclass(frozen=True)
class Truth:
    """What is true of the population.

    Attributes:
        values: By kind, [K], as `Estimates` has them.
        margins: [E, E] how much more the row's entrant earns where both sit.
        gaps: [E, E] how much more it earns in all.
    """

    values: dict[str, np.ndarray]
    margins: np.ndarray
    gaps: np.ndarray


def everything(population: np.ndarray) -> Tally:
    """Returns the tally of all that was played."""
    seats = population.ndim - 1
    tables = circles(population.shape[1], seats)
    tally = Tally.empty(seats, population.shape[1])
    for first in range(0, len(population), 1000):
        drawn = np.arange(first, min(first + 1000, len(population)))
        add(tally, population, drawn, first, np.tile(tables, (len(drawn), 1, 1)))
    return tally


def truth(population: np.ndarray) -> Truth:
    """Returns the values over everything that was played."""
    tally = everything(population)
    return Truth(
        estimates(tally, ScoreRange(0.0, 1)).values,
        crosstable(tally).margin.mean,
        differences(tally).mean,
    )


# --- tournaments ---

Seating = Callable[[int, int], np.ndarray]
"""Who sits where in a tournament with some seed and number of deals, [D, L, P]."""


@dataclass(frozen=True)
class Design:
    """How a tournament of the first E players is played.

    Attributes:
        name: In the table.
        entrants: E.
        seating: Who sits where.
        seats: P.
        games: Those that it is played in.
    """

    name: str
    entrants: int
    seating: Seating
    seats: int = SEATS
    games: tuple[str, ...] = tuple(PLAYERS)


def redrawn(pairing: Pairing, *waves: int, seats: int = SEATS) -> Seating:
    """Returns the arena's own draws, anew at every deal.

    Args:
        pairing: How lineups are made.
        waves: How many players enter together; all play every deal, as late ones catch up.
        seats: P.
    """
    ends = np.cumsum([0, *waves]).tolist()
    made = draws(pairing, [range(*each) for each in pairwise(ends)], seats)
    keys = {number: Entrant(number, f"player {number}", "").key for number in range(ends[-1])}

    def seating(seed: int, deals: int) -> np.ndarray:
        return np.concatenate([draw.lineups(seed, keys, 0, deals) for draw in made], axis=1)

    return seating


PAIRED = ("byteskille",)
"""The games of which there are tables of two."""
ALIKE = "two seats, rule_of_thumb and caller"
"""Two that differ in about one deal of a thousand."""
DESIGNS = (
    Design("all lineups, order by lot", 7, redrawn(Pairing("round_robin"), 7)),
    Design("random lineups, fresh at each deal", 11, redrawn(Pairing("random", lineups=3), 11)),
    Design("random lineups, four enter late", 11, redrawn(Pairing("random"), 7, 4)),
    Design("two seats, all pairs", 7, redrawn(Pairing("round_robin"), 7, seats=2), 2, PAIRED),
    Design(ALIKE, 2, redrawn(Pairing("round_robin"), 2, seats=2), 2, PAIRED),
)


@dataclass(frozen=True)
class Found:
    """What came of N simulated tournaments of one length.

    Attributes:
        held: Whether intervals held the truth, by kind, [N, K].
        arrows: [N] whether one or more of the marks "beats" were wrong.
        places: [N] whether one or more ranges of places were wrong.
    """

    held: dict[str, np.ndarray]
    arrows: np.ndarray
    places: np.ndarray


def judge(told: Estimates, true: Truth) -> Found:
    """Returns how a tournament compares with the truth."""
    held = {
        name: ((told.low[name] <= value) & (value <= told.high[name]))[None]
        for name, value in true.values.items()
    }
    wrong = [(told.beats & (true.margins <= 0)).any(), (told.clear & (true.gaps <= 0)).any()]
    return Found(held, *(np.array([each]) for each in wrong))


def joined(parts: Sequence[Found]) -> Found:
    """Returns what came of several lots of tournaments."""
    held = {name: np.concatenate([part.held[name] for part in parts]) for name in parts[0].held}
    rest = ("arrows", "places")
    return Found(held, *(np.concatenate([getattr(part, name) for part in parts]) for name in rest))


def simulate(
    population: np.ndarray,
    design: Design,
    seeds: Sequence[int],
    largest: float,
    deals: Sequence[int] = DEALS,
) -> dict[int, Found]:
    """Plays tournaments whose deals are drawn from the population.

    Args:
        population: [M, E, E, E].
        design: How they are played.
        seeds: [N] one for each tournament.
        largest: The most by which two scores of a deal differ.
        deals: After how many deals they are looked at, ascending.

    Returns:
        What came of them, by number of deals.
    """
    entrants = design.entrants
    own = np.ascontiguousarray(population[(slice(None), *[slice(entrants)] * design.seats)])
    true = truth(own)
    found: dict[int, list[Found]] = {end: [] for end in deals}
    for seed in seeds:
        drawn = np.random.default_rng(seed).integers(len(own), size=deals[-1])
        members = design.seating(seed, deals[-1])
        tally = Tally.empty(design.seats, entrants)
        for begin, end in pairwise((0, *deals)):
            add(tally, own, drawn[begin:end], begin, members[begin:end])
            found[end].append(judge(estimates(tally, ScoreRange(largest, end)), true))
    return {end: joined(parts) for end, parts in found.items()}


Job = tuple[str, int, range]
"""A game, the number of a design, and seeds."""
Files = Mapping[tuple[str, int], Path]
"""The files of populations, by game and seats."""


def simulate_all(files: Files, runs: int, workers: int) -> dict[tuple[str, str, int], Found]:
    """Returns what came of tournaments, by game, design and deals."""
    jobs = [
        (game, number, range(first, min(first + AT_ONCE, runs)))
        for number, design in enumerate(DESIGNS)
        for game in design.games
        for first in range(0, runs, AT_ONCE)
    ]
    found: dict[tuple[str, str, int], list[Found]] = {}
    with ProcessPoolExecutor(workers) as pool:
        paths = [files[game, DESIGNS[number].seats] for game, number, _ in jobs]
        parts = pool.map(_simulate, paths, jobs)
        for (game, number, seeds), part in zip(jobs, parts, strict=True):
            design = DESIGNS[number].name
            print(f"{game}, {design}: {seeds.stop}", file=sys.stderr, flush=True)
            for deals, each in part.items():
                found.setdefault((game, design, deals), []).append(each)
    return {key: joined(each) for key, each in found.items()}


def _simulate(file: Path, job: Job) -> dict[int, Found]:
    game, number, seeds = job
    design = DESIGNS[number]
    return simulate(np.load(file, mmap_mode="r"), design, seeds, largest_of(game, design.seats))


def largest_of(game: str, seats: int) -> float:
    """Returns the most by which two scores of a deal differ."""
    return most_apart(spec(game).resolve({}, episode="deal"), seats)


LOOKS = 10
"""How often a tournament is looked at that is extended."""


def looking(population: np.ndarray, largest: float, runs: int) -> str:
    """Returns the table of how often equal players are told apart by who looks again and again.

    At each deal two unlike players of a population of two seats swap names at random, so under
    either name they earn the same on average.

    Args:
        population: [M, E, E].
        largest: The most by which two scores of a deal differ.
        runs: Tournaments.
    """
    scores, step = population[:, 0, 6], DEALS[1]
    wrong = np.zeros((runs, LOOKS), dtype=bool)
    for seed in range(runs):
        rng, tally = np.random.default_rng(seed), Tally.empty(2, 2)
        for look in range(LOOKS):
            earned = rng.choice(scores, step) * rng.choice([-1.0, 1.0], step)
            members = np.tile([0, 1], (step, 1))
            deals = np.arange(look * step, (look + 1) * step)
            tally.add_scores(members, deals, np.stack([earned, -earned], axis=1))
            wrong[seed, look] = grouping(tally, ScoreRange(largest, deals[-1] + 1)).clear.any()
    names = ("looks", "deals at the last", "told apart at the last look", "at any look")
    rows = [
        (
            *(str(looks), f"{looks * step:,}"),
            *(f"{wrong[:, looks - 1].mean():.1%}", f"{wrong[:, :looks].any(axis=1).mean():.1%}"),
        )
        for looks in (1, 2, 5, LOOKS)
    ]
    return table(names, rows)


# --- tables ---


def coverage(found: Mapping[tuple[str, str, int], Found], designs: Sequence[Design]) -> str:
    """Returns the table of how many intervals held the truth, least and most over the deals."""
    names = {design.name for design in designs}
    looks: dict[tuple[str, str], list[Found]] = {}
    for (game, name, _), each in found.items():
        if name in names:
            looks.setdefault((game, name), []).append(each)
    kinds = next(iter(found.values())).held
    rows = [
        (
            *key,
            *(_between([each.held[kind].mean() for each in here]) for kind in kinds),
            f"{max(each.arrows.mean() for each in here):.1%}",
            f"{max(each.places.mean() for each in here):.1%}",
        )
        for key, here in looks.items()
    ]
    return table(("game", "lineups", *kinds, "a wrong arrow", "a wrong place"), rows)


def _between(shares: Sequence[float]) -> str:
    low, high = f"{100 * min(shares):.1f}", f"{max(shares):.1%}"
    return high if f"{low}%" == high else f"{low} to {high}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="tournaments of each kind")
    parser.add_argument("--deals", type=int, default=3_000, help="deals of a population")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the populations")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    files = {
        (game, design.seats): stored(
            game, MORE[design.seats] * options.deals, options.cache, design.seats
        )
        for design in DESIGNS
        for game in design.games
    }
    found = simulate_all(files, options.runs, options.workers)
    blocks = {
        "coverage": coverage(found, DESIGNS),
        "looking": looking(
            np.load(files["byteskille", 2]), largest_of("byteskille", 2), 2 * options.runs
        ),
    }
    for name, block in blocks.items():
        print(f"## {name}\n\n{block}\n")
    if options.write:
        fill(PAGE, blocks)


if __name__ == "__main__":
    main()
