"""On-policy learning from the decisions of all seats: `SeatRollouts`, and `SeatPPO` made with it.

The library's own rollout takes the rows of an environment for trajectories. In `SelfPlayVecEnv` the
row of a table is another seat at every step, so that a decision would be credited with the next
seat's expectations. Here the rollout is ours: it plays the tables, keeps a row for each decision,
and computes advantages along the rows of each seat.

Private parts of Stable-Baselines3 are touched in this file alone.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.errors import KilleError
from kille_env.extras import needs
from kille_env.play.streams import SeatStreams, advantages

with needs("train"):
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.buffers import (
        MaskableRolloutBuffer,
        MaskableRolloutBufferSamples,
    )
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
    from stable_baselines3.common.utils import obs_as_tensor
    from stable_baselines3.common.vec_env import (
        VecCheckNan,
        VecEnv,
        VecEnvWrapper,
        VecMonitor,
        VecNormalize,
    )

if TYPE_CHECKING:
    from kille_env.adapters.sb3 import Played, SelfPlayVecEnv

PASS_ON = (VecMonitor, VecCheckNan)
"""Wrappers that leave observations and actions as they are."""


class SeatBuffer(MaskableRolloutBuffer):
    """The decisions of a rollout, each credited along the trajectory of its own seat.

    A decision is complete when its seat decides again or the match ends. Its reward is what the
    seat has earned until then; advantages (GAE) are bootstrapped with the value of the seat's own
    next decision. Decisions that are open when a rollout ends are carried over and learned from in
    the next one, so an update has about `n_steps * N` decisions, not exactly as many.
    """

    def reset(self) -> None:
        """Forget everything; the library calls it where a buffer is made."""
        self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]
        self.pos, self.full, self.generator_ready = 0, False, False
        self._tables: SelfPlayVecEnv | None = None
        self._moves = 0

    def begin(self, tables: "SelfPlayVecEnv") -> None:
        """Make room for a rollout; decisions stay open where their matches go on."""
        # The number of moves tells whether anybody has reset or played the tables since.
        if self._tables is tables and self._moves == tables.moves:
            carried = self._streams.carry()
            for rows in self._rows.values():
                rows[: len(carried)] = rows[carried]
            return
        self._tables, self._moves = tables, tables.moves
        self._credit = np.zeros((self.n_envs, tables.num_players))
        self._streams = SeatStreams(self._credit)
        # One decision of each seat can be open when a rollout ends, and is carried over.
        size = self.n_envs * (self.buffer_size + tables.num_players)
        self._rows = {
            "observations": np.zeros((size, *self.obs_shape), dtype=self.observation_space.dtype),
            "actions": np.zeros((size, self.action_dim), dtype=np.int64),
            "values": np.zeros(size, dtype=np.float32),
            "log_probs": np.zeros(size, dtype=np.float32),
            "action_masks": np.ones((size, self.mask_dims), dtype=np.float32),
        }

    def record(self, played: "Played", **columns: np.ndarray) -> None:
        """Keep a decision of each table, columns [N, ...], and credit every seat with its units."""
        assert self._tables is not None
        if self._moves + 1 != self._tables.moves:
            raise KilleError(
                "the tables were reset in the middle of a rollout; a callback that plays needs an "
                "environment of its own"
            )
        self._moves += 1
        first = self._streams.count
        for name, rows in self._rows.items():
            here = rows[first : first + self.n_envs]
            here[:] = columns[name].reshape(here.shape)
        self._streams.decide(np.arange(self.n_envs), played.seats)
        self._credit += played.rewards
        self._streams.end(played.ended)

    def complete(self) -> None:
        """Compute advantages and returns of the complete decisions, and gather these for `get`."""
        complete, earned, ahead, following = self._streams.completed()
        if len(complete) < 2:
            raise KilleError(
                f"a rollout of {self.buffer_size} steps completed {len(complete)} decisions, and "
                "learning needs two: choose a larger n_steps, at least the number of seats"
            )
        values = self._rows["values"].astype(np.float64)
        # The next decision of a seat may itself be open; its value is known all the same.
        later = np.where(ahead >= 0, values[ahead], 0.0)
        found = advantages(earned, values[complete], later, following, self.gamma, self.gae_lambda)
        for name, rows in self._rows.items():
            setattr(self, name, rows[complete])
        self.advantages = found.astype(np.float32)
        self.returns = self.advantages + self.values
        self.rewards = earned.astype(np.float32)
        self.generator_ready = True

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Iterator[MaskableRolloutBufferSamples]:
        """Yield the complete decisions in random order, in minibatches of about equal size."""
        # A minibatch of one decision has no spread to normalize by, so none is that small.
        size = len(self.advantages)
        parts = min(max(1, round(size / batch_size)), size // 2) if batch_size else 1
        for indices in np.array_split(np.random.permutation(size), parts):
            yield self._get_samples(indices)


class SeatRollouts(OnPolicyAlgorithm):
    """Base before an on-policy algorithm, which then learns from every seat of `SelfPlayVecEnv`.

    Any of PPO, A2C, TRPO and MaskablePPO will do. Illegal actions are masked while playing; an
    algorithm that knows no masks sees the probabilities of its own unmasked policy when it learns.

    Example:
        >>> from stable_baselines3 import A2C
        >>> from kille_env.sb3 import SeatRollouts, SelfPlayVecEnv
        >>> class SeatA2C(SeatRollouts, A2C):
        ...     pass
        >>> venv = SelfPlayVecEnv("byteskille", num_tables=16, num_players=3)
        >>> model = SeatA2C("MlpPolicy", venv, n_steps=8).learn(256)
    """

    def _setup_model(self) -> None:
        self.rollout_buffer_class = SeatBuffer  # before `super`, which makes the buffer
        super()._setup_model()
        self.rollout_buffer_class = None  # a file of the model is one of the library's algorithm

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play steps of the tables and compute the advantages of the decisions that are complete.

        Args:
            env: A `SelfPlayVecEnv`, perhaps in `VecMonitor`, `VecCheckNan` or `VecNormalize`.
            callback: Called after each step, and before and after the rollout.
            rollout_buffer: The algorithm's `SeatBuffer`.
            n_rollout_steps: Decisions of each table.
            use_masking: Not read; only legal actions can be played.

        Returns:
            False if the callback has ended training.

        Raises:
            KilleError: It is another environment, or a wrapper around it changes what a seat sees
                or earns.
        """
        tables = self._tables_of(env)
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        rollout_buffer.begin(tables)
        # What the model saw last may be gone: anybody may reset the tables between two rollouts.
        observation: Any = _seen(env, tables)
        for _ in range(n_rollout_steps):
            masks = tables.action_masks()
            with torch.no_grad():
                actions, values, log_probs = self._choose(observation, masks)
            with tables.crediting():
                after, _, dones, infos = env.step(actions.cpu().numpy())
            rollout_buffer.record(
                tables.played,
                observations=observation,
                actions=actions.cpu().numpy(),
                values=values.cpu().numpy(),
                log_probs=log_probs.cpu().numpy(),
                action_masks=masks,
            )
            # The library's own rollouts keep it, and `last_observations` reads it.
            self._last_obs = after  # type: ignore[assignment]
            observation = after
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            self._update_info_buffer(infos, dones)
        rollout_buffer.complete()
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def _tables_of(self, env: VecEnv) -> "SelfPlayVecEnv":
        """Return the tables inside an environment if the wrappers around them are understood."""
        for wrapper in wrappers_of(env):
            kind = type(wrapper).__name__
            if type(wrapper) is VecNormalize:
                if wrapper.norm_reward:
                    raise KilleError(
                        f"{type(self).__name__} credits the rewards that the tables pay, which "
                        "VecNormalize would change behind it: make it with norm_reward=False, and "
                        "SelfPlayVecEnv with reward= for other rewards"
                    )
            elif type(wrapper) not in PASS_ON:
                raise KilleError(
                    f"nothing says what {kind} around SelfPlayVecEnv makes of a step, which shows "
                    f"another seat than the step before: {type(self).__name__} takes VecNormalize, "
                    "VecMonitor and VecCheckNan; for other features or rewards make SelfPlayVecEnv "
                    "with features= or reward="
                )
        tables: Any = env.unwrapped
        if not hasattr(tables, "crediting"):
            raise KilleError(
                f"{type(self).__name__} learns in a SelfPlayVecEnv, got a {type(tables).__name__}; "
                "in a SeatVecEnv take the library's own algorithms, such as MaskablePPO"
            )
        return tables

    def _choose(
        self, observation: np.ndarray, masks: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return legal actions, the values of the observations, and log-probabilities, [N] each."""
        seen = obs_as_tensor(observation, self.device)  # type: ignore[arg-type]
        if isinstance(self.policy, MaskableActorCriticPolicy):
            return self.policy(seen, action_masks=masks)
        own: Any = self.policy.get_distribution(seen).distribution  # type: ignore[arg-type]
        illegal = torch.as_tensor(masks == 0, device=self.device)
        legal = torch.distributions.Categorical(logits=own.logits.masked_fill(illegal, -torch.inf))
        actions = legal.sample()
        # The update computes probabilities without masks: the old ones have to be of the same kind.
        return actions, self.policy.predict_values(seen), own.log_prob(actions)  # type: ignore[arg-type]


class SeatPPO(SeatRollouts, MaskablePPO):
    """MaskablePPO over the decisions of all seats of a `SelfPlayVecEnv`.

    Its arguments are those of MaskablePPO; `settings` has those that learn each game.

    Example:
        >>> from kille_env.sb3 import Anneal, SeatPPO, SelfPlayVecEnv, settings
        >>> venv = SelfPlayVecEnv("krypkille", num_tables=256)
        >>> model = SeatPPO(**settings(venv), seed=0).learn(20_000, callback=Anneal())
    """


def wrappers_of(env: VecEnv | None) -> list[VecEnvWrapper]:
    """Return the wrappers around an environment, the outermost first."""
    wrappers = []
    while isinstance(env, VecEnvWrapper):
        wrappers.append(env)
        env = env.venv
    return wrappers


def last_observations(model: Any) -> Any:
    """Return the observations that a model has last seen, [N, ...]; None before it has learned."""
    return model._last_obs


def saw_normalized(model: Any) -> bool:
    """Return whether an on-policy model has learned behind a `VecNormalize`."""
    on_policy = isinstance(model, OnPolicyAlgorithm)  # others keep an original observation anyway
    return on_policy and model._last_original_obs is not None


def _seen(env: VecEnv, tables: "SelfPlayVecEnv") -> np.ndarray:
    """Return the present observations of the tables as the outermost wrapper shows them."""
    seen: Any = tables.observe()
    # From the inside out, as a step passes through them.
    for wrapper in reversed(wrappers_of(env)):
        if isinstance(wrapper, VecNormalize):
            seen = wrapper.normalize_obs(seen)
    return seen
