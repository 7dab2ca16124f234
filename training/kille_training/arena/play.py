"""Identify the entrants of a tournament and play its shards, in any process.

A shard is a cohort's schedule at consecutive deals. Its result depends on nothing but the shard,
the table, the seed and the players.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import cloudpickle
import numpy as np

import kille_env
from kille_agents.greedy import with_action_selection
from kille_agents.identity import DRAWS, UnsteadyError, fingerprint, is_steady
from kille_env.core.keys import deal_seeds
from kille_env.errors import ConfigError, KilleError
from kille_env.play.decisions import Decisions, History
from kille_env.play.policy import (
    ObservationPolicy,
    PlayerLike,
    Policy,
    check_probabilities,
    kernel_of,
    name_of,
    resolve,
)
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.registry import Table, make_batch
from kille_training.arena.entrants import (
    Entrant,
    comes_with_the_suite,
    player_of,
)
from kille_training.arena.schedule import Lineups, Schedule
from kille_training.pool.jobs import Arrays, Failed, Here, Pool, Report, WorkerError
from kille_training.tables import seat

LOADING_LIMIT = 300.0
"""Seconds that loading a player may take, if the time limit is shorter: kernels may compile."""


@dataclass(frozen=True)
class Shard:
    """The lineups of a cohort at consecutive deals."""

    cohort: int
    schedule: Schedule = field(repr=False)
    first_deal: int  # from 0
    deals: int
    without: tuple[int, ...] = ()  # entrants whose lineups are left out

    @property
    def observations(self) -> int:
        """The approximate number of lineups, including those left out."""
        return round(self.deals * self.schedule.lineups_per_deal)

    def lineups(self, seed: int, keys: Mapping[int, int]) -> Lineups:
        """Return the lineups of its tables; see `Schedule.lineups`."""
        return self.schedule.lineups(seed, keys, self.first_deal, self.deals, self.without)


def cut(shard: Shard, size: int) -> Iterator[Shard]:
    """Cut a long shard into parts of about `size` tables, at least one deal each.

    Cuts lie at fixed multiples of deals, so they do not depend on the other shards.
    """
    deals = max(1, int(size / max(1.0, shard.schedule.lineups_per_deal * shard.schedule.seats)))
    first, end = shard.first_deal, shard.first_deal + shard.deals
    while first < end:
        last = min(end, (first // deals + 1) * deals)
        yield replace(shard, first_deal=first, deals=last - first)
        first = last


def rotations(seats: int) -> np.ndarray:
    """Return the place in the lineup of each seat's member, by rotation, [P, P].

    In rotation t, seat s is taken by place (s + t) % P, so each member sits once in each seat.
    """
    seat = np.arange(seats)
    return (seat[None, :] + seat[:, None]) % seats


def play_shard(
    lineups: Lineups,
    table: Table,
    seed: int,
    players: Mapping[int, Policy],
    report: Report,
    seconds: float,
) -> np.ndarray:
    """Return the units of each seat in each rotation, [K, P, P], with the rotations first.

    All tables are one batch, and each player is asked once per step.
    """
    seats = table.num_players
    if not len(lineups.deal):
        return np.zeros((0, seats, seats))
    seated = lineups.members[:, rotations(seats)].reshape(-1, seats)
    batch = make_batch(table.game, len(seated), seats, rules=table.rules, seed=0, restart=False)
    batch.reset(seed=deal_seeds(seed, seats, np.repeat(lineups.deal, seats)))
    numbers, places = np.unique(seated, return_inverse=True)
    seating = places.reshape(seated.shape)
    own = [players[number] for number in numbers.tolist()]
    asked = _Reported(batch, own, seating, numbers.tolist(), report, seconds)
    return play_out(asked).reshape(-1, seats, seats)


class _Reported(SeatedPolicies):
    """Announce each player before it is asked, so that a failure has an owner."""

    def __init__(
        self,
        batch: Any,
        players: Any,
        seating: np.ndarray,
        numbers: list[int],
        report: Report,
        seconds: float,
    ) -> None:
        self._numbers, self._report, self._seconds = numbers, report, seconds
        super().__init__(batch, players, seating)
        self.compiled = False  # each is told of before it plays

    def ask(self, number: int, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the probabilities of a player's actions; see `SeatedPolicies.ask`."""
        task = f"for a batch of {len(rows):,} decision{'s' if len(rows) > 1 else ''}"
        with self._report(self._numbers[number], task, self._seconds):
            probabilities = super().ask(number, rows, keys)
            if type(probabilities) is not np.ndarray:  # some kinds of array hide what they hold
                probabilities = np.asarray(probabilities)
                check_probabilities(
                    name_of(self.players[number]), probabilities, self.batch.mask[rows]
                )
        return probabilities


@dataclass(frozen=True)
class Identify:
    """A request to identify an entrant."""

    number: int
    kept: bool  # whether a later call has to recognize it


class Play:
    """The job of a tournament: play shards and identify entrants."""

    def __init__(
        self,
        table: Table,
        seed: int,
        entrants: Iterable[Entrant],
        objects: Mapping[str, PlayerLike | bytes],
        *,
        seconds: float,
        transfer: bool,
        trust: bool,
    ) -> None:
        """Set up the job; players are loaded at first use."""
        self.entrants = {each.number: each for each in entrants}
        self.keys = {each.number: each.key for each in self.entrants.values()}
        self.table, self.seed, self.seconds = table, seed, seconds
        self.transfer, self.trust, self.objects = transfer, trust, objects
        self._players: dict[int, tuple[Policy, Policy, str]] = {}
        self._warm = True  # in other processes compiling counts for no player

    def __getstate__(self) -> dict[str, Any]:
        """Pack each object by itself: one that cannot be unpacked is a player that fails."""
        packed = {name: _packed(name, each) for name, each in self.objects.items()}
        return {**vars(self), "objects": packed, "_players": {}, "_warm": False}

    def __call__(self, item: Identify | Shard, report: Report) -> Arrays:
        """Play a shard (`earned`, see `play_shard`), or identify an entrant (texts)."""
        if not self._warm:
            self._warm = True
            _warm_up(self.table)
        if isinstance(item, Identify):
            return self._identify(item, report)
        lineups, players = item.lineups(self.seed, self.keys), {}
        for number in np.unique(lineups.members).tolist():
            with report(number, "to be loaded", self.patience):
                players[number] = self._player(number)[0]
        earned = play_shard(lineups, self.table, self.seed, players, report, self.seconds)
        return {"earned": earned}

    @property
    def patience(self) -> float:
        """Seconds that loading or identifying a player may take."""
        return max(LOADING_LIMIT, self.seconds)

    def _player(self, number: int) -> tuple[Policy, Policy, str]:
        """Return an entrant's player as it plays and as loaded, and its home table or ""."""
        if number not in self._players:
            entrant, table = self.entrants[number], self.table
            _, (moved,), homes = seat(
                [player_of(entrant, self.objects)], table.game, table.num_players,
                rules=table.rules, transfer=self.transfer, trust=self.trust,
            )  # fmt: skip
            player = resolve(moved, table.game, table.num_players, table.rules, trust=self.trust)
            home = next(iter(homes.values()), "")
            self._players[number] = with_action_selection(player, entrant.play), player, home
        return self._players[number]

    def _identify(self, item: Identify, report: Report) -> Arrays:
        """Return `refused`, or `transferred` with `fingerprint` or `remark`."""
        entrant, texts = self.entrants[item.number], dict[str, str]()
        with report(item.number, "to be loaded", self.patience):
            try:
                _, player, texts["transferred"] = self._player(item.number)
            except (Exception, SystemExit) as error:  # whatever a player's own code may raise
                text = str(error) if isinstance(error, KilleError) else repr(error)
                return {"refused": np.array(text)}
        with report(item.number, "for its identity", self.patience):
            texts |= _recognized(entrant, player, self.table, item.kept)
        return {name: np.array(text) for name, text in texts.items()}


def _recognized(entrant: Entrant, player: Policy, table: Table, kept: bool) -> dict[str, str]:
    """Return the fingerprint of a player if results are stored, else a remark or nothing."""
    if comes_with_the_suite(entrant.player):
        return {"fingerprint": f"{entrant.player} of kille-env {kille_env.__version__}"}
    if kept:
        try:
            return {"fingerprint": fingerprint(player, table)}
        except UnsteadyError as error:
            return {"refused": f"{error}, or play without a folder"}
    searches = not isinstance(player, ObservationPolicy)
    steady = searches or kernel_of(player) is not None or is_steady(player, table)
    return {} if steady else {"remark": DRAWS}


def _packed(name: str, player: PlayerLike | bytes) -> bytes:
    """Pickle a player for other processes, definitions of `__main__` included."""
    try:
        return cloudpickle.dumps(player)
    except Exception as error:  # the code of somebody else may raise anything
        raise WorkerError(
            f"the player {name!r} cannot be sent to other processes ({type(error).__name__}: "
            f"{error}); play in this one with workers=0, or name the player as a file or as "
            "module:object"
        ) from error


def _warm_up(table: Table) -> None:
    """Compile the kernels of playing and searching, or load them from the cache."""
    batch = make_batch(table.game, 1, table.num_players, rules=table.rules, seed=0, restart=False)
    batch.reset()
    history = History(batch)
    for _ in range(2):
        rows = np.flatnonzero(batch.seat >= 0)
        with suppress(KilleError):  # not every game has determinizations
            Decisions(batch, rows, np.zeros(len(rows), np.uint64), history).draw_with_past(1)
        actions = batch.mask.argmax(axis=1)
        history.note(actions)
        batch.step(actions)


@dataclass(frozen=True)
class Identified:
    """Identified entrants, by number."""

    entrants: list[Entrant]
    failed: dict[int, str]  # reasons, by number
    remarks: dict[str, str]  # by name


def identified(play: Play, pool: Pool, entrants: Sequence[Entrant], kept: bool) -> Identified:
    """Return the entrants with fingerprints and home tables; refuse one that cannot play."""
    there = [each for each in entrants if each.out is None]
    own = [Identify(each.number, kept) for each in there if comes_with_the_suite(each.player)]
    foreign = [
        Identify(each.number, kept) for each in there if not comes_with_the_suite(each.player)
    ]
    known, failed, remarks = list(entrants), dict[int, str](), dict[str, str]()
    for where, items in ((Here(), own), (pool, foreign)):
        for item, result in where.run(play, items):
            each = known[item.number]
            if isinstance(result, Failed):
                failed[result.whose] = result.reason
                continue
            texts = {name: str(text) for name, text in result.items()}
            if refused := texts.get("refused"):
                seats = play.table.num_players
                raise ConfigError(
                    f"the entrant {each.name!r} cannot play at {seats} seats: {refused}"
                )
            if remark := texts.get("remark"):
                remarks[each.name] = remark
            found = texts.get("fingerprint", "")
            known[item.number] = replace(each, fingerprint=found, transferred=texts["transferred"])
    return Identified(known, failed, remarks)
