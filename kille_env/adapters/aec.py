"""PettingZoo: every seat is an agent, and the rules select the next one.

    env = kille_env.make("byteskille", num_players=5)
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else choose(observation, info["action_mask"])
        env.step(action)

No wrapper is needed: the order of calls, the bounds of actions and their legality are checked here.
"""

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import AECEnv

from kille_env.adapters.rendering import RENDER_MODES, Renderer
from kille_env.adapters.spaces import Observations, feature_space
from kille_env.core import arguments
from kille_env.core.game import Game
from kille_env.core.single import ONE_TABLE
from kille_env.core.spec import Rules
from kille_env.core.start import begin
from kille_env.errors import IllegalActionError, KilleError, shortened
from kille_env.play.options import ILLEGAL, TableOptions, check_names, one_of, reset_options
from kille_env.play.options import illegal_reward as reward_of_illegal
from kille_env.play.user_functions import Function, check_reward_function, paid
from kille_env.records import Record, Recorder
from kille_env.registry import Table, make_batch

RESET_OPTIONS = ("deck", "dealer", "start")


class _ByAgent(dict[str, Any]):
    """A mapping by agent that refuses unknown names."""

    def __missing__(self, name: str) -> Any:
        first, *_, last = self
        raise KilleError(f"there is no agent {shortened(name)}; agents are {first!r} to {last!r}")


class KilleAEC(AECEnv[str, Any, int]):
    """A game as a PettingZoo AEC environment.

    Agents are `player_0` to `player_{P-1}`, clockwise, and act in the order of the rules. An
    observation is `{"observation": uint8 [F], "action_mask": int8 [A]}`, or as the option
    `observation` says; the mask is in `infos[agent]["action_mask"]` too: zeros for a seat that is
    not to act, all ones after the end. Rewards are units, paid when money moves; their sum over an
    episode is the seat's net result.

    `action_space(agent).sample(info["action_mask"])` draws a legal action. `copy.deepcopy` and
    `pickle` keep a game under way. PettingZoo's `turn_based_aec_to_parallel` makes a parallel form;
    `aec_to_parallel` would let every seat act once per cycle, against the rules, and is refused.
    """

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        render_mode: str | None = None,
        observation: str = "dict",
        illegal: str = "raise",
        illegal_reward: float | None = None,
        features: Function | None = None,
        reward: Function | None = None,
        **options: Unpack[TableOptions],
    ) -> None:
        """Set up the table; call `reset` first.

        Args:
            game: Name of the game.
            num_players: P, the game's default for None.
            render_mode: "human" shows the table with all cards open in a window after every reset
                and step, for a second (`metadata["render_fps"]`); "rgb_array" returns it from
                `render` as pixels, "ansi" as text. Pictures take the extra "render".
            observation: "dict", "box", "float" or "seats", see
                `kille_env.adapters.spaces.Observations`.
            illegal: As in `kille_env.play.options.SeatOptions`. "lose" ends the game as
                PettingZoo's `TerminateIllegalWrapper` does: all seats terminate, and the others
                get 0.
            illegal_reward: As there.
            features: A function of your own, see docs/own.md.
            reward: A function of your own, likewise.
            **options: See `kille_env.play.options.TableOptions`.
        """
        super().__init__()
        check_names(KilleAEC, options, game)
        self.illegal = one_of("illegal", illegal, ILLEGAL)
        self._reward = check_reward_function(reward)
        checked: Any = options
        self._batch = make_batch(game, 1, num_players, restart=False, **checked)
        begin(self._batch.game, ONE_TABLE)
        self.illegal_reward = reward_of_illegal(illegal_reward, self._batch)
        self._renderer = Renderer(self._batch, render_mode)
        self.render_mode = self._renderer.mode
        self._recorder = Recorder(self._batch)
        self.num_players = self._batch.num_players
        self._observations = Observations(
            observation,
            self._batch.spec,
            self.num_players,
            features=features,
            observe_rules=self._batch.observe_rules,
        )
        self.observation, self.features = self._observations.kind, self._observations.features
        self.metadata = {
            "name": f"{game}_v{self._batch.spec.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self._seat_of = _ByAgent((name, seat) for seat, name in enumerate(self.possible_agents))
        self.agents = []
        self._began, self._over = False, True
        self._returns = [0.0] * self.num_players  # units that the match has paid so far
        self._held = [0.0] * self.num_players  # those that wait for a decision that is no secret
        self.rewards, self._cumulative_rewards, self.infos = {}, {}, {}
        self.terminations, self.truncations = {}, {}
        self._masks = np.zeros((self.num_players, self._batch.spec.num_actions), dtype=np.int8)
        self._with_mask = 0  # a bit for each seat with a 1 in its mask
        self._action = np.zeros(1, dtype=np.int64)
        spec, names = self._batch.spec, self.possible_agents
        self.observation_spaces = _ByAgent(
            # Each its own: a space keeps the random generator that samples from it.
            (name, copy.deepcopy(self._observations.space))
            for name in names
        )
        self.action_spaces = _ByAgent((name, spaces.Discrete(spec.num_actions)) for name in names)
        state = spec.layout("full_state", self._batch.observe_rules)
        self.state_space = feature_space(state(self.num_players))
        self._look()

    def _look(self) -> None:
        """Take views of the batch; a copy takes them of its own batch."""
        batch = self._batch
        self._earned, self._seat_now = batch.reward[0], batch.seat
        self._observation_now, self._mask_now = batch.observation[0], batch.mask[0]

    @property
    def game(self) -> Game:
        """The rules and facts of the game."""
        return self._batch.game

    @property
    def rules(self) -> Rules:
        """The rules of the match: those of the table, or drawn ones."""
        return self._batch.rules_at()

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        return self._batch.table

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space, the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match.

        Args:
            seed: Seed of this and the following matches; None begins the next match of the stream.
            options: "deck": card codes in the order in which they leave the pack, for the first
                hand; "dealer": seat of the first dealer; "start": the state of a match under way
                (see `Batch.reset`).

        Raises:
            RulesError: An impossible dealer, start or seed, or other seats or rules.
            CardError: An impossible deck.

        A match that random cards decide before anybody acts is passed over. If the given deck does
        so, the match is over at once, with its rewards.
        """
        seed = None if seed is None else arguments.seed(seed)
        given = reset_options(options, RESET_OPTIONS)
        deck, match = given.get("deck"), {name: given.get(name) for name in ("dealer", "start")}
        self._recorder.reset(seed, deck=deck, **match)
        # With a given deck the next match would be another one than was asked for.
        if deck is None:
            self._batch.begin_next(reset=self._recorder.reset, **match)
        self.agents = self.possible_agents[:]
        self._began, self._over = True, False
        self._returns = [0.0] * self.num_players
        self._held = [0.0] * self.num_players
        self._skip_agent_selection = None
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {name: {} for name in self.agents}
        self._with_mask = (1 << self.num_players) - 1  # all of them are new
        self._update_infos()
        self.agent_selection = self.agents[0]
        if self._batch.over[0]:  # the given cards have decided it: the step pays it out
            self._recorder.step(np.zeros(1, dtype=np.int64))
            self._pay()
        self._select_next()
        self._show()

    def step(self, action: Any) -> None:
        """Play an action of the selected agent, or remove an agent that has ended.

        Args:
            action: Whole number: an int, or an integer array or tensor with one element; None for
                an agent that is terminated or truncated.

        Raises:
            IllegalActionError: Not a whole number, or not legal (with `illegal="raise"`); nothing
                has changed.
            KilleError: Before the first `reset`, or after the end.
        """
        if not self.agents:
            raise KilleError("there is nothing to step: call reset() first")
        agent = self.agent_selection
        # PettingZoo's protocol: every agent that has ended takes one more step, with None.
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        try:
            given = arguments.one_action(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"{agent}: {error}") from None
        try:
            self._action[0] = given
            self._recorder.step(self._action)
        except IllegalActionError as error:
            if self.illegal == "raise":
                raise self._illegal(agent, given) from error
            self._forfeit(agent)
            return
        self._cumulative_rewards[agent] = 0.0
        self._pay()
        self._update_infos()
        self._select_next()
        self._show()

    def _pay(self) -> None:
        """Hand out the rewards of a step; most steps have none."""
        # Before a decision in secret they are held back until the step after it, so that `rewards`
        # do not reveal to the seat on turn that another seat is asked.
        earned = self._earned.tolist()
        ends = self._reward is not None and self._seat_now.item(0) < 0
        if not (ends or any(earned) or any(self.rewards.values()) or any(self._held)):
            return
        none = [0.0] * self.num_players
        self._returns = [both[0] + both[1] for both in zip(self._returns, earned, strict=True)]
        if self._reward is not None:
            earned = self._own_rewards(self._returns) if ends else none
        self._held = [both[0] + both[1] for both in zip(self._held, earned, strict=True)]
        held = self._batch.tables["phase"].item(0) in self._batch.spec.secret_phases
        for name in self.agents:
            self.rewards[name] = 0.0 if held else self._held[self._seat_of[name]]
        if not held:
            self._held = none
        self._accumulate_rewards()

    def _own_rewards(self, units: list[float]) -> list[float]:
        """Return the rewards of an episode by the option `reward`."""
        assert self._reward is not None
        return paid(self._reward, np.array([units]))[0].tolist()

    def _update_infos(self) -> None:
        """Replace the infos of agents with masks that may have changed."""
        arrays = self._batch.arrays
        now = self._batch.game.masks_of_all(arrays.tables, arrays.rules, self._masks)
        # Masks that were and still are zeros need no new info; with many seats most are.
        changed = now | self._with_mask
        fresh = self._masks.copy()  # one copy for all: each agent gets its own row
        for seat, name in enumerate(self.possible_agents):
            if changed >> seat & 1 and name in self.infos:
                self.infos[name] = {"action_mask": fresh[seat]}
        self._with_mask = now

    def _select_next(self) -> None:
        """Select the seat to act, or end all seats together."""
        seat, batch = self._seat_now.item(0), self._batch
        if seat < 0:
            self._end(bool(batch.terminated[0]), bool(batch.truncated[0]))
            return
        self.agent_selection = self.possible_agents[seat]

    def _end(self, terminated: bool, truncated: bool) -> None:
        """End the match for all seats; every mask is all ones, since nothing is left to choose."""
        self._over, self._with_mask = True, 0
        self._masks[:] = 1
        ones = self._masks.copy()
        for name in self.agents:
            self.infos[name] = {"action_mask": ones[self._seat_of[name]]}
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()

    def _illegal(self, agent: str, action: int) -> IllegalActionError:
        names = self._batch.spec.actions
        known = 0 <= action < len(names)
        text = self._batch.action_text
        legal = ", ".join(f"{a} ({text(a)})" for a in np.flatnonzero(self._mask_now).tolist())
        return IllegalActionError(
            f"{agent}: action {action}{f' ({names[action]})' if known else ''} is "
            f'not legal now. Legal: {legal}. info["action_mask"] says which'
        )

    def _forfeit(self, agent: str) -> None:
        self.rewards = {name: self._held[self._seat_of[name]] for name in self.agents}
        lost = self.illegal_reward
        # The user's function sees the loss as units, like any other result of the episode.
        if self._reward is not None:
            units, seat = self._returns.copy(), self._seat_of[agent]
            units[seat] += lost
            lost = self._own_rewards(units)[seat]
        self.rewards[agent] += lost
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._end(True, False)
        for name in self.agents:
            self.infos[name]["illegal_action"] = name == agent

    def _check_began(self) -> None:
        if not self._began:
            raise KilleError("no match has begun: call reset() first")

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, cumulative reward, flags and info of the selected agent.

        Raises:
            KilleError: Before the first `reset`, or after the last agent has left.
        """
        self._check_began()
        if not self.agents:
            raise KilleError("the match is over and every agent has left it: call reset() first")
        return super().last(observe)

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, also if it is not to act and after the end.

        Raises:
            KilleError: Before the first `reset`, or no such agent.
        """
        seat = self._seat_of[agent]
        # The seat to act has its observation ready; any other is written when it is asked for.
        acts = seat == self._seat_now.item(0)
        seen = self._observation_now.copy() if acts else self._batch.observe(seat)[0]
        return self._observations.show(seen, partial(self._mask_of, seat))

    def _mask_of(self, seat: int) -> np.ndarray:
        return self._masks[seat].copy()

    def action_mask(self, agent: str | None = None) -> np.ndarray:
        """Return the legal actions of an agent, [A] int8; None is the agent to act."""
        self._check_began()
        return self._mask_of(self._seat_of[agent or self.agent_selection])

    def state(self) -> np.ndarray:
        """Return the full state seen from seat 0, all cards included: never for a player."""
        return self._batch.full_state(0)[0]

    def render(self) -> str | np.ndarray | None:  # type: ignore[override]
        """Return the table as text ("ansi") or pixels ("rgb_array"), or show it ("human")."""
        return self._renderer.render(self._returns)

    def __repr__(self) -> str:
        return f"<{self.metadata['name']}: {self.table}>"

    def _repr_html_(self) -> str:
        return self._renderer.notebook(repr(self), self._returns)

    def _show(self) -> None:
        """Show the table in the window, if the mode is "human"."""
        self._renderer.show(1.0 / self.metadata["render_fps"], self._returns)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def record(self, names: Sequence[str] | None = None) -> Record:
        """Return the match since the last reset in the records' notation, ended or not.

        Args:
            names: [P] names of the seats.

        Raises:
            RecordError: Before the first `reset`.
        """
        return self._recorder.record(names=names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look()  # views are pickled as arrays of their own
