"""The rollout buffer of `kille_env.adapters.sb3.SelfPlayVecEnv`: every seat's stream by itself.

The rewards of a step carry who decided and what every seat earned (`Earned`). Stable-Baselines3
hands them from the environment to the buffer with what it knows of the same decisions (`add`): a
row is opened for each, and the one before it of the same seat is complete.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

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

LOADED = object()
"""Where matches stand that go on from a loaded state."""


class Step(NamedTuple):
    """What a step of `SelfPlayVecEnv` brought.

    Attributes:
        before: Where the matches stood before it: `after` of the step before, unless a reset or a
            loaded state has interrupted them.
        after: Where they stand after it; an object that is no other step's.
        shown: What the environment shows: its options `observation` and `features`.
        seats: [N] int64, who decided.
        rewards: [N, P] float64, what every seat earned.
        ended: [N] bool, which matches ended.
    """

    before: object
    after: object
    shown: tuple[Any, ...]
    seats: np.ndarray
    rewards: np.ndarray
    ended: np.ndarray


class Earned(np.ndarray):
    """The rewards [N] that a step returns, float32: those of the seats that acted.

    A copy says the same. What is computed from them does not: else a wrapper that clips would be
    passed over without a word, as long as it clips nothing of what the actors themselves earn.

    Attributes:
        step: The step, of which they are a part; None where nothing says it.
    """

    step: Step | None = None

    @classmethod
    def of(cls, step: Step) -> "Earned":
        """Return the rewards of a step."""
        own = step.rewards[np.arange(len(step.seats)), step.seats]
        rewards = own.astype(np.float32).view(cls)
        rewards.step = step
        return rewards

    def __array_finalize__(self, made_from: Any) -> None:
        self.step = getattr(made_from, "step", None)

    def __array_wrap__(self, found: np.ndarray, *_: Any) -> Any:  # type: ignore[override]
        return np.asarray(found)[()]


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

    _streams: SeatStreams
    _credit: Any = None
    _shown: tuple[Any, ...] | None = None

    def reset(self) -> None:
        """Makes room for a rollout; open decisions stay."""
        self.mask_dims = int(getattr(self.action_space, "n", 0))
        self.pos, self.full, self.generator_ready = 0, False, False
        if self._credit is None:
            self._begin(0)
        carried = self._streams.carry()
        for array in self._rows.values():
            array[: len(carried)] = array[carried]

    def _begin(self, num_players: int) -> None:
        """Begins without a decision, at tables of so many seats."""
        self._stands: object = None
        self._credit = np.zeros((self.n_envs, num_players))
        self._streams = SeatStreams(self._credit)
        size = self.n_envs * (self.buffer_size + num_players)
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
        """Keeps the decision of each table's seat to act, and credits what its step brought.

        The arguments are the library's; the rewards are those that `SelfPlayVecEnv` returned.

        Raises:
            KilleError: They are others, or not those of the step after the last one.
        """
        step = getattr(reward, "step", None)
        if step is None or not np.array_equal(reward, Earned.of(step)):
            raise KilleError(
                "SeatStreamBuffer was given other rewards than SelfPlayVecEnv returned: the model "
                "learns in another environment, or a wrapper changes them (VecNormalize needs "
                "norm_reward=False)"
            )
        self._follow(step)
        rows, first = self._rows, self._streams.count
        here = slice(first, first + self.n_envs)
        self._streams.decide(np.arange(self.n_envs), step.seats)
        self._credit += step.rewards
        self._streams.end(step.ended)
        rows["observations"][here] = obs
        rows["actions"][here] = np.asarray(action).reshape(self.n_envs, self.action_dim)
        rows["values"][here] = value.detach().cpu().numpy().reshape(-1)
        rows["log_probs"][here] = log_prob.detach().cpu().numpy().reshape(-1)
        if action_masks is not None:
            rows["action_masks"][here] = np.reshape(action_masks, (self.n_envs, self.mask_dims))
        self._stands, self._shown = step.after, step.shown
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def _follow(self, step: Step) -> None:
        """Drops open decisions if matches were interrupted before a step, between two rollouts.

        Raises:
            KilleError: They were in the middle of a rollout, or other observations are shown.
        """
        if self._shown not in (None, step.shown):
            raise KilleError(
                f"observation and features of the environments differ, {self._shown} and "
                f"{step.shown}: a model goes on with the same ones. "
                'observation="seats" has one size at every number of seats'
            )
        if step.before is not self._stands or step.rewards.shape != self._credit.shape:
            if self.pos:
                raise KilleError(
                    "the environment of SeatStreamBuffer has not been stepped once for each "
                    "decision that it is given: while a model collects a rollout, only that model "
                    "may step the environment that it learns in"
                )
            self._begin(step.rewards.shape[1])

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
            "accrued": streams.credit.copy(),
            **{name: array[rows] for name, array in self._rows.items()},
        }

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on with the open decisions of `state`; the environment must go on where it was.

        Raises:
            RulesError: The state is of another buffer; nothing has changed.
        """
        open_ = arguments.saved(state, "open", np.int64, (self.n_envs, None))
        accrued = arguments.saved(state, "accrued", np.float64, open_.shape)
        count = int(np.count_nonzero(open_ >= 0))
        rows = {
            name: arguments.saved(state, name, array.dtype, (count, *array.shape[1:]))
            for name, array in self._rows.items()
        }
        SeatStreams(np.zeros(open_.shape)).load(open_, accrued)  # refuses what cannot be
        self._begin(open_.shape[1])
        self._streams.load(open_, accrued)
        self._stands = LOADED
        for name, array in rows.items():
            self._rows[name][:count] = array
