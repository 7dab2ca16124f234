"""Stable-Baselines3: native vector environments with action masks and one stream per seat.

A seat's consecutive decisions form its stream, and whatever it earns before its next decision, or
before the end, belongs to its last one. There are two forms.

Every decision of every seat belongs to the learner, and the buffer credits each stream by itself:

    venv = SelfPlayVecEnv("byteskille", num_tables=512, num_players=3)
    model = MaskablePPO(
        "MlpPolicy",
        venv,
        rollout_buffer_class=SeatStreamBuffer,
        rollout_buffer_kwargs={"env": venv},
    )
    model.learn(1_000_000)

Or the learner plays one seat of each table, which serves every algorithm for one agent; the other
seats are played by its own live policy (`opponents="self"`), by bots, or by policies of your own:

    venv = SeatVecEnv("byteskille", num_tables=512, num_players=3)
    model = MaskablePPO("MlpPolicy", venv)

Tables of several sizes, or single deals and whole matches, are learned at side by side in a
`kille_env.sb3.MixedSelfPlayVecEnv`.

Observations are float32 [N, F] in 0 to 1, each feature scaled by its upper bound, as networks want
them; `observation="box"` gives the features themselves, uint8. `env_method("action_masks")` returns
a list of one [N, A] array, which is what MaskablePPO stacks. `infos[i]` of a match that has ended:
see docs/environments.md.
"TimeLimit.truncated" is always False: to Stable-Baselines3 it is the order to add the value of the
last observation, and at a cap the rules pay everything out, so nothing is left to estimate.
"""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from kille_env.extras import needs

with needs("train"):
    pass

from kille_env.adapters.options import (
    OPPONENTS,
    SeatOptions,
    TableOptions,
    check_names,
)
from kille_env.adapters.sb3_asking import asking_of, check_last_seen
from kille_env.adapters.sb3_buffer import SeatStep, SeatStreamBuffer
from kille_env.adapters.sb3_models import (
    algorithm_that_steps,
    meaning_of,
    memory_size,
)
from kille_env.adapters.sb3_tables import TableVecEnv
from kille_env.adapters.seat_tables import SeatTables, each_opponent
from kille_env.adapters.spaces import Observations
from kille_env.core import arguments
from kille_env.errors import KilleError
from kille_env.policy import UniformPolicy
from kille_env.registry import Table, make_batch, spec

__all__ = ["LivePolicy", "SeatStreamBuffer", "SeatVecEnv", "SelfPlayVecEnv"]

OBSERVATION = ("float", "box", "seats")  # what stands beside them in "dict" is `action_masks` here


class SelfPlayVecEnv(TableVecEnv):
    """Every decision of every seat, in the order of play, for one learner in all seats.

    The row of a table is the seat that is to act there. Train with `SeatStreamBuffer`: another
    buffer would credit one seat's decision with the next seat's prospects, and is refused when an
    algorithm collects a rollout with it. The rewards that `step` returns are those of the seats
    that acted, in this step alone. `infos[i]["episode"]["r"]` is the result of seat 0.

    Attributes:
        last_step: What the last step brought to whom, for `SeatStreamBuffer`; None before it.
    """

    def __init__(
        self,
        game: str,
        num_tables: int = 512,
        num_players: int | None = None,
        *,
        observation: str = "float",
        **options: Unpack[TableOptions],
    ) -> None:
        """Sets up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            observation: "float": float32 in 0 to 1; "box": the features as uint8; "seats": of one
                size at tables of every size, see `kille_env.core.floats`.
            **options: See `kille_env.adapters.options.TableOptions`.

        Raises:
            KilleError: See `kille_env.make_batch`.
        """
        check_names(SelfPlayVecEnv, options, game)
        self.batch = make_batch(game, num_tables, num_players, restart=False, **options)
        self.num_players, self.rules = self.batch.num_players, self.batch.rules
        observations = Observations(observation, self.batch.spec, self.num_players, OBSERVATION)
        super().__init__(num_tables, observations.space, self.batch.spec.num_actions)
        self._shown, self.observation = observations.features, observation
        self._returns = np.zeros((num_tables, self.num_players))
        self._decisions = np.zeros(num_tables, dtype=np.int64)
        self._number = 0
        self.last_step: SeatStep | None = None

    @property
    def table(self) -> Table:
        """The game, seats and rules that are played now."""
        return self.batch.table

    def action_masks(self) -> np.ndarray:
        """Returns what is legal for the seats to act, [N, A] int8, fresh."""
        return self.batch.mask.copy()

    def reset(self) -> np.ndarray:
        """Begins matches at all tables; returns the observations of the seats to act, [N, F]."""
        options = self._take_options()
        self.batch.reset(self._take_seeds(), **options)
        self._number = 0
        self._clear(np.ones(self.num_envs, dtype=np.bool_), **{**options, "deck": None})
        return self._observe()

    def _observe(self) -> np.ndarray:
        return self._shown(self.batch.observation.copy())

    def _clear(self, chosen: np.ndarray, **options: Any) -> None:
        """Forgets matches that are over, and passes over new ones that have no decision."""
        self._returns[chosen] = 0.0
        self._decisions[chosen] = 0
        while (over := self.batch.over).any():
            self.batch.reset(which=over, **options)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays the actions; returns observations, rewards, dones and infos.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played at any table.
            KilleError: An algorithm trains here without `SeatStreamBuffer`.
        """
        self._check_buffer()
        batch = self.batch
        seats = batch.seat.astype(np.int64)
        batch.step(self._actions)
        step = SeatStep(self._number, seats, batch.reward.copy(), batch.seat < 0)
        self._returns += step.rewards
        self._decisions += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if step.dones.any():
            self._tell(
                infos,
                np.flatnonzero(step.dones).tolist(),
                self._returns[:, 0],
                self._decisions,
                terminal_observation=self._shown(batch.observe(seats)[step.dones]),
                truncated=batch.truncated[step.dones].tolist(),
                returns=self._returns[step.dones],
            )
            self._clear(step.dones)
        self.last_step = step
        self._number += 1
        return self._observe(), step.own(), step.dones.copy(), infos

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays."""
        return {
            "tables": np.frombuffer(self.batch.save(), dtype=np.uint8).copy(),
            "returns": self._returns.copy(),
            "decisions": self._decisions.copy(),
            "number": np.array(self._number),
        }

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly.

        Raises:
            KilleError: The state is of other tables; nothing has changed.
        """
        tables = arguments.saved(state, "tables", np.uint8, (None,))
        returns = arguments.saved(state, "returns", np.float64, self._returns.shape)
        decisions = arguments.saved(state, "decisions", np.int64, self._decisions.shape)
        number = int(arguments.saved(state, "number", np.int64, ()))
        self.batch.restore(tables.tobytes())
        self._returns[:], self._decisions[:], self._number = returns, decisions, number


class LivePolicy:
    """The policy of a model as it stands while it learns; uniform as long as there is none.

    The model is asked as its own environment asks it, wrappers included, and explores as it does.
    A model with a distribution plays by it. One with values plays the legal action of the highest
    value, and a uniform one as often as the model explores. One with a memory makes this a
    `kille_env.policy.Recurrent` player: each seat remembers its own match.

    Attributes:
        model: The model that is followed, or None.
        memory_size: Numbers that it remembers, 0 for a model without memory.
    """

    name = "self"
    memory_size = 0

    def __init__(self, game: str, num_players: int) -> None:
        """Follow no model yet; it plays at a table of this size."""
        self.model: Any = None
        self._table = game, num_players
        self._asking: Any = None
        self._env: Any = None

    def follow(self, model: Any) -> None:
        """Play by a model from now on.

        Raises:
            PolicyError: The model has neither a distribution over actions nor values of them, or
                nothing says how it is asked.
        """
        size = memory_size(model)
        if not size:
            meaning_of(model)
        self._ask_as(model)
        self.model, self.memory_size = model, size

    def _ask_as(self, model: Any) -> None:
        """Ask as the environment does that a model has now."""
        asking = asking_of(model)
        self._asking, self._reading = asking, asking.reading(*self._table)
        self._env = model.get_env()

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the model's distribution over the legal actions, [N, A] float64."""
        uniform = UniformPolicy()
        if self.model is None:
            return uniform.probabilities(observation, mask)
        if self.model.get_env() is not self._env:
            self._ask_as(self.model)
        chances = self._asking.chances(self.model, observation, mask, self._reading)
        explores = float(getattr(self.model, "exploration_rate", 0.0))
        if explores == 0.0:
            return chances
        return (1.0 - explores) * chances + explores * uniform.probabilities(observation, mask)

    def probabilities_with_memory(
        self, observation: np.ndarray, mask: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the distribution of a model that remembers, and its memory; see `Recurrent`."""
        return self._asking.chances_with_memory(
            self.model, observation, mask, memory, self._reading
        )

    def __getstate__(self) -> dict[str, Any]:  # the model holds the environment that holds this
        none = dict.fromkeys(("model", "_asking", "_env", "_reading"))
        return {**self.__dict__, **none, "memory_size": 0}


class SeatVecEnv(TableVecEnv):
    """One seat of each table for any algorithm that knows one agent; the others are played inside.

    The reward is what the seat has earned since its last decision. With `opponents="self"` the live
    policy of the model that learns here plays the other seats: the environment finds the algorithm
    at its first step, or `follow` names it. What opponents do before that, right after the first
    reset, is uniform.

    A match without any decision of the seat is passed over; `infos[i]["skipped"]` of the match
    before counts them, and `"skipped_units"` is what the seat earned in them: no return has them.
    """

    def __init__(
        self,
        game: str,
        num_tables: int = 512,
        num_players: int | None = None,
        *,
        observation: str = "float",
        **options: Unpack[SeatOptions],
    ) -> None:
        """Sets up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            observation: "float": float32 in 0 to 1; "box": the features as uint8; "seats": of one
                size at tables of every size, see `kille_env.core.floats`.
            **options: See `kille_env.adapters.options.SeatOptions`. "self" among the opponents is
                the model that learns; algorithms without masks need `BestLegalAction` around this,
                or `illegal="lose"`.

        Raises:
            KilleError: See `kille_env.adapters.seat_tables.SeatTables`.
        """
        check_names(SeatVecEnv, options, game)
        seats = spec(game).check_players(num_players)
        observations = Observations(observation, spec(game), seats, OBSERVATION)
        self.live = LivePolicy(game, seats)
        options["opponents"] = [
            self.live if isinstance(player, str) and player == self.live.name else player
            for player in each_opponent(options.get("opponents", OPPONENTS), seats)
        ]
        self.tables = SeatTables(game, num_tables, num_players, **options)
        super().__init__(num_tables, observations.space, spec(game).num_actions)
        self.num_players, self.rules = seats, self.tables.rules
        self._shown, self.observation = observations.features, observation

    @property
    def table(self) -> Table:
        """The game, seats and rules that are played now."""
        return self.tables.table

    def follow(self, model: Any) -> None:
        """Plays the seats of "self" by a model from now on, as it goes on learning.

        Raises:
            PolicyError: The model has neither a distribution over actions nor values of them.
        """
        self.live.follow(model)

    def action_masks(self) -> np.ndarray:
        """Returns what the learner's seats may do, [N, A] int8, fresh."""
        return self.tables.mask()

    def reset(self) -> np.ndarray:
        """Begins matches at all tables; returns the first observations of the seats, [N, F]."""
        options = self._take_options()
        self.tables.begin(self._take_seeds(), **options)
        self.reset_infos = [self._passed(i) for i in range(self.num_envs)]
        return self._shown(self.tables.observation())

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays the actions, and on to the seats' next decisions.

        Raises:
            IllegalActionError: As in `SeatTables.step`.
            KilleError: The other seats are to be played by a model that is not known.
        """
        tables = self.tables
        if self.live.model is None and self.live in tables.players.players:
            self._find_model()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        dones = np.zeros(self.num_envs, dtype=np.bool_)

        def note(ended: np.ndarray) -> None:
            self._tell_seats(infos, ended)
            dones[ended] = True

        tables.step(self._actions, again=note)
        for i in np.flatnonzero(dones).tolist():
            infos[i] |= self._passed(i)
        return self._shown(tables.observation()), tables.reward.astype(np.float32), dones, infos

    def _passed(self, table: int) -> dict[str, Any]:
        """Returns what was passed over before the match at a table."""
        tables = self.tables
        return {
            "skipped": int(tables.skipped[table]),
            "skipped_units": float(tables.skipped_units[table]),
        }

    def _tell_seats(self, infos: list[dict[str, Any]], ended: np.ndarray) -> None:
        """Fills the infos of matches that have just ended."""
        tables = self.tables
        self._tell(
            infos,
            np.flatnonzero(ended).tolist(),
            tables.earned,
            tables.decisions,
            terminal_observation=self._shown(tables.observation(ended)),
            truncated=tables.truncated[ended].tolist(),
            illegal_action=tables.forfeited[ended].tolist(),
            seat=tables.own[ended].tolist(),
            returns=tables.returns[ended],
        )

    def _find_model(self) -> None:
        learner = algorithm_that_steps(self)
        if learner is None:
            raise KilleError(
                'opponents="self" is the live policy of the model that learns here, and none does: '
                "call follow(model), or choose other opponents"
            )
        self.follow(learner)
        check_last_seen(learner, asking_of(learner))

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays, but the model."""
        return self.tables.state()

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly, with the same opponents.

        Raises:
            KilleError: The state is of other tables.
        """
        self.tables.load_state(state)
