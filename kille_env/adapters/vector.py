"""Gymnasium's vector API, natively: many tables, one seat of each played by the caller.

    venv = gymnasium.make_vec("kille_env:kille_env/byteskille-v0", num_envs=256, seat=0)
    observations, infos = venv.reset(seed=7)
    observations, rewards, terminations, truncations, infos = venv.step(actions)

Table i of `reset(seed=s)` plays as `KilleEnv` does after `reset(seed=s + i)`.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kille_env.adapters.gym import OneSeat
from kille_env.core import arguments
from kille_env.errors import RulesError, shortened
from kille_env.play.options import SeatOptions, check_names, one_of, reset_options
from kille_env.play.user_functions import Function

RESET_OPTIONS = ("deck", "dealer", "start", "seat", "reset_mask")
AUTORESET_MODES = tuple(mode.value for mode in AutoresetMode)


class SeatVectorEnv(OneSeat, VectorEnv[Any, Any, Any]):
    """One seat of each of N tables of a game; see `KilleEnv` for rewards and episodes.

    `infos["action_mask"]` is [N, A], all ones for a table whose episode is over.
    `action_space.sample(tuple(infos["action_mask"]))` draws legal actions.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        observation: str = "box",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        features: Function | None = None,
        full_state: bool = False,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Set up the tables.

        Args:
            game: Name of the game.
            num_envs: N.
            num_players: P, the game's default for None.
            observation: As in `KilleEnv`.
            autoreset_mode: When a finished table begins again, as Gymnasium defines it: "SameStep"
                (with the last observation in `infos["final_obs"]`), "NextStep" (in the step after,
                whose action is ignored), "Disabled" (by `reset` with
                `options={"reset_mask": ...}`).
            render_mode: As in `KilleEnv`; the window of "human" shows table 0.
            features: As in `KilleEnv`.
            full_state: As in `KilleEnv`; `infos["full_state"]` is [N, G].
            **options: As in `KilleEnv`.
        """
        check_names(SeatVectorEnv, options, game)
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        self.autoreset_mode = AutoresetMode(one_of("autoreset_mode", mode, AUTORESET_MODES))
        self._set_up(game, num_envs, num_players, observation, render_mode, features, options)
        self.num_envs, self._full_state = num_envs, full_state
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._observations.space
        self.single_action_space = spaces.Discrete(self.tables.batch.spec.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin matches at all tables, or at those of `options["reset_mask"]`.

        Args:
            seed: s for the seeds s, s + 1, ...; [N] seeds, where None takes one from the operating
                system; None begins the tables' next matches.
            options: "reset_mask" [N] bool, not at the first reset, and those of `KilleEnv.reset`;
                "dealer" may be one per table.
        """
        given = reset_options(options, RESET_OPTIONS)
        chosen = self._reset_mask(given.pop("reset_mask", None))
        self.tables.begin(self._seeds(seed), None if chosen.all() else chosen, **given)
        self._show()
        return self._observe(), self._infos(chosen)

    def _reset_mask(self, given: Any) -> np.ndarray:
        if given is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        fits = type(given) is np.ndarray and given.dtype == np.bool_
        if not fits or given.shape != (self.num_envs,) or not given.any():
            raise RulesError(
                f"reset_mask is a bool array of shape ({self.num_envs},) with a True in it, "
                f"got {shortened(given)}"
            )
        return given

    def _seeds(self, seed: Any) -> list[int] | None:
        if seed is None:
            return None
        if not isinstance(seed, (Sequence, np.ndarray)) or isinstance(seed, str):
            first = arguments.seed(seed)
            return [first + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise RulesError(f"{len(seed)} seeds for {self.num_envs} tables")
        if all(one is None for one in seed):
            return None
        fresh = np.random.SeedSequence().generate_state(self.num_envs)
        both = zip(seed, fresh.tolist(), strict=True)
        return [other if one is None else arguments.seed(one) for one, other in both]

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action at each table, then the others up to the seat's next decision.

        Raises:
            IllegalActionError: Not whole numbers [N], or not legal (with `illegal="raise"`);
                nothing has changed.
            KilleError: Before the first `reset`, or a table is over and has not been reset
                ("Disabled" mode).
        """
        tables, infos = self.tables, {}
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and np.count_nonzero(tables.over):
            again = tables.over.copy()  # `step` and `begin` overwrite it
            tables.step(actions, ~again)
            tables.begin(which=again)
        else:
            tables.step(actions)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and np.count_nonzero(tables.over):
            ended = tables.over.copy()
            infos = self._final_infos(ended)
            tables.begin(which=ended)
        infos |= self._infos(np.ones(self.num_envs, dtype=np.bool_))
        self._show()
        shown = tables.reward.copy(), tables.terminated.copy(), tables.truncated.copy()
        return self._observe(), *shown, infos

    def _final_infos(self, ended: np.ndarray) -> dict[str, Any]:
        """Return the last observations and infos of tables that are about to begin again."""
        seen = self._observe()
        final = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended):
            if isinstance(seen, dict):
                final[i] = {key: rows[i].copy() for key, rows in seen.items()}
            else:
                final[i] = seen[i].copy()
        told = {"final_obs": final, "final_info": self._infos(ended)}
        return told | {f"_{key}": ended.copy() for key in told}

    def _infos(self, about: np.ndarray) -> dict[str, Any]:
        """Return infos as arrays over all tables, and flags of the tables that they are about."""
        tables = self.tables
        told = {
            "action_mask": tables.mask(),
            "seat": tables.own_seat.copy(),
            "skipped": tables.skipped.copy(),
            "skipped_units": tables.skipped_units.copy(),
        }
        if self._full_state:
            told["full_state"] = tables.batch.full_state(tables.own_seat)
        # Gymnasium marks the tables that an info is about by a second one with an underscore.
        told |= {f"_{key}": about.copy() for key in told}
        ended = about & tables.over
        if np.count_nonzero(ended):
            told["returns"] = np.where(ended[:, None], tables.returns, 0.0)
            told["illegal_action"] = tables.forfeited & ended
            told |= {"_returns": ended, "_illegal_action": ended.copy()}
        return told

    def _observe(self) -> Any:
        return self._observations.show(self.tables.observation(), self.tables.mask)

    def render(self, table: int | None = None) -> Any:
        """Return tables as text ("ansi") or pixels ("rgb_array"), or show one ("human").

        Args:
            table: The table; None returns a tuple of all N, as Gymnasium expects.
        """
        # There is one window, so it shows one table.
        if table is None and self.render_mode == "human":
            table = 0
        if table is not None:
            return self._render(arguments.table(table, self.num_envs))
        return tuple(map(self._render, range(self.num_envs)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of N = {self.num_envs:,}: {self.table}>"

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if there is one."""
        self._renderer.close()
