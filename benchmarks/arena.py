"""What the statistics of tournaments are worth: `python benchmarks/arena.py sequential speed`.

Each goal is a function that prints a table in Markdown:

    sequential  errors and deals of the sequential test, beside a fixed number and `fishtest`'s
    collusion   what two seats gain that share what they know
    speed       how long one core plays single deals of one card, all rotations, kept on disk

A table-deal is one deal played once; a deal played in all rotations of S seats counts S. Means are
units. Everything has a seed, so the numbers are the same each time, but for `speed`.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import norm

from kille_agents.catalog import load_policy, rule_of_thumb
from kille_agents.population.roster import population
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_env.core.spec import Rules
from kille_env.playing import Players, play_out
from kille_env.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.arena.executors.processes import HereExecutor
from kille_training.arena.settings import (
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
)
from kille_training.arena.tournament import Folder, Tournament
from kille_training.evaluation.collusion import exact_collusion
from kille_training.solving.byteskille.deals import build_deal
from kille_training.statistics import sequential

SEATS = 3


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Prints a table."""
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    print()


def rotations(
    game: str, lineup: Sequence[int], players: Sequence[Any], rules: Rules, deals: int, seed: int
) -> np.ndarray:
    """Plays deals in all rotations and returns what was earned, [D, turns, P] by place."""
    seats = len(lineup)
    batch = make_batch(game, seats * deals, seats, rules=rules, seed=0, restart=False)
    batch.reset(seed=np.repeat(np.arange(deals) + (seed << 32), seats))
    turn = np.tile(np.arange(seats), deals)[:, None]
    order = (batch.tables["dealer"].astype(int)[:, None] + 1 + np.arange(seats)) % seats
    seating = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(seating, order, np.asarray(lineup)[(np.arange(seats) - turn) % seats], 1)
    earned = np.take_along_axis(play_out(Players(batch, players, seating)), order, axis=1)
    earned = np.take_along_axis(earned, (np.arange(seats) + turn) % seats, axis=1)
    return earned.reshape(deals, seats, seats)


def shifted(steps: int, rules: Rules) -> ByteskilleRuleOfThumb:
    """Returns the threshold player with thresholds so many types higher."""
    thresholds = THRESHOLDS.copy()
    thresholds[thresholds > 0] += steps
    player = ByteskilleRuleOfThumb(SEATS, rules, thresholds)
    player.name = f"threshold {steps:+d}" if steps else "threshold"
    return player


def tests(runs: int) -> None:
    """Prints errors and deals of sequential tests over true gaps, on real scores."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    players = [shifted(0, rules), shifted(-2, rules)]
    earned = rotations("byteskille", (0, 1, 1), players, rules, 20_000, 1)
    bank = earned.mean(axis=1)[:, 0]
    gap = 0.01
    known = sequential.Hypotheses(0.0, gap, -2.0, 4.0)
    fixed = fixed_deals(float(bank.std()), gap)
    print(
        f"Scores of {players[0].name} among two {players[1].name}, {len(bank):,} deals: "
        f"{100 * np.mean(bank == 0):.0f} % are 0. The question is whether the mean is at most 0 or "
        f"at least {gap} units; the fixed test plays {fixed:,} deals. {runs:,} runs a row.\n"
    )
    # What W/D/L tests are told: the mean of wins and half draws at both hypotheses.
    won = (np.sign(bank) + 1) / 2
    ends = [float(tilted(bank, mean) @ won) for mean in (0.0, gap)]
    rows = []
    for times in (-8, -4, -2, -1, 0, 0.5, 1, 2, 4, 8):
        found = _simulate(bank, times * gap, known, fixed, ends, runs)
        wrong = {True: "above", False: "below"}[times <= 0]
        row = [f"{times:+g}" if times else "0"]
        for said, used in found:
            errors = np.mean([one == wrong for one in said])
            rate = f"{100 * errors:.1f} %" if not 0 < times < 1 else "-"
            row.append(f"{rate}; {used / fixed:.2f}")
        rows.append(row)
    head = ["true gap / delta", "betting", "GSPRT, units", "GSPRT, W/D/L", "fixed"]
    print("Each cell: errors; mean deals, in those of the fixed test.\n")
    table(head, rows)
    _population(rules, gap, runs)


def gsprt(scores: np.ndarray, low: float, high: float, first: int) -> tuple[str, int]:
    """Wald's test with the variance estimated: how chess engines are tested.

    With wins, draws and losses as 1, 1/2 and 0 it is the test of `fishtest`; its errors are nominal
    only as far as the estimated variance is the true one. Both chances of error are 5%.

    Args:
        scores: [N].
        low: The mean under the hypothesis.
        high: The mean under the other one.
        first: Deals before the first look, so that there is a variance.

    Returns:
        `ABOVE`, `BELOW` or `GOING`, and the deals used.
    """
    count = np.arange(1, len(scores) + 1)
    mean = np.cumsum(scores) / count
    variance = np.cumsum(np.square(scores)) / count - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = count * (high - low) * (mean - (low + high) / 2) / variance
    over = np.abs(ratio) >= np.log(0.95 / 0.05)
    over[: first - 1] = False
    if not over.any():
        return sequential.GOING, len(scores)
    end = int(over.argmax())
    return (sequential.ABOVE if ratio[end] > 0 else sequential.BELOW), end + 1


def fixed_deals(deviation: float, gap: float) -> int:
    """Returns how many deals a test with a fixed number of them needs for errors of 5%.

    Args:
        deviation: Standard deviation of a deal's score.
        gap: The distance of the hypotheses.
    """
    return int(np.ceil((2 * norm.isf(0.05) * deviation / gap) ** 2))


def tilted(bank: np.ndarray, mean: float) -> np.ndarray:
    """Returns chances of the bank's scores, exponentially tilted to a mean: no new scores."""
    low, high, chances = -50.0, 50.0, np.empty(0)
    for _ in range(80):
        middle = (low + high) / 2
        chances = np.exp(middle * (bank - bank.mean()))
        chances /= chances.sum()
        low, high = (middle, high) if chances @ bank < mean else (low, middle)
    return chances


def _simulate(
    bank: np.ndarray,
    mean: float,
    known: sequential.Hypotheses,
    fixed: int,
    ends: Sequence[float],
    runs: int,
) -> list[tuple[list[str], float]]:
    """Returns what each test said in all runs and the mean of the deals it used."""
    shares = np.cumsum(tilted(bank, mean))
    heap = bank[np.minimum(np.searchsorted(shares, (np.arange(400_000) + 0.5) / 400_000), 19_999)]
    rng = np.random.default_rng(int(1e6 * (mean + 1)))
    words = {sequential.ABOVE: "above", sequential.BELOW: "below", sequential.GOING: "going on"}
    said: list[list[str]] = [[], [], [], []]
    used: list[list[int]] = [[], [], [], []]
    for _ in range(runs):
        scores = heap[rng.integers(len(heap), size=5 * fixed)]
        test = sequential.SequentialTest(known)
        test.feed(scores)
        results = [(test.verdict, test.decided_after or len(scores))]
        results.append(gsprt(scores, known.low, known.high, first=100))
        won = (np.sign(scores) + 1) / 2
        results.append(gsprt(won, ends[0], ends[1], first=100))
        above = scores[:fixed].mean() > known.high / 2
        results.append((sequential.ABOVE if above else sequential.BELOW, fixed))
        for number, (verdict, deals) in enumerate(results):
            said[number].append(words[verdict])
            used[number].append(deals)
    return [(words, float(np.mean(deals))) for words, deals in zip(said, used, strict=True)]


def _population(rules: Rules, gap: float, runs: int) -> None:
    """Prints how many deals the pairs of the population take, by how far apart they are."""
    names = population("byteskille")
    players = [load_policy(name, "byteskille", SEATS, rules) for name in names]
    pairs = list(combinations(range(len(names)), 2))
    known = sequential.Hypotheses(0.0, gap, -2.0, 4.0)
    found = []
    for one, other in pairs:
        earned = rotations("byteskille", (0, 1, 1), (players[one], players[other]), rules, 1500, 2)
        bank = earned.mean(axis=1)[:, 0]
        if not bank.any():  # they never differ
            continue
        fixed = fixed_deals(float(bank.std()), gap)
        rng = np.random.default_rng([one, other])
        used = []
        for _ in range(max(1, runs // len(pairs))):
            test = sequential.SequentialTest(known)
            while test.verdict == sequential.GOING and test.deals < 5 * fixed:
                test.feed(bank[rng.integers(len(bank), size=4000)])
            used.append(test.decided_after or test.deals)
        found.append((abs(bank.mean()) / gap, np.mean(used), fixed))
    gaps, used, fixed = np.array(found).T
    rows = []
    for low, high in ((0, 1), (1, 4), (4, 16), (16, np.inf), (0, np.inf)):
        inside = (gaps >= low) & (gaps < high)
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
        f"Pairs of the {len(names)} bots of the population, one among two of the other, and the "
        f"same question with delta = {gap}.\n"
    )
    table(["gap / delta", "pairs", "mean deals", "fixed test", "ratio"], rows)


def collusion(_: int) -> None:
    """Prints what two of three seats gain that share what they know."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    deal = build_deal(SEATS, rules)
    players = [
        UniformPolicy(),
        rule_of_thumb(SEATS, rules),
        load_policy("byteskille/solved", "byteskille", SEATS, rules),
    ]
    rows = []
    for player in players:
        for seats in combinations(range(SEATS), 2):
            found = exact_collusion(player, seats, SEATS, rules, deal=deal)
            told = (found.own, found.selfish, found.agreed, found.shared)
            where = " and ".join(("forehand", "middle", "dealer")[seat] for seat in seats)
            gains = (f"{found.gain:.4f}", f"{found.from_sharing:.4f}")
            rows.append([player.name, where, *(f"{value:+.4f}" for value in told), *gains])
    head = ["players", "colluding", "own", "selfish", "agreed", "shared", "gain", "from sharing"]
    table(head, rows)


def speed(deals: int) -> None:
    """Prints how long a tournament of rules of thumb takes, from nothing to kept results."""
    rows = []
    for seats in (2, 3, 5):
        settings = TournamentSettings(
            table=TablesSettings("byteskille", (seats,)),
            entrants={"one": "rule_of_thumb", "another": "rule_of_thumb"},
            matchmaking=MatchmakingSettings("gauntlet", "copies", deals, hero="one"),
            workers=0,
        )
        seconds = []
        for _ in range(4):  # the first one compiles
            with TemporaryDirectory() as place, HereExecutor() as executor:
                tournament = Tournament(Folder(Path(place) / "run"), settings)
                start = time.perf_counter()
                tournament.play(executor)
                seconds.append(time.perf_counter() - start)
                tournament.close()
        middle = float(np.median(seconds[1:]))
        spread = f"{min(seconds[1:]):.2f} to {max(seconds[1:]):.2f}"
        rows.append([seats, f"{deals * seats:,}", f"{middle:.2f}", spread])
    print(f"{deals:,} single deals of Byteskille in all rotations, one process.\n")
    table(["seats", "tables", "seconds, median of 3", "from to"], rows)


GOALS: dict[str, tuple[Callable[[int], None], int]] = {
    "sequential": (tests, 2000),
    "collusion": (collusion, 0),
    "speed": (speed, 100_000),
}
"""Goals, and how many runs or deals each takes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("goals", nargs="+", choices=GOALS)
    parser.add_argument("--count", type=int, help="runs or deals; each goal has its own number")
    options = parser.parse_args()
    for name in options.goals:
        goal, count = GOALS[name]
        print(f"## {name}\n", flush=True)
        goal(options.count or count)


if __name__ == "__main__":
    main()
