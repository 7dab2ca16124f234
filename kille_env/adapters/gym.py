"""Gymnasium: one seat of a table against given policies.

    env = gymnasium.make("kille_env:kille_env/byteskille-v0", opponents="rule_of_thumb")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step(action)

`info["action_mask"]` marks the legal actions.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces

from kille_env.adapters.rendering import RENDER_MODES, Renderer
from kille_env.adapters.spaces import Observations
from kille_env.core import arguments
from kille_env.play.options import SeatOptions, check_names, reset_options
from kille_env.play.seats import SeatTables
from kille_env.play.user_functions import Function
from kille_env.records import Record
from kille_env.registry import Table

RESET_OPTIONS = ("deck", "dealer", "start", "seat")


class OneSeat:
    """Base of the environments for one seat: its tables and their rendering."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def _set_up(
        self,
        game: str,
        num_tables: int,
        num_players: int | None,
        observation: str,
        render_mode: str | None,
        features: Function | None,
        options: SeatOptions,
    ) -> None:
        self.tables = SeatTables(game, num_tables, num_players, **{"illegal": "lose", **options})
        batch = self.tables.batch
        self._renderer = Renderer(batch, render_mode)
        self.render_mode = self._renderer.mode
        self.num_players = self.tables.num_players
        self._observations = Observations(
            observation,
            batch.spec,
            self.num_players,
            features=features,
            observe_rules=batch.observe_rules,
        )
        self.observation, self.features = observation, self._observations.features
        self.observe_rules = batch.observe_rules

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        return self.tables.table

    def _render(self, table: int = 0) -> Any:
        return self._renderer.render(*self._picture(table))

    def _show(self) -> None:
        """Show the first table in the window, if the mode is "human"."""
        if self.render_mode == "human":
            self._renderer.show(1.0 / self.metadata["render_fps"], *self._picture(0))

    def _picture(self, table: int) -> tuple[list[float], int, int]:
        tables = self.tables
        return tables.returns[table].tolist(), table, int(tables.own_seat[table])

    def _repr_html_(self) -> str:
        earned, _, viewer = self._picture(0)
        return self._renderer.notebook(repr(self), earned, viewer)


class KilleEnv(OneSeat, gymnasium.Env[Any, Any]):
    """One seat of a game; given players play the others inside.

    The reward is the units that the seat has earned since its last decision (an ante that is paid
    before the first decision counts with that one). The episode ends with the match; if the seat is
    out before, the rest is played inside and counts with its last decision. A match without any
    decision of the seat is passed over; `info["skipped"]` counts such matches, and
    `info["skipped_units"]` has the seat's units in them, which no return includes.

    Gymnasium expects that every action of the space can be stepped, so an illegal one ends the
    episode by default, with `illegal_reward` and `info["illegal_action"]`; `illegal="raise"` makes
    it an error. `action_space.sample(info["action_mask"])` draws a legal action; after the end the
    mask is all ones.
    """

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        observation: str = "box",
        render_mode: str | None = None,
        features: Function | None = None,
        full_state: bool = False,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Set up the table.

        Args:
            game: Name of the game.
            num_players: P, the game's default for None.
            observation: "box", "float", "seats" or "dict", see
                `kille_env.adapters.spaces.Observations`.
            render_mode: "human" shows the table as your seat sees it in a window after every reset
                and step, for a second (`metadata["render_fps"]`); "rgb_array" returns it from
                `render` as pixels, "ansi" as text. Pictures take the extra "render".
            features: A function of your own, see docs/own.md.
            full_state: Whether `info["full_state"]` has all cards and the rest of the table, [G]
                uint8 as seen from your seat: for a central critic, never for a policy.
            **options: See `kille_env.play.options.SeatOptions`; `illegal` is "lose" by default.
        """
        check_names(KilleEnv, options, game)
        self._set_up(game, 1, num_players, observation, render_mode, features, options)
        self.observation_space = self._observations.space
        self.action_space = spaces.Discrete(self.tables.batch.spec.num_actions)
        self._full_state = full_state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a match and play to the seat's first decision.

        Args:
            seed: Seed of this and the following matches, the opponents' choices included; None
                begins the next match of the stream.
            options: "deck", "dealer" and "start" as in `KilleAEC.reset`; "seat", your seat in this
                match.
        """
        seed = None if seed is None else arguments.seed(seed)
        self.tables.begin(seed, **reset_options(options, RESET_OPTIONS))
        # After `begin`, which can refuse: an error then leaves Gymnasium's generator as it was.
        super().reset(seed=seed)
        self._show()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, then the others up to the seat's next decision or the end.

        Raises:
            IllegalActionError: Not a whole number, or not legal (with `illegal="raise"`); nothing
                has changed.
            KilleError: The episode is over, or `reset` has not been called.
        """
        tables = self.tables
        tables.step(np.array([arguments.one_action(action)]))
        self._show()
        return (
            self._observe(),
            float(tables.reward[0]),
            bool(tables.terminated[0]),
            bool(tables.truncated[0]),
            self._info(),
        )

    def _observe(self) -> Any:
        return self._observations.show(self.tables.observation()[0], lambda: self.tables.mask()[0])

    def _info(self) -> dict[str, Any]:
        tables = self.tables
        info: dict[str, Any] = {
            "action_mask": tables.mask()[0],
            "seat": int(tables.own_seat[0]),
            "skipped": int(tables.skipped[0]),
            "skipped_units": float(tables.skipped_units[0]),
        }
        if self._full_state:
            info["full_state"] = tables.batch.full_state(tables.own_seat)[0]
        if tables.over[0]:
            info["returns"] = tables.returns[0].copy()
            info["illegal_action"] = bool(tables.forfeited[0])
        return info

    def action_masks(self) -> np.ndarray:
        """Return the legal actions, [A] bool; sb3-contrib calls this name."""
        return self.tables.mask()[0].astype(np.bool_)

    def record(self, names: Sequence[str] | None = None) -> Record:
        """Return the match since the last reset in the records' notation, ended or not.

        Args:
            names: [P] names of the seats.

        Raises:
            RecordError: Before the first `reset`.
        """
        assert self.tables.recorder is not None  # there is one table
        return self.tables.recorder.record(names=names)

    def render(self) -> str | np.ndarray | None:  # type: ignore[override]
        """Return the table as text ("ansi") or pixels ("rgb_array"), or show it ("human")."""
        return self._render()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: one seat of {self.table}>"

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()
