"""The rollout buffer of `kille_env.adapters.sb3.SelfPlayVecEnv`, and what the two exchange."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kille_env.core import arguments
from kille_env.errors import KilleError
from kille_env.experience import SeatStreams, advantages
from kille_env.extras import needs

with needs("train"):
    from sb3_contrib.common.maskable.buffers import (
        MaskableRolloutBuffer,
        MaskableRolloutBufferSamples,
    )

if TYPE_CHECKING:
    import torch


class SeatStep(NamedTuple):
    """What `SeatStreamBuffer` reads of a step of `SelfPlayVecEnv`.

    Attributes:
        number: Steps since the environment's last reset, from 0.
        seats: [N] who acted.
        rewards: [N, P] float64, what every seat earned.
        dones: [N] bool, which matches ended.
    """

    number: int
    seats: np.ndarray
    rewards: np.ndarray
    dones: np.ndarray

    def own(self) -> np.ndarray:
        """Returns what the seats that acted earned, [N] float32, as the environment returns it."""
        return self.rewards[np.arange(len(self.seats)), self.seats].astype(np.float32)


class SeatStreamBuffer(MaskableRolloutBuffer):
    """Rollout buffer for `SelfPlayVecEnv`: every (table, seat) is a stream of its own.

    It reads who earned what from the environment that the model learns in: the one that it is given
    and, after the model's `set_env`, the new one, with any number of seats. A decision is complete
    when its seat decides again or the match ends. Its reward is what the seat has earned until
    then; advantages run along the stream (GAE) and are bootstrapped with the value of the stream's
    own next decision. What a seat earns before its first decision of a match counts with that one.

    Decisions that are still open when a rollout ends are neither dropped nor guessed at: they are
    carried over, and completed and learned from in the next one. So the number of decisions that
    `get` returns is not exactly `n_steps * N`; it cuts them into minibatches of nearly
    `batch_size`, all about as large.
    """

    def __init__(self, *args: Any, env: Any = None, **options: Any) -> None:
        """Makes an empty buffer for `env`, see `use`; the rest is as the library passes it."""
        _check_seats(env)
        self._env, self._expected = env, -1
        self._credited: SeatStep | None = None
        self._rows: dict[str, np.ndarray] = {}
        super().__init__(*args, **options)
        if env.num_envs != self.n_envs:
            raise KilleError(
                f"SeatStreamBuffer was given an environment of {env.num_envs} tables, and the "
                f"model learns in one of {self.n_envs}; give both the same"
            )

    def use(self, env: Any) -> None:
        """Reads from an environment from now on; open decisions of the one before are dropped.

        An environment of `kille_env.sb3` calls this when a model steps it for the first time, so
        `model.set_env(venv)` is all that a curriculum needs.

        Args:
            env: The `SelfPlayVecEnv` that the model learns in, itself; what wraps it for the model
                must leave the rewards as they are.

        Raises:
            KilleError: It is no such environment, or has other observations, actions or tables.
        """
        _check_seats(env)
        for name in ("num_envs", "observation_space", "action_space"):
            before, now = getattr(self._env, name), getattr(env, name)
            if before != now:
                raise KilleError(
                    f"the {name} of the environments differ, {before} and {now}: a model goes on "
                    "with as many tables and the same observations and actions. "
                    'observation="seats" has one size at every number of seats'
                )
        self._env, self._expected = env, -1
        self._make_room()

    def follow(self, env: Any) -> None:
        """Read from an environment that the model is stepping, see `use`."""
        if env is not self._env:
            self.use(env)

    def reset(self) -> None:
        """Makes room for a rollout; open decisions stay."""
        self.mask_dims = int(getattr(self.action_space, "n", 0))
        self.pos, self.full, self.generator_ready = 0, False, False
        if not self._rows:
            self._make_room()
        carried = self._streams.carry()
        for array in self._rows.values():
            array[: len(carried)] = array[carried]

    def _make_room(self) -> None:
        self._streams = SeatStreams(self.n_envs, self._env.num_players)
        size = self.n_envs * (self.buffer_size + self._env.num_players)
        self._rows = {
            "observations": np.zeros((size, *self.obs_shape), dtype=self.observation_space.dtype),
            "actions": np.zeros((size, self.action_dim), dtype=np.int64),
            "values": np.zeros(size, dtype=np.float32),
            "log_probs": np.zeros(size, dtype=np.float32),
            "action_masks": np.ones((size, self.mask_dims), dtype=np.float32),
        }

    def add(  # type: ignore[override]
        self,
        obs: np.ndarray,
        action: np.ndarray,
        reward: np.ndarray,
        episode_start: np.ndarray,
        value: "torch.Tensor",
        log_prob: "torch.Tensor",
        action_masks: np.ndarray | None = None,
    ) -> None:
        """Adds the decision of each table's seat to act, and what came of the step.

        The arguments are the library's; `reward` is what `SelfPlayVecEnv.step` returned, and the
        step says which matches ended.

        Raises:
            KilleError: The rewards are not those of the environment's last step.
        """
        step = self._take_step(reward)
        streams = self._streams
        if step.number != self._expected:  # a reset came between: how they go on is not seen
            streams.forget()
        self._expected = step.number + 1
        rows, here = self._rows, slice(streams.count, streams.count + self.n_envs)
        rows["observations"][here] = obs
        rows["actions"][here] = np.asarray(action).reshape(self.n_envs, self.action_dim)
        rows["values"][here] = value.detach().cpu().numpy().reshape(-1)
        rows["log_probs"][here] = log_prob.detach().cpu().numpy().reshape(-1)
        if action_masks is not None:
            rows["action_masks"][here] = np.reshape(action_masks, (self.n_envs, self.mask_dims))
        streams.decide(np.arange(self.n_envs), step.seats)
        streams.pay(step.rewards, step.dones)
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def _take_step(self, reward: np.ndarray) -> SeatStep:
        """Returns the step that brought a reward, once."""
        step: SeatStep | None = self._env.last_step
        if step is None or step is self._credited:
            raise KilleError(
                "the environment of SeatStreamBuffer has not been stepped: give the model the "
                'same one, env=venv and rollout_buffer_kwargs={"env": venv}'
            )
        if not np.array_equal(reward, step.own()):
            raise KilleError(
                "SeatStreamBuffer was given other rewards than SelfPlayVecEnv earned: a wrapper "
                "changes them (VecNormalize needs norm_reward=False)"
            )
        self._credited = step
        return step

    def compute_returns_and_advantage(self, last_values: "torch.Tensor", dones: np.ndarray) -> None:
        """Computes advantages and returns of the complete decisions, and gathers these for `get`.

        The arguments are not needed: a stream is bootstrapped with its own next decision.

        Raises:
            KilleError: Fewer than two decisions are complete, too few to learn from.
        """
        complete, earned, ahead, following = self._streams.completed()
        if len(complete) < 2:
            raise KilleError(
                f"a rollout of {self.buffer_size} steps completed {len(complete)} decisions, and "
                "learning needs two: choose a larger n_steps, at least the number of seats"
            )
        values = self._rows["values"].astype(np.float64)
        later = np.where(ahead >= 0, values[ahead], 0.0)
        found = advantages(earned, values[complete], later, following, self.gamma, self.gae_lambda)
        for name, array in self._rows.items():
            setattr(self, name, array[complete])
        self.advantages = found.astype(np.float32)
        self.returns = self.advantages + self.values
        self.rewards = earned.astype(np.float32)
        self.generator_ready = True

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Iterator[MaskableRolloutBufferSamples]:
        """Returns the complete decisions in random order, in minibatches of about equal size."""
        assert self.generator_ready, "compute_returns_and_advantage comes first"
        parts = self.minibatches(batch_size)
        for indices in np.array_split(np.random.permutation(len(self.advantages)), parts):
            yield self._get_samples(indices)

    def minibatches(self, batch_size: int | None) -> int:
        """Returns how many minibatches `get` makes of the complete decisions."""
        if batch_size is None:
            return 1
        return max(1, round(len(self.advantages) / max(2, batch_size)))

    def state(self) -> dict[str, np.ndarray]:
        """Returns the open decisions and what `load_state` needs besides, as arrays."""
        streams = self._streams
        open_, rows = streams.open.copy(), streams.open[streams.open >= 0]
        open_[open_ >= 0] = np.arange(len(rows))
        return {
            "open": open_,
            "accrued": streams.accrued.copy(),
            "number": np.array(self._expected),
            **{name: array[rows] for name, array in self._rows.items()},
        }

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on with the open decisions of `state`; the environment must go on where it was.

        Raises:
            RulesError: The state is of another buffer; nothing has changed.
        """
        streams, shape = self._streams, self._streams.open.shape
        open_ = arguments.saved(state, "open", np.int64, shape)
        accrued = arguments.saved(state, "accrued", np.float64, shape)
        number = int(arguments.saved(state, "number", np.int64, ()))
        count = int(np.count_nonzero(open_ >= 0))
        rows = {
            name: arguments.saved(state, name, array.dtype, (count, *array.shape[1:]))
            for name, array in self._rows.items()
        }
        streams.load(open_, accrued)
        self._expected = number
        for name, array in rows.items():
            self._rows[name][:count] = array


def _check_seats(env: Any) -> None:
    """Refuse an environment that does not say who earned what.

    Raises:
        KilleError: It is no such environment.
    """
    if getattr(env, "unwrapped", None) is not env or not hasattr(env, "last_step"):
        given = "nothing" if env is None else f"a {type(env).__name__}"
        raise KilleError(
            "SeatStreamBuffer reads who earned what from the SelfPlayVecEnv that the model "
            f'learns in, and was given {given}: pass rollout_buffer_kwargs={{"env": venv}}, '
            "with the environment itself, not a wrapper of it"
        )
