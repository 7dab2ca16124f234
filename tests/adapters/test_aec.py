"""PettingZoo: what its own tests miss. Those that every game passes are in `test_every_game`."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import state_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import kille_env
from adapters.spies import legal, random_legal
from kille_env.adapters.aec import KilleAEC
from kille_env.errors import KilleError, RulesError

SEATS = [2, 3, 13, pytest.param(20, marks=pytest.mark.compiled)]
PRESETS = ["svensk", "wikipedia"]


def at_every_table(test: Callable[..., None]) -> Callable[..., None]:
    seats = pytest.mark.parametrize("seats", SEATS)
    return seats(pytest.mark.parametrize("preset", PRESETS)(test))


def make(seats: int, preset: str = "svensk", **options: Any) -> KilleAEC:
    return kille_env.make(
        "byteskille", num_players=seats, rules=preset, **{"episode": "match", **options}
    )


# PettingZoo's own tests, where Byteskille has ways of its own.


@at_every_table
def test_state(seats: int, preset: str, scale: Callable[..., int]) -> None:
    # It samples actions without a mask.
    env, other = (make(seats, preset, illegal="lose") for _ in range(2))
    state_test(env, turn_based_aec_to_parallel(other), scale(100))


# What they miss.


def test_what_is_not_seeded_differs_and_a_seed_fixes_the_matches_after_it_too() -> None:
    def hands(env: KilleAEC, number: int, **options: Any) -> list[bytes]:
        env.reset(**options)
        found = [env.state().tobytes()]
        for _ in range(number - 1):
            env.reset()
            found.append(env.state().tobytes())
        return found

    first = hands(make(5), 20, seed=3)
    assert len(set(first)) == 20
    assert hands(make(5), 20, seed=3) == first
    assert len({hands(make(5), 1)[0] for _ in range(5)}) == 5


def test_everybody_ends_together(scale: Callable[..., int]) -> None:
    env = make(6, "svensk")
    for seed in range(scale(10)):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not any(env.terminations.values()):
            assert env.agents == env.possible_agents
            env.step(legal(env, rng))
        assert all(env.terminations.values())


def test_masks_stand_in_the_observation_and_in_the_info() -> None:
    env = make(5)
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    for _ in range(200):
        if not env.agents:
            env.reset()
        if env.terminations[env.agent_selection]:
            env.step(None)
            continue
        for agent in env.agents:
            seen, told = env.observe(agent)["action_mask"], env.infos[agent]["action_mask"]
            assert np.array_equal(seen, told)
            assert seen.dtype == told.dtype == np.int8
        assert env.infos[env.agent_selection]["action_mask"].any()
        env.step(legal(env, rng))


# Illegal calls.


def test_an_illegal_action_can_lose() -> None:
    env = make(3, illegal="lose", illegal_reward=-7.0)
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(9)
    env = copy.deepcopy(env)
    assert all(info["action_mask"].all() for info in env.infos.values())
    assert all(env.terminations.values())
    rewards = {agent: reward for agent, reward in env.rewards.items() if reward}
    assert rewards == {offender: -7.0}
    assert [a for a in env.agents if env.infos[a]["illegal_action"]] == [offender]
    told = {}
    while env.agents:
        told[env.agent_selection] = env.last()[1]
        assert env.observe(env.agent_selection)["action_mask"].all()
        env.step(None)
    assert told == {agent: -7.0 if agent == offender else 0.0 for agent in env.possible_agents}
    env.reset()
    env.step(0)


def test_order_of_calls() -> None:
    env = make(3, render_mode="ansi")
    looks = (env.state, env.last, env.render, env.record)
    for call in (*looks, lambda: env.observe("player_0"), lambda: env.step(0)):
        with pytest.raises(KilleError, match="reset"):
            call()
    env.reset(seed=1)
    while env.agents:
        env.step(legal(env, np.random.default_rng(1)))
    for call in (lambda: env.step(0), env.last):
        with pytest.raises(KilleError, match="reset"):
            call()
    plain = make(2)
    plain.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert plain.render() is None


def test_agents_that_do_not_exist_are_refused_by_name() -> None:
    env = make(3)
    env.reset(seed=1)
    for look in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(KilleError, match="'nobody'; agents are 'player_0' to 'player_2'"):
            look("nobody")


def test_a_dead_agent_takes_only_none() -> None:
    env = kille_env.make("byteskille", 2, episode="deal")
    env.reset(seed=1)
    while not any(env.terminations.values()):
        env.step(legal(env, np.random.default_rng(1)))
    with pytest.raises(ValueError, match="None"):
        env.step(0)


# Options.


def test_reset_options() -> None:
    env = make(3)
    env.reset(seed=1, options={"deck": ["KI", "L5", "HU"], "dealer": 1})
    card = env.game.spec.observation(3)[1].slice
    assert env.agent_selection == "player_2"
    assert env.observe("player_2")["observation"][card].argmax() == 20
    for name in ("rules", "num_players", "episode"):
        with pytest.raises(RulesError, match=f"{name} cannot change in a reset"):
            env.reset(options={name: 3})


def test_a_deck_that_decides_the_match_ends_it_with_its_rewards() -> None:
    rules = {"preset": "wikipedia", "episode": "deal"}
    env = kille_env.make("byteskille", 2, rules=rules)
    env.reset(options={"deck": ["GO", "L3"], "dealer": 1})
    assert all(env.terminations.values())
    assert env.rewards == {"player_0": 2.0, "player_1": -2.0}
    told = {}
    while env.agents:
        told[env.agent_selection] = env.last()[1]
        env.step(None)
    assert told == {"player_0": 2.0, "player_1": -2.0}


def test_a_match_that_random_cards_decide_is_passed_over(scale: Callable[..., int]) -> None:
    env = kille_env.make("byteskille", 2, rules={"preset": "wikipedia", "episode": "deal"})
    env.reset(seed=1)
    for _ in range(scale(200)):
        assert not any(env.terminations.values())
        env.reset()


def test_truncation_is_truncation() -> None:
    env = kille_env.make("byteskille", 5, rules={"max_deals": 1}, episode="match")
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    while not any(env.truncations.values()):
        env.step(legal(env, rng))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())


def test_a_secret_step_shows_the_others_nothing(scale: Callable[..., int]) -> None:
    """A gok holder who waits has been asked, and nobody else can know of it."""
    rules = {"gok_call": "any_time", "episode": "match"}
    env = kille_env.make("byteskille", 5, rules=rules)
    spec, rng, secret = env.game.spec, np.random.default_rng(1), 0

    def shown(names: list[str]) -> list[Any]:
        return [
            (
                env.observe(name)["observation"].tobytes(),
                env.observe(name)["action_mask"].tobytes(),
                id(env.infos[name]),
                env.terminations[name],
            )
            for name in names
        ]

    for seed in range(scale(10, 5)):
        env.reset(seed=seed)
        while env.agents:
            agent = env.agent_selection
            if env.terminations[agent] or env.truncations[agent]:
                env.step(None)
                continue
            action = int(random_legal(env.infos[agent]["action_mask"][None], rng)[0])
            waits = action in spec.secret_actions
            others = [name for name in env.agents if name != agent]
            before = shown(others) if waits else []
            env.step(action)
            # Whoever is asked next sees the question; the deal goes on.
            if waits and env.agent_selection != agent:
                after = shown(others)
                left = others.index(env.agent_selection)
                assert before[:left] + before[left + 1 :] == after[:left] + after[left + 1 :]
                secret += 1
    assert secret
