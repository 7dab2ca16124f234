"""Gymnasium's vector API, natively: many tables, one seat of each played by the caller.

    venv = gymnasium.make_vec("kille_env:kille_env/Byteskille-v0", num_envs=256, seat=0)
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

from kille_env.adapters.options import (
    OBSERVATION,
    RENDER_MODES,
    SeatOptions,
    check_names,
    one_of,
    reset_options,
    rules_of_reset,
)
from kille_env.adapters.seat_tables import SeatTables
from kille_env.adapters.spaces import LegalMultiDiscrete, observation_space
from kille_env.core import arguments
from kille_env.errors import KilleError, RulesError, shortened
from kille_env.registry import load_game

RESET_OPTIONS = ("deck", "dealer", "start", "rules", "seat", "reset_mask")


class KilleVectorEnv(VectorEnv[Any, Any, Any]):
    """N tables of a game, one seat of each by the caller; see `KilleEnv` for rewards and episodes.

    `infos["action_mask"]` is [N, A]. A table that is over has a mask of ones in "next_step" mode,
    since its next action is ignored, and of zeros in "disabled" mode, since it takes none.
    `action_space.sample()` draws legal actions.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        observation: str = "box",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        render_mode: str | None = None,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Sets up the tables.

        Args:
            game: Name of the game.
            num_envs: N.
            num_players: P, the game's default for None.
            observation: "box": the features alone; "dict": the masks beside them.
            autoreset_mode: When a finished table begins again, as Gymnasium defines it:
                "SameStep" (the last observation is in `infos["final_obs"]`), "NextStep" (in the
                step after, whose action is ignored), "Disabled" (by `reset` with
                `options={"reset_mask": ...}`).
            threads: Threads that step the tables.
            render_mode: "ansi" or None.
            **options: As in `KilleEnv`.

        Raises:
            UnknownGameError: No such game.
            RulesError: An option, switch or number of seats that does not exist.
            PolicyError: A player that does not exist or does not fit.
        """
        check_names(KilleVectorEnv, options, load_game(game).spec, SeatOptions.__annotations__)
        if render_mode is not None:
            one_of("render_mode", render_mode, RENDER_MODES[1:])
        self._kind = one_of("observation", observation, OBSERVATION)
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise RulesError(
                f"autoreset_mode is {shortened(autoreset_mode)}. Possible are: {modes}"
            ) from None
        seated: SeatOptions = {"illegal": "lose", **options}
        self.tables = SeatTables(game, num_envs, num_players, threads=threads, **seated)
        self.num_envs, self.num_players = num_envs, self.tables.num_players
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        spec = self.tables.batch.spec
        self.single_observation_space = observation_space(spec, self.num_players, self._kind)
        self.single_action_space = spaces.Discrete(spec.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = LegalMultiDiscrete(
            np.full(num_envs, spec.num_actions, dtype=np.int64), self._mask
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins matches at all tables, or at those of `options["reset_mask"]`.

        Args:
            seed: s for the seeds s, s + 1, ...; [N] seeds, where None takes one from the operating
                system; None goes on to the tables' next matches.
            options: "reset_mask" [N] bool; "deck", "dealer" (one, or one per table), "start",
                "rules" and "seat" as in `KilleEnv.reset`. The rules hold until the next reset of
                all tables.

        Raises:
            RulesError: An option or seed that is not possible; nothing has changed.
            CardError: As in `KilleEnv.reset`.
        """
        given = reset_options(options, RESET_OPTIONS)
        chosen = self._reset_mask(given.pop("reset_mask", None))
        if given.get("rules") is not None and not chosen.all():
            raise RulesError(
                "the tables share their rules: give 'rules' to a reset of all of them, not with a "
                "reset_mask that leaves some out"
            )
        if chosen.all():
            tables = self.tables
            given["rules"] = rules_of_reset(tables.batch.spec, tables.rules, given.get("rules"))
        self.tables.begin(self._seeds(seed), chosen, **given)
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
        """Plays an action at each table, then the others up to the seat's next decision.

        Raises:
            IllegalActionError: Not legal, with `illegal="raise"`; nothing has changed.
            KilleError: A table is over and has not been reset ("disabled" mode).
        """
        tables = self.tables
        again = np.zeros(self.num_envs, dtype=np.bool_)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            again = tables.over.copy()
        tables.step(actions, ~again)
        if again.any():
            tables.begin(which=again)
        reward, terminated = tables.reward.copy(), tables.terminated.copy()
        truncated = tables.truncated.copy()
        infos: dict[str, Any] = {}
        ended = tables.over.copy()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
            infos = self._final_infos(ended)
            tables.begin(which=ended)
        infos.update(self._infos(np.ones(self.num_envs, dtype=np.bool_)))
        return self._observe(), reward, terminated, truncated, infos

    def _final_infos(self, ended: np.ndarray) -> dict[str, Any]:
        """Returns the last observations and infos of tables that are about to begin again."""
        seen = self._observe()
        final: np.ndarray = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended):
            final[i] = (
                {key: value[i].copy() for key, value in seen.items()}
                if isinstance(seen, dict)
                else seen[i].copy()
            )
        return {
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": self._infos(ended),
            "_final_info": ended.copy(),
        }

    def _infos(self, about: np.ndarray) -> dict[str, Any]:
        """Returns the infos of some tables: arrays over all, and which of them count."""
        tables = self.tables
        infos: dict[str, Any] = {
            "action_mask": self._mask(),
            "seat": tables.own.copy(),
            "skipped": tables.skipped.copy(),
        }
        infos.update({f"_{key}": about.copy() for key in tuple(infos)})
        ended = about & tables.over
        if ended.any():
            infos["returns"] = np.where(ended[:, None], tables.returns, 0.0)
            infos["illegal_action"] = tables.forfeited & ended
            infos.update({f"_{key}": ended.copy() for key in ("returns", "illegal_action")})
        return infos

    def _mask(self) -> np.ndarray:
        mask = self.tables.mask()
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            mask[self.tables.over] = 1
        return mask

    def _observe(self) -> Any:
        seen = self.tables.observation()
        if self._kind == "box":
            return seen
        return {"observation": seen, "action_mask": self._mask()}

    def render(self) -> tuple[str, ...] | None:
        """Returns each table as text, as the seat sees it."""
        if self.render_mode is None:
            raise KilleError('to render, make the environment with render_mode="ansi"')
        tables = self.tables
        return tuple(tables.batch.describe(i, int(tables.own[i])) for i in range(self.num_envs))
