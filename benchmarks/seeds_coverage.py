"""Coverage of 95% intervals over few seeds: `python benchmarks/seeds_coverage.py`.

Two equal configurations are compared, 400 times for each number of seeds: with normally distributed
runs, and with runs of which one in ten collapses. All runs share deals and their luck. Prints the
table of docs/statistics.md.
"""

from collections.abc import Callable

import numpy as np

from kille_training.statistics.aggregate import Interval, difference, interquartile_mean, pairs
from markdown_tables import table

SEEDS = (2, 3, 4, 5, 8)
REPEATS, DEALS, DRAWS = 400, 10, 500
COLLAPSED = 10.0  # loss of a collapsed run in standard deviations


def percentiles(first: np.ndarray, second: np.ndarray, draws: int, seed: int) -> Interval:
    """Return the difference with a percentile bootstrap over runs, as in rliable."""
    rng, shape = np.random.default_rng(seed), (draws, len(first))
    ours, theirs = (
        scores.mean(axis=1)[rng.integers(len(scores), size=shape)] for scores in (first, second)
    )
    found = interquartile_mean(ours[:, :, None] - theirs[:, None, :])
    value = interquartile_mean(pairs(first.mean(axis=1), second.mean(axis=1)))
    return Interval(value, *np.quantile(found, (0.025, 0.975)))


def share(seeds: int, collapsing: float, make: Callable[..., Interval]) -> str:
    """Return the share of intervals that cover the true difference 0."""
    rng, held = np.random.default_rng(seeds), 0
    for repeat in range(REPEATS):
        runs = rng.normal(size=(2, seeds, 1)) - COLLAPSED * (rng.random((2, seeds, 1)) < collapsing)
        luck = rng.normal(size=DEALS) * 3 + rng.normal(size=(2, seeds, DEALS))
        first, second = runs + luck
        found = make(first, second, DRAWS, repeat)
        held += bool(found.low <= 0 <= found.high)
    return f"{100 * held / REPEATS:.0f}%"


def main() -> None:
    head = (
        "seeds of each",
        *(f"{way}{lost}" for way in ("here", "percentiles") for lost in ("", ", 10% collapse")),
    )
    rows = [
        (
            seeds,
            *(share(seeds, lost, way) for way in (difference, percentiles) for lost in (0.0, 0.1)),
        )
        for seeds in SEEDS
    ]
    print(table(head, rows))


if __name__ == "__main__":
    main()
