"""Run and resume a tournament: `kille_training.play_tournament` and `kille tournament`.

runs/NAME/
  config.yaml       the resolved settings, with the versions that made the run
  results.npz       entrants, what has been played, and the tally; see `store`
  results/          what every seat earned, if the settings say `keep_results`
  players.log       what players printed while they played
  report.html       the page
"""

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

import numpy as np

from kille_env.errors import ConfigError, shortened
from kille_env.files import write_whole
from kille_env.play.policy import PlayerLike
from kille_env.words.text import counted, printable
from kille_training.arena.entrants import Entrant, entrants_of
from kille_training.arena.page import write_tournament_page
from kille_training.arena.parquet import remove_unkept, write_shard
from kille_training.arena.play import Play, Shard, identified
from kille_training.arena.results import TournamentResult
from kille_training.arena.schedule import Draw, Field, Random, RoundRobin, Schedule, Swiss
from kille_training.arena.settings import (
    NONE,
    Bots,
    Fill,
    Folder,
    Format,
    MatchmakingSettings,
    TournamentSettings,
)
from kille_training.arena.store import Store
from kille_training.labels import SEED, plural_of
from kille_training.pool import pool_of
from kille_training.pool.jobs import Failed, Pool
from kille_training.progress import Progress, ignore, resumable, shown
from kille_training.settings import TableSettings, as_yaml, versions
from kille_training.tables import RulesLike, table_of


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
            settings: What is to be played. Entrants, deals and rounds may be more than last time;
                what was played is not played again.
            pool: Where it is played.
            kept: Whether a later call may resume it, so that players have to be recognized.
            trust: Whether model files that can run code may be loaded.
            objects: Players that are Python objects, by the names of their entrants.

        Raises:
            KilleError: It cannot be played, or the folder holds a tournament of other tables.
        """
        self._folder, self._pool = folder, pool
        entrants = settings.taking_part()
        with tidy(folder.path), ExitStack() as stack:
            store = stack.enter_context(Store(folder.results, create=True))
            if store.entrants:
                settings = settings.with_format(store.asked.get("format"))
                check_same(store, settings)
                entrants = store.with_new(entrants)
                _check_all_can_play(store, settings, entrants)
            self.store, self.settings = store, settings.with_format()
            self._schedule = _schedule(self.settings, entrants)
            # Tables that cannot be filled, and too many lineups, are refused before anybody enters.
            field = Field.of(entrants)
            for stage in range(len(field.waves)):
                self._schedule.stage(stage, field)
            self._play = Play(
                settings.table.table(), settings.seed, entrants, objects or {},
                seconds=settings.time_limit, transfer=settings.transfer, trust=trust,
            )  # fmt: skip
            found = identified(self._play, pool, entrants, kept)
            self.remarks = found.remarks
            store.asked = _identity(self.settings)
            store.made_with = store.made_with or versions()
            store.enter(found.entrants)
            for number, reason in found.failed.items():
                store.put_out(number, reason)
            self._write_settings()
            store.write()
            stack.pop_all()

    def play(self, progress: Progress = ignore, told: Callable[[str], None] = ignore) -> None:
        """Play what is missing.

        Args:
            progress: Called with how many observations are done: deals, each counted for every
                lineup.
            told: Called with the plan, and with a sentence when an entrant is out.

        Raises:
            KilleError: The pool cannot go on, or nobody is left to play; what was played until
                then is kept.
        """
        remove_unkept(self._folder.shards, self.store)
        total, left = self._amount()
        told(self._plan(total, left))
        job = "playing observations"
        progress(job, total - left, total)
        try:
            for stage, draw in self._stages():
                if isinstance(self._schedule, Swiss):
                    self.store.note_round(stage, draw)
                while next(self._missing(stage, draw), None) is not None:
                    for shard, result in self._pool.run(self._play, self._missing(stage, draw)):
                        if isinstance(result, Failed):
                            self._put_out(result, told)
                            continue
                        lineups = shard.lineups(self._play.seed, self._play.keys)
                        earned = np.asarray(result.get("earned"), dtype=np.float64)
                        if self.settings.keep_results:
                            write_shard(self._folder.shards, self.store, shard, lineups, earned)
                        self.store.keep(shard, lineups, earned)
                        self.store.write_if_due()
                        progress(job, shard.observations, total)
            self._check_somebody_is_left()
            self.store.note_end()
        finally:
            self.store.write()

    def _stages(self) -> Iterator[tuple[int, Draw]]:
        """Yield the draws; a Swiss round follows from those before."""
        for stage in count():
            draw = self._schedule.stage(stage, self.store.field())
            if draw is None:
                return
            yield stage, draw

    def _missing(self, stage: int, draw: Draw) -> Iterator[Shard]:
        """Yield what has not been played of a stage, shard by shard."""
        end = draw.first_deal + self.settings.matchmaking.deals
        return self.store.missing(stage, draw, draw.first_deal, end, self.settings.batch_tables)

    def _amount(self) -> tuple[int, int]:
        """Return about how many observations there are, and how many are left.

        Swiss rounds that have not been drawn count as if nobody came or went.
        """
        stages = [*self._stages()]
        total = self.settings.matchmaking.deals * sum(draw.often for _, draw in stages)
        left = sum(shard.observations for each in stages for shard in self._missing(*each))
        return max(round(total), left), left

    def _plan(self, total: int, left: int) -> str:
        """Return what is to be played, in a sentence."""
        chosen, out = self.settings.matchmaking, len(self.store.absent)
        unit = self.settings.table.episode
        lineups = counted(round(total / chosen.deals), "lineup", "lineups")
        if chosen.format == "random":
            lineups = f"{lineups} of {self.settings.all_lineups():,}"
        rounds = counted(chosen.rounds, "round", "rounds")
        rounds = rounds if chosen.format == "swiss" else f"every {unit}"
        most = "at most " if out else ""  # lineups are drawn with those that are out, and left out
        there = "" if left == total else f", {left:,} of them left to play"
        return (
            f"Plan: {counted(len(self.store.entrants) - out, 'entrant', 'entrants')}"
            f"{f' ({out:,} out)' if out else ''}, {str(chosen.format).replace('_', ' ')}, "
            f"{chosen.deals:,} {plural_of(unit)}, each from all {self.settings.table.num_players} "
            f"seats: {most}{lineups} in {rounds}. That is {most}{total:,} observations (a lineup "
            f"at a {unit}){there}."
        )

    def _put_out(self, failed: Failed, told: Callable[[str], None]) -> None:
        name = self.store.entrants[failed.whose].name
        if failed.whose not in self.store.absent:  # several processes may play with it at once
            told(printable(f"{name} is out: {failed.reason}"))
        self.store.put_out(failed.whose, failed.reason)

    def _check_somebody_is_left(self) -> None:
        out = [f"{each.name}: {each.out}" for each in self.store.entrants if each.out]
        if out and (len(out) == len(self.store.entrants) or not self.store.tally.observations):
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


def _schedule(settings: TournamentSettings, entrants: Sequence[Entrant]) -> Schedule:
    """Return who meets whom."""
    chosen, seats = settings.matchmaking, settings.table.num_players
    if chosen.format == "swiss":
        return Swiss(seats, chosen.rounds, chosen.deals, settings.seed)
    if chosen.format == "random":
        return Random(seats, chosen.lineups)
    hero = {each.name: each.number for each in entrants}.get(chosen.hero)
    return RoundRobin(seats, chosen.fill == "copies", hero)


def _identity(settings: TournamentSettings) -> dict[str, Any]:
    """Return what all results of a tournament have in common."""
    chosen = settings.matchmaking
    return {
        "table": settings.table.table().as_dict(),
        "seed": settings.seed,
        "format": chosen.format,
        "fill": chosen.fill if chosen.format in ("round_robin", "gauntlet") else None,
        "hero": chosen.hero,
        "lineups": chosen.lineups if chosen.format == "random" else None,
        "deals": chosen.deals if chosen.format == "swiss" else None,  # where its rounds begin
        "keep_results": settings.keep_results,
    }


def _asked(settings: TournamentSettings) -> int:
    """Return how many deals are to be played."""
    chosen = settings.matchmaking
    return chosen.deals * (chosen.rounds if chosen.format == "swiss" else 1)


def check_same(store: Store, settings: TournamentSettings) -> None:
    """Refuse a tournament of other tables than those of the kept results, or of less than them.

    Raises:
        ConfigError: The message says what differs.
    """
    asked, kept = _identity(settings), store.asked
    if asked["format"] == kept.get("format") == "swiss" and asked["deals"] != kept.get("deals"):
        raise ConfigError(
            f"{store.path.parent} holds Swiss rounds of {kept.get('deals')} deals, and the "
            f"settings ask for {asked['deals']}; a Swiss tournament grows by rounds, so leave "
            "matchmaking.deals and ask for more matchmaking.rounds, or choose another name"
        )
    if store.deals() and asked["keep_results"] != kept.get("keep_results"):
        said = "holds" if kept.get("keep_results") else "does not hold"
        raise ConfigError(
            f"{store.path.parent} {said} what every seat earned, and keep_results is "
            f"{settings.keep_results}; it is kept of all deals or of none, so choose another folder"
        )
    # Before anything has been played, the choice is free.
    store.check_same({**asked, "keep_results": kept.get("keep_results")})
    if store.deals() > _asked(settings):
        raise ConfigError(
            f"{store.path.parent} holds results of {store.deals():,} deals, and the settings ask "
            f"for {_asked(settings):,}; what has been played stays, so ask for at least as much, "
            "or choose another name"
        )


def _check_all_can_play(
    store: Store, settings: TournamentSettings, entrants: Sequence[Entrant]
) -> None:
    """Refuse entrants of a Swiss tournament that enter after its last round has been drawn."""
    chosen = settings.matchmaking
    if chosen.format != "swiss" or len(store.rounds) < chosen.rounds:
        return
    drawn = {number for lineups in store.rounds for lineup in lineups for number in lineup}
    for each in entrants:
        if each.wave and each.out is None and each.number not in drawn:
            raise ConfigError(
                f"{each.name!r} would play nothing: {store.path.parent} has drawn all "
                f"{chosen.rounds:,} rounds without it; ask for more matchmaking.rounds too"
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
        check_same(store, settings.with_format(store.asked.get("format")))
        new = store.with_new(settings.taking_part()) != store.entrants
        if new or not store.ended() or store.deals() != _asked(settings):
            return None
        return TournamentResult.of(store)


def play_tournament(
    players: Mapping[str, Any] | Sequence[str],
    game: str | None = None,
    *,
    num_players: int | None = None,
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
    transfer: bool = False,
    trust: bool = False,
    keep_results: bool = False,
    progress: Progress | None = None,
) -> TournamentResult:
    """Plays a tournament.

    Example:
        >>> import kille_training as kt
        >>> def even(observation, mask):
        ...     return mask / mask.sum(axis=1, keepdims=True)
        >>> entrants = {"even": even, "rule": "rule_of_thumb"}
        >>> found = kt.play_tournament(entrants, "byteskille", num_players=2, deals=200)
        >>> found.frame()["entrant"].tolist()
        ['rule', 'even']

    Args:
        players: The entrants: for each name a player, which is a name or path as `kille evaluate`
            takes it, a function `(observation, mask) -> probabilities`, a torch module, a model of
            Stable-Baselines3, an object with `probabilities`, a class that makes one of
            (num_players, rules), or `{"player": ..., "play": "greedy"}`; or names of players only.
        game: The game; the default is the one that a policy among them was made for, or byteskille.
        num_players: Seats of the table; the default is what a policy was made for, or the game's.
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
        transfer: Whether policies that were made for other tables may take part; the result says
            so.
        trust: Whether model files that can run code may be loaded.
        keep_results: Whether the folder keeps what every seat earned, as Parquet files.
        progress: Called with how far it is; None shows bars in terminals and notebooks, and prints
            the plan on standard error: lineups and deals.

    Returns:
        The standings and the crosstable, as data frames too. A notebook shows the standings, and
        `report` is where the page is.

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
    table = table_of(map(_player, named.values()), game, num_players, episode, rules)
    if fill is None:
        few = population == NONE and len(named) < table.num_players
        fill = "copies" if few and format in (None, "round_robin", "gauntlet") else "distinct"
    entrants, objects = entrants_of(named)
    with ExitStack() as stack:
        folder = Folder(stack.enter_context(folder_of(out)))
        settings = TournamentSettings(
            name=folder.path.resolve().name,
            seed=seed,
            table=TableSettings.of(table.rules, table.num_players),
            entrants=entrants,
            population=population,
            matchmaking=MatchmakingSettings(format, fill, deals, hero, rounds, lineups),
            time_limit=time_limit,
            batch_tables=batch_tables,
            transfer=transfer,
            keep_results=keep_results,
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
    """Play what is missing of a tournament, and write its page.

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
    where = {"executor": settings.executor, "address": settings.address, "log": folder.log}
    with pool_of(settings.workers, **where) as pool:
        tournament = Tournament(folder, settings, pool, kept=kept, trust=trust, objects=objects)
        with tournament.store as store:
            tournament.play(progress, told)
            result = TournamentResult.of(store, tournament.remarks)
    write_tournament_page(folder, result.remarks)
    return result


def how_to_resume(out: str | Path | None) -> str:
    """Return what to do after Ctrl-C, for a caller in Python."""
    if out is None:
        return "nothing was kept; name a folder, out=..., and the same call will resume"
    return f"nothing is lost; the same call, with out={str(out)!r}, resumes"


@contextmanager
def tidy(path: Path) -> Generator[None]:
    """Remove a new folder again if nothing can be played in it."""
    new = not path.exists()
    try:
        yield
    except BaseException:
        if new and not [*path.glob("*.npz")]:
            rmtree(path, ignore_errors=True)
        raise


@contextmanager
def folder_of(out: str | Path | None) -> Generator[Path]:
    """Open the folder of a tournament; without a name, one that lasts as long as the context."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory(prefix="kille-") as path:
        yield Path(path) / "tournament"


def _player(value: Any) -> Any:
    return value.get("player") if isinstance(value, Mapping) else value
