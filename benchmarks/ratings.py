"""How long ratings take and how good they are: `python benchmarks/ratings.py [TOURNAMENT ...]`.

First a drawn archive, in which the truth is known: 30 entrants, 100,000 tables of five, four tables
to a deal. It is drawn twice, from Plackett-Luce itself and from a game in which luck is normal and
half of a table's luck belongs to the cards of the deal, whoever holds them. Printed are the seconds
of processor time of the fit with 200 draws of the bootstrap, how often the 95% intervals hold the
truth (for the first archive; in the second the truth has another scale), and Kendall's tau between
ratings and truth.

Then, for each tournament that is named, a folder that `kille tournament` made, Kendall's tau
between ratings, which know orders only, and the units per deal that entrants earn.
"""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from kille_training.statistics.intervals import units
from kille_training.statistics.observations import Observations
from kille_training.statistics.plackett_luce import Ratings, fit
from kille_training.statistics.rankings import Rankings, rankings

ENTRANTS, SEATS, TABLES_A_DEAL, SPREAD = 30, 5, 4, 0.5


def drawn(truth: np.ndarray, tables: int, own_model: bool, seed: int) -> Observations:
    """Returns an archive of tables that were never played.

    Args:
        truth: [E], strengths.
        tables: How many.
        own_model: Whether luck is Gumbel's, for which Plackett-Luce is true; else it is normal,
            half of its variance that of the seat at this deal.
        seed: Seed.
    """
    generator = np.random.default_rng(seed)
    members = np.argsort(generator.random((tables, len(truth))), axis=1)[:, :SEATS]
    deal = np.arange(tables) // TABLES_A_DEAL
    if own_model:
        luck = generator.gumbel(size=(tables, SEATS))
    else:
        cards = generator.standard_normal((deal[-1] + 1, SEATS))[deal]
        luck = (cards + generator.standard_normal((tables, SEATS))) / np.sqrt(2)
    scores = truth[members] + luck
    return Observations(
        members.astype(np.int32),
        deal,
        np.zeros(tables, np.int32),
        scores - scores.mean(axis=1, keepdims=True),
        scores,
        np.full((tables, SEATS, SEATS), 1 / SEATS, np.float32),
    )


def timed(archive: Rankings, bootstraps: int) -> tuple[Ratings, float, float]:
    """Returns ratings, and the seconds of the fit alone and with the bootstrap."""
    fit(archive.take(np.arange(10)), bootstraps=1)  # compiles
    begin = time.process_time()
    fit(archive, bootstraps=0)
    alone = time.process_time() - begin
    begin = time.process_time()
    made = fit(archive, bootstraps=bootstraps)
    return made, alone, time.process_time() - begin


def tau(one: np.ndarray, other: np.ndarray) -> float:
    """Returns Kendall's tau of two ratings: 1 for the same order, -1 for the opposite one."""
    return float(np.asarray(kendalltau(one, other))[0])


def tournament(folder: Path) -> tuple[Mapping[int, Observations], int]:
    """Returns a tournament's observations by table size, and how many entered."""
    from kille_training.arena.store import Store
    from kille_training.arena.tournament import Folder

    with Store(Folder(folder).results, readonly=True) as store:
        return store.observations(), len(store.entrants())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tournaments", nargs="*", type=Path, help="folders of tournaments")
    parser.add_argument("--tables", type=int, default=100_000, help="tables drawn")
    parser.add_argument("--bootstraps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    truth = np.random.default_rng(asked.seed).normal(0, SPREAD, ENTRANTS)
    truth -= truth.mean()
    for name, own_model in (("Gumbel's luck", True), ("cards shared by a deal", False)):
        archive = rankings(drawn(truth, asked.tables, own_model, asked.seed), ENTRANTS)
        made, alone, whole = timed(archive, asked.bootstraps)
        low, high = made.interval()
        held = f"; {np.mean((low <= truth) & (truth <= high)):.0%} of intervals hold the truth"
        print(
            f"{name}: {ENTRANTS} entrants, {len(archive):,} tables of {SEATS}: fit {alone:.2f} s, "
            f"with {asked.bootstraps} draws {whole:.2f} s{held if own_model else ''}; "
            f"tau {tau(truth, made.strength):.3f}"
        )
    for folder in asked.tournaments:
        by_size, entrants = tournament(folder)
        for size, observations in by_size.items():
            name, archive = f"{folder.name}, {size} seats", rankings(observations, entrants)
            earned = units(observations, entrants).mean
            rated = fit(archive, bootstraps=0).strength
            seen = np.isfinite(rated)
            print(
                f"{name}: tau of ratings and units per deal: {tau(rated[seen], earned[seen]):.3f}"
            )


if __name__ == "__main__":
    main()
