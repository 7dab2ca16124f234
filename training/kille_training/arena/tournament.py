"""Run and resume a tournament: `kille_training.play_tournament` and `kille tournament`.

runs/NAME/
  config.yaml       the resolved settings, with the versions that made the run
  results.npz       entrants, what has been played, and tallies; see `store`
  results/          what every seat earned, if the settings say `keep_results`
  players.log       what players printed while they played
  report.html       the page
"""

import math
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

import numpy as np

from kille_env.errors import ConfigError, shortened
from kille_env.files import write_whole
from kille_env.play.policy import PlayerLike
from kille_env.registry import Table, spec
from kille_env.words.text import counted, printable
from kille_training.arena.draws import Draw
from kille_training.arena.entrants import Entrant, entrants_of
from kille_training.arena.parquet import remove_unkept, write_shard
from kille_training.arena.play import Play, identified
from kille_training.arena.results import TournamentResult
from kille_training.arena.schedule import Field, Pairing, Swiss, Waves
from kille_training.arena.settings import (
    ALL_LINEUPS,
    NONE,
    Bots,
    Fill,
    Format,
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
    load_tournament,
)
from kille_training.arena.shards import Shard
from kille_training.arena.store import LOCK, Result, Store
from kille_training.labels import SEED, duration, plural_of
from kille_training.pool import pool_of
from kille_training.pool.jobs import Failed, Pool
from kille_training.progress import Progress, ignore, resumable, shown
from kille_training.settings import as_yaml, versions
from kille_training.tables import RulesLike, table_of

LONG_ENOUGH = 2.0
"""Seconds of play that tell how long the rest takes."""


class Folder:
    """The folder of a tournament.

    Attributes:
        path: Where it is.
        config: The resolved settings.
        results: Everything that has been played.
        shards: What every seat earned, if that is kept.
        comparison: The scores of a comparison, if it is one.
        log: What players printed.
        lock: Held by the process that plays.
        report: The page.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.results = path / "config.yaml", path / "results.npz"
        self.shards, self.log = path / "results", path / "players.log"
        self.lock = path / LOCK
        self.comparison, self.report = path / "comparison.npz", path / "report.html"

    def settings(self) -> TournamentSettings:
        """Reads the settings that the tournament was last played with.

        Raises:
            ConfigError: The folder holds no tournament.
        """
        if not self.config.is_file():
            raise ConfigError(f"{self.path} holds no tournament: there is no {self.config.name}")
        return load_tournament(self.config)


class Tournament:
    """A tournament under way in a folder, which stays whole however the process ends.

    Attributes:
        settings: What is played.
        store: The results.
        remarks: What is to be said of entrants, by name.
    """

    def __init__(
        self,
        folder: Folder,
        settings: TournamentSettings,
        pool: Pool,
        *,
        kept: bool = True,
        trust: bool = False,
        objects: Mapping[str, PlayerLike] | None = None,
    ) -> None:
        """Identify the entrants; a new folder in which nothing can be played is removed again.

        Args:
            folder: Where the tournament lies, or is to lie.
            settings: What is to be played. Entrants, deals, rounds and table sizes may be more
                than last time; what was played is not played again.
            pool: Where it is played.
            kept: Whether a later call may resume it, so that players have to be recognized.
            trust: Whether model files that can run code may be loaded.
            objects: Players that are Python objects, by the names of their entrants.

        Raises:
            KilleError: It cannot be played, or the folder holds a tournament of other tables.
        """
        self._folder, self._pool = folder, pool
        rules, entrants = settings.table.resolve(), settings.taking_part()
        with tidy(folder), ExitStack() as stack:
            store = stack.enter_context(Store(folder.results, create=True))
            if store.entrants:
                settings = settings.with_format(store.tables.get("format"))
                check_same(store, settings)
                entrants = store.with_new(entrants)
            self.store, self.settings = store, settings.with_format()
            self._check_draws(entrants)
            self._play = Play(
                settings.table.game, rules, settings.seed, entrants, objects or {},
                seconds=settings.time_limit, transfer=settings.transfer, trust=trust,
            )  # fmt: skip
            found = identified(self._play, pool, entrants, settings.table.num_players, kept)
            self.remarks = found.remarks
            store.enter(found.entrants)
            for number, reason in found.failed.items():
                store.put_out(number, reason)
            store.tables = _identity(self.settings)
            store.made_with = store.made_with or versions()
            remove_unkept(folder.shards, store)
            self._write_settings()
            store.write()
            stack.pop_all()

    # Who meets whom

    def _schedule(self, seats: int, entrants: Sequence[Entrant]) -> Waves | Swiss:
        chosen = self.settings.matchmaking
        if chosen.format == "swiss":
            return Swiss(seats, chosen.rounds, chosen.deals, self.settings.seed)
        hero = {each.name: each.number for each in entrants}.get(chosen.hero)
        pairing = Pairing(str(chosen.format), chosen.fill, hero, chosen.lineups)
        return Waves(pairing, seats)

    def _check_draws(self, entrants: Sequence[Entrant]) -> None:
        """Refuse tables that cannot be filled, before anything is written."""
        field = Field.of(entrants, np.full(len(entrants), np.nan))
        for seats in self.settings.table.num_players:
            self._schedule(seats, entrants).stage(0, field)

    def _missing(self, seats: int, stage: int, draw: Draw) -> Iterator[Shard]:
        """Yield what has not been played of a stage, shard by shard."""
        first = self._schedule(seats, self.store.entrants).first_deal(stage)
        end = first + self.settings.matchmaking.deals
        return self.store.missing(stage, draw, first, end, self.settings.batch_tables)

    # Playing it

    def play(self, progress: Progress = ignore, told: Callable[[str], None] = ignore) -> None:
        """Play what is missing.

        Args:
            progress: Called with how many observations are done: deals, each counted for every
                lineup.
            told: Called with the plan, with how long it will take, and with a sentence when an
                entrant is out.

        Raises:
            KilleError: The pool cannot go on, or nobody is left to play; what was played until
                then is kept.
        """
        sizes = self.settings.table.num_players
        amounts = {seats: self._amount(seats) for seats in sizes}
        total, left = (sum(each) for each in zip(*amounts.values(), strict=True))
        told(self._plan(amounts))
        job, pace = "playing observations", _Pace(left, told)
        progress(job, total - left, total)
        try:
            for stage, draw in (each for seats in sizes for each in self._stages(seats)):
                while next(self._missing(draw.seats, stage, draw), None) is not None:
                    missing = self._missing(draw.seats, stage, draw)
                    for shard, result in self._pool.run(self._play, missing):
                        if isinstance(result, Failed):
                            self._put_out(result, told)
                            continue
                        self._keep(shard, result)
                        progress(job, shard.lineups, total)
                        pace.add(shard.lineups)
            self._check_somebody_is_left()
            self.store.note_end()
        finally:
            self.store.write()

    def _stages(self, seats: int) -> Iterator[tuple[int, Draw]]:
        """Yield the draws of a table size; a Swiss round follows from those before."""
        schedule = self._schedule(seats, self.store.entrants)
        for stage in count():
            draw = schedule.stage(stage, self.store.field(seats))
            if draw is None:
                return
            if isinstance(schedule, Swiss):
                self.store.note_round(seats, stage, draw)
            yield stage, draw

    # What is to be expected

    def _plan(self, amounts: Mapping[int, tuple[int, int]]) -> str:
        """Return what is to be played, in a sentence; `amounts` of observations by table size."""
        chosen, unit = self.settings.matchmaking, self.settings.table.episode
        sizes, out = [], len(self.store.absent)
        most = "at most " if out else ""  # lineups are drawn with those that are out, and left out
        for seats, (total, _) in amounts.items():
            lineups = round(total / chosen.deals)
            many = counted(lineups, "lineup", "lineups")
            if chosen.format == "random":
                many = f"{lineups:,} of {self.settings.all_lineups(seats):,} lineups"
            rounds = counted(chosen.rounds, "round", "rounds")
            each = rounds if chosen.format == "swiss" else f"every {unit}"
            sizes.append(f"{most}{many} in {each} at {seats} seats")
        total, left = (sum(each) for each in zip(*amounts.values(), strict=True))
        there = "" if left == total else f", {left:,} of them left to play"
        text = (
            f"Plan: {counted(len(self.store.entrants) - out, 'entrant', 'entrants')}"
            f"{f' ({out:,} out)' if out else ''}, "
            f"{str(chosen.format).replace('_', ' ')}, {chosen.deals:,} {plural_of(unit)}, each "
            f"from all seats: {', '.join(sizes)}. That is {most}{total:,} observations (a lineup "
            f"at a {unit}){there}."
        )
        if chosen.format == "random":
            text += (
                f" By default all lineups are played where they are at most {ALL_LINEUPS}; the "
                "format round_robin plays all."
            )
        return text

    def _keep(self, shard: Shard, arrays: Mapping[str, np.ndarray]) -> None:
        members = shard.members(self._play.seed, self._play.keys)
        result = Result(shard, members, np.asarray(arrays.get("earned"), dtype=np.float64))
        if self.settings.keep_results:
            write_shard(self._folder.shards, self.store, result)
        self.store.keep(result)
        self.store.write_if_due()

    def _put_out(self, failed: Failed, told: Callable[[str], None]) -> None:
        name = self.store.entrants[failed.whose].name
        if failed.whose not in self.store.absent:  # several processes may play with it at once
            told(printable(f"{name} is out: {failed.reason}"))
        self.store.put_out(failed.whose, failed.reason)

    def _amount(self, seats: int) -> tuple[int, int]:
        """Return how many observations there are at a table size, and how many are left.

        Swiss rounds that have not been drawn count as if nobody came or went.
        """
        schedule, field = self._schedule(seats, self.store.entrants), self.store.field(seats)
        deals, drawn = self.settings.matchmaking.deals, schedule.drawn(field)
        later = schedule.later(field) * deals
        left = (shard.lineups for each in enumerate(drawn) for shard in self._missing(seats, *each))
        return later + deals * sum(len(draw.rows) for draw in drawn), later + sum(left)

    def _check_somebody_is_left(self) -> None:
        out = [f"{each.name}: {each.out}" for each in self.store.entrants if each.out]
        if out and not (len(out) < len(self.store.entrants) and self.store.deals()):
            raise ConfigError(
                f"nobody is left to play ({'; '.join(out)}); mend the players, and play in another "
                "folder"
            )

    def _write_settings(self) -> None:
        text = (
            "# The resolved settings of this tournament. `kille tournament` with this folder\n"
            f"# resumes it. Made with: {versions()}\n"
        )
        write_whole(self._folder.config, (text + as_yaml(self.settings)).encode())


class _Pace:
    """Tells once how long a tournament will take, by what was played after its first shard."""

    def __init__(self, left: int, told: Callable[[str], None]) -> None:
        self._left, self._told = left, told
        self._done, self._begun = 0, math.nan

    def add(self, lineups: int) -> None:
        """Count what was played just now; the first time, something was compiled and loaded."""
        self._left -= lineups
        if math.isnan(self._begun):
            self._begun = time.monotonic()
            return
        self._done += lineups
        took = time.monotonic() - self._begun
        if took > LONG_ENOUGH and self._left:
            self._told(f"About {duration(took / self._done * self._left)} to go.")
            self._told = ignore


def check_same(store: Store, settings: TournamentSettings) -> None:
    """Refuse a tournament of other tables than those of the kept results, or of less than them.

    Raises:
        ConfigError: The message says what differs.
    """
    kept, tables, folder = store.tables, _identity(settings), store.path.parent
    # The game first, for with another game every switch differs.
    for old, new in ((kept, tables), (kept["rules"], tables["rules"])):
        for key in new:
            if key != "rules" and old.get(key) != new[key]:
                raise ConfigError(
                    f"{folder} holds a tournament whose {key} is {old.get(key)!r}, not "
                    f"{new[key]!r}; choose another name for this one, or remove that folder"
                )
    asked = _asked(settings)
    for seats, deals in store.deals().items():
        if deals > asked.get(str(seats), 0):
            raise ConfigError(
                f"{folder} holds results of {deals:,} deals at {seats} seats, and the settings ask "
                f"for {asked.get(str(seats), 0):,}; what has been played stays, so ask for at "
                "least as much, or choose another name"
            )


def finished(folder: Folder, settings: TournamentSettings) -> TournamentResult | None:
    """Return the result of a tournament that has been played to its end, loading no player.

    None if there is something to play.

    Args:
        folder: Where it lies.
        settings: What is to be played.

    Raises:
        KilleError: The folder holds another tournament, or cannot be read.
    """
    if not folder.results.is_file():
        return None
    with Store(folder.results, readonly=True) as store:
        check_same(store, settings.with_format(store.tables.get("format")))
        new = store.with_new(settings.taking_part()) != store.entrants
        if new or _asked(settings) not in store.ends[-1:]:
            return None
        return TournamentResult.of(store, settings.table.episode, folder.path)


def _asked(settings: TournamentSettings) -> dict[str, int]:
    """Return how many deals are to be played, by table size as the store's `ends` name it."""
    chosen = settings.matchmaking
    deals = chosen.deals * (chosen.rounds if chosen.format == "swiss" else 1)
    return {str(seats): deals for seats in settings.table.num_players}


def _identity(settings: TournamentSettings) -> dict[str, Any]:
    """Return what all results of a tournament have in common."""
    table, matchmaking = settings.table, settings.matchmaking
    return {
        "game": table.game,
        "game_version": spec(table.game).version,
        "rules": table.resolve().as_dict(),
        "orders": 1,  # round the table, of a lineup at a deal: what version 5 of the file says
        "seed": settings.seed,
        "format": matchmaking.format,
        "fill": matchmaking.fill if matchmaking.format in ("round_robin", "gauntlet") else None,
        "hero": matchmaking.hero,
        "lineups": matchmaking.lineups if matchmaking.format == "random" else None,
    }


def play_tournament(
    players: Mapping[str, Any] | Sequence[str],
    game: str | None = None,
    *,
    num_players: int | Sequence[int] | None = None,
    rules: RulesLike = None,
    episode: str | None = None,
    format: Format | None = None,
    fill: Fill | None = None,
    deals: int = 1_000,
    hero: str = "",
    rounds: int = 7,
    lineups: int = 5,
    population: Bots = NONE,
    seed: int = SEED,
    workers: int = 0,
    time_limit: float = 60.0,
    batch_tables: int = 16_384,
    out: str | Path | None = None,
    keep_results: bool = False,
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> TournamentResult:
    """Plays a tournament.

    Example:
        >>> import kille_training as kt
        >>> def even(observation, mask):
        ...     return mask / mask.sum(axis=1, keepdims=True)
        >>> entrants = {"even": even, "rule": "rule_of_thumb"}
        >>> found = kt.play_tournament(entrants, "byteskille", num_players=2, deals=200)
        >>> found.standings["entrant"].tolist()
        ['rule', 'even']

    Args:
        players: The entrants: for each name a player, which is a name or path as `kille evaluate`
            takes it, a function `(observation, mask) -> probabilities`, a torch module, a model of
            Stable-Baselines3, an object with `probabilities`, a class that makes one of
            (num_players, rules), or `{"player": ..., "play": "greedy"}`; or names of players only.
        game: The game; the default is the one that a policy among them was made for, or byteskille.
        num_players: Seats of the tables; several table sizes are tournaments of their own. The
            default is what a policy was made for, or the game's.
        rules: Preset and switches, as `kille_env.make` takes them; likewise.
        episode: "deal", or "match" for the whole game until a pot is won; likewise.
        format: "round_robin", "gauntlet", "swiss" or "random"; docs/tournaments.md says more. None
            is "random" where all lineups would be more than 500, and else "round_robin".
        fill: "distinct" or "copies": who fills a table of more than two seats. None is "distinct"
            where there are enough entrants, and else "copies".
        deals: Deals of every lineup; in a Swiss tournament of every round.
        hero: Name of the entrant that runs the gauntlet.
        rounds: Rounds of a Swiss tournament.
        lineups: Tables that each entrant sits at in every deal, of random tables.
        population: Bots of the game that also take part: "none", "train", "held_out" or "all".
        seed: Seed of the deals and of everything that is drawn.
        workers: Processes; 0 is this process, without a time limit. Python objects are copied into
            other processes with cloudpickle.
        time_limit: Seconds that a player may take for one batch of decisions.
        batch_tables: Tables that are played side by side.
        out: Folder of the tournament, which a later call with the same players resumes or extends;
            None is a temporary one, which lasts as long as what is returned. Players are recognized
            by their answers at fixed decisions, or by an attribute `fingerprint`, a text or a
            method that returns one.
        keep_results: Whether the folder keeps what every seat earned, as Parquet files.
        transfer: Whether policies that were made for other tables may take part; the result says
            so.
        trust: Whether model files that can run code may be loaded.
        progress: Called with how far it is; None shows bars in terminals and notebooks, and prints
            the plan on standard error: lineups, deals and time.

    Returns:
        The standings, crosstables and the page, as data frames and HTML. A notebook shows the
        standings.

    Raises:
        ConfigError: It cannot be played; the message says why.
        KeyboardInterrupt: The message says how to resume.
    """
    if isinstance(players, str):
        raise ConfigError(
            f"players is {shortened(players)}, expected names of players in a list, as in "
            "['uniform', 'rule_of_thumb'], or a player for each name"
        )
    named = dict(players) if isinstance(players, Mapping) else {name: name for name in players}
    first = num_players[0] if isinstance(num_players, Sequence) else num_players
    table = table_of(map(_player, named.values()), game, first, episode, rules)
    sizes = (table.num_players,) if num_players is None else num_players
    if fill is None:
        most = max(sizes) if isinstance(sizes, Sequence) else table.num_players
        few = population == NONE and len(named) < most
        fill = "copies" if few and format in (None, "round_robin", "gauntlet") else "distinct"
    entrants, objects = entrants_of(named)
    with ExitStack() as stack:
        folder = stack.enter_context(folder_of(out))
        settings = TournamentSettings(
            name=folder.path.resolve().name,
            seed=seed,
            table=settings_of(table, sizes),
            entrants=entrants,
            population=population,
            matchmaking=MatchmakingSettings(format, fill, deals, hero, rounds, lineups),
            time_limit=time_limit,
            batch_tables=batch_tables,
            keep_results=keep_results,
            transfer=transfer,
            workers=workers,
        )
        told = partial(print, file=sys.stderr) if progress is None else ignore
        with resumable(how_to_resume(out)):
            result = play_in_folder(
                folder, settings, shown(progress), told,
                kept=out is not None, trust=trust, objects=objects,
            )  # fmt: skip
        if out is None:
            finalize(result, stack.pop_all().close)
        return result


def play_in_folder(
    folder: Folder,
    settings: TournamentSettings,
    progress: Progress = ignore,
    told: Callable[[str], None] = ignore,
    *,
    kept: bool = True,
    trust: bool = False,
    objects: Mapping[str, PlayerLike] | None = None,
) -> TournamentResult:
    """Play what is missing of a tournament.

    Args:
        folder: Where it lies, or is to lie.
        settings: What is to be played.
        progress: Called with how many observations are done.
        told: Called with the plan, and with a sentence when an entrant is out.
        kept: Whether a later call may resume it.
        trust: Whether model files that can run code may be loaded.
        objects: Players that are Python objects, by the names of their entrants.

    Raises:
        KilleError: It cannot be played; the message says why.
    """
    with pool_of(settings, folder.log) as pool:
        tournament = Tournament(folder, settings, pool, kept=kept, trust=trust, objects=objects)
        with tournament.store as store:
            tournament.play(progress, told)
            return TournamentResult.of(
                store, settings.table.episode, folder.path, tournament.remarks
            )


def how_to_resume(out: str | Path | None) -> str:
    """Return what to do after Ctrl-C, for a caller in Python."""
    if out is None:
        return "nothing was kept; name a folder, out=..., and the same call will resume"
    return f"nothing is lost; the same call, with out={str(out)!r}, resumes"


@contextmanager
def tidy(folder: Folder) -> Generator[None]:
    """Remove a new folder again in which nothing but what players printed was written.

    Folders above it that are new too go with it.
    """
    new = [path for path in (folder.path, *folder.path.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        left = (folder.log, folder.lock)
        if new and folder.path.exists() and {*folder.path.iterdir()} <= {*left}:
            for path in left:
                path.unlink(missing_ok=True)
            with suppress(OSError):  # a folder above may hold something by now
                for path in new:
                    path.rmdir()
        raise


@contextmanager
def folder_of(out: str | Path | None) -> Generator[Folder]:
    """Open the folder of a tournament; without a name, one that lasts as long as the context."""
    if out is not None:
        yield Folder(Path(out))
        return
    with TemporaryDirectory(prefix="kille-") as path:
        yield Folder(Path(path) / "tournament")


def _player(value: Any) -> Any:
    return value.get("player") if isinstance(value, Mapping) else value


def settings_of(table: Table, sizes: Any) -> TablesSettings:
    """Return the settings of tables of some sizes."""
    switches = table.rules.as_dict()
    return TablesSettings(table.game, sizes, switches, str(switches.pop("episode")))
