"""What the sequential test costs, and how often it errs: `python benchmarks/arena_sequential.py`.

Each goal is a function that prints a table in Markdown:

    games       every game, single deals and matches, at both hypotheses
    gaps        one question over many true gaps, beside the tests of chess engines
    population  how many deals the pairs of Byteskille's bots take

Scores are those of `kille compare`: one player among copies of another, over all positions, less
the table's mean. They were played once; runs draw from them, exponentially tilted to the mean in
question: only scores occur that were played, how often they occur changes. "Fixed" is the test with
a fixed number of deals, the same errors, and the true variance at both hypotheses. Everything has a
seed, so the numbers are the same each time.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import norm

from kille_agents.catalog import load_policy
from kille_agents.population.roster import population
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_env.core.spec import Rules
from kille_env.play.play import Players, play_out
from kille_env.play.policy import Player
from kille_env.registry import list_games, make_batch, spec
from kille_training.scores import bounds_of, uncut_of
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


# Every game


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


# Many gaps


def shifted(steps: int, rules: Rules) -> ByteskilleRuleOfThumb:
    """Returns Byteskille's threshold player with thresholds so many types higher."""
    thresholds = THRESHOLDS.copy()
    thresholds[thresholds > 0] += steps
    player = ByteskilleRuleOfThumb(SEATS, rules, thresholds)
    player.name = f"threshold {steps:+d}" if steps else "threshold"
    return player


def gaps(runs: int) -> None:
    """Prints errors and deals over true gaps, beside the tests of chess engines."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    players = [shifted(0, rules), shifted(-2, rules)]
    bank = scores_of(players, rules, BANK, 1)
    gap = 0.01
    known = Hypotheses(0.0, gap, *bounds_of(rules, SEATS), ERROR, ERROR)
    ends = [tilted(bank, mean) for mean in (0.0, gap)]
    fixed = math.ceil(fixed_deals([float(end.std()) for end in ends], gap))
    print(
        f"Scores of {players[0].name} among two {players[1].name}, {BANK:,} deals: "
        f"{np.mean(bank == 0):.0%} are 0. The question is whether the mean is at most 0 or at "
        f"least {gap} units; the fixed test plays {fixed:,} deals. {runs:,} runs a row.\n\n"
        "Each cell: errors; mean deals, in those of the fixed test."
    )
    # What W/D/L tests are told: the mean of wins and half draws at both hypotheses.
    won = [float(_won(end).mean()) for end in ends]
    rows = []
    for times in (-8, -4, -2, -1, 0, 0.5, 1, 2, 4, 8):
        heap, rng = tilted(bank, times * gap), np.random.default_rng(round(10 * (times + 10)))
        found = np.array([_verdicts(heap, rng, known, fixed, won) for _ in range(runs)])
        wrong = np.mean(found[:, :, 0] == (1 if times <= 0 else -1), axis=0)
        used = found[:, :, 1].mean(axis=0) / fixed
        cells = [
            f"{'-' if 0 < times < 1 else format(error, '.1%')}; {deals:.2f}"
            for error, deals in zip(wrong, used, strict=True)
        ]
        rows.append([f"{times:+g}" if times else "0", *cells])
    head = ["true gap / delta", "betting", "GSPRT, units", "GSPRT, W/D/L", "fixed"]
    print(f"\n{table(head, rows)}\n")


def _verdicts(
    heap: np.ndarray,
    rng: np.random.Generator,
    known: Hypotheses,
    fixed: int,
    won: Sequence[float],
) -> list[tuple[int, int]]:
    """Returns what each test says of a run, 1 for above and -1 for below, and the deals it used."""
    scores = heap[rng.integers(len(heap), size=5 * fixed)]
    test = SequentialTest(known)
    for part in np.array_split(scores, 80):
        if test.feed(part) != GOING:
            break
    mine = {ABOVE: 1, BELOW: -1, GOING: 0}[test.verdict]
    return [
        (mine, test.decided_after or len(scores)),
        gsprt(scores, known.low, known.high),
        gsprt(_won(scores), won[0], won[1]),
        (1 if scores[:fixed].mean() > known.high / 2 else -1, fixed),
    ]


def _won(scores: np.ndarray) -> np.ndarray:
    """Returns wins as 1, draws as a half, losses as 0."""
    return (np.sign(scores) + 1) / 2


def gsprt(scores: np.ndarray, low: float, high: float, first: int = 100) -> tuple[int, int]:
    """Wald's test with the variance estimated: how chess engines are tested.

    With wins, draws and losses as 1, 1/2 and 0 it is the test of `fishtest`; its errors are nominal
    only as far as the estimated variance is the true one.

    Args:
        scores: [N].
        low: The mean under the hypothesis.
        high: The mean under the other one.
        first: Deals before the first look, so that there is a variance.

    Returns:
        1 for above, -1 for below or 0, and the deals used.
    """
    count = np.arange(1, len(scores) + 1)
    mean = np.cumsum(scores) / count
    variance = np.cumsum(np.square(scores)) / count - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = count * (high - low) * (mean - (low + high) / 2) / variance
    over = np.abs(ratio) >= math.log((1 - ERROR) / ERROR)
    over[: first - 1] = False
    if not over.any():
        return 0, len(scores)
    end = int(over.argmax())
    return int(np.sign(ratio[end])), end + 1


# A population


def pairs(runs: int) -> None:
    """Prints how many deals the pairs of Byteskille's bots take, by how far apart they are."""
    rules, gap = spec("byteskille").resolve({"episode": "deal"}), 0.01
    names = population("byteskille")
    players = [load_policy(name, "byteskille", SEATS, rules) for name in names]
    numbers = list(combinations(range(len(names)), 2))
    known = Hypotheses(0.0, gap, *bounds_of(rules, SEATS), ERROR, ERROR)
    found = []
    for one, other in numbers:
        bank = scores_of((players[one], players[other]), rules, 1500, 2)
        if not bank.any():  # they never differ
            continue
        fixed = fixed_deals([float(bank.std())] * 2, gap)
        each = max(1, runs // len(numbers))
        used = [run(bank, known, 500, 100 * one + other).decided_after for _ in range(each)]
        found.append((abs(bank.mean()) / gap, np.mean(used), fixed))
    apart, used, fixed = np.array(found).T
    rows = []
    for low, high in ((0, 1), (1, 4), (4, 16), (16, np.inf), (0, np.inf)):
        inside = (apart >= low) & (apart < high)
        if inside.any():
            rows.append(
                [
                    f"{low} to {high:g}" if high < np.inf else f"{low} and more",
                    int(inside.sum()),
                    f"{used[inside].mean():,.0f}",
                    f"{fixed[inside].mean():,.0f}",
                    f"{used[inside].sum() / fixed[inside].sum():.2f}",
                ]
            )
    print(
        f"Pairs of the {len(names)} bots of Byteskille, one among two of the other, and the same "
        f"question with delta = {gap}."
    )
    print(f"\n{table(['gap / delta', 'pairs', 'mean deals', 'fixed test', 'ratio'], rows)}\n")


GOALS: dict[str, tuple[Callable[[int], None], int]] = {
    "games": (games, 80),
    "gaps": (gaps, 600),
    "population": (pairs, 1000),
}
"""Goals, and how many runs each takes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("goals", nargs="*", choices=[*GOALS, []], default=list(GOALS))
    parser.add_argument("--count", type=int, help="runs; each goal has its own number")
    options = parser.parse_args()
    for name in options.goals:
        goal, count = GOALS[name]
        print(f"## {name}\n", flush=True)
        goal(options.count or count)


if __name__ == "__main__":
    main()
