"""Run and resume a tournament: `kille_training.play_tournament` and `kille tournament`.

runs/NAME/
  config.yaml       the resolved settings, with the versions that made the run
  results.npz       entrants, what has been played, and tallies; see `store`
  results/          what every seat earned, if the settings say `keep_results`
  players.log       what players printed while they played
  report.html       the page
"""

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

import numpy as np

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.play.policy import PlayerLike
from kille_env.registry import Table, spec
from kille_env.words.text import counted, printable
from kille_training.arena.draws import Draw
from kille_training.arena.entrants import OBJECT, Entrant
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
from kille_training.arena.shards import Shard, cut
from kille_training.arena.store import Result, Store, StoreError
from kille_training.labels import SEED, duration, plural_of
from kille_training.pool import pool_of
from kille_training.pool.jobs import Failed, Pool, cores
from kille_training.progress import Progress, ignore, resumable, shown
from kille_training.settings import as_yaml, versions
from kille_training.tables import RulesLike, table_of

TRIALS = (1, 64, 512, 4096)
"""Tables of the first shards at each table size, whose time tells how long the rest takes."""
LONG_ENOUGH = 0.5
"""Seconds of a shard that tell how long others take."""


class Folder:
    """The folder of a tournament.

    Attributes:
        path: Where it is.
        config: The resolved settings.
        results: Everything that has been played.
        shards: What every seat earned, if that is kept.
        comparison: The scores of a comparison, if it is one.
        log: What players printed.
        report: The page.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.results = path / "config.yaml", path / "results.npz"
        self.shards, self.log = path / "results", path / "players.log"
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
        """Identify the entrants, and only then create the folder or resume what it holds.

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
        entered: list[Entrant] = []
        if folder.results.is_file():
            with Store(folder.results, readonly=True) as store:
                settings = settings.with_format(store.tables.get("format"))
                check_same(store, settings)
                entered, entrants = store.entrants, store.with_new(entrants)
        self.settings = settings = settings.with_format()
        self._check_draws(entrants)
        self._play = Play(
            settings.table.game, rules, settings.seed, entrants, objects or {},
            seconds=settings.time_limit, transfer=settings.transfer, trust=trust,
        )  # fmt: skip
        found = identified(self._play, pool, entrants, settings.table.num_players, kept)
        self.remarks = found.remarks
        self.store = Store(folder.results, create=True)
        try:
            if self.store.entrants != entered:
                raise StoreError(
                    f"another tournament was played in {folder.path} while this one began; start "
                    "this one again"
                )
            self.store.enter(found.entrants)
            for number, reason in found.failed.items():
                self.store.put_out(number, reason)
            self.store.tables = _identity(settings)
            self.store.made_with = self.store.made_with or versions()
            remove_unkept(folder.shards, self.store)
            self._write_settings()
            self.store.write()
        except BaseException:
            self.store.close()
            raise

    def close(self) -> None:
        """Close the folder."""
        self.store.close()

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
        deals = self.settings.matchmaking.deals
        first = self._schedule(seats, self.store.entrants).first_deal(stage)
        return self.store.missing(stage, draw, first, first + deals)

    def _shards(self, seats: int, stage: int, draw: Draw, tables: int = 0) -> Iterator[Shard]:
        """Yield it in shards of a batch's size, or other tables, without those that are out."""
        size = tables or self.settings.batch_tables
        for shard in cut(self._missing(seats, stage, draw), size):
            now = replace(shard, without=self.store.absent)
            if now.can_play():
                yield now

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
        amounts = self._amounts()
        total, left = (sum(each) for each in zip(*amounts.values(), strict=True))
        told(self._plan(amounts))
        job = "playing observations"
        progress(job, total - left, total)

        def run(shards: Iterable[Shard]) -> None:
            for shard, result in self._pool.run(self._play, shards):
                if isinstance(result, Failed):
                    self._put_out(result, told)
                    continue
                self._keep(shard, result)
                progress(job, shard.lineups, total)

        try:
            self._tell_time(run, told)
            for seats in self.settings.table.num_players:
                for stage, draw in self._stages(seats):
                    while next(self._shards(seats, stage, draw), None) is not None:
                        run(self._shards(seats, stage, draw))
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
        """Return what is to be played, in a sentence; `amounts` as `_amounts` returns them."""
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

    def _tell_time(
        self, run: Callable[[Iterable[Shard]], None], told: Callable[[str], None]
    ) -> None:
        """Play first deals of each table size, and tell how long the rest will take.

        What is played is part of the tournament. The first shard, which compiles and loads, does
        not count where there is another one.
        """
        seconds = 0.0
        for seats in self.settings.table.num_players:
            trials = (shard for each in self._stages(seats) for shard in self._trials(seats, *each))
            pace = 0.0
            for number, shard in enumerate(islice(trials, len(TRIALS))):
                began = time.monotonic()
                run([shard])
                took = time.monotonic() - began
                pace = took / shard.lineups
                if number and took > LONG_ENOUGH:
                    break
            seconds += pace * self._amounts()[seats][1]
        workers = max(1, self.settings.workers)
        if self.settings.executor == "local":
            workers = min(workers, cores())
        if seconds:
            processes = f"{workers} processes" if workers > 1 else "one process"
            told(f"About {duration(seconds / workers)} to go, with {processes}.")

    def _trials(self, seats: int, stage: int, draw: Draw) -> Iterator[Shard]:
        """Yield first shards of a stage, each longer than the one before."""
        for tables in TRIALS:
            shards = self._shards(seats, stage, draw, min(tables, self.settings.batch_tables))
            if (shard := next(shards, None)) is None:
                return
            yield shard

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

    def _amounts(self) -> dict[int, tuple[int, int]]:
        """Return how many deals there are by table size, and how many are left.

        Each counts for every lineup. Swiss rounds that have not been drawn count as if nobody came
        or went.
        """
        chosen, entrants = self.settings.matchmaking, self.store.entrants
        found = {}
        for seats in self.settings.table.num_players:
            total = left = 0
            schedule, field = self._schedule(seats, entrants), self.store.field(seats)
            drawn = len(field.rounds) if isinstance(schedule, Swiss) else 1 + len(field.waves)
            for stage in range(drawn):
                draw = schedule.stage(stage, field)
                if draw is not None:
                    total += len(draw.rows) * chosen.deals
                    left += sum(shard.lineups for shard in self._missing(seats, stage, draw))
            if isinstance(schedule, Swiss) and drawn < schedule.rounds:
                tables = len(field.present) // seats
                total += (schedule.rounds - drawn) * chosen.deals * tables
                left += (schedule.rounds - drawn) * chosen.deals * tables
            found[seats] = total, left
        return found

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
    with tidy(folder), pool_of(settings, folder.log) as pool:
        tournament = Tournament(
            folder, settings, pool, kept=kept, trust=trust, objects=objects
        )  # fmt: skip
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
        if new and folder.path.exists() and {*folder.path.iterdir()} <= {folder.log}:
            folder.log.unlink(missing_ok=True)
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


def entrants_of(players: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, PlayerLike]]:
    """Return entrants for the settings, and those of their players that are Python objects.

    Args:
        players: The entrants by name, as `play_tournament` takes them.
    """
    entrants: dict[str, Any] = {}
    objects: dict[str, PlayerLike] = {}
    for name, value in players.items():
        fields = dict(value) if isinstance(value, Mapping) else {"player": value}
        player = fields.get("player")
        if isinstance(player, Path):
            fields["player"] = str(player)
        elif player is not None and not isinstance(player, str):
            fields["player"] = f"{OBJECT}{label_of(player)}"
            objects[name] = player
        entrants[name] = fields
    return entrants, objects


def label_of(player: Any) -> str:
    """Return what a player is called that has been given no name."""
    if isinstance(player, (str, Path)):
        return str(player)
    for attribute in ("name", "__name__"):
        if isinstance(found := getattr(player, attribute, None), str):
            return found
    return type(player).__name__


def _player(value: Any) -> Any:
    return value.get("player") if isinstance(value, Mapping) else value


def settings_of(table: Table, sizes: Any) -> TablesSettings:
    """Return the settings of tables of some sizes."""
    switches = table.rules.as_dict()
    return TablesSettings(table.game, sizes, switches, str(switches.pop("episode")))
