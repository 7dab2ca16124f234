"""How much a player can be beaten by, from below: a best response that is learnt.

All seats but one are frozen, and MaskablePPO learns to play that one. What it gains there over the
policy itself is at most what the best response gains: a lower bound of how exploitable the policy
is, for games and tables whose trees fit into no memory.

Nothing flatters the bound. For each position the best of several learners is chosen over one set of
deals, and what is reported is measured over another one. The gain is paired: in the same deal, with
the same luck of everyone who draws lots, the position is played by the policy and by the response.
Where no learner gains anything over the deals of the choice, the response keeps to the policy, and
its gain is exactly 0.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from kille_agents.greedy import Greedy
from kille_env.core.keys import mix as scramble
from kille_env.core.rng import GOLDEN
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.policy import Policy, check_probabilities
from kille_env.policy import pick_actions as pick
from kille_env.registry import make_batch
from kille_training.evaluation.duplicate import TABLES, Estimate, estimate
from kille_training.learning.settings import LearnerSettings, TableSettings, TrainSettings

LEARNER = LearnerSettings(
    form="seats",
    decisions=400_000,
    num_tables=128,
    n_steps=16,
    batch_size=512,
    learning_rate=2e-3,
    ent_coef=0.1,
    ent_coef_end=0.0,
)
"""How a response is learnt unless told otherwise. Who plays against the same players all the time
learns in many small steps; in the end he has no reason to draw lots.
"""

PARTS = 100
"""What `progress` is told of each learner, in all."""

KEEPS = -1
"""Stands for a learner where the response keeps to the policy."""

PROBE = 2_000  # deals from which the size of rewards is taken
_LUCK = np.uint64(0x10FB)


@dataclass(frozen=True)
class Search:
    """How hard a response is looked for.

    Attributes:
        learner: How each of them learns, and for how many decisions.
        seeds: Learners, each with its own seed.
        minutes: Minutes for all of them together instead of the learner's number of decisions. Such
            a search is not repeatable.
        choice_deals: Deals over which the best learner of each position is chosen.
        deals: Deals over which its gain is measured.
        seed: Seed of everything.
    """

    learner: LearnerSettings = LEARNER
    seeds: int = 3
    minutes: float | None = None
    choice_deals: int = 10_000
    deals: int = 20_000
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuses what cannot be done."""
        for name, least in (("seeds", 1), ("choice_deals", 2), ("deals", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected at least {least}")
        if self.minutes is not None and not 0.0 < self.minutes < float("inf"):
            raise ConfigError(f"minutes is {self.minutes}, expected a number above 0")
        if self.learner.form != "seats":
            raise ConfigError(
                f"learner.form is {self.learner.form!r}; a response has one seat, expected 'seats'"
            )


@dataclass(frozen=True)
class Response:
    """What was found.

    Attributes:
        gains: By position, forehand first, the dealer last: what the response earns there more than
            the policy does.
        total: Their sum, a lower bound of NashConv.
        values: What the policy itself earns in each position, among its like.
        chosen: The learner that plays each position, from 0; `KEEPS` where the policy does.
        decisions: Decisions of each learner.
        seconds: Seconds by the clock, of the whole search.
        players: The learners' networks as players.
    """

    gains: tuple[Estimate, ...]
    total: Estimate
    values: tuple[float, ...]
    chosen: tuple[int, ...]
    decisions: tuple[int, ...]
    seconds: float
    players: tuple[Policy, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns everything but the players as JSON can hold it."""
        return {
            "gains": [asdict(gain) for gain in self.gains],
            "total": asdict(self.total),
            "values": list(self.values),
            "chosen": list(self.chosen),
            "decisions": list(self.decisions),
            "seconds": round(self.seconds, 3),
        }


def best_response(
    policy: Policy,
    game: str,
    num_players: int,
    rules: Rules,
    search: Search = Search(),
    progress: Callable[[int], None] | None = None,
) -> Response:
    """Looks for the best response to a policy that sits in all other seats.

    Args:
        policy: The frozen player.
        game: The game.
        num_players: P seats.
        rules: Its rules.
        search: How hard to look.
        progress: Called with how much has been done since the last call, `PARTS` for each learner.

    Raises:
        PolicyError: The policy does not fit the table, or returns what is no distribution.
        ConfigError: A learner diverged.
    """
    began = time.perf_counter()
    spread = _spread(policy, game, num_players, rules, search.seed)
    players, decisions = [], []
    for number in range(search.seeds):
        player, made = _learn(policy, game, num_players, rules, search, number, spread, progress)
        players.append(player)
        decisions.append(made)
    # Two streams of seeds that have nothing in common: no luck of the choice is reported.
    choice, report = np.random.SeedSequence([search.seed, 77]).spawn(2)
    deals = _seeds(choice, search.choice_deals)
    means = np.array(
        [gains(player, policy, game, num_players, rules, deals).mean(axis=0) for player in players]
    )
    chosen = np.where(means.max(axis=0) > 0.0, means.argmax(axis=0), KEEPS)
    deals = _seeds(report, search.deals)
    found = np.zeros((len(deals), num_players))
    for number in set(chosen.tolist()) - {KEEPS}:
        mine = chosen == number
        measured = gains(
            players[number], policy, game, num_players, rules, deals, np.flatnonzero(mine)
        )
        found[:, mine] = measured
    return Response(
        gains=tuple(estimate(found[:, place]) for place in range(num_players)),
        total=estimate(found.sum(axis=1)),
        values=tuple(_alone(policy, game, num_players, rules, deals).mean(axis=0).tolist()),
        chosen=tuple(chosen.tolist()),
        decisions=tuple(decisions),
        seconds=time.perf_counter() - began,
        players=tuple(players),
    )


def gains(
    response: Policy,
    policy: Policy,
    game: str,
    num_players: int,
    rules: Rules,
    seeds: np.ndarray,
    positions: Sequence[int] | np.ndarray | None = None,
) -> np.ndarray:
    """Returns what a response earns more than a policy does in the same position and deal.

    Args:
        response: Sits in one position; all others are the policy's.
        policy: The policy.
        game: The game.
        num_players: P.
        rules: Its rules.
        seeds: [G] seeds of the deals.
        positions: K positions, 0 is forehand, P - 1 the dealer; None is all of them.

    Returns:
        [G, K].
    """
    places = np.arange(num_players) if positions is None else np.asarray(positions)
    size = max(1, TABLES // (1 + len(places)))
    parts = []
    for start in range(0, len(seeds), size):
        chunk = seeds[start : start + size]
        # The table where nobody responds, then one for each position.
        focal = np.tile(np.concatenate([[-1], places]), len(chunk))
        repeated = np.repeat(chunk, 1 + len(places))
        earned = _play([policy, response], game, num_players, rules, repeated, focal)
        earned = earned.reshape(len(chunk), 1 + len(places), num_players)
        with_response = earned[:, 1 + np.arange(len(places)), places]
        parts.append((with_response - earned[:, 0, places]).round(9))
    return np.concatenate(parts)


def _play(
    players: Sequence[Policy],
    game: str,
    num_players: int,
    rules: Rules,
    seeds: np.ndarray,
    focal: np.ndarray,
) -> np.ndarray:
    """Plays tables to the end and returns what each position earned, [N, P].

    Luck belongs to the deal, the seat and the number of its decision, so that tables of one deal
    differ only by what their players do.

    Args:
        players: Who sits in all other seats, and who in the focal one.
        game: The game.
        num_players: P.
        rules: Its rules.
        seeds: [N] seeds of the deals.
        focal: [N] seats of the second player, -1 for none.
    """
    tables = np.arange(len(seeds))
    luck = scramble(seeds ^ _LUCK)  # not the numbers that the cards are shuffled with
    batch = make_batch(game, len(seeds), num_players, rules=rules, seed=0, restart=False)
    batch.reset(seed=seeds, dealer=num_players - 1)
    total = np.zeros((len(seeds), num_players))
    decided = np.zeros((len(seeds), num_players), dtype=np.uint64)
    actions = np.zeros(len(seeds), dtype=np.int64)
    while (batch.seat >= 0).any():
        seat = np.maximum(batch.seat, 0).astype(np.int64)
        sitting = np.where(batch.seat < 0, -1, seat == focal)
        number = decided[tables, seat] * np.uint64(num_players) + seat.astype(np.uint64)
        noise = scramble(luck + GOLDEN * (number + np.uint64(1)))
        chance = (noise >> np.uint64(32)) / 2.0**32
        for which, player in enumerate(players):
            rows = np.flatnonzero(sitting == which)
            if len(rows):
                wanted = player.probabilities(batch.observation[rows], batch.mask[rows])
                check_probabilities(player.name, wanted, batch.mask[rows])
                actions[rows] = pick(wanted, chance[rows])
        decided[tables, seat] += np.uint64(1)
        batch.step(actions)
        total += batch.reward
    return total


def _alone(
    policy: Policy, game: str, num_players: int, rules: Rules, seeds: np.ndarray
) -> np.ndarray:
    """Returns what a policy earns in each position among its like, [G, P]."""
    return np.concatenate(
        [
            _play([policy], game, num_players, rules, part, np.full(len(part), -1))
            for part in np.array_split(seeds, -(-len(seeds) // TABLES))
        ]
    )


def _seeds(source: np.random.SeedSequence, count: int) -> np.ndarray:
    return source.generate_state(count, np.uint64) >> np.uint64(1)


def _spread(policy: Policy, game: str, num_players: int, rules: Rules, seed: int) -> float:
    """Returns the variance of rewards; whether the policy can play at all is seen here, too."""
    deals = _seeds(np.random.SeedSequence([seed, 5]), PROBE)
    return float(_alone(policy, game, num_players, rules, deals).var(axis=0).mean())


def _learn(
    policy: Policy,
    game: str,
    num_players: int,
    rules: Rules,
    search: Search,
    number: int,
    spread: float,
    progress: Callable[[int], None] | None,
) -> tuple[Policy, int]:
    """Trains one response in all positions; returns it and its decisions."""
    from kille_env.adapters.sb3 import SeatVecEnv
    from kille_training.learning.sb3 import diverged, export, make_model, update

    seed = int(np.random.SeedSequence([search.seed, number]).generate_state(1)[0] >> 1)
    # Where rewards are tens of units the gradient of their estimate would drown the policy's.
    learner = replace(search.learner, vf_coef=search.learner.vf_coef / max(1.0, spread))
    switches = {name: value for name, value in rules.as_dict().items() if name != "episode"}
    settings = TrainSettings(
        name=f"response {number}",
        seed=seed,
        table=TableSettings(game, num_players, switches, str(rules["episode"])),
        learner=learner,
    )
    env = SeatVecEnv(
        game, learner.num_tables, num_players, rules=rules, opponents=policy, seed=seed
    )
    model = make_model(settings, rules, env)
    began = time.perf_counter()
    left, told = 1.0, 0

    def still_to_come() -> float:
        if search.minutes is None:
            return max(0.0, 1.0 - model.num_timesteps / learner.total)
        share = search.minutes * 60.0 / search.seeds
        return max(0.0, 1.0 - (time.perf_counter() - began) / share)

    while left > 0.0:
        update(model, learner, still_to_come)
        left = model._current_progress_remaining
        if diverged(model):
            raise ConfigError(
                f"learner {number} diverged after {model.num_timesteps:,} decisions; "
                "lower learner.learning_rate"
            )
        if progress is not None:
            done = round(PARTS * (1.0 - left))
            progress(done - told)
            told = done
    return Greedy(export(model, settings, rules, settings.name)), model.num_timesteps
