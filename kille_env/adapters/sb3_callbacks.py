"""What self-play needs of a run of Stable-Baselines3 beside the environment."""

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from kille_env.errors import KilleError


class Anneal(BaseCallback):
    """Lowers the learning rate and the entropy bonus over a run, linearly, both to 0 by default.

    In self-play the target moves, and every opponent is the learner itself: with constant steps the
    policies circle around an equilibrium, and a constant bonus keeps them off it.

        model.learn(2_000_000, callback=Anneal())

    Works with every algorithm; one without `ent_coef`, as DQN, has its learning rate annealed. Both
    values begin as the model was made with and are put back when `learn` ends, so that another call
    begins from the same ones.
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

    def _on_training_start(self) -> None:
        model: Any = self.model
        self._schedule, self._entropy = model.lr_schedule, getattr(model, "ent_coef", None)
        first, last = self._schedule(1.0), self.learning_rate
        model.lr_schedule = lambda left: last + (first - last) * left

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        if self._entropy is not None:
            left = max(0.0, 1.0 - self.num_timesteps / model._total_timesteps)
            model.ent_coef = self.ent_coef + (self._entropy - self.ent_coef) * left
            self.logger.record("train/ent_coef", model.ent_coef)

    def _on_training_end(self) -> None:
        model: Any = self.model
        model.lr_schedule = self._schedule
        if self._entropy is not None:
            model.ent_coef = self._entropy
