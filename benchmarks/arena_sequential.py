"""Sample size and errors of the sequential test: `python benchmarks/arena_sequential.py`.

Every game, single deals and matches, at both hypotheses; printed as a table in Markdown.

Scores are those of `kille compare`: one player among copies of another, over all positions, minus
the table's mean. They are played once; runs resample them, exponentially tilted to the mean in
question. "Fixed" is the test with a fixed sample size, the same errors, and the true variance at
both hypotheses. All random numbers are seeded.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from kille_agents.catalog import load_policy
from kille_agents.population.roster import population
from kille_env.core.spec import Rules
from kille_env.play.policy import Policy
from kille_env.registry import list_games, spec
from kille_training.evaluation.duplicate import play_deals
from kille_training.labels import bounds_of, uncut_of
from kille_training.statistics.sequential import ABOVE, BELOW, GOING, Hypotheses, SequentialTest
from markdown_tables import table

SEATS = 3
BANK = 20_000
BATCH = 4_000
SPREAD = 30  # standard deviation of scores over the gap between the hypotheses
ERROR = 0.05
RARE = 0.01  # share of nonzero scores below which the bounds limit a test


def scores_of(players: Sequence[Policy], rules: Rules, deals: int, seed: int) -> np.ndarray:
    """Play the first player among copies of the second and return its scores, [D]."""
    found = []
    lineup = np.arange(SEATS) > 0
    for first in range(0, deals, BATCH):
        numbers = np.arange(first, min(deals, first + BATCH))
        turn = np.tile(np.arange(SEATS), len(numbers))
        seating = lineup[(np.arange(SEATS) - turn[:, None]) % SEATS].astype(np.int64)
        seeds = np.repeat(numbers + (seed << 32), SEATS)
        earned = play_deals(players, rules, seeds, seating)
        score = earned[np.arange(len(turn)), turn] - earned.mean(axis=1)
        found.append(score.reshape(-1, SEATS).mean(axis=1))
    return np.concatenate(found).round(9)


def tilted(bank: np.ndarray, mean: float) -> np.ndarray:
    """Resample scores of the bank with an exponential tilt to a mean."""
    standard = (bank - bank.mean()) / bank.std()

    def chances(tilt: float) -> np.ndarray:
        powers = np.exp(tilt * standard - (tilt * standard).max())
        return powers / powers.sum()

    tilt: Any = brentq(lambda tilt: chances(tilt) @ bank - mean, -1000.0, 1000.0, xtol=1e-15)
    places = np.searchsorted(np.cumsum(chances(tilt)), (np.arange(400_000) + 0.5) / 400_000)
    return bank[np.minimum(places, len(bank) - 1)]


def fixed_deals(deviations: Sequence[float], gap: float) -> float:
    """Return the sample size of the fixed test."""
    return float(norm.isf(ERROR) * sum(deviations) / gap) ** 2


def run(heap: np.ndarray, known: Hypotheses, pace: int, seed: int) -> SequentialTest:
    """Return a test after feeding scores of a heap until its decision."""
    rng, test = np.random.default_rng(seed), SequentialTest(known)
    while test.feed(heap[rng.integers(len(heap), size=pace)]) == GOING:
        pass
    return test


def tested(rules: Rules, bank: np.ndarray, runs: int) -> dict[str, float]:
    """Test two players at both hypotheses."""
    gap = float(tilted(bank, 0.0).std()) / SPREAD
    known = Hypotheses(0.0, gap, *bounds_of(rules, SEATS), ERROR, ERROR, 0, uncut_of(rules, SEATS))
    heaps = {"low": tilted(bank, 0.0), "high": tilted(bank, gap)}
    fixed = fixed_deals([float(heap.std()) for heap in heaps.values()], gap)
    found: dict[str, float] = {"differ": float(np.mean(bank != 0))}
    rows = []
    for (at, heap), wrong in zip(heaps.items(), (ABOVE, BELOW), strict=True):
        tests = [run(heap, known, math.ceil(fixed / 16), seed) for seed in range(runs)]
        found[at] = float(np.mean([test.decided_after for test in tests])) / fixed
        for test in tests:
            low, high = test.interval()
            holds = low <= heap.mean() <= high
            wrongly = test.verdict == wrong
            rows.append({"errors": wrongly, "holds": holds, "cut": test.cut / test.deals})
    return found | pd.DataFrame(rows).mean().to_dict()


def banks(game: str, episode: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield bots with the scores of the rule of thumb among them, if these have both signs."""
    rules = spec(game).resolve({"episode": episode})
    one = load_policy("rule_of_thumb", game, SEATS, rules)
    for bot in population(game, "train"):
        bank = scores_of((one, load_policy(bot, game, SEATS, rules)), rules, BANK, 1)
        if bank.min() < 0 < bank.max():
            yield bot.partition("/")[2], bank


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=80, help="runs of a pair and hypothesis")
    runs = parser.parse_args().count
    print(
        f"The rule of thumb among copies of each bot of its game, {SEATS} seats, {BANK:,} deals or "
        f"matches each. The hypotheses are a {SPREAD}th of the standard deviation apart, so the "
        f"fixed test plays about {fixed_deals([SPREAD, SPREAD], 1):,.0f}. {runs:,} runs a pair "
        "and hypothesis; deals are means, in those of the fixed test."
    )
    rows, often = [], []
    for game, episode in product(list_games(), ("deal", "match")):
        rules = spec(game).resolve({"episode": episode})
        pairs = {bot: tested(rules, bank, runs) for bot, bank in banks(game, episode)}
        found: Any = pd.DataFrame(pairs).T
        if found.empty:
            continue
        most = found[["low", "high"]].max(axis=1)
        often += [*most[found.differ >= RARE]]
        means = found.mean()
        rows.append(
            [
                *(game, episode, len(found), f"{means.errors:.1%}", f"{means.holds:.1%}"),
                *(f"{means.low:.2f}", f"{means.high:.2f}"),
                *(f"{most.max():.2f} ({most.idxmax()})", f"{means.cut:.4%}"),
            ]
        )
        print(".", end="", file=sys.stderr, flush=True)
    head = ["game", "scores of", "pairs", "errors", "interval holds", "at low", "at high", "worst"]
    print(f"\n{table([*head, 'cut'], rows)}\n")
    print(f"Of the pairs that differ in {RARE:.0%} of the scores, none takes {max(often):.2f}.")


if __name__ == "__main__":
    main()
