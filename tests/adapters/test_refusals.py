"""Arguments of environments that are refused in our words, and change nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import kille_env
from adapters.spies import random_legal, stable_baselines
from kille_env.adapters.aec import KilleAEC
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.core.batch import Batch
from kille_env.errors import CardError, KilleError, RulesError
from kille_env.play.options import OPPONENTS, illegal_reward
from kille_env.play.seats import SeatTables
from refusals import refused

AEC_AND_SEATS: list[type] = [KilleAEC, KilleEnv, SeatVectorEnv]


# Options


@pytest.mark.parametrize("form", [*AEC_AND_SEATS, kille_env.make])
@pytest.mark.parametrize("game", [[], {}, None, 3, "bridge", np.zeros(2)])
def test_what_is_no_game_is_refused(form: Any, game: Any) -> None:
    refused(form, "UnknownGameError: there is no game", game)


@pytest.mark.parametrize("seat", [3, "left", -1])
def test_a_seat_that_is_not_there_is_refused(seat: Any) -> None:
    refused(lambda: KilleEnv("byteskille", 3, seat=seat), "RulesError: .*expected 0 to 2")


@pytest.mark.parametrize("mode", [np.zeros(2), [], 3, "Sometimes"])
def test_an_impossible_autoreset_mode_is_refused(mode: Any) -> None:
    words = "RulesError: autoreset_mode is .* Choose one of: .*NextStep"
    refused(lambda: SeatVectorEnv("byteskille", 2, autoreset_mode=mode), words)


@pytest.mark.parametrize("form", AEC_AND_SEATS)
@pytest.mark.parametrize(
    "options",
    [
        {"render_mode": np.array(["ansi", "human"])},
        {"render_mode": 3},
        {"observation": ["box"]},
        {"illegal": np.zeros(2)},
        {"rules": {"stake": np.array([2, 4])}},
        {"rules": {"svansar": np.array([True, False])}},
        {"rules": np.zeros(3)},
        {"episode": ["deal"]},
        {"num_players": [3]},
        {"illegal_reward": "x"},
        {"illegal_reward": float("nan")},
        {"illegal_reward": float("-inf")},
        {"illegal_reward": np.zeros(2)},
        {"illegal_reward": True},
        {"observation": "tuple"},
        {"illegal": "ignore"},
        {"render_mode": "depth_array"},
        {"num_players": 21},
        {"rules": "english"},
    ],
)
def test_impossible_options_are_refused_in_our_words(form: Any, options: dict[str, Any]) -> None:
    with pytest.raises(RulesError):
        form("byteskille", **options)


def test_a_vector_environment_has_its_autoreset_mode_as_an_attribute() -> None:
    venv = SeatVectorEnv("byteskille", 2, autoreset_mode="SameStep")
    assert venv.autoreset_mode is venv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_every_form_plays_against_the_rule_of_thumb_unless_told_otherwise() -> None:
    forms = [KilleEnv("knack"), SeatVectorEnv("knack", 2)]
    forms.append(stable_baselines().SeatVecEnv("knack", 2))
    assert OPPONENTS == "rule_of_thumb"
    for env in forms:
        (player,) = env.tables.players.players
        assert player.name == "rule_of_thumb"


# Seeds, options of a reset, actions


@pytest.mark.parametrize("seed", [True, 1.0, -1, 2**64, "1", [1], np.float64(2)])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    for form in AEC_AND_SEATS:
        env = form("byteskille")
        with pytest.raises(RulesError, match="seed"):
            env.reset(seed=seed if form is not SeatVectorEnv or seed != [1] else [1, 2])
    for form in (stable_baselines().SelfPlayVecEnv, stable_baselines().SeatVecEnv):
        with pytest.raises(RulesError, match="seed"):
            form("byteskille", 3).seed(seed)


@pytest.mark.parametrize("seeds", [[1, True], [1, 2.0], [1, "2"], [-1, 2], np.array([0.5, 1.0])])
def test_wrong_seeds_of_tables_are_refused(seeds: Any) -> None:
    with pytest.raises(RulesError, match="seed"):
        SeatVectorEnv("byteskille", 2).reset(seed=seeds)


@pytest.mark.parametrize("form", AEC_AND_SEATS)
@pytest.mark.parametrize(
    "options",
    [
        5,
        "deck",
        [("dealer", 1)],
        {"dealer": "1"},
        {"dealer": [[0], [1, 2]]},
        {"start": 5},
        {"dealer": 4},
        {"rules": "wikipedia"},
        {"dealler": 1},
        {"deck": ["KI", "KI", "KI"]},
        {"start": {"nonsense": 3}},
        {"num_players": np.zeros(3), "seat": "left", "reset_mask": "all"},
        {"num_players": 5, "seat": 4, "reset_mask": np.zeros(1, dtype=np.bool_)},
    ],
)
def test_impossible_options_of_a_reset_change_nothing(form: Any, options: Any) -> None:
    env = form("byteskille")
    env.reset(seed=1)
    batch = env._batch if form is KilleAEC else env.tables.batch
    before = batch.tables.tobytes()
    with pytest.raises((RulesError, CardError)):
        env.reset(seed=2, options=options)
    assert batch.tables.tobytes() == before


@pytest.mark.parametrize("form", [KilleEnv, SeatVectorEnv])
def test_after_a_deck_that_leaves_the_seat_without_a_decision_a_reset_goes_on(form: Any) -> None:
    env = form("byteskille", num_players=2, rules="wikipedia", seat=0, opponents="uniform")
    env.reset(seed=1)
    decided = {"deck": ["GO", "L2"], "dealer": 0}
    with pytest.raises(CardError, match="nothing to decide"):
        env.reset(options=decided)
    if form is KilleEnv:  # the vector form begins the next match by itself
        with pytest.raises(KilleError, match="begin another one"):
            env.step(0)
    seen, fresh = env.reset(seed=4)[0], form("byteskille", num_players=2, rules="wikipedia", seat=0)
    assert np.array_equal(seen, fresh.reset(seed=4)[0])


# Illegal actions that lose


def worst_to_come(batch: Batch, most: int) -> float:
    """The worst that a seat has earned from some moment of a match to its end, at random play."""
    rng = np.random.default_rng(1)
    earned = np.zeros((batch.num_tables, batch.num_players))
    before, worst = earned.copy(), 0.0
    for _ in range(most):
        playing = ~batch.over
        if not playing.any():
            return worst
        batch.step(random_legal(batch.mask, rng), playing)
        earned[playing] += batch.reward[playing]
        worst = min(worst, float((earned - before).min()))
        before = np.maximum(before, earned)
    return worst


@pytest.mark.parametrize("episode", ["deal", "match"])
def test_an_illegal_action_is_worse_than_anything_that_can_follow(
    game: str, episode: str, scale: Callable[..., int]
) -> None:
    table = kille_env.spec(game)
    for preset in table.presets:
        most = table.most_players(table.resolve(preset))
        for seats in sorted({table.min_players, min(table.default_players, most), most}):
            batch = kille_env.make_batch(
                game, scale(16, 2), seats, rules=preset, episode=episode, seed=1, restart=False
            )
            batch.reset()
            low, _ = table.reward_range(batch.rules, seats)
            cost = illegal_reward(None, batch)
            assert cost <= low - 1.0
            assert cost < worst_to_come(batch, scale(4_000, 80))


def test_the_cost_of_an_illegal_action_in_a_match_is_as_documented() -> None:
    costs = {
        game: SeatTables(game, 1, 4, seed=1, episode="match").illegal_reward
        for game in ("knack", "byteskille")
    }
    assert costs == {"knack": -34.0, "byteskille": -15.0}
    page = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
    assert all(f"{cost:,.0f}" in page for cost in costs.values())


@pytest.mark.parametrize("reward", [None, -7, np.float32(0.5)])
def test_an_illegal_action_earns_what_is_said_in_every_form(reward: float | None) -> None:
    options: dict[str, Any] = {"episode": "deal", "illegal": "lose", "illegal_reward": reward}
    expected = -3.0 if reward is None else float(reward)  # the worst of a deal is a stake of 2
    env = kille_env.make("byteskille", 3, **options)
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(9)
    assert env.rewards == {agent: expected * (agent == offender) for agent in env.possible_agents}
    single = KilleEnv("byteskille", 3, **options)
    single.reset(seed=1)
    assert single.step(9)[1] == expected
    vector = SeatVectorEnv("byteskille", 2, 3, **options)
    vector.reset(seed=1)
    assert vector.step(np.array([9, 9]))[1].tolist() == [expected] * 2
    learning = stable_baselines().SeatVecEnv("byteskille", 2, 3, seed=1, **options)
    learning.reset()
    assert learning.step(np.array([9, 9]))[1].tolist() == [expected] * 2
