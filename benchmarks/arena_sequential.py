"""What the sequential test costs, and how often it errs: `python benchmarks/arena_sequential.py`.

Every game, single deals and matches, at both hypotheses; printed as tables in Markdown.

Scores are those of `kille compare`: one player among copies of another, over all positions, less
the table's mean. They were played once; runs draw from them, exponentially tilted to the mean in
question: only scores occur that were played, how often they occur changes. "Fixed" is the test with
a fixed number of deals, the same errors, and the true variance at both hypotheses. Everything has a
seed, so the numbers are the same each time.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import norm

from kille_agents.catalog import load_policy
from kille_agents.population.roster import population
from kille_env.core.spec import Rules
from kille_env.play.play import Players, play_out
from kille_env.play.policy import Player
from kille_env.registry import list_games, make_batch, spec
from kille_training.labels import bounds_of, uncut_of
from kille_training.statistics.sequential import ABOVE, BELOW, GOING, Hypotheses, SequentialTest
from markdown_tables import table

SEATS = 3
BANK = 20_000
BATCH = 4_000
SPREAD = 30
"""Standard deviations per gap between the hypotheses."""
ERROR = 0.05
TARGET = 0.7


def scores_of(players: Sequence[Player], rules: Rules, deals: int, seed: int) -> np.ndarray:
    """Plays the first player among copies of the second and returns its scores, [D]."""
    found = []
    lineup = np.arange(SEATS) > 0
    for first in range(0, deals, BATCH):
        numbers = np.arange(first, min(deals, first + BATCH))
        batch = make_batch(
            rules.game, SEATS * len(numbers), SEATS, rules=rules, seed=0, restart=False
        )
        batch.reset(seed=np.repeat(numbers + (seed << 32), SEATS))
        turn = np.tile(np.arange(SEATS), len(numbers))
        seating = lineup[(np.arange(SEATS) - turn[:, None]) % SEATS].astype(np.int64)
        earned = play_out(Players(batch, players, seating))
        score = earned[np.arange(len(turn)), turn] - earned.mean(axis=1)
        found.append(score.reshape(-1, SEATS).mean(axis=1))
    return np.concatenate(found).round(9)


def tilted(bank: np.ndarray, mean: float) -> np.ndarray:
    """Returns scores of the bank, each as often as an exponential tilt to a mean has it."""
    low, high, chances = -1000.0, 1000.0, np.empty(0)
    standard = (bank - bank.mean()) / bank.std()
    for _ in range(200):
        middle = (low + high) / 2
        powers = middle * standard
        chances = np.exp(powers - powers.max())
        chances /= chances.sum()
        low, high = (middle, high) if chances @ bank < mean else (low, middle)
    places = np.searchsorted(np.cumsum(chances), (np.arange(400_000) + 0.5) / 400_000)
    return bank[np.minimum(places, len(bank) - 1)]


def fixed_deals(deviations: Sequence[float], gap: float) -> float:
    """Returns how many deals the test with a fixed number of them needs.

    Args:
        deviations: Standard deviations of a score at the two hypotheses.
        gap: Their distance.
    """
    return float(norm.isf(ERROR) * sum(deviations) / gap) ** 2


def run(heap: np.ndarray, known: Hypotheses, pace: int, seed: int) -> SequentialTest:
    """Returns a test that was fed scores of a heap until it was decided."""
    rng, test = np.random.default_rng(seed), SequentialTest(known)
    while test.feed(heap[rng.integers(len(heap), size=pace)]) == GOING:
        pass
    return test


def games(runs: int) -> None:
    """Prints errors and deals at both hypotheses for all games, single deals and matches."""
    print(
        f"The rule of thumb among copies of each bot of its game, {SEATS} seats, {BANK:,} deals or "
        f"matches each. The hypotheses are a {SPREAD}th of the standard deviation apart, so the "
        f"fixed test plays about {fixed_deals([SPREAD, SPREAD], 1):,.0f}. {runs:,} runs a pair "
        "and hypothesis; deals are means, in those of the fixed test."
    )
    rows, slow = [], []
    for game in list_games():
        for episode in ("deal", "match"):
            found = [Pair(game, episode, bot, bank, runs) for bot, bank in _banks(game, episode)]
            rows.append([game, episode, len(found), *_summary(found)])
            slow += [pair for pair in found if max(pair.deals) > TARGET]
            print(".", end="", file=sys.stderr, flush=True)
    head = ["game", "scores of", "pairs", "errors", "interval holds", "at low", "at high", "worst"]
    print(f"\n{table([*head, 'cut'], rows)}\n")
    print(f"Pairs above {TARGET}, and what no test within their bounds can go below:")
    rows = [
        [pair.name, f"{pair.differ:.1%}", *(f"{each:.2f}" for each in (*pair.deals, *pair.least))]
        for pair in slow
    ]
    head = ["pair", "differ", "at low", "at high", "least at low", "least at high"]
    print(f"\n{table(head, rows)}\n")


class Pair:
    """The test of two players.

    Attributes:
        name: Which.
        differ: Share of the scores that are not 0.
        errors: Shares of wrong verdicts at `low` and at `high`.
        holds: Share of the runs whose interval holds the truth.
        deals: Mean deals at `low` and at `high`, in those of the fixed test.
        least: What the bounds alone cost any test there.
        cut: Share of the scores that were cut.
    """

    def __init__(self, game: str, episode: str, bot: str, bank: np.ndarray, runs: int) -> None:
        rules = spec(game).resolve({"episode": episode})
        gap = float(tilted(bank, 0.0).std()) / SPREAD
        known = Hypotheses(
            0.0, gap, *bounds_of(rules, SEATS), ERROR, ERROR, 0, uncut_of(rules, SEATS)
        )
        heaps = [tilted(bank, mean) for mean in (0.0, gap)]
        fixed = fixed_deals([float(heap.std()) for heap in heaps], gap)
        self.name, self.differ = f"{bot}, {episode}", float(np.mean(bank != 0))
        self.errors, self.deals, self.least, holds, cut = [], [], [], [], []
        for heap, wrong in zip(heaps, (ABOVE, BELOW), strict=True):
            tests = [run(heap, known, math.ceil(fixed / 16), seed) for seed in range(runs)]
            self.errors.append(np.mean([test.verdict == wrong for test in tests]))
            self.deals.append(np.mean([test.decided_after for test in tests]) / fixed)
            ends = np.array([test.interval() for test in tests])
            holds.append(np.mean((ends[:, 0] <= heap.mean()) & (heap.mean() <= ends[:, 1])))
            cut.append(np.mean([test.cut / test.deals for test in tests]))
            bounds = np.mean([test.bounds for test in tests], axis=0)
            away = gap - heap.mean() + (bounds[1] if wrong == ABOVE else -bounds[0])
            self.least.append(math.log((1 - ERROR) / ERROR) * away / gap / fixed)
        self.holds, self.cut = float(np.mean(holds)), float(np.mean(cut))


def _banks(game: str, episode: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yields bots and the scores of the rule of thumb among them, if it both gains and loses."""
    rules = spec(game).resolve({"episode": episode})
    one = load_policy("rule_of_thumb", game, SEATS, rules)
    for bot in population(game, "train"):
        bank = scores_of((one, load_policy(bot, game, SEATS, rules)), rules, BANK, 1)
        if bank.min() < 0 < bank.max():
            yield bot, bank


def _summary(found: Sequence[Pair]) -> list[str]:
    """Returns the cells of a game's row."""
    errors, deals = (
        np.array([getattr(pair, name) for pair in found]) for name in ("errors", "deals")
    )
    worst = found[int(deals.max(axis=1).argmax())]
    return [
        f"{errors.mean():.1%}",
        f"{np.mean([pair.holds for pair in found]):.1%}",
        *(f"{each:.2f}" for each in deals.mean(axis=0)),
        f"{max(worst.deals):.2f} ({worst.name.partition(',')[0].partition('/')[2]})",
        f"{np.mean([pair.cut for pair in found]):.4%}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=80, help="runs of a pair and hypothesis")
    games(parser.parse_args().count)


if __name__ == "__main__":
    main()
