"""What a player earns against others, over duplicate deals.

The focal player sits down in each seat of the same deal in turn, with the baseline in every other
seat; the first dealer belongs to the deal, so he plays every position once. The mean of what he
earned in these games is *one* observation, and the interval is Student's over the observations:
games over the same cards are not independent of each other. Where the rewards of a game do not sum
to zero, it is what he earns more than the baseline does in his seat, when it sits there too over
the same cards. So against itself a player that does not draw lots earns exactly nothing, deal by
deal, in every game.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from kille_env.core.batch import Batch
from kille_env.core.determinization import History
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.policy import Policy, Searcher, best_actions, decide, history_for, sample_actions
from kille_env.registry import make_batch

CONFIDENCE = 0.95
TABLES = 16_384
"""Tables that are played side by side; bounds the memory, not the deals."""
PLAYS = ("argmax", "sampled")


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        mean: Units a deal (or a match); more than the baseline's where they do not sum to zero.
        low: Lower end of the 95 % interval.
        high: Upper end.
        groups: Observations; each is one deal from every seat.
    """

    mean: float
    low: float
    high: float
    groups: int

    def __str__(self) -> str:
        """Mean and half the interval, for people."""
        return f"{self.mean:+.4f} ± {(self.high - self.low) / 2:.4f}"


@dataclass(frozen=True)
class Row:
    """One line of a payoff table.

    Attributes:
        policy: Who was measured.
        play: "argmax" (always the likeliest action) or "sampled" (as the probabilities say).
        against: Who sat in the other seats.
        estimate: What he earned.
        by_position: The same by position: forehand first, dealer last.
    """

    policy: str
    play: str
    against: str
    estimate: Estimate
    by_position: tuple[Estimate, ...]


def estimate(observations: np.ndarray) -> Estimate:
    """Returns mean and interval of independent observations, [G] with G at least 2."""
    groups = len(observations)
    if groups < 2:
        raise KilleError(f"an interval needs 2 deals or more, got {groups}")
    mean = float(observations.mean())
    error = float(observations.std(ddof=1)) / math.sqrt(groups)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, groups - 1)) * error
    return Estimate(mean, mean - half, mean + half, groups)


class Player:
    """A policy with its way to choose."""

    def __init__(self, policy: Policy | Searcher, play: str, rng: np.random.Generator) -> None:
        self.policy, self.play, self.rng = policy, play, rng

    def choose(self, batch: Batch, rows: np.ndarray, history: History | None = None) -> np.ndarray:
        """Returns actions at some tables of a batch, [M] int64.

        Raises:
            PolicyError: The player returned what is no distribution over the legal actions.
        """
        keys = np.zeros(len(rows), dtype=np.uint64)
        if isinstance(self.policy, Searcher):  # who does not takes no random numbers for it
            keys = self.rng.integers(2**64, size=len(rows), dtype=np.uint64)
        probabilities = decide(self.policy, batch, rows, keys, history)
        if self.play == "argmax":
            return best_actions(probabilities)
        return sample_actions(probabilities, self.rng)


def play_out(batch: Batch, players: Sequence[Player], seating: np.ndarray) -> np.ndarray:
    """Plays every table to the end.

    Args:
        batch: Tables that have been reset, made with `restart=False`.
        players: Who takes part.
        seating: [N, P] index into `players` of who sits in each seat.

    Returns:
        [N, P] what each seat earned.
    """
    total = np.zeros((batch.num_tables, batch.num_players))
    tables = np.arange(batch.num_tables)
    actions = np.zeros(batch.num_tables, dtype=np.int64)
    history = history_for([player.policy for player in players], batch)
    while True:
        playing = batch.seat >= 0
        if not playing.any():
            return total
        sitting = np.where(playing, seating[tables, batch.seat], -1)
        for number, player in enumerate(players):
            rows = np.flatnonzero(sitting == number)
            if len(rows):
                actions[rows] = player.choose(batch, rows, history)
        if history is not None:
            history.note(actions)
        batch.step(actions)
        total += batch.reward


def payoff(
    focal: Policy | Searcher,
    baseline: Policy | Searcher,
    game: str,
    num_players: int,
    rules: Rules,
    *,
    play: str = "sampled",
    deals: int = 10_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Row:
    """Measures a player among copies of another one.

    Args:
        focal: The player to be measured.
        baseline: The player in every other seat; he draws lots as his probabilities say.
        game: The game.
        num_players: P seats.
        rules: Its rules; with `episode="match"` a "deal" is a whole match from one shuffle.
        play: How the focal player chooses, "argmax" or "sampled".
        deals: Observations; each is played P times.
        seed: Seed of the first deal; equal seeds are equal deals, whoever plays.
        progress: Called with the number of deals that have been played since the last call.

    Returns:
        A line of the payoff table.

    Raises:
        PolicyError: A player returned what is no distribution over the legal actions.
    """
    if play not in PLAYS:
        raise KilleError(f"a player plays argmax or sampled, not {play!r}")
    lots = np.random.default_rng([seed, PLAYS.index(play), 20_261])
    players = [Player(focal, play, lots), Player(baseline, "sampled", lots)]
    seeds = np.random.SeedSequence(seed).generate_state(deals, np.uint64) >> np.uint64(1)
    size = max(1, TABLES // num_players)
    means, positions = [], []
    for start in range(0, deals, size):
        chunk = seeds[start : start + size]
        seats = np.tile(np.arange(num_players), len(chunk))
        batch = make_batch(game, len(seats), num_players, rules=rules, seed=0, restart=False)
        batch.reset(seed=np.repeat(chunk, num_players))
        place = (seats - batch.tables["dealer"] - 1) % num_players
        seating = (np.arange(num_players) != seats[:, None]).astype(np.int64)
        # Rounded, for the shares of a stake are no binary fractions and leave dust.
        earned = play_out(batch, players, seating).round(9)[np.arange(len(seats)), seats]
        if not batch.spec.zero_sum:
            batch = make_batch(game, len(chunk), num_players, rules=rules, seed=0, restart=False)
            batch.reset(seed=chunk)
            alone = np.ones((len(chunk), num_players), dtype=np.int64)
            earned = (earned - play_out(batch, players, alone).round(9).ravel()).round(9)
        means.append(earned.reshape(-1, num_players).mean(axis=1).round(9))
        by_place = np.empty((len(chunk), num_players))
        by_place[np.repeat(np.arange(len(chunk)), num_players), place] = earned
        positions.append(by_place)
        if progress is not None:
            progress(len(chunk))
    by_position = np.concatenate(positions)
    return Row(
        focal.name,
        play,
        baseline.name,
        estimate(np.concatenate(means)),
        tuple(estimate(by_position[:, place]) for place in range(num_players)),
    )


def payoff_table(
    focal: Policy | Searcher,
    baselines: Sequence[Policy | Searcher],
    game: str,
    num_players: int,
    rules: Rules,
    *,
    deals: int,
    seed: int,
    plays: Sequence[str] = PLAYS,
    progress: Callable[[int], None] | None = None,
) -> list[Row]:
    """Measures a player against each baseline in each way to play; arguments as for `payoff`."""
    return [
        payoff(
            focal,
            baseline,
            game,
            num_players,
            rules,
            play=play,
            deals=deals,
            seed=seed,
            progress=progress,
        )
        for baseline in baselines
        for play in plays
    ]


def rows_as_dicts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Returns rows as JSON can hold them."""
    return [asdict(row) for row in rows]


def rows_from_dicts(rows: Sequence[dict[str, Any]]) -> list[Row]:
    """Returns rows that `rows_as_dicts` has taken apart."""
    return [
        Row(
            row["policy"],
            row["play"],
            row["against"],
            Estimate(**row["estimate"]),
            tuple(Estimate(**part) for part in row["by_position"]),
        )
        for row in rows
    ]
