"""Tables at which the caller plays one seat, and players inside play the others.

The seat's decisions are rewarded by the rule of `kille_env.play.streams`, so that the rewards of a
match sum to the seat's net result. A match that ends before the seat has a decision has nothing to
reward. It is passed over, the next one begins, and `skipped` counts it.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np

from kille_env.core import arguments
from kille_env.core.arrays import Fixed, read_only
from kille_env.core.jit import kernel
from kille_env.core.loops import MOST_PASSED
from kille_env.core.rng import mix
from kille_env.core.single import kernels_of_one_table
from kille_env.core.spec import Rules
from kille_env.core.start import begin
from kille_env.errors import CardError, KilleError, PolicyError, RulesError, shortened
from kille_env.play.options import (
    ILLEGAL,
    OPPONENTS,
    SeatOptions,
    TableOptions,
    illegal_reward,
    one_of,
)
from kille_env.play.policy import PlayerLike, Policy, resolve
from kille_env.play.seating import SeatedPolicies
from kille_env.play.streams import collect_credit
from kille_env.play.user_functions import check_reward_function, paid
from kille_env.records import Recorder
from kille_env.registry import Table, make_batch

ROTATE, RANDOM = -1, -2
"""The outside's seat: one further each match, or a random one."""
FOR_SEATS = np.uint64(0x5EA7)
"""Keeps the random numbers of seats apart from others of the same key."""

ACCOUNT = np.dtype(
    [
        ("own_seat", np.int64),
        ("decisions", np.int64),
        ("skipped", np.int64),
        ("skipped_units", np.float64),
        ("reward", np.float64),
        ("earned", np.float64),
        ("over", np.bool_),
        ("forfeited", np.bool_),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("wrong", np.bool_),
    ],
    align=True,
)
"""The account of a table for the caller's seat, see `SeatTables`; as records, because every array
that a kernel is called with takes time. `wrong` marks an illegal action in this step."""

SEATS = {"rotate": ROTATE, "random": RANDOM}
_SHARED = TableOptions.__annotations__.keys()


@kernel
def sit_down(tables, chosen, passed, where, distances, seating, accounts, credit):
    """Seat all players for the new matches of the chosen tables."""
    # Where the one before was `passed` over, it is counted; else the count begins at 0.
    num_players, most = seating.shape[1], np.int64(0)
    for i in range(tables.shape[0]):
        if not chosen[i]:
            continue
        account, table, own = accounts[i], tables[i], where
        if passed:
            account["skipped"] += 1
            account["skipped_units"] += collect_credit(credit, i, account["own_seat"])
        else:
            account["skipped"], account["skipped_units"] = 0, 0.0
        most = max(most, account["skipped"])
        # By the seed and the match alone, so that a table's seats do not depend on the others.
        if where == ROTATE:
            first = mix(table["seed"] ^ FOR_SEATS) % np.uint64(num_players)
            own = (np.int64(first) + np.int64(table["matches"])) % num_players
        elif where == RANDOM:
            own = np.int64(mix(table["match_key"] ^ FOR_SEATS) % np.uint64(num_players))
        account["own_seat"] = own
        seat_players(own, distances, seating[i])
        account["over"] = account["forfeited"] = False
        account["earned"] = 0.0
        account["decisions"] = 0
    return most


@kernel
def seat_players(own, distances, seating):
    """Write the policy of each seat of a table."""
    for seat in range(seating.shape[0]):
        seating[seat] = distances[(seat - own) % seating.shape[0]]


@kernel
def judge(seats, masks, actions, chosen, lenient, accounts):
    """Mark the illegal actions among those of the chosen tables."""
    # Unless there are some and that is an error (not `lenient`), the other tables then show that
    # nothing came of the step.
    wrong = 0
    for i in range(actions.shape[0]):
        if (chosen[i] and accounts[i]["over"]) or _is_stopped(seats[i], accounts[i]):
            return -1 - i
        action = actions[i]
        legal = 0 <= action < masks.shape[1] and masks[i, action] != 0
        accounts[i]["wrong"] = chosen[i] and not legal
        wrong += chosen[i] and not legal
    for i in range(actions.shape[0]):
        if not chosen[i] and (lenient or wrong == 0):
            account = accounts[i]
            account["reward"] = account["skipped_units"] = 0.0
            account["skipped"] = 0
            account["terminated"] = account["truncated"] = False
    return wrong


@kernel
def _is_stopped(seat, account):
    """Return whether a match is not over, and yet it is not the outside's turn."""
    return not account["over"] and seat != account["own_seat"]


@kernel
def pay(seats, terminated, truncated, chosen, lost, accounts, credit):
    """Pay out the rewards of the last decisions at the chosen tables."""
    for i in range(seats.shape[0]):
        if not chosen[i]:
            continue
        account, wrong = accounts[i], accounts[i]["wrong"]
        ended = seats[i] < 0 and not wrong
        account["skipped"], account["skipped_units"] = 0, 0.0
        account["decisions"] += 1
        account["reward"] = lost if wrong else collect_credit(credit, i, account["own_seat"])
        account["earned"] += account["reward"]
        account["forfeited"] = wrong
        account["terminated"] = wrong or (ended and terminated[i])
        account["truncated"] = ended and truncated[i]
        account["over"] = wrong or ended


def each_opponent(opponents: Any, num_players: int) -> list[PlayerLike]:
    """Return the players of the other seats, clockwise from the left neighbor."""
    if isinstance(opponents, (str, Path)) or not isinstance(opponents, Sequence):
        return [cast(PlayerLike, opponents)] * (num_players - 1)
    if len(opponents) != num_players - 1:
        raise PolicyError(
            f"{len(opponents)} opponents for {num_players - 1} other seats; "
            "give one for all of them, or one for each, clockwise from the left neighbor"
        )
    return list(opponents)


def seat_opponents(
    opponents: Any, game: str, num_players: int, rules: Rules
) -> tuple[list[Policy], np.ndarray]:
    """Return the policies of the other seats, and their places."""
    numbers: dict[Any, int] = {}
    players: list[Policy] = []
    distances = [-1]
    for player in each_opponent(opponents, num_players):
        if isinstance(player, str) and player == "self":
            raise PolicyError(
                '"self" is the model that learns in kille_env.sb3.SeatVecEnv; here pass '
                "kille_env.LiveOpponent(function), which asks your own network"
            )
        key = player if isinstance(player, (str, Path)) else id(player)
        if key not in numbers:
            numbers[key] = len(players)
            players.append(resolve(player, game, num_players, rules))
        distances.append(numbers[key])
    return players, np.array(distances, dtype=np.int64)


def _field(name: str) -> Any:
    """Return a property that shows a field of the accounts' records, a read-only view [N]."""
    return property(lambda tables: tables._shown[name])


def kernels_of_one_seat(module: str, game: str, opponents: str) -> Iterator[object]:
    """Call the kernels of one table with the caller's seat; see `kille_env.core.start.begin`."""
    yield from kernels_of_one_table(module)
    tables = SeatTables(game, 1, opponents=opponents, seed=0)
    yield tables.begin()
    yield tables.step(tables.batch.mask.argmax(axis=1))


class SeatTables(Fixed):
    """N tables at each of which the caller plays one seat.

    Arrays are views that the next call overwrites; copy what you keep.

    Attributes:
        recorder: Recorder of the match, None where there are many tables.
        over: [N] bool, which matches have ended and wait for `begin`.
        reward: [N] what the seat has earned by its last decision, or what the option `reward`
            makes of a match that it ended.
        earned: [N] the units of the match so far that were paid.
        forfeited: [N] bool, which matches an illegal action ended.
        returns: [N, P] what each seat has earned in this match so far.
        decisions: [N] the seat's decisions in this match so far.
        skipped: [N] matches that were passed over since the last `begin` or `step`.
        skipped_units: [N] the seat's earnings in them, without a decision of its own.
    """

    FIXED = frozenset({"batch", "players", "num_tables", "num_players", "seat", "returns"})

    def __init__(
        self,
        game: str,
        num_tables: int,
        num_players: int | None = None,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Set up the tables; call `begin` first."""
        shared: Any = {name: options[name] for name in options.keys() & _SHARED}
        self.batch = make_batch(game, num_tables, num_players, restart=False, **shared)
        self.rules = self.batch.rules
        # A table by itself can write its match down; many would keep every action since a reset.
        self.recorder = Recorder(self.batch) if num_tables == 1 else None
        self.num_tables, self.num_players = num_tables, self.batch.num_players
        self.seat = self._check_seat(options.get("seat", "rotate"))
        self.illegal = one_of("illegal", options.get("illegal", "raise"), ILLEGAL)
        self.illegal_reward = illegal_reward(options.get("illegal_reward"), self.batch)
        self._reward = check_reward_function(options.get("reward"))
        opponents = options.get("opponents", OPPONENTS)
        if num_tables == 1:
            known = opponents if isinstance(opponents, str) else OPPONENTS
            begin(self.batch.game, f"{__name__}:kernels_of_one_seat", game, known)
        players, self._distances = seat_opponents(opponents, game, self.num_players, self.rules)
        self.players = SeatedPolicies(self.batch, players, np.array(-1), recorder=self.recorder)
        self._accounts = np.zeros(num_tables, dtype=ACCOUNT)
        self._accounts["over"] = True
        self._shown = read_only(self._accounts)
        self.returns = self.players.returns

    own_seat, over, forfeited = _field("own_seat"), _field("over"), _field("forfeited")
    reward, earned = _field("reward"), _field("earned")
    terminated, truncated = _field("terminated"), _field("truncated")
    decisions, skipped = _field("decisions"), _field("skipped")
    skipped_units = _field("skipped_units")

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        return self.batch.table

    def _check_seat(self, seat: Any) -> int | str:
        if isinstance(seat, str) and seat in SEATS:
            return seat
        if arguments.is_whole(seat) and 0 <= seat < self.num_players:
            return int(seat)
        raise RulesError(
            f"seat is {shortened(seat)}, expected 0 to {self.num_players - 1}, 'rotate' or 'random'"
        )

    def begin(
        self,
        seed: int | Sequence[int] | None = None,
        which: np.ndarray | None = None,
        *,
        deck: Any = None,
        dealer: Any = None,
        start: Any = None,
        seat: int | None = None,
    ) -> None:
        """Begin matches and play each to the seat's first decision."""
        chosen = self._chosen(which)
        if not self.batch.began and not chosen.all():
            raise RulesError("the first reset begins matches at all tables, got some of them")
        seat = None if seat is None else arguments.seat(seat, self.num_players)
        self._begin(seed, chosen, deck, seat, dealer=dealer, start=start)

    def _chosen(self, which: np.ndarray | None) -> np.ndarray:
        size = self.num_tables
        return np.ones(size, np.bool_) if which is None else arguments.which(which, size)

    def _begin(
        self, seed: Any, chosen: np.ndarray, deck: Any, seat: int | None, **options: Any
    ) -> None:
        self._start(chosen, seat, seed=seed, deck=deck, **options)
        going = True
        while going:
            going = self.players.go_on()
            passed = chosen & (self.batch.seat < 0)
            if np.count_nonzero(passed):
                self._pass_over(passed, deck, seat, **options)
                going = True

    def _refusal(self, table: int) -> KilleError:
        """Return the error that nothing can be played at a table; see `judge`."""
        if self.over[table]:
            return KilleError(f"the match at table {table} is over: begin another one, reset()")
        return KilleError(
            f"an error has stopped the match at table {table} in the middle: begin another one, "
            "reset()"
        )

    def _start(self, chosen: np.ndarray, seat: int | None = None, **options: Any) -> None:
        """Deal new matches, and play nothing."""
        (self.recorder or self.batch).reset(which=chosen, **options)
        self._sit_down(chosen, seat)

    def _pass_over(
        self, passed: np.ndarray, deck: Any = None, seat: int | None = None, **options: Any
    ) -> None:
        """Deal the next matches where one has ended without a decision of the seat."""
        if deck is not None:
            raise CardError(
                f"with the given deck seat {self.own_seat[passed][0]} has nothing to decide; give "
                "it another seat, dealer or deck"
            )
        (self.recorder or self.batch).reset(which=passed, **options)
        if self._sit_down(passed, seat, passed=True) > MOST_PASSED:
            raise KilleError(f"no seat has had a decision in {MOST_PASSED} matches")

    def _sit_down(self, chosen: np.ndarray, seat: int | None, passed: bool = False) -> int:
        """Seat all players for new matches; return the most that were passed over at a table."""
        where = self.seat if seat is None else seat
        if isinstance(where, str):
            where = SEATS[where]
        most = sit_down(
            self.batch.arrays.tables, chosen, passed, where, self._distances,
            self.players.seating, self._accounts, self.players.credit,
        )  # fmt: skip
        self.players.forget(chosen)
        return int(most)

    def step(
        self,
        actions: Any,
        which: np.ndarray | None = None,
        again: Callable[[np.ndarray], object] | None = None,
    ) -> None:
        """Play the seat's action at each table, and on to its next decision or the end."""
        self._check_began()
        actions = arguments.actions(actions, self.num_tables)
        unpaid = self._chosen(which)
        # A mask of the caller is copied: `_play_and_begin` clears the tables that it has paid.
        unpaid = unpaid if which is None else unpaid.copy()
        lenient = self.illegal == "lose"
        shown = self.batch.arrays.shown
        wrong = judge(shown.seat, shown.mask, actions, unpaid, lenient, self._accounts)
        if wrong < 0:
            raise self._refusal(-1 - wrong)
        if wrong and not lenient:
            table = int(np.argmax(self._accounts["wrong"]))
            self._accounts["wrong"] = False
            self.batch.refuse(table, int(actions[table]))
        playing = unpaid & ~self._accounts["wrong"] if wrong else unpaid
        some = (which is None and not wrong) or np.count_nonzero(playing)
        lost = self.illegal_reward if wrong else 0.0
        going = some and self.players.answer(actions, playing)
        if again is not None:
            self._play_and_begin(unpaid, lost, again)
        else:
            while going:
                going = self.players.go_on()
        self._pay(unpaid, lost)

    def _play_and_begin(
        self, unpaid: np.ndarray, lost: float, again: Callable[[np.ndarray], object]
    ) -> None:
        """Play on, begin again where a match ends, and pay these tables alone."""
        fresh = np.zeros_like(unpaid)
        going = True
        while going:
            ended = unpaid & ((self.batch.seat < 0) | self._accounts["wrong"])
            if ended.any():
                self._pay(ended, lost)
                again(ended)
                self._start(ended)
                unpaid &= ~ended
                fresh |= ended
            going = self.players.go_on()
            passed = fresh & (self.batch.seat < 0)
            if passed.any():
                self._pass_over(passed)
                going = True

    def _pay(self, chosen: np.ndarray, lost: float) -> None:
        """Pay out the last decisions at the chosen tables; an illegal one earns `lost`."""
        shown, credit = self.batch.arrays.shown, self.players.credit
        pay(shown.seat, shown.terminated, shown.truncated, chosen, lost, self._accounts, credit)
        # Own rewards replace the units in `reward` alone: `earned` and `returns` stay in units.
        if self._reward is not None:
            self._accounts["reward"][chosen] = 0.0
            rows = np.flatnonzero(chosen & self._accounts["over"])
            own, units = self._accounts["own_seat"][rows], self.returns[rows]
            lost_by = self._accounts["forfeited"][rows]
            units[lost_by, own[lost_by]] = self._accounts["earned"][rows][lost_by]
            if len(rows):
                found = paid(self._reward, units)
                self._accounts["reward"][rows] = found[np.arange(len(rows)), own]

    def observation(self, which: np.ndarray | None = None) -> np.ndarray:
        """Return observations of the seat, after the end too, [M, F] uint8 (a copy)."""
        self._check_began()
        seen = self.batch.observation.copy()
        ended = self.batch.seat < 0
        if np.count_nonzero(ended):  # much faster than any() at a single table
            seen[ended] = self.batch.observe(self._accounts["own_seat"])[ended]
        return seen if which is None else seen[self._chosen(which)]

    def mask(self) -> np.ndarray:
        """Return the seat's legal actions at each table, [N, A] int8; all ones after the end."""
        self._check_began()
        legal, over = self.batch.mask.copy(), self._accounts["over"]
        if np.count_nonzero(over):
            legal[over] = 1
        return legal

    def _check_began(self) -> None:
        if not self.batch.began:
            raise KilleError("no match has begun: call reset() first")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_shown"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _shown=read_only(state["_accounts"]))
