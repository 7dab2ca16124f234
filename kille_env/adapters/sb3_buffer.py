"""The rollout buffer of `kille_env.adapters.sb3.SelfPlayVecEnv`: every seat's stream by itself.

A step of the environment says who decided and what every seat earned (`credit`); this opens a row
for each decision and closes that seat's last one. The algorithm then gives what it knows of the
same decisions (`add`), which is kept at the rows that have just been opened.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.core import arguments
from kille_env.errors import KilleError
from kille_env.extras import needs
from kille_env.play.streams import SeatStreams, advantages

with needs("train"):
    from sb3_contrib.common.maskable.buffers import (
        MaskableRolloutBuffer,
        MaskableRolloutBufferSamples,
    )

if TYPE_CHECKING:
    import torch


class SeatStreamBuffer(MaskableRolloutBuffer):
    """Rollout buffer for `SelfPlayVecEnv`: every (table, seat) is a stream of its own.

    A decision is complete when its seat decides again or the match ends. Its reward is what the
    seat has earned until then; advantages run along the stream (GAE) and are bootstrapped with the
    value of the stream's own next decision. What a seat earns before its first decision of a match
    counts with that one.

    Decisions that are still open when a rollout ends are neither dropped nor guessed at: they are
    carried over, and completed and learned from in the next one. So the number of decisions that
    `get` returns is not exactly `n_steps * N`; it cuts them into minibatches of nearly
    `batch_size`, all about as large.

    Example:
        >>> from sb3_contrib import MaskablePPO
        >>> from kille_env.sb3 import SeatStreamBuffer, SelfPlayVecEnv
        >>> venv = SelfPlayVecEnv("byteskille", 16, 3)
        >>> model = MaskablePPO("MlpPolicy", venv, rollout_buffer_class=SeatStreamBuffer)
    """

    _env: Any = None
    _stored = 0

    def use(self, env: Any) -> None:
        """Credits what an environment plays from now on; open decisions are dropped.

        An environment of `kille_env.sb3` calls this when a model steps it for the first time, so
        `model.set_env(venv)` is all that a curriculum needs.

        Args:
            env: The `SelfPlayVecEnv` that the model learns in, itself; what wraps it for the model
                must leave the rewards as they are.

        Raises:
            KilleError: It is no such environment, or has other observations, actions or tables.
        """
        if getattr(env, "unwrapped", None) is not env or not hasattr(env, "earned"):
            raise KilleError(
                "SeatStreamBuffer credits the steps of the SelfPlayVecEnv that the model learns "
                f"in, and was given a {type(env).__name__}; give it the environment itself, not a "
                "wrapper of it"
            )
        before = env if self._env is None else self._env
        for name in ("num_envs", "observation_space", "action_space", "observation", "features"):
            own = self.n_envs if name == "num_envs" else getattr(before, name, None)
            if getattr(env, name, None) != own:
                raise KilleError(
                    f"the {name} of the environments differ, {own} and {getattr(env, name)}: a "
                    "model goes on with as many tables and the same observations and actions. "
                    'observation="seats" has one size at every number of seats'
                )
        if before.buffer is self:
            before.buffer = None
        self._env, env.buffer = env, self
        self._empty()

    def forget(self) -> None:
        """Drops open decisions: the matches are interrupted."""
        self._streams.forget()

    def reset(self) -> None:
        """Makes room for a rollout; open decisions stay."""
        self.mask_dims = int(getattr(self.action_space, "n", 0))
        self.pos, self.full, self.generator_ready, self._gap = 0, False, False, False
        if self._env is None:
            return
        if self._streams.count != self._stored:
            self._empty()
        carried = self._streams.carry()
        self._stored = len(carried)
        for array in self._rows.values():
            array[: len(carried)] = array[carried]

    def _empty(self) -> None:
        """Begins without a decision."""
        self._credit = np.zeros((self.n_envs, self._env.num_players))
        self._streams = SeatStreams(self._credit)
        self._stored, self._gap = 0, self.pos > 0
        size = self.n_envs * (self.buffer_size + self._env.num_players)
        self._rows = {
            "observations": np.zeros((size, *self.obs_shape), dtype=self.observation_space.dtype),
            "actions": np.zeros((size, self.action_dim), dtype=np.int64),
            "values": np.zeros(size, dtype=np.float32),
            "log_probs": np.zeros(size, dtype=np.float32),
            "action_masks": np.ones((size, self.mask_dims), dtype=np.float32),
        }

    def credit(self, seats: np.ndarray, rewards: np.ndarray, ended: np.ndarray) -> None:
        """Opens the decisions that a step has played, and credits what it brought.

        Args:
            seats: [N] int64, who decided.
            rewards: [N, P] float64, what every seat earned.
            ended: [N] bool, which matches ended.
        """
        if self._streams.count != self._stored:  # nobody has said what was decided before
            self._empty()
        self._streams.decide(np.arange(self.n_envs), seats)
        self._credit += arguments.numbers("rewards", rewards, np.float64, self._credit.shape)
        self._streams.end(ended)

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
        """Keeps the decision of each table's seat to act; the arguments are the library's.

        Raises:
            KilleError: They are not those of the environment's last step.
        """
        here = slice(self._stored, self._stored + self.n_envs)
        self._check(here.stop)
        if not np.array_equal(reward, self._env.earned):
            raise KilleError(
                "SeatStreamBuffer was given other rewards than SelfPlayVecEnv earned: a wrapper "
                "changes them (VecNormalize needs norm_reward=False)"
            )
        rows = self._rows
        rows["observations"][here] = obs
        rows["actions"][here] = np.asarray(action).reshape(self.n_envs, self.action_dim)
        rows["values"][here] = value.detach().cpu().numpy().reshape(-1)
        rows["log_probs"][here] = log_prob.detach().cpu().numpy().reshape(-1)
        if action_masks is not None:
            rows["action_masks"][here] = np.reshape(action_masks, (self.n_envs, self.mask_dims))
        self._stored = here.stop
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def _check(self, count: int) -> None:
        """Refuses steps of which the decisions are not kept here, or the other way round."""
        if self._env is None or self._gap or self._streams.count != count:
            raise KilleError(
                "the environment of SeatStreamBuffer has not been stepped once for each decision "
                "that it is given: while a model collects a rollout, only that model may step the "
                "environment that it learns in"
            )

    def compute_returns_and_advantage(self, last_values: "torch.Tensor", dones: np.ndarray) -> None:
        """Computes advantages and returns of the complete decisions, and gathers these for `get`.

        The arguments are not needed: a stream is bootstrapped with its own next decision.

        Raises:
            KilleError: Fewer than two decisions are complete, too few to learn from.
        """
        self._check(self._stored)
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
            "accrued": streams.credit.copy(),
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
        count = int(np.count_nonzero(open_ >= 0))
        rows = {
            name: arguments.saved(state, name, array.dtype, (count, *array.shape[1:]))
            for name, array in self._rows.items()
        }
        streams.load(open_, accrued)
        self._stored = count
        for name, array in rows.items():
            self._rows[name][:count] = array
