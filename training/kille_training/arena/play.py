"""The job of a tournament: identifies its entrants and plays its shards, in whichever process."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle
import numpy as np

from kille_agents.greedy import in_play
from kille_agents.identity import DRAWS, UnsteadyError, fingerprint, is_steady
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.files import parse_json
from kille_env.play.decisions import Decisions, History
from kille_env.play.policy import Player, PlayerLike, has_kernel, resolve, searches
from kille_env.registry import Table, make_batch
from kille_training.arena.entrants import (
    Entrant,
    comes_with_the_suite,
    metadata,
    own_fingerprint,
    player_of,
)
from kille_training.arena.shards import Shard, play_shard
from kille_training.pool.jobs import Arrays, Failed, Here, Pool, Report, WorkerError
from kille_training.tables import seat

LOADING_LIMIT = 300.0
"""Seconds that loading a player may take, or the time limit if that is longer: what the player
imports may have to be compiled first."""


@dataclass(frozen=True)
class Identify:
    """Asks who an entrant is, at tables of one size.

    Attributes:
        number: Number of the entrant.
        seats: The table size.
        kept: Whether results are kept, so that a later call has to recognize it.
    """

    number: int
    seats: int
    kept: bool


class Play:
    """The job of a tournament: plays shards, and identifies entrants.

    Attributes:
        entrants: All entrants, by number.
        seed: Seed of the tournament.
        keys: Keys of the entrants, by number.
    """

    def __init__(
        self,
        game: str,
        rules: Rules,
        seed: int,
        entrants: Iterable[Entrant],
        objects: Mapping[str, PlayerLike],
        *,
        seconds: float,
        transfer: bool,
        trust: bool,
    ) -> None:
        """Load nothing yet.

        Args:
            game: The game.
            rules: Its rules.
            seed: Seed of the tournament.
            entrants: All entrants.
            objects: Players that are Python objects, by the names of their entrants.
            seconds: How long a player may think about a batch of decisions.
            transfer: Whether players may play that were made for other tables.
            trust: Whether model files that can run code may be loaded.
        """
        self.entrants = {each.number: each for each in entrants}
        self.keys = {each.number: each.key for each in self.entrants.values()}
        self.game, self.rules, self.seed, self.seconds = game, rules, seed, seconds
        self.transfer, self.trust, self.objects = transfer, trust, objects
        self._players: dict[tuple[int, int], tuple[Player, Player, str]] = {}
        self._warm: set[int] | None = None  # in other processes compiling counts for no player

    def __getstate__(self) -> dict[str, Any]:
        """Pack each object by itself: one that cannot be unpacked is a player that fails."""
        packed = {name: _packed(name, each) for name, each in self.objects.items()}
        return {**vars(self), "objects": _Objects(packed), "_players": {}, "_warm": set()}

    def __call__(self, item: Identify | Shard, report: Report) -> Arrays:
        """Play a shard (`earned`, see `play_shard`), or identify an entrant (texts)."""
        table = Table.of(self.game, item.seats, self.rules)
        if self._warm is not None and item.seats not in self._warm:
            self._warm.add(item.seats)
            _warm_up(table)
        if isinstance(item, Identify):
            return self._identify(item, table, report)
        members = item.members(self.seed, self.keys)
        players = {}
        for number in np.unique(members[members >= 0]).tolist():
            with report(number, "to be loaded", self.patience):
                players[number] = self._player(number, table)[0]
        earned = play_shard(item, members, table, self.seed, players, report, self.seconds)
        return {"earned": earned}

    @property
    def patience(self) -> float:
        """Seconds that loading or identifying a player may take."""
        return max(LOADING_LIMIT, self.seconds)

    def _player(self, number: int, table: Table) -> tuple[Player, Player, str]:
        """Return an entrant's player as it plays and as it was loaded, and where it comes from.

        The last is the table that it was made for if it is transferred, and else empty.
        """
        key = number, table.num_players
        if key not in self._players:
            entrant = self.entrants[number]
            _, (moved,), homes = seat(
                [player_of(entrant, self.objects)], table.game, table.num_players,
                rules=table.rules, transfer=self.transfer, trust=self.trust,
            )  # fmt: skip
            player = resolve(moved, table.game, table.num_players, table.rules, trust=self.trust)
            home = next(iter(homes.values()), "")
            self._players[key] = in_play(player, entrant.play), player, home
        return self._players[key]

    def _identify(self, item: Identify, table: Table, report: Report) -> Arrays:
        """Return texts: `refused`, or `transferred`, `metadata` and `fingerprint` or `remark`."""
        entrant, texts = self.entrants[item.number], dict[str, str]()
        with report(item.number, "to be loaded", self.patience):
            try:
                _, player, texts["transferred"] = self._player(item.number, table)
                texts["metadata"] = metadata(player_of(entrant, self.objects), self.game)
            except (Exception, SystemExit) as error:  # whatever a player's own code may raise
                text = str(error) if isinstance(error, KilleError) else repr(error)
                return {"refused": np.array(text)}
        with report(item.number, "for its identity", self.patience):
            texts |= _recognized(entrant, player, table, item.kept)
        return {name: np.array(text) for name, text in texts.items()}


def _recognized(entrant: Entrant, player: Player, table: Table, kept: bool) -> dict[str, str]:
    """Return what identifies a player where results are kept, or a remark on it."""
    if comes_with_the_suite(entrant.player):
        return {"fingerprint": own_fingerprint(entrant.player)}
    if kept:
        try:
            return {"fingerprint": fingerprint(player, table)}
        except UnsteadyError as error:
            return {"refused": f"{error}, or play without a folder"}
    steady = searches(player) or has_kernel(player) or is_steady(player, table)
    return {} if steady else {"remark": DRAWS}


class _Objects(Mapping[str, PlayerLike]):
    """Players from another process, each unpacked when it is to be loaded."""

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = packed

    def __getitem__(self, name: str) -> PlayerLike:
        return cloudpickle.loads(self._packed[name])

    def __contains__(self, name: object) -> bool:
        return name in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def _packed(name: str, player: PlayerLike) -> bytes:
    """Return a player as other processes can unpack it, what `__main__` defines included."""
    try:
        return cloudpickle.dumps(player)
    except Exception as error:  # the code of somebody else may raise anything
        raise WorkerError(
            f"the player {name!r} cannot be sent to other processes ({type(error).__name__}: "
            f"{error}); play in this one with workers=0, or name the player as a file or as "
            "module:object"
        ) from error


def _warm_up(table: Table) -> None:
    """Compile what playing and searching need, or load it from the cache."""
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
    """Entrants and what is known of them.

    Attributes:
        entrants: By number.
        failed: Why some failed while they were asked, by number.
        remarks: What is to be said of some, by name.
    """

    entrants: list[Entrant]
    failed: dict[int, str]
    remarks: dict[str, str]


def identified(
    play: Play, pool: Pool, entrants: Sequence[Entrant], sizes: Sequence[int], kept: bool
) -> Identified:
    """Return entrants with what is known of them.

    Args:
        play: The job.
        pool: Where foreign code runs.
        entrants: All entrants, by number; those that are out are not asked.
        sizes: The table sizes.
        kept: Whether results are kept, so that a later call has to recognize them.

    Raises:
        ConfigError: One cannot play at one of the tables.
    """
    there = [each for each in entrants if each.out is None]
    asked = [Identify(each.number, seats, kept) for each in there for seats in sizes]
    own = {each.number for each in there if comes_with_the_suite(each.player)}
    known, failed, remarks = list(entrants), dict[int, str](), dict[str, str]()
    for where, items in (
        (Here(), [each for each in asked if each.number in own]),
        (pool, [each for each in asked if each.number not in own]),
    ):
        for item, result in where.run(play, items):
            each, seats = known[item.number], str(item.seats)
            if isinstance(result, Failed):
                failed.setdefault(result.whose, result.reason)
                continue
            texts = {name: str(text) for name, text in result.items()}
            if refused := texts.get("refused"):
                raise ConfigError(
                    f"the entrant {each.name!r} cannot play at {seats} seats: {refused}"
                )
            if remark := texts.get("remark"):
                remarks[each.name] = remark
            home = texts["transferred"]
            known[item.number] = replace(
                each,
                fingerprints={**each.fingerprints, seats: texts.get("fingerprint", "")},
                transferred={**each.transferred, **({seats: home} if home else {})},
                metadata=parse_json(texts["metadata"]),
            )
    return Identified(known, failed, remarks)
