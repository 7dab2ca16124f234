"""Gymnasium: one seat of a table against given policies.

    env = gymnasium.make("kille_env:kille_env/Byteskille-v0", opponents="rule_of_thumb")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step(action)

`info["action_mask"]` says what is legal.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from kille_env.adapters.options import (
    ILLEGAL,
    OBSERVATION,
    RENDER_MODES,
    one_of,
    reset_options,
    rules_of_reset,
)
from kille_env.adapters.seat_tables import SeatTables
from kille_env.adapters.spaces import LegalDiscrete, observation_space
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.policy import PlayerLike
from kille_env.records import Record

RESET_OPTIONS = ("deck", "dealer", "start", "rules", "seat")


class KilleEnv(gymnasium.Env[Any, Any]):
    """One seat of a game; the others are played inside.

    The reward is what the seat has earned since its last decision (an ante that is paid before the
    first decision counts with that one). The episode ends with the match, also where the seat is
    out before: the rest is played inside, and what it brings or costs belongs to the last decision.
    A match without any decision of the seat is passed over; `info["skipped"]` counts such matches.

    Gymnasium promises that every action of the space can be stepped, so an illegal one ends the
    episode by default, with `illegal_reward` and `info["illegal_action"]`; `illegal="raise"` makes
    it an error. `action_space.sample()` without a mask draws a legal action.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        rules: Rules | Mapping[str, Any] | str | None = None,
        episode: str | None = None,
        opponents: PlayerLike | Sequence[PlayerLike] = "uniform",
        seat: int | str = "rotate",
        observation: str = "box",
        illegal: str = "lose",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
    ) -> None:
        """Sets up the table.

        Args:
            game: Name of the game.
            num_players: P, the game's default for None.
            rules: Preset's name, mapping of switches, or resolved rules.
            episode: "match" or "deal".
            opponents: One player for all other seats, or P - 1 of them, clockwise from the left
                neighbour: "uniform", a name or path that `kille_agents.load_policy` knows, or an
                object with `probabilities(observation, mask)`.
            seat: The seat: a number; "rotate", one further each match; "random".
            observation: "box": the features alone; "dict": the mask beside them.
            illegal: "lose" or "raise", see above.
            illegal_reward: See above.
            render_mode: "human" prints the table as the seat sees it after every reset and step,
                "ansi" returns it from `render`.

        Raises:
            UnknownGameError: No such game.
            RulesError: An option, switch or number of seats that does not exist.
            PolicyError: A player that does not exist or does not fit.
        """
        if render_mode is not None:
            one_of("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self._kind = one_of("observation", observation, OBSERVATION)
        self.tables = SeatTables(
            game,
            1,
            num_players,
            rules=rules,
            episode=episode,
            opponents=opponents,
            seat=seat,
            illegal=one_of("illegal", illegal, ILLEGAL),
            illegal_reward=illegal_reward,
        )
        self.num_players = self.tables.num_players
        self._make_spaces()

    def _make_spaces(self) -> None:
        spec = self.tables.batch.spec
        self.observation_space = observation_space(spec, self.num_players, self._kind)
        self.action_space = LegalDiscrete(spec.num_actions, self._legal)

    def _legal(self) -> np.ndarray | None:
        return None if self.tables.over[0] else self.tables.batch.mask[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a match and plays to the seat's first decision.

        Args:
            seed: Seed of this and the following matches, the opponents' choices included; None goes
                on with the generators as they are.
            options: "deck", "dealer", "start" and "rules" as in `KilleAEC.reset`; "seat" for this
                match.
        """
        super().reset(seed=seed)
        given = reset_options(options, RESET_OPTIONS)
        tables = self.tables
        rules = tables.rules
        if given.get("rules") is not None:
            rules = rules_of_reset(tables.batch.spec, rules, given["rules"])
        before = tables.batch.rules
        tables.batch.use_rules(rules)
        try:
            tables.begin(
                seed,
                deck=given.get("deck"),
                dealer=given.get("dealer"),
                start=given.get("start"),
                seat=given.get("seat"),
            )
        except KilleError:
            tables.batch.use_rules(before)
            raise
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays an action, then the others up to the seat's next decision or the end.

        Raises:
            IllegalActionError: Not legal, with `illegal="raise"`; nothing has changed.
            KilleError: The episode is over, or `reset` has not been called.
        """
        tables = self.tables
        tables.step(np.asarray(action).reshape(1))
        if self.render_mode == "human":
            self.render()
        return (
            self._observe(),
            float(tables.reward[0]),
            bool(tables.terminated[0]),
            bool(tables.truncated[0]),
            self._info(),
        )

    def _observe(self) -> Any:
        seen = self.tables.observation()[0]
        if self._kind == "box":
            return seen
        return {"observation": seen, "action_mask": self.tables.mask()[0]}

    def _info(self) -> dict[str, Any]:
        tables = self.tables
        info: dict[str, Any] = {
            "action_mask": tables.mask()[0],
            "seat": int(tables.own[0]),
            "skipped": int(tables.skipped[0]),
        }
        if tables.over[0]:
            info["returns"] = tables.returns[0].copy()
            info["illegal_action"] = bool(tables.forfeited[0])
        return info

    def action_masks(self) -> np.ndarray:
        """Returns what is legal, [A] bool, under the name that sb3-contrib asks for."""
        return self.tables.mask()[0].astype(np.bool_)

    def record(self, names: Sequence[str] | None = None) -> Record:
        """Returns the match since the last reset in the records' notation, ended or not.

        Args:
            names: [P] names of the seats.

        Raises:
            RecordError: Before the first `reset`.
        """
        assert self.tables.log is not None  # there is one table
        return self.tables.log.records(names)[-1]

    def render(self) -> str | None:  # type: ignore[override]
        """Returns ("ansi") or prints ("human") the table in words, as the seat sees it."""
        if self.render_mode is None:
            raise KilleError('to render, make the environment with render_mode="ansi" or "human"')
        text = self.tables.batch.describe(0, int(self.tables.own[0]))
        if self.render_mode == "ansi":
            return text
        print(text, end="\n\n")
        return None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("action_space", None)
        state.pop("observation_space", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_spaces()
