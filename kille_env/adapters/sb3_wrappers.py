"""What a run of Stable-Baselines3 may need beside the environment: wrappers and a callback."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnvWrapper

from kille_env.adapters.sb3_asking import Step, steps_outside
from kille_env.adapters.sb3_models import algorithm_that_steps, meaning_of, scores
from kille_env.core import arguments
from kille_env.errors import KilleError


class BestLegalAction(VecEnvWrapper):
    """Replaces an illegal action by the legal one that the learning model ranks highest.

    For algorithms that know no masks, where no illegal action may be played at all.

    The rank is that of the model's values or logits. The model learns what came of the replacement
    as if it had been its own choice: an illegal action becomes another name for the best legal one,
    and exploring suffers, for most first choices are illegal and all become the same action. In
    Byteskille `illegal="lose"` learns better; `benchmarks/legal_actions.py` measures both.

    Example:
        >>> from stable_baselines3 import DQN
        >>> from kille_env.sb3 import BestLegalAction, SeatVecEnv
        >>> venv = BestLegalAction(SeatVecEnv("byteskille", 8, 3, opponents="self"))
        >>> model = DQN("MlpPolicy", venv, learning_starts=8, buffer_size=1_000).learn(64)

    Attributes:
        replaced: [N] bool, whose action was replaced in the last step.
    """

    passes_observations_on = chooses_best_legal = True

    def __init__(self, venv: Any) -> None:
        """Wraps a vector environment with `action_masks`; other wrappers go around this one."""
        super().__init__(venv)
        self.replaced = np.zeros(self.num_envs, dtype=np.bool_)
        self._model: Any = None
        self._outside: tuple[Step, ...] = ()
        self._shown: Any = None

    def follow(self, model: Any) -> None:
        """Ranks by a model from now on, as it goes on learning.

        The model whose `learn` steps this environment is found without that.

        Raises:
            PolicyError: The model has neither logits nor values.
        """
        meaning_of(model)
        self._model, self._outside = model, steps_outside(model, self)

    def reset(self) -> Any:
        """Returns the first observations."""
        self._shown = self.venv.reset()
        return self._shown

    def step_async(self, actions: Any) -> None:
        """Takes the actions, [N], and replaces the illegal ones.

        Raises:
            KilleError: An action is illegal, and no model is known to rank the legal ones.
        """
        (mask,) = self.venv.env_method("action_masks")
        actions = arguments.actions(actions, self.num_envs).copy()
        known = actions.clip(0, mask.shape[1] - 1)  # the environment refuses others
        self.replaced = (mask[np.arange(self.num_envs), known] == 0) & (known == actions)
        if self.replaced.any():
            model, seen = self._find_model(), self._shown
            for step in self._outside:
                seen = step(seen)
            found = scores(model, seen)[self.replaced]
            actions[self.replaced] = np.where(mask[self.replaced], found, -np.inf).argmax(axis=1)
        self.venv.step_async(actions)

    def step_wait(self) -> Any:
        """Plays the actions."""
        self._shown, rewards, dones, infos = self.venv.step_wait()
        return self._shown, rewards, dones, infos

    def _find_model(self) -> Any:
        if self._model is None:
            learner, _ = algorithm_that_steps(self.unwrapped)
            if learner is None:
                raise KilleError(
                    "BestLegalAction ranks the legal actions by the model that learns here, and "
                    "none does: call follow(model)"
                )
            self.follow(learner)
        return self._model


class ScaledRewards(VecEnvWrapper):
    """Divides rewards by a constant, larger than what a match can bring.

    For DQN and QR-DQN, whose Huber loss is squared for errors below 1 only. With rewards of several
    units they learn something between the mean and the median of what may come, and the median of
    a game of chance is another game. The results in `infos` stay in units.

    Example:
        >>> from stable_baselines3 import DQN
        >>> from kille_env.sb3 import ScaledRewards, SeatVecEnv
        >>> venv = ScaledRewards(SeatVecEnv("byteskille", 8, 3, illegal="lose"), units=8)
        >>> model = DQN("MlpPolicy", venv, buffer_size=1_000)

    Attributes:
        units: What one unit of the scaled rewards is worth.
    """

    passes_observations_on = True

    def __init__(self, venv: Any, units: float) -> None:
        """Wraps a vector environment; a reward of `units` becomes 1."""
        super().__init__(venv)
        self.units = units

    def reset(self) -> Any:
        """Returns the first observations."""
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Plays the actions."""
        observation, rewards, dones, infos = self.venv.step_wait()
        return observation, (rewards / self.units).astype(np.float32), dones, infos


class Anneal(BaseCallback):
    """Lowers the learning rate and the entropy bonus over a run, linearly, both to 0 by default.

    In self-play the target moves, and every opponent is the learner itself: with constant steps the
    policies circle around an equilibrium, and a constant bonus keeps them off it.

    Works with every algorithm; one without `ent_coef`, as DQN, has its learning rate annealed. The
    model has the lowered values only while it updates its network. Otherwise they are those that it
    was made with, also where `learn` is interrupted or raises, and another call begins from them.

    Example:
        >>> from stable_baselines3 import PPO
        >>> from kille_env.sb3 import Anneal, SeatVecEnv
        >>> venv = SeatVecEnv("byteskille", 16, 3, illegal="lose")
        >>> model = PPO("MlpPolicy", venv, n_steps=8, batch_size=64).learn(128, callback=Anneal())
    """

    def __init__(self, learning_rate: float = 0.0, ent_coef: float = 0.0) -> None:
        """Takes the values at the end of the run.

        Args:
            learning_rate: The optimizer's step size at the end.
            ent_coef: Weight of the entropy bonus at the end.

        Raises:
            KilleError: A negative value.
        """
        super().__init__()
        for name, value in (("learning_rate", learning_rate), ("ent_coef", ent_coef)):
            if not value >= 0.0:
                raise KilleError(f"{name} is {value!r}, expected its value at the end, 0 or more")
        self.learning_rate, self.ent_coef = learning_rate, ent_coef
        self._method: Any = None

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        self._method = model.train
        model.train = partial(self._update, self._method)

    def _on_rollout_start(self) -> None:
        self._put_back()

    def _on_training_end(self) -> None:
        self._put_back()

    def _put_back(self) -> None:
        """Gives the model its own `train` again: it is saved with its attributes."""
        model: Any = self.model
        if self._method is not None:
            del model.train
            if model.train != self._method:  # it had been given one, not its class's
                model.train = self._method
            self._method = None

    def _update(self, train: Callable[..., None], *args: Any, **options: Any) -> None:
        """Updates the network by `train`, the model's own method, with the values of now."""
        model: Any = self.model
        schedule, entropy = model.lr_schedule, getattr(model, "ent_coef", None)
        first, last = schedule(1.0), self.learning_rate
        model.lr_schedule = lambda left: last + (first - last) * left
        if entropy is not None:
            left = max(0.0, 1.0 - self.num_timesteps / model._total_timesteps)
            model.ent_coef = self.ent_coef + (entropy - self.ent_coef) * left
            self.logger.record("train/ent_coef", model.ent_coef)
        try:
            train(*args, **options)
        finally:
            self._put_back()
            model.lr_schedule = schedule
            if entropy is not None:
                model.ent_coef = entropy
