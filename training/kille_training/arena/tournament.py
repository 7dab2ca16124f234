"""A tournament: what is to be played, playing what is missing, keeping the results.

runs/NAME/
  config.yaml       the resolved settings, with the versions that made the run
  results.sqlite    entrants, lineups and everything that was earned, see `store`
  players.log       what players printed while they played
  report.html       the page, see `kille report`
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from math import factorial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kille_env.core.spec import Rules
from kille_env.core.text import listed
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.policy import PlayerLike
from kille_env.registry import spec
from kille_training.arena.entrants import check_in, fingerprint, metadata
from kille_training.arena.executors.processes import HereExecutor, LocalExecutor
from kille_training.arena.matchmaking import (
    Lineup,
    gauntlet,
    random_tables,
    round_robin,
    swiss_round,
)
from kille_training.arena.seating import ALL, same_tables
from kille_training.arena.settings import TournamentSettings, load_tournament
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.work import Block, Entrant, Outcome, WorkUnit, cut
from kille_training.learning.runs import versions
from kille_training.settings import as_yaml
from kille_training.statistics.observations import Observations


class Executor(Protocol):
    """Where work units are played."""

    def run(self, units: Iterator[WorkUnit]) -> Iterator[Outcome]:
        """Plays units, taking them as they are needed, and yields what comes of them."""
        ...


class Progress(Protocol):
    """Is told how a tournament is doing."""

    def begin(self, deals: int, done: int) -> None:
        """Learns how many deals are to be played and how many are done; called when that changes.

        A deal counts once for each lineup that plays it, in all its seatings.
        """

    def played(self, outcome: Outcome) -> None:
        """Learns that a unit has been played, or that an entrant failed at it."""


class Folder:
    """The folder of a tournament.

    Attributes:
        path: Where it is.
        config: The resolved settings.
        results: Everything that has been played.
        log: What players printed.
        report: The page.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.results = path / "config.yaml", path / "results.sqlite"
        self.log, self.report = path / "players.log", path / "report.html"

    def settings(self) -> TournamentSettings:
        """Reads the settings that the tournament was last played with.

        Raises:
            ConfigError: The folder holds no tournament.
        """
        if not self.config.is_file():
            raise ConfigError(f"{self.path} holds no tournament: there is no {self.config.name}")
        return load_tournament(self.config)


class Tournament:
    """A tournament under way in a folder, which stays whole however the process ends."""

    def __init__(
        self,
        folder: Folder,
        settings: TournamentSettings,
        *,
        trust: bool = False,
        objects: Mapping[str, PlayerLike] | None = None,
    ) -> None:
        """Checks the entrants in, and only then creates the folder or resumes what it holds.

        Args:
            folder: Where the tournament lies, or is to lie.
            settings: What is to be played. Entrants, deals, rounds and table sizes may be more
                than last time, formats may change; what was played is not played again.
            trust: Whether model files that can run code may be loaded.
            objects: Players that are Python objects, by what the settings call the player.

        Raises:
            ConfigError: It cannot be played, or the folder holds a tournament of other tables.
        """
        self.settings, self.trust = settings, trust
        self.rules: Rules = settings.table.resolve()
        objects = objects or {}
        taking_part = settings.taking_part()
        self._check_choices(taking_part)
        check_in(taking_part, settings.table.num_players, self.rules, trust=trust, objects=objects)
        kept = [
            KeptEntrant(
                each.number,
                each.name,
                each.player,
                each.play,
                fingerprint=fingerprint(each.player),
                metadata=metadata(each.player, settings.table.game, objects),
            )
            for each in taking_part
        ]
        self.store = Store(folder.results, create=True)
        try:
            check_same(self.store, settings)
            self.store.enter(kept)
            if "founders" not in self.store.meta():
                self.store.set_meta(
                    tables=_identity(settings),
                    founders=len(kept),
                    swiss={},
                    made_with=versions(),
                )
            self._write_settings(folder)
        except BaseException:
            self.store.close()
            raise

    def close(self) -> None:
        """Closes the folder."""
        self.store.close()

    # What is to be played

    def blocks(self) -> dict[int, list[Block]]:
        """Returns what the settings ask for, by table size: all of it, played or not.

        In a Swiss tournament these are the rounds that have been drawn; see `draw_round`. Of
        lineups with the same tables only the first is there, so that nothing counts twice.
        """
        wanted = {}
        deals, orders = self.settings.matchmaking.deals, self.settings.table.orders
        names = {each.name for each in self.settings.taking_part()}
        known = {each.name: each.number for each in self.store.entrants() if each.name in names}
        founders = self.store.meta()["founders"]
        first_like: dict[Lineup, Lineup] = {}
        for members in self.store.lineups():
            first_like.setdefault(same_tables(members, orders), members)
        for seats in self.settings.table.num_players:
            if self.settings.matchmaking.format == "swiss":
                rounds = self._rounds(seats)
            else:
                rounds = [self._lineups(seats, known, founders)]
            pairs = dict.fromkeys(
                (first_like.setdefault(same_tables(lineup, orders), lineup), number * deals)
                for number, lineups in enumerate(rounds)
                for lineup in lineups
            )
            numbers = self.store.add_lineups(seats, [lineup for lineup, _ in pairs])
            wanted[seats] = [
                Block(number, lineup, first, deals)
                for number, (lineup, first) in zip(numbers, pairs, strict=True)
            ]
        return wanted

    def missing(self) -> dict[int, list[Block]]:
        """Returns what has not been played yet, by table size, without entrants that are out."""
        played, out = self.store.played(), self._out()
        return {
            seats: [
                Block(block.lineup, block.members, first, end - first)
                for block in blocks
                if out.isdisjoint(block.members)
                for first, end in gaps(
                    block.first_deal, block.first_deal + block.deals, played.get(block.lineup, [])
                )
            ]
            for seats, blocks in self.blocks().items()
        }

    def draw_round(self) -> bool:
        """Draws the next round of a Swiss tournament at every table size that has one left.

        Returns:
            Whether there was one.
        """
        matchmaking = self.settings.matchmaking
        if matchmaking.format != "swiss":
            return False
        drawn = False
        swiss = self.store.meta()["swiss"]
        for seats in self.settings.table.num_players:
            rounds = self._rounds(seats)
            present = [each.number for each in self._present()]
            if len(rounds) >= matchmaking.rounds or len(present) < seats:
                continue
            met, idle = _met(rounds, 1 + max(present))
            order = self._standings(seats, present) if rounds else self._shuffled(seats, present)
            swiss[str(seats)] = [*rounds, swiss_round(order, met, idle, seats)]
            drawn = True
        if drawn:
            self.store.set_meta(swiss=swiss)
        return drawn

    # Playing it

    def play(self, executor: Executor, progress: Progress | None = None) -> None:
        """Plays what is missing, and keeps the results unit by unit.

        Args:
            executor: Where it is played.
            progress: Told how far it is.

        Raises:
            KilleError: The executor cannot go on; what was played until then is kept.
        """
        while True:
            missing = self.missing()
            if not any(missing.values()):
                if not self.draw_round():
                    return
                continue
            if progress is not None:
                total, left = _deals(self.blocks()), _deals(missing)
                progress.begin(total, total - left)
            units = work_units(self.settings, self.store, missing, trust=self.trust, out=self._out)
            for outcome in executor.run(units):
                self.store.keep(outcome)
                if progress is not None:
                    progress.played(outcome)

    # Entrants

    def _present(self) -> list[KeptEntrant]:
        """Returns the entrants of the settings that are not out."""
        names = {each.name for each in self.settings.taking_part()}
        return [each for each in self.store.entrants() if each.name in names and each.out is None]

    def _out(self) -> set[int]:
        return {each.number for each in self.store.entrants() if each.out is not None}

    def _lineups(self, seats: int, known: Mapping[str, int], founders: int) -> list[Lineup]:
        """Returns all lineups of the settings at a table size, with entrants that are out too.

        Args:
            seats: P.
            known: Numbers of the entrants, by name.
            founders: How many entered at the beginning.
        """
        matchmaking, numbers = self.settings.matchmaking, sorted(known.values())
        if matchmaking.format == "gauntlet":
            return gauntlet(numbers, known[matchmaking.hero], seats, matchmaking.fill)
        if matchmaking.format == "random":
            each, seed = matchmaking.lineups, self.settings.seed
            return random_tables(numbers, founders, seats, each, seed)
        return round_robin(numbers, seats, matchmaking.fill)

    def _check_choices(self, entrants: Sequence[Entrant]) -> None:
        """Refuses tables that cannot be filled, before anything is written."""
        known = {each.name: each.number for each in entrants}
        none = np.zeros((len(known), len(known)), dtype=np.int64)
        for seats in self.settings.table.num_players:
            if self.settings.matchmaking.format == "swiss":
                swiss_round(range(len(known)), none, none[0], seats)
            else:
                self._lineups(seats, known, len(known))

    # Swiss rounds

    def _rounds(self, seats: int) -> list[list[Lineup]]:
        rounds = self.store.meta()["swiss"].get(str(seats), [])
        return [[tuple(lineup) for lineup in lineups] for lineups in rounds]

    def _shuffled(self, seats: int, present: list[int]) -> list[int]:
        rng = np.random.default_rng([self.settings.seed, seats])
        return [present[place] for place in rng.permutation(len(present)).tolist()]

    def _standings(self, seats: int, present: list[int]) -> list[int]:
        """Returns entrants by what they earned at a table size; newcomers in the middle."""
        found = self.store.observations()
        scores = np.full(1 + max(present), np.nan)
        if seats in found:  # otherwise an entrant failed at every table so far
            scores = mean_scores(found[seats], len(scores))
        known = scores[present]
        middle = float(np.nanmedian(known)) if np.isfinite(known).any() else 0.0
        return sorted(
            present,
            key=lambda number: (-np.nan_to_num(scores[number], nan=middle), number),
        )

    # The folder

    def _write_settings(self, folder: Folder) -> None:
        text = (
            "# The resolved settings of this tournament. `kille tournament` with this folder\n"
            f"# resumes it. Made with: {versions()}\n"
        )
        text += as_yaml(self.settings)
        write_whole(folder.config, text.encode())


def check_same(store: Store, settings: TournamentSettings) -> None:
    """Refuses settings of other tables than those of the kept results.

    Raises:
        ConfigError: The message says what differs.
    """
    theirs, mine = store.meta().get("tables"), _identity(settings)
    if theirs is None:
        return
    # The game first, for with another game every switch differs.
    for old, new in ((theirs, mine), (theirs["rules"], mine["rules"])):
        for key in new:
            if key != "rules" and old.get(key) != new[key]:
                raise ConfigError(
                    f"{store.path.parent} holds a tournament whose {key} is {old.get(key)!r}, not "
                    f"{new[key]!r}; choose another name for this one, or remove that folder"
                )


def _identity(settings: TournamentSettings) -> dict[str, Any]:
    """What every result of a tournament has in common."""
    return {
        "game": settings.table.game,
        "game_version": spec(settings.table.game).version,
        "rules": settings.table.resolve().as_dict(),
        "orders": settings.table.orders,
        "seed": settings.seed,
    }


def work_units(
    settings: TournamentSettings,
    store: Store,
    blocks: dict[int, list[Block]],
    *,
    trust: bool,
    out: Callable[[], Set[int]] = frozenset,
) -> Iterator[WorkUnit]:
    """Yields blocks as work units, when they are asked for.

    Args:
        settings: The tournament's.
        store: Who has entered.
        blocks: What is to be played, by table size.
        trust: Whether model files that can run code may be loaded.
        out: Returns the entrants that are out; blocks with them are left out.
    """
    table, rules = settings.table, settings.table.resolve().as_dict()
    for seats, each in blocks.items():
        per_deal = tables_per_deal(seats, table.orders)
        for part in cut(each, per_deal, settings.batch_tables):
            gone, entrants = out(), store.entrants()
            left = tuple(block for block in part if gone.isdisjoint(block.members))
            if not left:
                continue
            numbers = sorted({member for block in left for member in block.members})
            taking_part = tuple(entrants[number].plain for number in numbers)
            yield WorkUnit(
                table.game, seats, rules, settings.seed, table.orders, left, taking_part, trust
            )


def _deals(blocks: dict[int, list[Block]]) -> int:
    return sum(block.deals for each in blocks.values() for block in each)


def tables_per_deal(seats: int, orders: int | str) -> int:
    """Returns at how many tables a deal is played, at most: each order from all positions."""
    return factorial(seats) if orders == ALL else seats * int(orders)


def executor_of(
    settings: TournamentSettings,
    folder: Folder,
    *,
    address: str | None = None,
    objects: Mapping[str, PlayerLike] | None = None,
) -> AbstractContextManager[Executor]:
    """Returns where a tournament is played, to be opened as a context.

    Args:
        settings: Its settings.
        folder: Where the players' output is written.
        address: Of the Ray cluster; None starts one on this machine.
        objects: Players that are Python objects, by what the settings call the player.

    Raises:
        KilleError: Python objects are to be sent where they cannot go.
    """
    if settings.workers == 0 and settings.executor == "local":
        return HereExecutor(objects)
    if settings.executor == "ray":
        from kille_training.arena.executors.ray_cluster import RayExecutor

        if objects:
            raise ConfigError(
                f"{listed(list(objects))}: Python objects cannot be sent to a cluster; name the "
                "players as files or as module:object"
            )
        return RayExecutor(address, settings.workers or None, settings.time_limit)
    return LocalExecutor(settings.workers, settings.time_limit, log=folder.log, objects=objects)


def gaps(first: int, end: int, played: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the parts of [first, end) that no interval of `played` covers; it is sorted."""
    found = []
    for begin, stop in [*played, (end, end)]:
        if first < min(begin, end):
            found.append((first, min(begin, end)))
        first = max(first, stop)
    return found


def mean_scores(observations: Observations, entrants: int) -> np.ndarray:
    """Returns each entrant's mean score, [E]; NaN for those who have not played."""
    members = observations.members.ravel()
    count = np.bincount(members, minlength=entrants)
    total = np.bincount(members, weights=observations.scores.ravel(), minlength=entrants)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _met(rounds: Sequence[Sequence[Lineup]], entrants: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns how often two have met [E, E], and how often each has sat out [E]."""
    size = 1 + max([entrants - 1, *(who for each in rounds for lineup in each for who in lineup)])
    met = np.zeros((size, size), dtype=np.int64)
    idle = np.full(size, len(rounds), dtype=np.int64)
    for lineups in rounds:
        for lineup in lineups:
            for who in lineup:
                idle[who] -= 1
                for other in lineup:
                    met[who, other] += who != other
    return met, idle
