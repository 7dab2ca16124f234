"""A tournament: what is to be played, playing what is missing, keeping the results.

runs/NAME/
  config.yaml       the resolved settings, with the versions that made the run
  results.sqlite    entrants, who met whom and everything that was earned, see `store`
  players.log       what players printed while they played
  report.html       the page, see `kille report`
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.policy import PlayerLike
from kille_env.registry import spec
from kille_env.words.text import listed
from kille_training.arena.draws import Draw, Lineup
from kille_training.arena.entrants import check_in, fingerprint, metadata
from kille_training.arena.executors.processes import HereExecutor, LocalExecutor
from kille_training.arena.matchmaking import Pairing, draws, swiss_draw, swiss_round
from kille_training.arena.settings import TournamentSettings, load_tournament
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.work import Block, Outcome, WorkUnit, cut
from kille_training.learn.runs import versions
from kille_training.settings import as_yaml


class Executor(Protocol):
    """Where work units are played."""

    def run(self, units: Iterator[WorkUnit]) -> Iterator[Outcome]:
        """Plays units, taking them as they are needed, and yields what comes of them."""
        ...


class Progress(Protocol):
    """Is told how a tournament is doing."""

    def begin(self, left: Mapping[int, int], done: Mapping[int, int]) -> None:
        """Learns how many deals are still to be played and how many are done, by table size.

        Called whenever that changes. A deal counts once for each lineup that plays it, in all its
        rotations.
        """

    def played(self, outcome: Outcome) -> None:
        """Learns that a unit has been played, or that an entrant failed at it."""


class Workers(Protocol):
    """Settings that say where work units are played, see `TournamentSettings`."""

    @property
    def executor(self) -> str:
        """Where: "local" or "ray"."""
        ...

    @property
    def workers(self) -> int:
        """Units that are played at a time."""
        ...

    @property
    def time_limit(self) -> float:
        """Seconds that a player may take for one batch of decisions."""
        ...


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
                than last time, or fewer; what was played is not played again.
            trust: Whether model files that can run code may be loaded.
            objects: Players that are Python objects, by what the settings call the player.

        Raises:
            ConfigError: It cannot be played, or the folder holds a tournament of other tables.
        """
        self.settings, self.trust = settings, trust
        self.rules: Rules = settings.table.resolve()
        self._drawn: dict[int, list[Draw]] = {}
        objects = objects or {}
        taking_part = settings.taking_part()
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
        if not folder.results.is_file():
            self._check_draws(kept)
        self.store = Store(folder.results, create=True)
        try:
            check_same(self.store, settings)
            self._check_draws(self.store.with_new(kept))
            self.store.enter(kept)
            if "tables" not in self.store.meta():
                self.store.set_meta(tables=_identity(settings), swiss={}, made_with=versions())
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

        In a Swiss tournament these are the rounds that have been drawn; see `draw_round`. Panels
        that nobody is left to play are not there.
        """
        matchmaking, absent = self.settings.matchmaking, self._absent()
        step = matchmaking.deals if matchmaking.format == "swiss" else 0
        wanted = {}
        for seats in self.settings.table.num_players:
            whole = [
                without(Block(panel, stage * step, matchmaking.deals), absent)
                for stage, draw in enumerate(self._draws(seats))
                for panel in self.store.panels(stage, draw)
            ]
            wanted[seats] = [block for block in whole if block.can_play()]
        return wanted

    def missing(self) -> dict[int, list[Block]]:
        """Returns what has not been played yet, by table size; see `missing`."""
        return {
            seats: [part for block in blocks for part in missing(self.store, block)]
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
            present = self._present()
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
            KilleError: The executor cannot go on, or entrants are out and nobody is left to play;
                what was played until then is kept.
        """
        while True:
            missing = self.missing()
            if not any(missing.values()):
                if self.draw_round():
                    continue
                self.store.save_tallies()
                self._check_somebody_is_left()
                self._note_end()
                return
            if progress is not None:
                total, left = _deals(self.blocks()), _deals(missing)
                done = {seats: total[seats] - left[seats] for seats in total}
                progress.begin({seats: left[seats] + self._to_come(seats) for seats in left}, done)
            units = work_units(
                self.settings, self.store, missing, trust=self.trust, absent=self._absent
            )
            for outcome in executor.run(units):
                self.store.keep(outcome)
                if progress is not None:
                    progress.played(outcome)

    def _check_somebody_is_left(self) -> None:
        out = [f"{each.name}: {each.out}" for each in self.store.entrants() if each.out]
        if out and not (self._present() and self.store.deals()):
            raise ConfigError(
                f"nobody is left to play ({'; '.join(out)}); mend the players, and readmit them"
            )

    def _note_end(self) -> None:
        """Notes after how many deals all was played that was asked for; each is a look."""
        ends, deals = self.store.meta().get("ends", []), self.store.plain_deals()
        if deals not in ends[-1:]:
            self.store.set_meta(ends=[*ends, deals])

    # Entrants

    def _present(self) -> list[int]:
        """Returns the numbers of those that take part, in the order of their names."""
        absent = self._absent()
        entrants = sorted(self.store.entrants(), key=lambda each: each.name)
        return [each.number for each in entrants if each.number not in absent]

    def _absent(self) -> set[int]:
        """Returns the numbers of those that are out or not in the settings."""
        names = {each.name for each in self.settings.taking_part()}
        return {
            each.number
            for each in self.store.entrants()
            if each.out is not None or each.name not in names
        }

    # Who meets whom

    def _draws(self, seats: int) -> list[Draw]:
        """Returns the draw of every wave, or of every Swiss round so far, at a table size."""
        if self.settings.matchmaking.format == "swiss":
            orders = self.settings.table.orders
            return [swiss_draw(tables, orders) for tables in self._rounds(seats)]
        if seats not in self._drawn:
            self._drawn[seats] = _draws(self.settings, self.store.entrants(), seats)
        return self._drawn[seats]

    def _check_draws(self, entrants: Sequence[KeptEntrant]) -> None:
        """Refuses tables that cannot be filled, before anything is written."""
        none = np.zeros((len(entrants), len(entrants)), dtype=np.int64)
        for seats in self.settings.table.num_players:
            if self.settings.matchmaking.format == "swiss":
                swiss_round(range(len(entrants)), none, none[0], seats)
            else:
                _draws(self.settings, entrants, seats)

    # Swiss rounds

    def _rounds(self, seats: int) -> list[list[Lineup]]:
        rounds = self.store.meta()["swiss"].get(str(seats), [])
        return [[tuple(lineup) for lineup in lineups] for lineups in rounds]

    def _to_come(self, seats: int) -> int:
        """Returns the deals of Swiss rounds that have not been drawn, if nobody comes or goes."""
        matchmaking = self.settings.matchmaking
        if matchmaking.format != "swiss":
            return 0
        rounds = max(0, matchmaking.rounds - len(self._rounds(seats)))
        return rounds * matchmaking.deals * (len(self._present()) // seats)

    def _shuffled(self, seats: int, present: list[int]) -> list[int]:
        rng = np.random.default_rng([self.settings.seed, seats])
        return [present[place] for place in rng.permutation(len(present)).tolist()]

    def _standings(self, seats: int, present: list[int]) -> list[int]:
        """Returns entrants by what they earned at a table size; newcomers in the middle."""
        tallies = self.store.tallies()
        if seats not in tallies:  # an entrant failed at every table so far
            return present
        scores = tallies[seats].means()
        known = scores[present]
        middle = float(np.nanmedian(known)) if np.isfinite(known).any() else 0.0
        return sorted(present, key=lambda number: -np.nan_to_num(scores[number], nan=middle))

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
    table, matchmaking = settings.table, settings.matchmaking
    return {
        "game": table.game,
        "game_version": spec(table.game).version,
        "rules": table.resolve().as_dict(),
        "orders": table.orders,
        "seed": settings.seed,
        "format": matchmaking.format,
        "fill": matchmaking.fill if matchmaking.format in ("round_robin", "gauntlet") else None,
        "hero": matchmaking.hero,
        "lineups": matchmaking.lineups if matchmaking.format == "random" else None,
    }


def _draws(settings: TournamentSettings, entrants: Sequence[KeptEntrant], seats: int) -> list[Draw]:
    """Returns the draw of every wave of entrants, at tables of one size."""
    matchmaking = settings.matchmaking
    waves: list[list[int]] = [[] for _ in range(1 + max(each.wave for each in entrants))]
    for each in entrants:
        waves[each.wave].append(each.number)
    hero = {each.name: each.number for each in entrants}.get(matchmaking.hero)
    pairing = Pairing(
        matchmaking.format, matchmaking.fill, hero, matchmaking.lineups, settings.table.orders
    )
    return draws(pairing, waves, seats)


def work_units(
    settings: TournamentSettings,
    store: Store,
    blocks: Mapping[int, Iterable[Block]],
    *,
    trust: bool,
    absent: Callable[[], Set[int]] = frozenset,
) -> Iterator[WorkUnit]:
    """Yields blocks as work units, when they are asked for.

    Args:
        settings: The tournament's.
        store: Who has entered.
        blocks: What is to be played, by table size.
        trust: Whether model files that can run code may be loaded.
        absent: Returns the entrants that do not take part by then; lineups with them are left out.
    """
    table, rules = settings.table, settings.table.resolve().as_dict()
    for seats, each in blocks.items():
        for part in cut(each, settings.batch_tables):
            gone, entrants = absent(), store.entrants()
            left = tuple(filter(Block.can_play, (without(block, gone) for block in part)))
            if not left:
                continue
            numbers = sorted({number for block in left for number in _everybody(block)})
            taking_part = tuple(entrants[number].plain for number in numbers)
            yield WorkUnit(table.game, seats, rules, settings.seed, left, taking_part, trust)


def missing(store: Store, block: Block) -> Iterator[Block]:
    """Yields what has not been played yet of a block.

    At deals that were played while entrants were out that are back now, these are the lineups that
    were left out because of them.
    """
    at, end = block.first_deal, block.first_deal + block.deals
    for span in store.played(block.panel.number):
        begin, stop = max(at, span.first), min(end, span.end)
        if begin >= stop:
            continue
        if at < begin:
            yield replace(block, first_deal=at, deals=begin - at)
        back = tuple(_numbers(set(out) - set(block.without)) for out in span.without)
        if all(back):
            yield replace(block, first_deal=begin, deals=stop - begin, some=back)
        at = stop
    if at < end:
        yield replace(block, first_deal=at, deals=end - at)


def without(block: Block, absent: Set[int]) -> Block:
    """Returns a block without some entrants, as far as they are in its draw."""
    return replace(block, without=_numbers({*block.without, *absent} & _everybody(block)))


def _everybody(block: Block) -> set[int]:
    return set(chain.from_iterable(block.panel.draw.groups))


def _numbers(entrants: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(entrants))


def _deals(blocks: Mapping[int, Sequence[Block]]) -> dict[int, int]:
    """Returns the deals of blocks by table size, each counted for every lineup."""
    return {seats: sum(block.lineups for block in each) for seats, each in blocks.items()}


def executor_of(
    settings: Workers,
    folder: Folder,
    *,
    address: str | None = None,
    objects: Mapping[str, PlayerLike] | None = None,
) -> AbstractContextManager[Executor]:
    """Returns where a tournament is played, to be opened as a context.

    Args:
        settings: Says where.
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
