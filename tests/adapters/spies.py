"""Slow accounts of who earned what, kept beside an environment and compared with it."""

import copy
import io
import warnings
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from kille_env.adapters.aec import KilleAEC
from kille_env.play.seats import SeatTables

RULES: list[tuple[int, dict[str, Any]]] = [
    (2, {"episode": "deal"}),
    (2, {"episode": "deal", "preset": "wikipedia"}),  # some deals are decided by the cards
    (3, {"episode": "deal", "stake": 6}),
    (3, {}),  # elimination, and buying in twice
    (4, {"preset": "wikipedia"}),  # antes before each deal, three re-entries
    (5, {"max_deals": 2}),  # cut off by the cap
    (5, {"reentry": "wiki2", "pots": 2}),
    (13, {"episode": "deal"}),  # an early call, and some seats have never acted
    (20, {"max_deals": 6}),
]
"""Tables at which everything occurs that matters to who earns what."""


class SeatSpy:
    """Sums up, step by step of the tables, what belongs to which decision of the outside's seat."""

    def __init__(self, tables: SeatTables) -> None:
        tables.players.compiled = False
        self.tables, batch = tables, tables.batch
        self.due = np.zeros(tables.num_tables)  # since the seat's last decision
        self.total = np.zeros((tables.num_tables, tables.num_players))
        step, reset = batch.step, batch.reset

        def spying_step(actions: Any, which: np.ndarray | None = None) -> None:
            step(actions, which)
            self.due += batch.reward[np.arange(tables.num_tables), tables.own_seat]
            self.total += batch.reward

        def spying_reset(*args: Any, which: np.ndarray | None = None, **kwargs: Any) -> None:
            reset(*args, which=which, **kwargs)
            chosen = slice(None) if which is None else which
            self.due[chosen] = 0.0
            self.total[chosen] = 0.0

        batch.step, batch.reset = spying_step, spying_reset  # type: ignore[method-assign]

    def take(self) -> np.ndarray:
        """Return what the last decisions have brought, and begin to count anew."""
        due, self.due = self.due, np.zeros_like(self.due)
        return due


def standing(env: KilleAEC) -> Any:
    """Return how a game stands: its tables, what it has paid and what was played."""
    paid = env.rewards, env._cumulative_rewards, env.terminations
    return env._batch.tables.tobytes(), copy.deepcopy(paid), env.agent_selection, env.record()


def check_api(env: KilleAEC, cycles: int) -> None:
    """PettingZoo's own test; plain observations are all that it warns of nothing about."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        if env.observation.endswith("dict"):  # the test knows arrays only
            warnings.filterwarnings("ignore", message="Observation")
        api_test(env, num_cycles=cycles)


def check_conversion(env: KilleAEC, cycles: int) -> None:
    """PettingZoo's own test of the parallel form that it makes of an environment."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        # The conversion has dropped them when the test looks: nobody is left.
        warnings.filterwarnings("ignore", message="Agent was given|Live agent|No agents")
        parallel_api_test(turn_based_aec_to_parallel(env), num_cycles=cycles)


def legal(env: KilleAEC, rng: np.random.Generator) -> int | None:
    """A random legal action of the selected agent, None for one that has ended."""
    _, _, terminated, truncated, info = env.last(observe=False)
    over = terminated or truncated
    return None if over else int(rng.choice(np.flatnonzero(info["action_mask"])))


def play_aec(env: KilleAEC, seed: int, steps: int = 10_000) -> list[Any]:
    """Play on with random legal actions; returns everything that was to be seen."""
    rng = np.random.default_rng(seed)
    seen: list[Any] = []
    for agent in env.agent_iter(steps):
        observation, reward, *flags, info = env.last()
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        shown = {key: value.tobytes() for key, value in observation.items()}
        seen.append((agent, reward, shown, flags, dict(env.rewards)))
        env.step(legal(env, rng))
    return seen


def stable_baselines() -> Any:
    """The forms for Stable-Baselines3, where it is installed."""
    pytest.importorskip("sb3_contrib")
    import kille_env.sb3

    return kille_env.sb3


def random_legal(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random legal actions, [N]."""
    return (mask * (1.0 - rng.random(mask.shape))).argmax(axis=1)


class Kept:
    """Arrays that were handed out, and what was in them then."""

    def __init__(self) -> None:
        self.arrays: list[tuple[np.ndarray, bytes]] = []

    def add(self, *arrays: np.ndarray) -> None:
        self.arrays += [(array, array.tobytes()) for array in arrays]

    def check(self) -> None:
        assert all(array.tobytes() == before for array, before in self.arrays)
        assert all(array.flags.writeable for array, _ in self.arrays)
        assert len({id(array) for array, _ in self.arrays}) == len(self.arrays)


def step(venv: Any, actions: np.ndarray) -> tuple[Any, ...]:
    """Return observations, rewards, ends and infos, from tables with one seat or with all."""
    if not hasattr(venv, "play"):
        return venv.step(actions)
    played = venv.play(actions)
    return venv.observe(), played.rewards, played.ended, played.infos
