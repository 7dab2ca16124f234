"""Many tables with one seat of the caller's: credits, and how often opponents are asked."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from adapters.spies import RULES, SeatSpy, random_legal
from kille_env import LiveOpponent, SeatVectorEnv
from kille_env.errors import KilleError, PolicyError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import list_games, spec

SAME_STEP, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


class Counting:
    """Uniform; counts how often it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        self.calls += 1
        return UniformPolicy().probabilities(observation, mask)


def rounds_of(venv: SeatVectorEnv) -> list[int]:
    """Count the steps of the tables: each plays one decision at every table that is due."""
    rounds, step = [0], venv.tables.batch.step

    def counted(*args: Any) -> None:
        rounds[0] += 1
        step(*args)

    venv.tables.batch.step = counted  # type: ignore[method-assign]
    return rounds


@pytest.mark.parametrize("mode", [SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("episode", ["deal", "match"])
def test_opponents_are_asked_once_per_round_for_all_tables(
    game: str, episode: str, mode: AutoresetMode, scale: Callable[..., int]
) -> None:
    opponent = Counting()
    live = LiveOpponent(opponent.probabilities, observation="box", returns="probabilities")
    venv = SeatVectorEnv(
        game, 32, None, episode=episode, autoreset_mode=mode, opponents=live, seed=1
    )
    rounds, rng = rounds_of(venv), np.random.default_rng(1)
    _, infos = venv.reset()
    assert opponent.calls == rounds[0]
    for _ in range(scale(30, 3)):
        opponent.calls = rounds[0] = 0
        over = venv.tables.over.all()
        *_, infos = venv.step(random_legal(infos["action_mask"], rng))
        assert opponent.calls == rounds[0] - (not over)  # one of the steps is the caller's


def test_each_kind_of_opponent_is_asked_once_per_round(scale: Callable[..., int]) -> None:
    """And a round is one decision at every table: with one rule for all seats, no more calls."""
    first, second = Counting(), Counting()
    venv = SeatVectorEnv("byteskille", 32, 4, opponents=[first, second, first], seed=1)
    rounds, rng = rounds_of(venv), np.random.default_rng(1)
    _, infos = venv.reset()
    steps = scale(20, 4)
    for _ in range(steps):
        *_, infos = venv.step(random_legal(infos["action_mask"], rng))
    assert steps < max(first.calls, second.calls) <= rounds[0] - steps


class Calling:
    """Calls with a gok whenever it may, which ends most deals before the last seats had a turn."""

    name = "calling"

    def __init__(self) -> None:
        self.rows: list[int] = []

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        self.rows.append(len(mask))
        order = np.array([2, 0, 1, 3, 4, 5, 6, 7, 8, 9])
        return np.eye(mask.shape[1])[order[mask[:, order].argmax(axis=1)]]


def test_a_match_that_is_passed_over_waits_for_no_other_table() -> None:
    """The next one is played along with the first ones of the others."""
    opponent = Calling()
    options: dict[str, Any] = {"episode": "deal", "opponents": opponent, "seat": 0}
    together = SeatVectorEnv("byteskille", 64, 13, **options)
    _, infos = together.reset(seed=1)
    assert infos["skipped"].any()
    asked, rows = len(opponent.rows), sum(opponent.rows)
    alone = []
    for table in range(64):
        opponent.rows.clear()
        _, told = SeatVectorEnv("byteskille", 1, 13, **options).reset(seed=1 + table)
        assert told["skipped"][0] == infos["skipped"][table]
        alone.append(sum(opponent.rows))
    assert rows == sum(alone)
    assert asked == max(alone)  # as often as the table that needs the most


def tables_of(game: str) -> list[tuple[str, int, dict[str, Any]]]:
    """Seats and options with which matches end by elimination, by a cap, and after one deal."""
    table = spec(game)
    capped = any(switch.name == "max_deals" for switch in table.switches)
    cap: dict[str, Any] = {"rules": {"max_deals": 1}} if capped else {}
    return [
        (game, table.min_players, {"episode": "match"}),
        (game, 3, {"episode": "deal"}),
        (game, min(5, table.max_players), {"episode": "match"} | cap),
        (game, table.max_players, {"episode": "deal"}),
    ]


BYTESKILLE = [
    ("byteskille", seats, {"rules": {"episode": "match", **rules}, "seat": seat})
    for (seats, rules), seat in zip(RULES, ("rotate", 0, "random") * 3, strict=True)
]
EVERY = [case for game in list_games() for case in tables_of(game)]


@pytest.mark.parametrize(("game", "num_players", "options"), [*BYTESKILLE, *EVERY])
def test_rewards_are_the_tables_own_and_sum_to_the_seats_returns(
    game: str, num_players: int, options: dict[str, Any], scale: Callable[..., int]
) -> None:
    """Whatever ends an episode; beside a slow account of every step of the tables."""
    options = {"opponents": "uniform", "autoreset_mode": DISABLED, **options}
    venv = SeatVectorEnv(game, scale(16, 3), num_players, **options)
    spy, rng = SeatSpy(venv.tables), np.random.default_rng(1)
    _, infos = venv.reset(seed=5)
    sums, ended, cut = np.zeros(venv.num_envs), 0, 0
    for _ in range(scale(2_000, 400)):
        _, rewards, terminated, truncated, infos = venv.step(
            random_legal(infos["action_mask"], rng)
        )
        assert rewards == pytest.approx(spy.take(), abs=1e-9)
        sums += rewards
        done = terminated | truncated
        if not done.any():
            continue
        own = infos["seat"][done]
        assert sums[done] == pytest.approx(infos["returns"][done, own], abs=1e-9)
        assert infos["returns"][done] == pytest.approx(spy.total[done], abs=1e-9)
        ended, cut = ended + done.sum(), cut + truncated.sum()
        sums[done] = 0.0
        if ended > 40:
            break
        infos = venv.reset(options={"reset_mask": done})[1]
    assert ended
    cap = options.get("rules", {}).get("max_deals")
    assert not cut or cap
    assert cut or cap not in (1, 2)


@pytest.mark.parametrize("opponents", ["self", ["rule_of_thumb", "self"]])
def test_self_is_pointed_to_live_opponents(opponents: Any) -> None:
    with pytest.raises(PolicyError, match=r"SeatVecEnv; here pass kille_env\.LiveOpponent"):
        SeatVectorEnv("byteskille", num_envs=2, num_players=3, opponents=opponents)


@pytest.mark.parametrize("calls", [0, 3])
def test_a_match_in_which_an_opponent_fails_has_to_begin_again(calls: int) -> None:
    left = [calls]

    def breaking(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("no answer")
        return mask / mask.sum(axis=1, keepdims=True)

    env = SeatVectorEnv("byteskille", 4, 4, opponents=breaking)
    with pytest.raises(OSError, match="no answer"):
        env.reset(seed=7)
        for _ in range(50):
            env.step(env.tables.mask().argmax(axis=1))
    with pytest.raises(KilleError, match=r"stopped the match at table \d in the middle: begin"):
        env.step(env.tables.mask().argmax(axis=1))
    left[0] = 1_000
    env.reset(seed=7)
    env.step(env.tables.mask().argmax(axis=1))
