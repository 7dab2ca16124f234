"""Earnings of a policy against others, over duplicate deals.

The focal player takes each seat of the same deal in turn, with the baseline in every other seat.
The first dealer belongs to the deal, so the focal player plays every position once. The mean of its
earnings in these games is *one* observation, and intervals are over observations: games with the
same cards are not independent. In games that are not zero-sum, the score is the focal player's
earnings minus the baseline's in the same seat over the same cards. In every game a player scores
exactly 0 against itself, deal by deal, because it meets the same random numbers.

Deals and random numbers are those of `kille_env.core.keys` and `kille_env.play.seating`: deal 17 of
a seed is the same here, in a comparison and in a tournament.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from kille_agents.greedy import PLAYS, with_action_selection
from kille_env.core.keys import deal_seeds
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import Policy, deterministic_kernel
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.play.user_functions import Function, paid
from kille_env.registry import make_batch
from kille_training.labels import most_apart
from kille_training.progress import ignore
from kille_training.statistics.intervals import ScoreRange, means

TABLES = 16_384  # tables played side by side, which bounds the memory
DECIMALS = 9
"""Decimals of scores: shares of a stake are not binary fractions, so sums have rounding errors."""
DETERMINISTIC = "deterministic"  # way of play of a policy that never mixes actions


def known_play(play: str) -> str:
    """Return a valid way of play, or raise."""
    known = (*PLAYS, DETERMINISTIC)
    if play not in known:
        raise ConfigError(f"play is {play!r}, expected one of {', '.join(known)}")
    return play


Play = Annotated[str, AfterValidator(known_play)]  # way of play in results


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        mean: Units per deal (or match); the gain over the baseline's if the game is not zero-sum.
        low: Lower end of the 95% interval.
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
        policy: The measured player.
        play: "greedy" (the most likely action), "sampled" (an action drawn from the probabilities),
            or "deterministic" if the two are the same.
        against: The player in the other seats.
        estimate: Earnings of the policy.
        by_position: The same by position: forehand first, dealer last.
    """

    policy: str
    play: Play
    against: str
    estimate: Estimate
    by_position: tuple[Estimate, ...]


def estimates(scores: np.ndarray, largest: float) -> tuple[Estimate, ...]:
    """Return means with their intervals over deals."""
    if len(scores) < 2:
        raise KilleError(f"an interval needs 2 deals or more, got {len(scores)}")
    found = means(scores, np.ones(scores.shape), ScoreRange(largest, len(scores)))
    ends = zip(found.mean.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return tuple(Estimate(*each, len(scores)) for each in ends)


def payoff(
    focal: Policy,
    baseline: Policy,
    num_players: int,
    rules: Rules,
    *,
    play: str = "sampled",
    deals: int = 10_000,
    seed: int = 0,
) -> Row:
    """Measure a player among copies of another one."""
    (row,) = payoff_table(
        focal, [baseline], num_players, rules, deals=deals, seed=seed, plays=[play]
    )
    return row


def payoff_table(
    focal: Policy,
    baselines: Sequence[Policy],
    num_players: int,
    rules: Rules,
    *,
    deals: int,
    seed: int,
    plays: Sequence[str] = PLAYS,
    reward: Function | None = None,
    progress: Callable[[int], None] = ignore,
) -> list[Row]:
    """Measure a player against each baseline in each way to play; arguments as for `payoff`.

    With `reward`, a function of all seats' units in games [N, P], scores are the rewards of the
    focal player's seat. Their range is unknown, so intervals assume the range of the played deals.

    A player that never mixed actions has one row, for greedy and sampled play alike. `progress` is
    called with the number of deals since the last call.
    """
    rows = []
    for baseline in baselines:
        found: dict[str, Row] = {}
        for play in sorted(plays, reverse=True):  # "sampled" first
            how = play, deals, seed, reward, progress
            scores, mixed = deal_scores(focal, baseline, num_players, rules, *how)
            most = most_apart(rules, num_players) if reward is None else float(np.ptp(scores))
            estimate, *by_position = estimates(scores, most)
            name = with_action_selection(focal, play).name
            row = found[play] = Row(name, play, baseline.name, estimate, tuple(by_position))
            if play == "sampled" and not mixed and len(plays) > 1:
                found = {DETERMINISTIC: replace(row, play=DETERMINISTIC)}
                progress(deals)
                break
        rows += [found[play] for play in (DETERMINISTIC, *plays) if play in found]
    return rows


def profile_rows(
    policies: Sequence[Policy],
    rules: Rules,
    *,
    deals: int,
    seed: int,
    plays: Sequence[str] = PLAYS,
    reward: Function | None = None,
    progress: Callable[[int], None] = ignore,
) -> list[Row]:
    """Measure P policies at one table, one per seat, forehand first; return one row each."""
    seats, rows = np.arange(len(policies)), []
    seeds = deal_seeds(seed, len(policies), np.arange(deals))
    for play in plays:
        playing = [with_action_selection(policy, play) for policy in policies]
        parts = []
        for block in np.array_split(seeds, -(-len(seeds) // TABLES)):
            earned = play_deals(playing, rules, block, seats, len(policies) - 1)
            parts.append(earned if reward is None else paid(reward, earned))
            progress(len(block))
        scores = np.concatenate(parts)
        most = most_apart(rules, len(policies)) if reward is None else float(np.ptp(scores))
        for seat, estimate in enumerate(estimates(scores, most)):
            others = [policy.name for other, policy in enumerate(policies) if other != seat]
            rows.append(Row(policies[seat].name, play, ", ".join(others), estimate, ()))
    return rows


def deal_scores(
    focal: Policy,
    baseline: Policy,
    num_players: int,
    rules: Rules,
    play: str,
    deals: int,
    seed: int,
    reward: Function | None = None,
    progress: Callable[[int], None] = ignore,
) -> tuple[np.ndarray, bool]:
    """Play deals with the focal player in each seat in turn; arguments as for `payoff_table`."""
    players = [with_action_selection(focal, play), baseline]
    seeds = deal_seeds(seed, num_players, np.arange(deals))
    scores, mixed = np.empty((deals, 1 + num_players)), False

    def look(number: int, _: Decisions, probabilities: np.ndarray) -> None:
        nonlocal mixed
        mixed |= number == 0 and bool((probabilities.max(axis=1) < 1.0).any())

    watch = None if deterministic_kernel(players[0]) is not None else look
    size = max(1, TABLES // num_players)
    for start in range(0, deals, size):
        block = seeds[start : start + size]
        seat = np.tile(np.arange(num_players), len(block))
        batch = make_batch(rules.game, len(seat), num_players, rules=rules, seed=0, restart=False)
        batch.reset(seed=np.repeat(block, num_players))
        place = (seat - batch.tables["dealer"] - 1) % num_players
        seating = (np.arange(num_players) != seat[:, None]).astype(np.int64)
        earned = play_out(SeatedPolicies(batch, players, seating, watch=watch))
        earned = earned if reward is None else paid(reward, earned)
        earned = earned[np.arange(len(seat)), seat]
        if reward is None and not batch.spec.zero_sum:
            alone = play_deals(players[1:], rules, block, np.zeros(num_players, dtype=np.int64))
            earned = (earned - alone.ravel()).round(DECIMALS)
        part = scores[start : start + size]
        part[:, 0] = earned.reshape(-1, num_players).mean(axis=1).round(DECIMALS)
        part[np.repeat(np.arange(len(block)), num_players), 1 + place] = earned
        progress(len(block))
    return scores, mixed


def beyond_mean(units: np.ndarray) -> np.ndarray:
    """Return the units of seats [N, P] minus the mean of their table."""
    return units - units.mean(axis=1, keepdims=True)


def play_deals(
    players: Sequence[Policy],
    rules: Rules,
    seeds: np.ndarray,
    seating: np.ndarray,
    dealer: int | None = None,
) -> np.ndarray:
    """Return the earnings of each seat, [N, P]."""
    num_players = seating.shape[-1]
    batch = make_batch(rules.game, len(seeds), num_players, rules=rules, seed=0, restart=False)
    batch.reset(seed=seeds, dealer=dealer)
    return play_out(SeatedPolicies(batch, players, seating))
