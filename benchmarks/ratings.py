"""How good ratings are and how long they take: `python benchmarks/ratings.py [TOURNAMENT ...]`.

First a drawn archive, in which the truth is known: 30 entrants, 100,000 tables of five, four tables
to a deal. It is drawn twice, from Plackett-Luce itself and from a game in which luck is normal and
half of a table's luck belongs to the cards of the deal, whoever holds them. Printed are the seconds
of processor time of counting the tables and of the fit, how many 95% intervals hold the truth (for
the first archive; in the second the truth has another scale), and Kendall's tau between ratings and
truth.

Then, for each tournament that is named, a folder that `kille tournament` made, Kendall's tau
between ratings, which know orders only, and the units per deal that entrants earn.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder
from kille_training.statistics.intervals import units
from kille_training.statistics.plackett_luce import Ratings, fit
from kille_training.statistics.tally import Tally

ENTRANTS, SEATS, TABLES_A_DEAL, SPREAD = 30, 5, 4, 0.5


def drawn(truth: np.ndarray, tables: int, own_model: bool, seed: int) -> tuple[np.ndarray, ...]:
    """Returns an archive of tables that were never played.

    Args:
        truth: [E], strengths.
        tables: How many, G.
        own_model: Whether luck is Gumbel's, for which Plackett-Luce is true; else it is normal,
            half of its variance that of the seat at this deal.
        seed: Seed.

    Returns:
        Members [G, P], deals [G] and scores [G, P], as `Tally.add_scores` takes them.
    """
    generator = np.random.default_rng(seed)
    members = np.argsort(generator.random((tables, len(truth))), axis=1)[:, :SEATS]
    deal = np.arange(tables) // TABLES_A_DEAL
    if own_model:
        luck = generator.gumbel(size=(tables, SEATS))
    else:
        cards = generator.standard_normal((deal[-1] + 1, SEATS))[deal]
        luck = (cards + generator.standard_normal((tables, SEATS))) / np.sqrt(2)
    return members, deal, truth[members] + luck


def timed(archive: Sequence[np.ndarray]) -> tuple[Ratings, float, float]:
    """Returns ratings, and the seconds of counting and of the fit."""
    Tally.empty(SEATS, ENTRANTS).add_scores(*(part[:9] for part in archive))  # compiles
    tally = Tally.empty(SEATS, ENTRANTS)
    begin = time.process_time()
    tally.add_scores(*archive)
    counted = time.process_time()
    ratings = fit(tally)
    return ratings, counted - begin, time.process_time() - counted


def tau(one: np.ndarray, other: np.ndarray) -> float:
    """Returns Kendall's tau of two ratings: 1 for the same order, -1 for the opposite one."""
    return float(np.asarray(kendalltau(one, other))[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tournaments", nargs="*", type=Path, help="folders of tournaments")
    parser.add_argument("--tables", type=int, default=100_000, help="tables drawn")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    truth = np.random.default_rng(asked.seed).normal(0, SPREAD, ENTRANTS)
    truth -= truth.mean()
    for name, own_model in (("Gumbel's luck", True), ("cards shared by a deal", False)):
        made, counting, fitting = timed(drawn(truth, asked.tables, own_model, asked.seed))
        share = np.mean((made.low <= truth) & (truth <= made.high))
        held = f"; {share:.0%} of intervals hold the truth" if own_model else ""
        print(
            f"{name}: {ENTRANTS} entrants, {asked.tables:,} tables of {SEATS}: counted in "
            f"{counting:.2f} s, fitted in {fitting:.2f} s{held}; "
            f"tau {tau(truth, made.strength):.3f}"
        )
    for folder in asked.tournaments:
        with Store(Folder(folder).results, readonly=True) as store:
            tallies = store.tallies
        for size, tally in tallies.items():
            earned, rated = units(tally).mean, fit(tally).strength
            seen = np.isfinite(rated)
            print(
                f"{folder.name}, {size} seats: tau of ratings and units per deal: "
                f"{tau(rated[seen], earned[seen]):.3f}"
            )


if __name__ == "__main__":
    main()
