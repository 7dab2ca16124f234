"""Callbacks of Stable-Baselines3: annealing, and checkpoints that are players."""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kille_env.adapters.sb3_policy import save
from kille_env.core.arguments import whole
from kille_env.errors import KilleError
from kille_env.extras import needs

with needs("train"):
    from stable_baselines3.common.callbacks import BaseCallback


class Anneal(BaseCallback):
    """Lower the learning rate and the entropy bonus over a run, linearly, both to 0 by default.

    In self-play the target moves, and every opponent is the learner itself: with constant steps the
    policies circle around an equilibrium, and a constant bonus keeps them off it.

    Works with every algorithm; one without `ent_coef`, as DQN, has its learning rate annealed. The
    model has the lowered values only while it updates its network: after the last rollout those of
    the end, so that a run of one rollout learns nothing, and warns. Otherwise they are those that
    it was made with, also where `learn` is interrupted or raises, and another call begins from
    them.

    Example:
        >>> from stable_baselines3 import PPO
        >>> from kille_env.sb3 import Anneal, SeatVecEnv
        >>> venv = SeatVecEnv("byteskille", 16, 3, illegal="lose")
        >>> model = PPO("MlpPolicy", venv, n_steps=8, batch_size=64).learn(256, callback=Anneal())
    """

    def __init__(self, learning_rate: float = 0.0, ent_coef: float = 0.0) -> None:
        """Take the values at the end of the run.

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
        self._updated, self._total = False, 0

    def _on_training_start(self) -> None:
        self._updated, self._total = False, self.locals["total_timesteps"]

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        # The values are lowered around `train` alone; the library has no callback after it.
        self._method = model.train
        model.train = partial(self._update, self._method)

    def _on_rollout_start(self) -> None:
        self._put_back()

    def _on_training_end(self) -> None:
        self._put_back()

    def _put_back(self) -> None:
        """Give the model its own `train` again: it is saved with its attributes."""
        model: Any = self.model
        if self._method is not None:
            del model.train
            if model.train != self._method:  # it had been given one, not its class's
                model.train = self._method
            self._method = None

    def _update(self, train: Callable[..., None], *args: Any, **options: Any) -> None:
        """Update the network by `train`, the model's own method, with the values of now."""
        model: Any = self.model
        schedule, entropy = model.lr_schedule, getattr(model, "ent_coef", None)
        first, last = schedule(1.0), self.learning_rate
        # The last rollout ends beyond a total that is no multiple of it: then less than 0 is left.
        model.lr_schedule = lambda left: last + (first - last) * max(0.0, left)
        left = max(0.0, 1.0 - self.num_timesteps / self._total)
        if left == last == 0.0 and not self._updated:
            warnings.warn(
                "a run of one rollout learns nothing: its one update has the learning rate of the "
                "end, 0. Ask for more timesteps than a rollout makes, or do not anneal",
                RuntimeWarning,
                stacklevel=2,
            )
        self._updated = True
        if entropy is not None:
            model.ent_coef = self.ent_coef + (entropy - self.ent_coef) * left
            self.logger.record("train/ent_coef", model.ent_coef)
        try:
            train(*args, **options)
        finally:
            self._put_back()
            model.lr_schedule = schedule
            if entropy is not None:
                model.ent_coef = entropy


class Checkpoints(BaseCallback):
    """Save the model as a player every so many decisions, as `save` does, and at the end.

    The files are named as those of the library's `CheckpointCallback`. They can be measured and
    entered in tournaments by their paths, and `load` resumes from them; a resumed model begins new
    matches.

    Example:
        >>> from kille_env.sb3 import Checkpoints, SeatPPO, SelfPlayVecEnv
        >>> venv = SelfPlayVecEnv("byteskille", num_tables=16, num_players=3)
        >>> model = SeatPPO("MlpPolicy", venv, n_steps=8, batch_size=64)
        >>> saving = Checkpoints(128, "checkpoints")
        >>> model = model.learn(256, callback=saving)
        >>> [file.name for file in saving.files]
        ['model_128_steps.zip', 'model_256_steps.zip']

    Attributes:
        files: The files so far.
    """

    def __init__(self, every: int, folder: str | Path, name: str = "model") -> None:
        """Take an interval and a place.

        Args:
            every: Decisions between two files; a file is written between two rollouts.
            folder: Where the files go.
            name: What their names begin with.

        Raises:
            KilleError: `every` is no whole number above 0.
        """
        super().__init__()
        self.every, self.folder, self.name = whole("every", every, 1), Path(folder), name
        self.files: list[Path] = []
        self._next = 0

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self.every

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            self._save()

    def _on_training_end(self) -> None:
        if self.num_timesteps > self._next - self.every:
            self._save()

    def _save(self) -> None:
        file = self.folder / f"{self.name}_{self.num_timesteps}_steps.zip"
        self.files.append(save(self.model, file))
        self._next = self.num_timesteps + self.every
