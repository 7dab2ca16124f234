"""Stable-Baselines3: native vector environments with action masks and one stream per seat.

A seat's consecutive decisions form its stream, and whatever it earns before its next decision, or
before the end, belongs to its last one. There are two forms.

Every decision of every seat belongs to the learner, and the buffer credits each stream by itself:

    venv = SelfPlayVecEnv("byteskille", num_tables=512, num_players=3)
    model = MaskablePPO(
        "MlpPolicy",
        venv,
        rollout_buffer_class=SeatStreamBuffer,
        rollout_buffer_kwargs={"env": venv},
    )
    model.learn(1_000_000)

Or the learner plays one seat of each table, which serves every algorithm for one agent; the other
seats are played by its own live policy (`opponents="self"`), by bots, or by policies of your own:

    venv = SeatVecEnv("byteskille", num_tables=512, num_players=3)
    model = MaskablePPO("MlpPolicy", venv)

Observations are uint8 [N, F]. `env_method("action_masks")` returns a list of one [N, A] array,
which is what MaskablePPO stacks. `infos[i]` of a match that has ended holds "terminal_observation",
"episode" and "returns", the result of every seat. "truncated" says whether a cap ended it;
"TimeLimit.truncated" is always False: to Stable-Baselines3 it is the order to add the value of the
last observation, and at a cap the rules pay everything out, so nothing is left to estimate.
"""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

try:
    import torch
    from gymnasium import spaces
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    if str(error.name).partition(".")[0] not in ("torch", "sb3_contrib", "stable_baselines3"):
        raise
    raise ModuleNotFoundError(
        f"{error.name} is not installed, which kille_env.adapters.sb3 needs: "
        'pip install "kille-env[train]"',
        name=error.name,
    ) from error

from kille_env.adapters.options import (
    OPPONENTS,
    SeatOptions,
    check_names,
    reset_options,
)
from kille_env.adapters.sb3_buffer import SeatStep, SeatStreamBuffer
from kille_env.adapters.seat_tables import SeatTables
from kille_env.adapters.spaces import feature_space
from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.errors import KilleError, PolicyError, RulesError
from kille_env.policy import UniformPolicy
from kille_env.registry import load_game

__all__ = ["LivePolicy", "SeatStreamBuffer", "SeatVecEnv", "SelfPlayVecEnv"]

RESET_OPTIONS = ("deck", "dealer", "start")


def _algorithm_that_steps(venv: VecEnv) -> BaseAlgorithm | None:
    """Returns the algorithm whose rollout on `venv` makes the step at hand.

    Stable-Baselines3 does not tell an environment who steps it; the caller's frame does.
    """
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if frame.f_code.co_name == "collect_rollouts" and isinstance(caller, BaseAlgorithm):
            known = caller.get_env()
            return caller if known is not None and known.unwrapped is venv else None
        frame = frame.f_back
    return None


class _TableVecEnv(VecEnv):
    """What both forms share: one object that stands for N environments."""

    def __init__(self, batch: Batch) -> None:
        spec = batch.spec
        box = feature_space(spec.observation(batch.num_players))
        super().__init__(batch.num_tables, box, spaces.Discrete(spec.num_actions))
        self.num_players = batch.num_players
        self.rules = batch.rules
        self._actions = np.zeros(self.num_envs, dtype=np.int64)
        self._began = time.time()
        self._checked = False

    def action_masks(self) -> np.ndarray:
        """Returns what is legal at each table, [N, A] int8, fresh."""
        raise NotImplementedError

    def step_async(self, actions: Any) -> None:
        """Takes the actions, [N]; `step_wait` plays them."""
        given = arguments.array(actions)
        self._actions = actions if given is None else given.reshape(-1)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Takes the seed s of the next reset, for the seeds s, s + 1, ...; returns these.

        Raises:
            RulesError: It is no seed.
        """
        return super().seed(None if seed is None else arguments.seed(seed))

    def _take_seeds(self) -> list[int] | None:
        """Returns the seeds for the next reset, and uses them up."""
        seeds = [seed for seed in self._seeds if seed is not None]
        self._reset_seeds()
        return seeds or None

    def _take_options(self) -> dict[str, Any]:
        """Returns the options for the next reset, and uses them up.

        Decks and dealers are lists over tables; matches start alike at all of them.
        """
        given: Any = self._options
        self._reset_options()
        if not isinstance(given, list) or len(given) != self.num_envs:
            raise RulesError(
                f"options are a mapping, or a list of {self.num_envs} of them, got {given!r}"
            )
        found = [reset_options(options, RESET_OPTIONS) for options in given]
        names = {name for options in found for name in options}
        for name in names:
            if any(options.get(name) is None for options in found):
                raise RulesError(f"the option {name!r} is given for some of the tables only")
        taken: dict[str, Any] = {name: [options[name] for options in found] for name in names}
        if "start" in taken:
            first, *others = taken["start"]
            if any(start != first for start in others):
                raise RulesError("the option 'start' differs between tables; all start alike")
            taken["start"] = first
        return taken

    def _episodes(self, rewards: np.ndarray, decisions: np.ndarray) -> list[dict[str, float]]:
        """Returns what monitors want to know of matches that have ended."""
        spent = round(time.time() - self._began, 6)
        both = zip(rewards.tolist(), decisions.tolist(), strict=True)
        return [{"r": reward, "l": count, "t": spent} for reward, count in both]

    def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def has_attr(self, attr_name: str) -> bool:
        """Returns whether there is such an attribute or method."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Returns the attribute once for each table that was asked for."""
        if attr_name == "render_mode":
            return [None for _ in self._get_indices(indices)]
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute; the tables share it, so there are no `indices` to choose."""
        if indices is not None:
            raise KilleError(f"the tables share {attr_name!r}; set it without indices")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Calls a method once for all tables.

        "action_masks" without `indices` gives a list of one [N, A] array, with them one [A] array
        for each; another method gives its result once for each table that was asked for.
        """
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            chosen = [result[i] for i in self._get_indices(indices)]
            return [result] if indices is None else chosen
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Returns False for each table: there are no single environments that could be wrapped.

        Not even in a `Monitor`, though infos hold episodes: else `VecMonitor` would warn.
        """
        return [False for _ in self._get_indices(indices)]

    def _get_indices(self, indices: Any) -> Iterable[int]:
        if indices is None:
            return range(self.num_envs)
        return [int(indices)] if isinstance(indices, (int, np.integer)) else indices


class SelfPlayVecEnv(_TableVecEnv):
    """Every decision of every seat, in the order of play, for one learner in all seats.

    The row of a table is the seat that is to act there. Train with `SeatStreamBuffer`: another
    buffer would credit one seat's decision with the next seat's prospects, and is refused when an
    algorithm collects a rollout with it. The rewards that `step` returns are those of the seats
    that acted, in this step alone. `infos[i]["episode"]["r"]` is the result of
    seat 0.

    Attributes:
        last_step: What the last step brought to whom, for `SeatStreamBuffer`; None before it.
    """

    def __init__(
        self,
        game: str,
        num_tables: int = 512,
        num_players: int | None = None,
        *,
        rules: Rules | Mapping[str, Any] | str | None = None,
        episode: str | None = None,
        seed: int | None = None,
        threads: int = 1,
    ) -> None:
        """Sets up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            rules: Preset's name, mapping of switches, or resolved rules.
            episode: "match" or "deal".
            seed: Seed of the tables; an algorithm with a seed sets another one.
            threads: Threads that step the tables.

        Raises:
            UnknownGameError: No such game.
            RulesError: A switch or number of seats that does not exist.
        """
        loaded = load_game(game)
        resolved = loaded.spec.resolve(rules, episode=episode)
        self.batch = Batch(loaded, num_tables, num_players, resolved, seed, threads, restart=False)
        super().__init__(self.batch)
        self._returns = np.zeros((num_tables, self.num_players))
        self._decisions = np.zeros(num_tables, dtype=np.int64)
        self._number = 0
        self.last_step: SeatStep | None = None

    def action_masks(self) -> np.ndarray:
        """Returns what is legal for the seats to act, [N, A] int8, fresh."""
        return self.batch.mask.copy()

    def reset(self) -> np.ndarray:
        """Begins matches at all tables; returns the observations of the seats to act, [N, F]."""
        options = self._take_options()
        self.batch.reset(self._take_seeds(), **options)
        self._restart(self.batch.over)
        self._returns[:] = 0.0
        self._decisions[:] = 0
        self._number, self._checked = 0, False
        return self.batch.observation.copy()

    def _restart(self, ended: np.ndarray) -> None:
        """Begins the next match where one has ended; one that has no decision is passed over."""
        while ended.any():
            self.batch.reset(which=ended)
            ended = self.batch.over

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays the actions; returns observations, rewards, dones and infos.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played at any table.
            KilleError: An algorithm trains here without `SeatStreamBuffer`.
        """
        if not self._checked:
            self._check_buffer()
        batch = self.batch
        seats = batch.seat.astype(np.int64)
        batch.step(self._actions)
        earned = batch.reward.copy()
        dones = batch.seat < 0
        self._returns += earned
        self._decisions += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            self._finish(dones, seats, infos)
        self.last_step = SeatStep(self._number, seats, earned, dones.copy())
        self._number += 1
        return batch.observation.copy(), self.last_step.own(), dones, infos

    def _finish(self, dones: np.ndarray, seats: np.ndarray, infos: list[dict[str, Any]]) -> None:
        """Fills the infos of matches that have ended, and begins the next ones."""
        rows = np.flatnonzero(dones)
        last, returns = self.batch.observe(seats)[rows], self._returns[rows]
        truncated = self.batch.truncated[rows].tolist()
        episodes = self._episodes(returns[:, 0], self._decisions[rows])
        for k, i in enumerate(rows.tolist()):
            infos[i] = {
                "terminal_observation": last[k],
                "TimeLimit.truncated": False,
                "truncated": truncated[k],
                "returns": returns[k],
                "episode": episodes[k],
            }
        self._returns[dones] = 0.0
        self._decisions[dones] = 0
        self._restart(dones)

    def _check_buffer(self) -> None:
        self._checked = True
        caller = _algorithm_that_steps(self)
        if caller is None or isinstance(getattr(caller, "rollout_buffer", None), SeatStreamBuffer):
            return
        raise KilleError(
            f"{type(caller).__name__} collects with a buffer that would credit the decision of one "
            "seat with what the next seat expects. Make the model with "
            'rollout_buffer_class=SeatStreamBuffer, rollout_buffer_kwargs={"env": venv}, or use '
            "SeatVecEnv, which gives one seat of each table to any algorithm"
        )

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays."""
        return {
            "tables": np.frombuffer(self.batch.save(), dtype=np.uint8).copy(),
            "returns": self._returns.copy(),
            "decisions": self._decisions.copy(),
            "number": np.array(self._number),
        }

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly.

        Raises:
            KilleError: The state is of other tables.
        """
        self.batch.restore(state["tables"].tobytes())
        self._returns[:] = state["returns"]
        self._decisions[:] = state["decisions"]
        self._number = int(state["number"])


class LivePolicy:
    """The policy of a model as it stands while it learns; uniform as long as there is none."""

    name = "self"

    def __init__(self) -> None:
        """Follows no model yet."""
        self.model: Any = None

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the model's distribution over the legal actions, [N, A] float64."""
        if self.model is None:
            return UniformPolicy().probabilities(observation, mask)
        policy = self.model.policy
        normalized = self.model.get_vec_normalize_env()
        if normalized is not None:  # the model knows observations as its wrapper shows them
            observation = normalized.normalize_obs(observation)
        with torch.no_grad():
            seen = torch.as_tensor(observation, device=policy.device)
            if isinstance(policy, MaskableActorCriticPolicy):
                distribution: Any = policy.get_distribution(seen, action_masks=mask)
            else:
                distribution = policy.get_distribution(seen)
            wanted = distribution.distribution.probs.cpu().numpy().astype(np.float64) * mask
        total = wanted.sum(axis=1, keepdims=True)
        none = total[:, 0] <= 0.0  # a policy without masks may want illegal actions only
        wanted[none], total[none] = mask[none], mask[none].sum(axis=1, keepdims=True)
        return wanted / total

    def __getstate__(self) -> dict[str, Any]:
        return {"model": None}  # the model holds the environment that holds this


class SeatVecEnv(_TableVecEnv):
    """One seat of each table for any algorithm that knows one agent; the others are played inside.

    The reward is what the seat has earned since its last decision. With `opponents="self"` the live
    policy of the model that learns here plays the other seats: the environment finds the algorithm
    at its first step, or `follow` names it. What opponents do before that, right after the first
    reset, is uniform.

    A match without any decision of the seat is passed over; `infos[i]["skipped"]` of the match
    before counts them.
    """

    def __init__(
        self,
        game: str,
        num_tables: int = 512,
        num_players: int | None = None,
        *,
        seed: int | None = None,
        threads: int = 1,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Sets up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            seed: Seed of the tables and the opponents; an algorithm with a seed sets another one.
            threads: Threads that step the tables.
            **options: `rules`, `episode`, `opponents` ("rule_of_thumb" unless named; "self" among
                them is the model that learns), `seat` ("rotate"), `illegal` ("raise"; "lose" for
                algorithms without masks) and `illegal_reward`; see
                `kille_env.adapters.options.SeatOptions`.

        Raises:
            UnknownGameError: No such game.
            RulesError: An option, switch or number of seats that does not exist.
            PolicyError: A player that does not exist or does not fit.
        """
        check_names(SeatVecEnv, options, load_game(game).spec, SeatOptions.__annotations__)
        self.live = LivePolicy()
        opponents: Any = options.get("opponents", OPPONENTS)
        alone = isinstance(opponents, str) or not isinstance(opponents, Sequence)
        named = [
            self.live if isinstance(player, str) and player == self.live.name else player
            for player in ([opponents] if alone else opponents)
        ]
        self._plays_itself = any(player is self.live for player in named)
        options["opponents"] = named[0] if alone else named
        self.tables = SeatTables(
            game, num_tables, num_players, seed=seed, threads=threads, **options
        )
        super().__init__(self.tables.batch)
        self._returns = np.zeros(num_tables)

    def follow(self, model: Any) -> None:
        """Plays the seats of "self" by a model's policy from now on, as it goes on learning.

        Raises:
            PolicyError: The model has no distribution over actions, or remembers what it has seen.
        """
        kind, policy = type(model).__name__, getattr(model, "policy", None)
        if not isinstance(policy, (ActorCriticPolicy, MaskableActorCriticPolicy)):
            raise PolicyError(
                f"{kind} has no distribution over actions to play the other seats by; pass "
                "opponents that have probabilities(observation, mask)"
            )
        if hasattr(policy, "lstm_actor"):
            raise PolicyError(
                f"{kind} remembers what it has seen, which the other seats cannot do with its "
                "policy; pass opponents that have probabilities(observation, mask)"
            )
        self.live.model = model

    def action_masks(self) -> np.ndarray:
        """Returns what the learner's seats may do, [N, A] int8, fresh."""
        return self.tables.mask()

    def reset(self) -> np.ndarray:
        """Begins matches at all tables; returns the first observations of the seats, [N, F]."""
        options = self._take_options()
        self.tables.begin(self._take_seeds(), **options)
        self._returns[:] = 0.0
        self._checked = False
        return self.tables.observation()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays the actions, and on to the seats' next decisions.

        Raises:
            IllegalActionError: An action is not legal (with `illegal="raise"`); nothing has been
                played at any table.
            KilleError: The other seats are to be played by a model that is not known.
        """
        if not self._checked:
            self._find_model()
        tables = self.tables
        tables.step(self._actions)
        rewards = tables.reward.astype(np.float32)
        self._returns += tables.reward
        dones = tables.over.copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            self._finish(dones, infos)
        return tables.observation(), rewards, dones, infos

    def _finish(self, dones: np.ndarray, infos: list[dict[str, Any]]) -> None:
        """Fills the infos of matches that have ended, and begins the next ones."""
        tables = self.tables
        rows = np.flatnonzero(dones)
        last, returns = tables.observation()[rows], tables.returns[rows]
        truncated, forfeited = tables.truncated[rows].tolist(), tables.forfeited[rows].tolist()
        seats = tables.own[rows].tolist()
        episodes = self._episodes(self._returns[rows], tables.decisions[rows])
        self._returns[dones] = 0.0
        tables.begin(which=dones)
        skipped = tables.skipped[rows].tolist()
        for k, i in enumerate(rows.tolist()):
            infos[i] = {
                "terminal_observation": last[k],
                "TimeLimit.truncated": False,
                "truncated": truncated[k],
                "illegal_action": forfeited[k],
                "seat": seats[k],
                "skipped": skipped[k],
                "returns": returns[k],
                "episode": episodes[k],
            }

    def _find_model(self) -> None:
        self._checked = True
        if not self._plays_itself or self.live.model is not None:
            return
        caller = _algorithm_that_steps(self)
        if caller is None:
            self._checked = False
            raise KilleError(
                'opponents="self" is the live policy of the model that learns here, and none does: '
                "call follow(model), or choose other opponents"
            )
        self.follow(caller)

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays; the model is not part of it."""
        return {"earned": self._returns.copy(), **self.tables.state()}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly, with the same opponents.

        Raises:
            KilleError: The state is of other tables.
        """
        self.tables.load_state(state)
        self._returns[:] = state["earned"]
