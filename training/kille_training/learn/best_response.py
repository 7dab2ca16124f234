"""Bound the exploitability of a player from below by a learned best response.

All seats but one are frozen, and MaskablePPO learns to play that one. Its gain over the policy is
at most that of the true best response: a lower bound on exploitability, for games and tables whose
trees do not fit into memory.

The bound is unbiased: for each position the best of several learners is chosen on one set of deals,
and its gain is measured on another. The gain is paired: policy and response play the position in
the same deal with the same random numbers. If no learner gains anything on the first set, the
response plays the policy itself, and its gain is exactly 0. If units do not sum to zero, they count
beyond the table's mean, as in exact NashConv.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from kille_agents.greedy import Greedy, with_action_selection
from kille_env.core import arguments
from kille_env.core.keys import deal_seeds
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.play.policy import PlayerLike, Policy, resolve
from kille_env.registry import Table, spec
from kille_env.words.text import counted
from kille_training.evaluation.duplicate import (
    DECIMALS,
    TABLES,
    Estimate,
    beyond_mean,
    estimates,
    play_deals,
)
from kille_training.labels import BEYOND_MEAN, SEED, episode_noun, most_apart, position_names
from kille_training.learn.method import settings_of, whole_updates
from kille_training.progress import Progress, ignore, part_of, shown
from kille_training.results import Result, TextTable
from kille_training.settings import Count, Seed, settings
from kille_training.tables import RulesLike, seat

LEARNER = {
    "form": "seats",
    "num_tables": 128,
    "n_steps": 16,
    "batch_size": 512,
    "learning_rate": 2e-3,
    "ent_coef": 0.1,
    "ent_coef_end": 0.0,
}
"""Hyperparameters of MaskablePPO for a response. Against fixed opponents many small updates work
best, and the final policy need not mix actions.
"""

PARTS = 100  # progress steps per learner
KEEPS = -1  # stands for a learner if the response plays the policy itself

FAILED = (
    "No learner gained anything: the search failed, and the exploitability of {} remains unknown; "
    "try more decisions or other seeds."
)

PROBE = 2_000  # deals that estimate the scale of rewards


@settings
class Search:
    """Budget of the search for a best response."""

    decisions: Count = 400_000
    # hyperparameters of MaskablePPO that differ from `LEARNER`
    learner: Mapping[str, Any] = field(default_factory=dict)
    seeds: Count = 3  # number of learners, each with its own seed
    # deals that choose the best learner of each position
    choice_deals: Annotated[int, Field(ge=2)] = 10_000
    deals: Annotated[int, Field(ge=2)] = 20_000  # deals that measure its gain
    seed: Seed = SEED

    def __post_init__(self) -> None:
        """Refuse a learner of more than one seat."""
        form = self.hyperparameters().form
        if form != "seats":
            raise ConfigError(
                f"learner.form is {form!r}, expected 'seats': a response has one seat"
            )

    def hyperparameters(self) -> Any:
        """Return the settings of MaskablePPO."""
        return settings_of("maskable_ppo", {**LEARNER, **self.learner}, "learner.")


@dataclass(frozen=True, repr=False)
class Response(Result):
    """A learned best response.

    Attributes:
        policy: The policy that it responds to.
        table: The table.
        gains: Gain of the response over the policy by position, forehand first, the dealer last.
        total: Their sum, a lower bound on NashConv.
        values: Earnings of the policy in each position, against copies of itself.
        chosen: The learner that plays each position, from 0; `KEEPS` if the policy does.
        decisions: Decisions of each learner.
        seconds: Elapsed seconds of the whole search.
        players: The learners' networks as policies.
        transferred: The home table of a transferred policy, else "".
    """

    policy: str
    table: Table
    gains: tuple[Estimate, ...]
    total: Estimate
    values: tuple[float, ...]
    chosen: tuple[int, ...]
    decisions: tuple[int, ...]
    seconds: float
    players: tuple[Policy, ...]
    transferred: str | None = None

    @property
    def failed(self) -> bool:
        """Whether no learner gained anything in any position."""
        return all(number == KEEPS for number in self.chosen)

    def parts(self) -> list[str | TextTable]:
        """Return the table, the gain of the response by position, and the bound on NashConv."""
        home = [f"transferred from {self.transferred}"] if self.transferred else []
        kept = [number == KEEPS for number in self.chosen]
        cells = zip(position_names(len(kept)), self.values, self.gains, self.chosen, strict=True)
        rows = [
            (
                name,
                f"{value:+.4f}",
                "nothing found" if number == KEEPS else str(gain),
                "none gains" if number == KEEPS else str(number),
            )
            for name, value, gain, number in cells
        ]
        rows.append(("sum", "", "nothing found" if self.failed else str(self.total), ""))
        unit = episode_noun(str(self.table.rules["episode"]))
        beyond = "" if spec(self.table.game).zero_sum else f" {BEYOND_MEAN}"
        head = ["position", f">{self.policy} earns", ">response gains", ">learner"]
        return [
            f"{self.policy} at {self.table}",
            *home,
            TextTable(f"A learned response, units per {unit}{beyond}, 95% interval", head, rows),
            f"Found with {sum(self.decisions):,} decisions of "
            f"{counted(len(self.decisions), 'learner', 'learners')} in {self.seconds:,.0f} s.",
            "These are lower bounds: the true best response gains at least as much, up to the "
            "interval.",
            *([FAILED.format(self.policy)] if self.failed else []),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return all results except the players as JSON values."""
        gains = [asdict(each) for each in self.gains]
        return {
            "policy": self.policy,
            **self.table.as_dict(),
            "transferred": self.transferred,
            "gains": gains,
            "total": asdict(self.total),
            "values": list(self.values),
            "chosen": list(self.chosen),
            "decisions": list(self.decisions),
            "seconds": round(self.seconds, 3),
        }


def best_response(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    decisions: int = 400_000,
    seeds: int = 3,
    deals: int = 20_000,
    seed: int = SEED,
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> Response:
    """Learn a best response to a policy in all other seats, and measure its gain.

    Example:
        >>> import kille_training as kt
        >>> found = kt.best_response("uniform", "byteskille", 2, decisions=4_096, seeds=1, deals=9)
        >>> len(found.gains)
        2

    Args:
        policy: The policy to respond to.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal" or "match"; likewise.
        decisions: Decisions of each learner, in whole updates.
        seeds: Number of learners; the best of them plays each position.
        deals: Deals of the measurement; half as many choose the learners.
        seed: Seed of all random numbers.
        play: "sampled" or "greedy": how the policy plays.
        transfer: Whether to allow policies made for another table; the result names them.
        trust: Whether to load model files that can run code.
        progress: Progress callback; None shows bars in terminals and notebooks.

    Returns:
        The gain by position, a lower bound on the gain of a best response.

    Raises:
        KilleError: There is no such player or table, or the options exclude each other.
    """
    deals = arguments.whole("deals", deals, 2)
    table, (policy,), transferred = seat(
        [policy], game, num_players, episode, rules, transfer=transfer, trust=trust
    )
    player = with_action_selection(
        resolve(policy, table.game, table.num_players, table.rules, trust=trust), play
    )
    search = Search(
        decisions=decisions,
        seeds=seeds,
        choice_deals=max(2, deals // 2),
        deals=deals,
        seed=seed,
    )
    advance = part_of(shown(progress), "learning to respond", seeds * PARTS)
    found = search_response(player, table.num_players, table.rules, search, advance)
    return replace(found, transferred=next(iter(transferred.values()), None))


def search_response(
    policy: Policy,
    num_players: int,
    rules: Rules,
    search: Search,
    progress: Callable[[int], None] = ignore,
) -> Response:
    """Search for the best response to a policy that sits in all other seats."""
    began = time.perf_counter()
    counts = (search.deals, search.choice_deals, PROBE)
    seeds = deal_seeds(search.seed, num_players, np.arange(sum(counts)))
    # Different deals choose the learners: otherwise the reported maximum would be biased upwards.
    deals, choice, probe = np.split(seeds, np.cumsum(counts)[:-1])
    # A policy that cannot play fails here, before any learning.
    spread = float(_alone(policy, num_players, rules, probe).var(axis=0).mean())
    with _kept_generators():
        learners = [
            _learn(policy, num_players, rules, search, number, spread, progress)
            for number in range(search.seeds)
        ]
    players, decisions = zip(*learners, strict=True)
    means = np.array(
        [gains(player, policy, num_players, rules, choice).mean(axis=0) for player in players]
    )
    chosen = np.where(means.max(axis=0) > 0.0, means.argmax(axis=0), KEEPS)
    found = np.zeros((len(deals), num_players))
    for number in set(chosen.tolist()) - {KEEPS}:
        mine = np.flatnonzero(chosen == number)
        found[:, mine] = gains(players[number], policy, num_players, rules, deals, mine)
    largest = most_apart(rules, num_players)
    (total,) = estimates(found.sum(axis=1, keepdims=True), num_players * largest)
    return Response(
        policy=policy.name,
        table=Table.of(rules.game, num_players, rules),
        gains=estimates(found, largest),
        total=total,
        values=tuple(_alone(policy, num_players, rules, deals).mean(axis=0).tolist()),
        chosen=tuple(chosen.tolist()),
        decisions=decisions,
        seconds=time.perf_counter() - began,
        players=players,
    )


@contextmanager
def _kept_generators() -> Iterator[None]:
    """Restore the caller's random generators and torch threads, which Stable-Baselines3 sets."""
    import random

    import torch

    kept = random.getstate(), np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        torch.set_rng_state(kept[2])
        torch.set_num_threads(kept[3])


def gains(
    response: Policy,
    policy: Policy,
    num_players: int,
    rules: Rules,
    seeds: np.ndarray,
    positions: Sequence[int] | np.ndarray | None = None,
) -> np.ndarray:
    """Return the gain of a response over a policy in the same position and deal, [G, K]."""
    places = np.arange(num_players) if positions is None else np.asarray(positions)
    focal = np.concatenate([[-1], places])  # the first table has no responder
    parts = []
    for block in _blocks(seeds, len(focal)):
        seating = np.arange(num_players) == np.tile(focal, len(block))[:, None]
        repeated = np.repeat(block, len(focal))
        players = [policy, response]
        earned = play_deals(players, rules, repeated, seating.astype(np.int64), num_players - 1)
        earned = _score(earned, rules).reshape(len(block), len(focal), num_players)
        with_response = earned[:, 1 + np.arange(len(places)), places]
        parts.append((with_response - earned[:, 0, places]).round(DECIMALS))
    return np.concatenate(parts)


def _alone(policy: Policy, num_players: int, rules: Rules, seeds: np.ndarray) -> np.ndarray:
    """Return the earnings of a policy in each position against copies of itself, [D, P]."""
    seating = np.zeros(num_players, dtype=np.int64)
    blocks = _blocks(seeds, 1)
    dealt = (play_deals([policy], rules, block, seating, num_players - 1) for block in blocks)
    return _score(np.concatenate(list(dealt)), rules)


def _score(units: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the seats' earnings [N, P], minus the table's mean if units do not sum to zero."""
    return units if spec(rules.game).zero_sum else beyond_mean(units)


def _blocks(seeds: np.ndarray, tables: int) -> list[np.ndarray]:
    """Return deals in batches that fit into memory, at a number of tables per deal."""
    size = max(1, TABLES // tables)
    return np.array_split(seeds, -(-len(seeds) // size))


def _learn(
    policy: Policy,
    num_players: int,
    rules: Rules,
    search: Search,
    number: int,
    spread: float,
    progress: Callable[[int], None],
) -> tuple[Policy, int]:
    """Train one response in all positions; return it and its decisions."""
    from kille_env.adapters.sb3 import SeatVecEnv
    from kille_training.learn.methods.maskable_ppo import Learner

    seed = int(np.random.SeedSequence([search.seed, number]).generate_state(1)[0] >> 1)
    # Rewards of tens of units would let the value loss dominate the policy's gradient.
    settings = search.hyperparameters()
    settings = replace(settings, vf_coef=settings.vf_coef / max(1.0, spread))
    env = SeatVecEnv(
        rules.game, settings.num_tables, num_players, rules=rules, opponents=policy, seed=seed,
        reward=None if spec(rules.game).zero_sum else beyond_mean,
    )  # fmt: skip
    learner = Learner(Table.of(rules.game, num_players, rules), seed, settings, env)
    reported, total = 0, whole_updates(learner, search.decisions)

    def left() -> float:
        return max(0.0, 1.0 - learner.decisions / total)

    while learner.left > 0.0:
        learner.update(left)
        done = round(PARTS * (1.0 - learner.left))
        progress(done - reported)
        reported = done
    return Greedy(learner.policy(f"response {number}")), learner.decisions
