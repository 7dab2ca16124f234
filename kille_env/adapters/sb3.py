"""Stable-Baselines3: native vector environments with action masks and one trajectory per seat.

A seat's consecutive decisions are its trajectory, rewarded by the rule of `kille_env.play.streams`.
There are two forms.

Every decision of every seat belongs to the learner, and each seat is credited by itself:

    venv = SelfPlayVecEnv("byteskille", num_tables=512, num_players=3)
    model = SeatPPO(**settings(venv))
    model.learn(1_000_000)

Or the learner plays one seat of each table, which serves every algorithm for one agent; the other
seats are played by its own live policy (`opponents="self"`), by bots, or by policies of your own:

    venv = SeatVecEnv("byteskille", num_tables=512, num_players=3)
    model = MaskablePPO("MlpPolicy", venv)

Observations are float32 [N, F] in 0 to 1, each feature scaled by its upper bound, as networks want
them; `observation="box"` gives the features themselves, uint8. `env_method("action_masks")` returns
a list of one [N, A] array, which is what MaskablePPO stacks. `infos[i]` of a match that has ended:
see docs/environments.md. "TimeLimit.truncated" is always False: to Stable-Baselines3 it is the
order to add the value of the last observation, and at a cap the rules pay everything out, so
nothing is left to estimate.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from kille_env.extras import needs

with needs("train"):
    from gymnasium import spaces
    from stable_baselines3.common.vec_env import VecEnv

from kille_env.adapters.sb3_policy import LivePolicy
from kille_env.adapters.spaces import Observations
from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.floats import FEATURES
from kille_env.core.spec import RulesLike
from kille_env.errors import KilleError, RulesError, shortened
from kille_env.play.options import OPPONENTS, SeatOptions, check_names, reset_options
from kille_env.play.seats import SeatTables, each_opponent
from kille_env.play.user_functions import Function, check_reward_function, paid
from kille_env.registry import Table, make_batch, spec

RESET_OPTIONS = ("deck", "dealer", "start")


class TableVecEnv(VecEnv):
    """One object that stands for N environments: the base of both forms."""

    render_mode: str | None = None

    def __init__(self, num_tables: int, observations: Observations, num_actions: int) -> None:
        """Take N, the kind of observations, and A."""
        super().__init__(num_tables, observations.space, spaces.Discrete(num_actions))
        self._observations, self.observation = observations, observations.kind
        self.features, self.observe_rules = observations.features, observations.observe_rules
        self._actions = np.zeros(self.num_envs, dtype=np.int64)
        # For `episode["t"]`, the seconds since the start, which the library's `Monitor` has as
        # well.
        self._began = time.time()

    def step_async(self, actions: Any) -> None:
        """Take the actions, [N]; `step_wait` plays them."""
        self._actions = arguments.actions(actions, self.num_envs)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Take the seed s of the next reset, for the seeds s, s + 1, ...; return these."""
        return super().seed(None if seed is None else arguments.seed(seed))

    def _take_seeds(self) -> list[int] | None:
        """Return the seeds for the next reset once."""
        seeds = [seed for seed in self._seeds if seed is not None]
        self._reset_seeds()
        return seeds or None

    def _take_options(self) -> dict[str, Any]:
        """Return the options for the next reset once."""
        given: Any = self._options
        self._reset_options()
        # The library keeps options as a list, one for each environment.
        several = isinstance(given, (list, tuple)) and len(given) == self.num_envs
        if not several or any(other != given[0] for other in given):
            raise RulesError(
                "all tables begin alike: give set_options one mapping, or a list of "
                f"{self.num_envs} that are the same, got {shortened(given)}"
            )
        return reset_options(given[0], RESET_OPTIONS)

    def _tell(
        self, infos: list[dict[str, Any]], ended: list[int], results: Any, lengths: Any, **told: Any
    ) -> None:
        """Fill the infos [N] of tables that ended, from results and lengths [N] and more [M]."""
        spent = round(time.time() - self._began, 6)
        for k, i in enumerate(ended):
            infos[i].update({name: values[k] for name, values in told.items()})
            infos[i]["episode"] = {"r": float(results[i]), "l": int(lengths[i]), "t": spent}
            # The library would bootstrap from the terminal observation where this is true; at a cap
            # the rules pay everything out, so there is nothing left to estimate.
            infos[i]["TimeLimit.truncated"] = False

    def _at_the_end(self, shown: Observations, seen: np.ndarray) -> np.ndarray:
        """Return the observations of seats after the end of their match."""
        actions = int(self.action_space.n)  # type: ignore[attr-defined]
        return shown.show(seen, lambda: np.zeros((len(seen), actions), np.int8))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the attribute once for each table that was asked for."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute; the tables share it, so there are no `indices` to choose."""
        if indices is not None:
            raise KilleError(f"the tables share {attr_name!r}; set it without indices")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all tables.

        "action_masks" without `indices` gives a list of one [N, A] array, with them one [A] array
        for each; another method gives its result once for each table that was asked for.
        """
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name != "action_masks":
            return [result for _ in self._get_indices(indices)]
        return [result] if indices is None else [result[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each table: there are no single environments that could be wrapped.

        Not even in a `Monitor`, though infos hold episodes: else `VecMonitor` would warn.
        """
        return [False for _ in self._get_indices(indices)]


Spread = float | np.ndarray
"""A divisor of rewards; or one for each rule set of a batch, [R]."""


class SelfPlayOptions(TypedDict, total=False):
    """`kille_env.play.options.TableOptions`, with several kinds of episodes."""

    rules: RulesLike
    episode: str | Sequence[str] | None
    seed: int | None
    observe_rules: bool


class _Kind:
    """The M tables of one size and one kind of episode, with their rows in the environment."""

    def __init__(self, batch: Batch, shown: Observations, first: int) -> None:
        self.batch, self.shown, self.spreads = batch, shown, np.array(1.0)
        self.rows = slice(first, first + batch.num_tables)
        self.returns = np.zeros((batch.num_tables, batch.num_players))
        self.decisions = np.zeros(batch.num_tables, dtype=np.int64)

    def spread(self) -> Any:
        """Return the divisor of rewards, or those of the rules of each table, [M, 1]."""
        return self.spreads[self.batch.tables["rules"], None] if self.spreads.ndim else self.spreads

    def observe(self) -> Any:
        """Return the observations of the seats to act, fresh."""
        return self.shown.show(self.batch.observation.copy(), self.batch.mask.copy)

    def clear(self, chosen: np.ndarray, **options: Any) -> None:
        """Forget matches that are over, and pass over new ones that have no decision."""
        self.returns[chosen] = 0.0
        self.decisions[chosen] = 0
        self.batch.begin_next(**options)


class Played(NamedTuple):
    """One decision at each of N tables, and its rewards and ends."""

    seats: np.ndarray  # [N] int64, the seats that decided
    rewards: np.ndarray  # [N, P] float64, what each seat earned
    ended: np.ndarray  # [N] bool, the matches that ended
    infos: list[dict[str, Any]]  # [N], see docs/environments.md


class SelfPlayVecEnv(TableVecEnv):
    """Every decision of every seat, in the order of play, for one learner in all seats.

    The row of a table is the seat that is to act there, another one at every step. `SeatPPO` and
    other algorithms with `SeatRollouts` credit each seat with its own earnings. An algorithm
    that takes the rows for trajectories could not, so `step` refuses it; `play` is for your own
    loops. `infos[i]["episode"]["r"]` is the result of seat 0.

    Several numbers of seats or kinds of episodes share the tables equally, each in rows of its own;
    tables of several sizes need `observation="seats"`, which has one size. A match moves
    more units than a deal, and would be all that a value function learns of: `spreads` makes the
    rewards of all kinds alike. Infos stay in units.

    Example:
        >>> from kille_env.sb3 import SeatPPO, SelfPlayVecEnv
        >>> venv = SelfPlayVecEnv("byteskille", num_tables=16, num_players=3, seed=1)
        >>> model = SeatPPO("MlpPolicy", venv, n_steps=8, batch_size=64).learn(128)
        >>> SelfPlayVecEnv("knack", 16, num_players=(2, 3), observation="seats").num_players
        3

    Attributes:
        kinds: The tables that it has: game, seats and rules of each kind.
        num_players: P, the most seats of any table.
        rules: Those of the first kind.
        batch: The tables of the first kind.
        moves: Resets and decisions of each table so far.
        played: The last decision of each table.
    """

    played: Played
    moves = 0
    _credited = False

    def __init__(
        self,
        game: str,
        num_tables: int = 512,
        num_players: int | Sequence[int] | None = None,
        *,
        observation: str = "float",
        features: Function | None = None,
        reward: Function | None = None,
        spreads: Sequence[Spread] | np.ndarray | None = None,
        **options: Unpack[SelfPlayOptions],
    ) -> None:
        """Set up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None; or several, for tables of all these sizes.
            observation: "float": float32 in 0 to 1; "box": the features as uint8; "seats": of one
                size at tables of every size, see `kille_env.core.floats`.
            features: A function of your own, see docs/own.md.
            reward: A function of your own, likewise.
            spreads: Divisors of the rewards of each kind, above 0, such as the standard
                deviation of a seat's earnings there, for each size all its kinds of episodes; None
                leaves them as they are. A kind with several rule sets may have one for each, [R].
            **options: See `kille_env.play.options.TableOptions`; `episode` may be several.

        Raises:
            KilleError: See `kille_env.make_batch`; or the kinds do not go together.
        """
        check_names(SelfPlayVecEnv, options, game)
        sizes, episode = _several(num_players), _several(options.pop("episode", None))
        kinds = [(size, each) for size in sizes for each in episode]
        _check_kinds(num_tables, kinds)
        seed, self._kinds = options.pop("seed", None), list[_Kind]()
        seeds: list[int | None] = [seed] * len(kinds)
        # Kinds with one seed would play the same deals where they have as many seats.
        if len(kinds) > 1 and seed is not None:
            seeds = np.random.SeedSequence(seed).generate_state(len(kinds)).tolist()
        for (size, each), one in zip(kinds, seeds, strict=True):
            table: Any = {**options, "episode": each, "seed": one, "restart": False}
            rules, first = options.get("rules"), sum(kind.batch.num_tables for kind in self._kinds)
            if isinstance(rules, (list, tuple)) and len(rules) == num_tables:  # each its own part
                table["rules"] = rules[first : first + num_tables // len(kinds)]
            batch = make_batch(game, num_tables // len(kinds), size, **table)
            seats = batch.num_players
            told = batch.observe_rules
            shown = Observations(observation, batch.spec, seats, FEATURES, features, told)
            if self._kinds and shown.space != self._kinds[0].shown.space:
                raise KilleError(
                    f"tables with {self._kinds[0].batch.num_players} and {seats} seats show "
                    'observations of different sizes; those of observation="seats" have one size'
                )
            self._kinds.append(_Kind(batch, shown, first))
        if spreads is not None:
            _give_spreads(self._kinds, spreads)
        self.kinds = tuple(kind.batch.table for kind in self._kinds)
        self.batch, self.rules = self._kinds[0].batch, self._kinds[0].batch.rules
        self.num_players = max(table.num_players for table in self.kinds)
        self._reward = check_reward_function(reward)
        super().__init__(num_tables, self._kinds[0].shown, self.batch.spec.num_actions)

    @property
    def table(self) -> Table:
        """The game, seats and rules of the first kind."""
        return self.batch.table

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of the seats to act, [N, A] int8, fresh."""
        return np.concatenate([kind.batch.mask for kind in self._kinds])

    def observe(self) -> np.ndarray:
        """Return the observations of the seats to act, [N, F], fresh."""
        shown = [kind.observe() for kind in self._kinds]
        return shown[0] if len(shown) == 1 else np.concatenate(shown)

    def reset(self) -> np.ndarray:
        """Begin matches at all tables; return the observations of the seats to act, [N, F]."""
        options, seeds = self._take_options(), self._take_seeds()
        for kind in self._kinds:
            kind.batch.reset(seeds and seeds[kind.rows], **options)
        options.pop("deck", None)  # it was for the first match
        for kind in self._kinds:
            kind.clear(np.ones(kind.batch.num_tables, dtype=np.bool_), **options)
        self.moves += 1
        return self.observe()

    def play(self, actions: Any) -> Played:
        """Play a decision at each table; `observe` and `action_masks` show the next ones.

        Example:
            >>> from kille_env.sb3 import SelfPlayVecEnv
            >>> venv = SelfPlayVecEnv("byteskille", num_tables=4, num_players=3, seed=1)
            >>> observation = venv.reset()
            >>> venv.play(venv.action_masks().argmax(axis=1)).rewards.shape
            (4, 3)

        Args:
            actions: [N] whole numbers.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played at any table.
        """
        actions = arguments.actions(actions, self.num_envs)
        # All kinds are checked first, so that an illegal action leaves every table as it was.
        if len(self._kinds) > 1:
            for kind in self._kinds:
                kind.batch.check_legal(actions[kind.rows])
        seats, ended = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.bool_)
        rewards = np.zeros((self.num_envs, self.num_players))
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for kind in self._kinds:
            seats[kind.rows] = kind.batch.seat
            spread = kind.spread()  # before the step, in which a new match may draw other rules
            paid_out, over = self._play(kind, actions[kind.rows], infos[kind.rows])
            rewards[kind.rows, : kind.batch.num_players] = paid_out / spread
            ended[kind.rows] = over
        self.moves += 1
        self.played = Played(seats, rewards, ended, infos)
        return self.played

    @contextmanager
    def crediting(self) -> Iterator[None]:
        """Let `step` play for a caller that credits seats by `played`, as `SeatRollouts` does."""
        self._credited = True
        try:
            yield
        finally:
            self._credited = False

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the actions; return observations, rewards of seat 0, dones and infos.

        Raises:
            IllegalActionError: As in `play`.
            KilleError: The caller would credit the decision of one seat with another's prospects.
        """
        if not self._credited:
            raise KilleError(
                "SelfPlayVecEnv shows another seat at every step, and only SeatPPO (or SeatRollouts"
                " before another on-policy algorithm) credits each with what it earns itself: train"
                " with SeatPPO(**settings(venv)), give every other algorithm and evaluate_policy a "
                "SeatVecEnv, and step by venv.play(actions) in a loop of your own"
            )
        played = self.play(self._actions)
        return self.observe(), played.rewards[:, 0].astype(np.float32), played.ended, played.infos

    def _play(
        self, kind: _Kind, actions: np.ndarray, infos: list[dict[str, Any]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Play at the tables of a kind; return rewards [M, P] and the matches that ended, [M]."""
        # Copied, because the step overwrites it, and the last observations are those of the seats
        # that decided.
        batch, seats = kind.batch, kind.batch.seat.copy()
        batch.step(actions)
        rewards, ended = batch.reward.copy(), batch.seat < 0
        kind.returns += rewards
        kind.decisions += 1
        if self._reward is not None:
            rewards[:] = 0.0
            if ended.any():
                rewards[ended] = paid(self._reward, kind.returns[ended])
        if ended.any():
            self._tell(
                infos,
                np.flatnonzero(ended).tolist(),
                kind.returns[:, 0],
                kind.decisions,
                terminal_observation=self._at_the_end(kind.shown, batch.observe(seats)[ended]),
                truncated=batch.truncated[ended].tolist(),
                returns=kind.returns[ended],
            )
            # Only now: a new match overwrites the results and the last observations.
            kind.clear(ended)
        return rewards, ended


def _several(given: Any) -> list[Any]:
    """Return an option of one value or several as a list."""
    many = isinstance(given, Sequence) and not isinstance(given, str)
    return list(given) if many else [given]


def _check_kinds(num_tables: int, kinds: Sequence[Any]) -> None:
    """Refuse kinds of tables that cannot share the tables."""
    arguments.whole("num_tables", num_tables, 1)
    if not kinds:
        raise KilleError("num_players and episode are one value or several, got none")
    if len(kinds) > 1 and num_tables % len(kinds):
        raise KilleError(f"num_tables is {num_tables}, expected a multiple of {len(kinds)} kinds")


def _give_spreads(kinds: Sequence[_Kind], spreads: Any) -> None:
    """Give each kind its divisor of rewards, or those of its rule sets."""
    many = isinstance(spreads, (list, tuple)) or (isinstance(spreads, np.ndarray) and spreads.ndim)
    given = [arguments.array(each) for each in spreads] if many else []
    if len(given) != len(kinds) or not all(map(_is_spread, given, kinds)):
        raise KilleError(
            f"spreads are {len(kinds)} numbers above 0, one for each kind of tables (or an array, "
            f"one for each of its rule sets), got {shortened(spreads)}"
        )
    for kind, spread in zip(kinds, spreads, strict=True):
        kind.spreads = np.array(spread)


def _is_spread(given: np.ndarray | None, kind: _Kind) -> bool:
    """Return whether a value is a divisor of rewards, or one for each rule set of a kind."""
    shapes = ((), kind.batch.rules.record.shape)
    if given is None or given.dtype.kind not in "iuf" or given.shape not in shapes:
        return False
    return bool(((given > 0) & (given < inf)).all())


class SeatVecEnv(TableVecEnv):
    """One seat of each table for any algorithm that knows one agent; the others are played inside.

    The reward is the seat's earnings since its last decision. With `opponents="self"` a model
    plays the other seats as it stands while it learns: `follow` names it.

    A match without any decision of the seat is passed over; `infos[i]["skipped"]` of the match
    before counts them, and `"skipped_units"` has the seat's units in them, which no return has.

    Example:
        >>> from stable_baselines3 import PPO
        >>> from kille_env.sb3 import SeatVecEnv
        >>> venv = SeatVecEnv("byteskille", 16, 3, opponents="self", illegal="lose")
        >>> model = PPO("MlpPolicy", venv, n_steps=8, batch_size=64)
        >>> venv.follow(model)
        >>> model = model.learn(128)
    """

    def __init__(
        self,
        game: str,
        num_tables: int = 512,
        num_players: int | None = None,
        *,
        observation: str = "float",
        features: Function | None = None,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Set up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            observation: "float": float32 in 0 to 1; "box": the features as uint8; "seats": of one
                size at tables of every size, see `kille_env.core.floats`.
            features: A function of your own, see docs/own.md.
            **options: See `kille_env.play.options.SeatOptions`. "self" among the opponents is
                the model that `follow` names; algorithms without masks need `illegal="lose"`.
        """
        check_names(SeatVecEnv, options, game)
        table = Table.of(game, num_players, options.get("rules"), options.get("episode"))
        seats = table.num_players
        told = arguments.flag("observe_rules", options.get("observe_rules", False))
        observations = Observations(observation, spec(game), seats, FEATURES, features, told)
        self.live = LivePolicy(table)
        options["opponents"] = [
            self.live if isinstance(player, str) and player == self.live.name else player
            for player in each_opponent(options.get("opponents", OPPONENTS), seats)
        ]
        self.tables = SeatTables(game, num_tables, num_players, **options)
        super().__init__(num_tables, observations, spec(game).num_actions)
        self.num_players, self.rules = seats, self.tables.rules

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        return self.tables.table

    def follow(self, model: Any) -> None:
        """Play the seats of "self" by a model from now on, as it goes on learning.

        Raises:
            PolicyError: The model has neither a distribution over actions nor values of them, or
                learns at another table.
        """
        self.live.follow(model)

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of the learner's seats, [N, A] int8, fresh."""
        return self.tables.mask()

    def observe(self) -> np.ndarray:
        """Return the observations of the learner's seats, [N, F], fresh."""
        return self._observations.show(self.tables.observation(), self.tables.mask)

    def reset(self) -> np.ndarray:
        """Begin matches at all tables; return the first observations of the seats, [N, F]."""
        options = self._take_options()
        self.tables.begin(self._take_seeds(), **options)
        # The library's name for the infos of a reset.
        self.reset_infos = [self._passed(i) for i in range(self.num_envs)]
        return self.observe()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the actions, and on to the seats' next decisions.

        Raises:
            IllegalActionError: As in `SeatTables.step`.
            KilleError: The other seats are to be played by a model that is not known.
        """
        tables = self.tables
        if self.live.model is None and self.live in tables.players.players:
            raise KilleError(
                'opponents="self" is the model that learns: name it by follow(model) before it '
                "learns, or choose other opponents"
            )
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        dones = np.zeros(self.num_envs, dtype=np.bool_)

        # The library wants the last observation of a match and the first of the next in one step.
        def note(ended: np.ndarray) -> None:
            self._tell_seats(infos, ended)
            dones[ended] = True

        tables.step(self._actions, again=note)
        for i in np.flatnonzero(dones).tolist():
            infos[i] |= self._passed(i)
        return self.observe(), tables.reward.astype(np.float32), dones, infos

    def _passed(self, table: int) -> dict[str, Any]:
        """Return the matches without a decision that were passed over at a table."""
        tables = self.tables
        return {
            "skipped": int(tables.skipped[table]),
            "skipped_units": float(tables.skipped_units[table]),
        }

    def _tell_seats(self, infos: list[dict[str, Any]], ended: np.ndarray) -> None:
        """Fill the infos of matches that have just ended."""
        tables = self.tables
        self._tell(
            infos,
            np.flatnonzero(ended).tolist(),
            tables.earned,
            tables.decisions,
            terminal_observation=self._at_the_end(self._observations, tables.observation(ended)),
            truncated=tables.truncated[ended].tolist(),
            illegal_action=tables.forfeited[ended].tolist(),
            seat=tables.own_seat[ended].tolist(),
            returns=tables.returns[ended],
        )
