"""Stable-Baselines3: what its vector environments of ours share; see `kille_env.adapters.sb3`."""

import time
from collections.abc import Sequence
from typing import Any

from kille_env.extras import needs

with needs("train"):
    from gymnasium import spaces
    from stable_baselines3.common.vec_env import VecEnv

import numpy as np

from kille_env.adapters.options import reset_options
from kille_env.adapters.sb3_buffer import SeatStreamBuffer
from kille_env.adapters.sb3_models import algorithm_that_steps, is_evaluated, memory_size
from kille_env.core import arguments
from kille_env.errors import KilleError, RulesError

RESET_OPTIONS = ("deck", "dealer", "start")


class TableVecEnv(VecEnv):
    """What all forms share: one object that stands for N environments.

    Attributes:
        observation: What is shown of an observation: "float", "box" or "seats".
    """

    observation: str

    render_mode: str | None = None

    def __init__(self, num_tables: int, space: spaces.Space[Any], num_actions: int) -> None:
        """Takes N, the space of an observation, and A."""
        super().__init__(num_tables, space, spaces.Discrete(num_actions))
        self._actions = np.zeros(self.num_envs, dtype=np.int64)
        self._began = time.time()

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
        taken: dict[str, Any] = {}
        for name in {name for options in found for name in options}:
            taken[name] = [options.get(name) for options in found]
            if any(value is None for value in taken[name]):
                raise RulesError(f"the option {name!r} is given for some of the tables only")
        if "start" in taken:
            first, *others = taken["start"]
            if any(start != first for start in others):
                raise RulesError("the option 'start' differs between tables; all start alike")
            taken["start"] = first
        return taken

    def _tell(
        self, infos: list[dict[str, Any]], ended: list[int], results: Any, lengths: Any, **told: Any
    ) -> None:
        """Fills the infos of tables whose match has ended.

        Args:
            infos: [N].
            ended: [M] where it has.
            results: [N], what monitors are told that the episode earned.
            lengths: [N], its decisions.
            **told: [M, ...] what else to tell of each; it is handed out, not copied.
        """
        spent = round(time.time() - self._began, 6)
        for k, i in enumerate(ended):
            infos[i].update({name: values[k] for name, values in told.items()})
            infos[i]["episode"] = {"r": float(results[i]), "l": int(lengths[i]), "t": spent}
            infos[i]["TimeLimit.truncated"] = False

    def _check_buffer(self) -> None:
        """Refuse whoever would take the rewards of steps for what a seat earns.

        A `SeatStreamBuffer` reads from this environment from now on.

        Raises:
            KilleError: An algorithm collects here with another buffer than `SeatStreamBuffer`, or
                with one that was made for other tables; or Stable-Baselines3 evaluates here.
        """
        if is_evaluated():
            raise KilleError(
                "here every seat is the model's, so what it earns against itself measures nothing: "
                "measure it with kille_training.evaluate or NashConvCallback, or evaluate in a "
                "SeatVecEnv against other opponents"
            )
        learner = algorithm_that_steps(self)
        if memory_size(learner):
            raise KilleError(
                f"{type(learner).__name__} remembers what it has seen, and here every step shows "
                'it another seat\'s cards: train it on SeatVecEnv(..., opponents="self"), where '
                "each row is one seat of its table"
            )
        buffer = getattr(learner, "rollout_buffer", None)
        if learner is not None and not isinstance(buffer, SeatStreamBuffer):
            raise KilleError(
                f"{type(learner).__name__} collects with a buffer that would credit the decision "
                "of one seat with what the next seat expects. Make the model with "
                'rollout_buffer_class=SeatStreamBuffer, rollout_buffer_kwargs={"env": venv}, or '
                "use SeatVecEnv, which gives one seat of each table to any algorithm"
            )
        if buffer is not None:
            buffer.follow(self)

    def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Returns the attribute once for each table that was asked for."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

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
        if method_name != "action_masks":
            return [result for _ in self._get_indices(indices)]
        return [result] if indices is None else [result[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Returns False for each table: there are no single environments that could be wrapped.

        Not even in a `Monitor`, though infos hold episodes: else `VecMonitor` would warn.
        """
        return [False for _ in self._get_indices(indices)]
