"""Run and resume a tournament: `kille_training.play_tournament` and `kille tournament`.

runs/NAME/
  config.yaml       the resolved settings, with the versions that made the run
  results.npz       entrants, played deals and the tally; see `store`
  players.log       the players' output
  report.html       the page
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from textwrap import fill as wrapped
from typing import Any
from weakref import finalize

import numpy as np

from kille_env.errors import ConfigError, shortened
from kille_env.files import write_whole, writing
from kille_env.play.policy import PlayerLike
from kille_env.streams import say
from kille_env.words.text import counted, printable
from kille_training.arena.entrants import Entrant, entrants_of
from kille_training.arena.page import write_tournament_page
from kille_training.arena.play import Play, Shard, identified
from kille_training.arena.results import TournamentResult
from kille_training.arena.schedule import (
    Schedule,
    cohorts_of,
    random_tables,
    round_robin,
    too_few,
)
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
    """A tournament in a folder, which stays consistent if the process is killed."""

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
        """Identify the entrants; remove a new folder if nothing can be played."""
        self._folder, self._pool = folder, pool
        entrants = settings.taking_part()
        with tidy(folder.path), ExitStack() as stack:
            store = stack.enter_context(Store(folder.results, create=True))
            if store.entrants:
                settings = settings.with_format(store.config.get("format"))
                check_same(store, settings)
                entrants = store.with_new(entrants)
            self.store, self.settings = store, settings.with_format()
            # Refuse tables that cannot be filled, and too many lineups, before any entrant enters.
            self._schedules = _schedules(self.settings, entrants)
            self._play = Play(
                settings.table.table(), settings.seed, entrants, objects or {},
                seconds=settings.time_limit, transfer=settings.transfer, trust=trust,
            )  # fmt: skip
            found = identified(self._play, pool, entrants, kept)
            self.remarks = found.remarks
            store.config = _config(self.settings)
            store.made_with = store.made_with or versions()
            store.enter(found.entrants)
            for number, reason in found.failed.items():
                store.put_out(number, reason)
            self._write_settings()
            store.write()
            stack.pop_all()

    def play(self, progress: Progress = ignore, announce: Callable[[str], None] = ignore) -> None:
        """Play the missing deals."""
        total, left = self._amount()
        announce(self._plan(total, left))
        job = "playing observations"
        progress(job, total - left, total)
        try:
            for cohort in range(len(self._schedules)):
                while next(self._missing(cohort), None) is not None:
                    for shard, result in self._pool.run(self._play, self._missing(cohort)):
                        if isinstance(result, Failed):
                            self._put_out(result, announce)
                            continue
                        lineups = shard.lineups(self._play.seed, self._play.keys)
                        earned = np.asarray(result.get("earned"), dtype=np.float64)
                        self.store.keep(shard, lineups, earned)
                        self.store.write_if_due()
                        progress(job, shard.observations, total)
            self._check_played()
            self.store.note_end()
        finally:
            self.store.write()

    def _missing(self, cohort: int) -> Iterator[Shard]:
        """Yield the unplayed shards of a cohort."""
        deals, size = self.settings.matchmaking.deals, self.settings.batch_tables
        return self.store.missing(cohort, self._schedules[cohort], deals, size)

    def _amount(self) -> tuple[int, int]:
        """Return the approximate numbers of observations, in all and left to play."""
        lineups = sum(schedule.lineups_per_deal for schedule in self._schedules)
        missing = (shard for n in range(len(self._schedules)) for shard in self._missing(n))
        left = sum(shard.observations for shard in missing)
        return max(round(self.settings.matchmaking.deals * lineups), left), left

    def _plan(self, total: int, left: int) -> str:
        """Return a sentence with the numbers of entrants, deals, lineups and observations."""
        chosen, out = self.settings.matchmaking, len(self.store.out)
        noun = self.settings.table.episode
        lineups = counted(round(total / chosen.deals), "lineup", "lineups")
        if chosen.format == "random":
            lineups = f"{lineups} of {self.settings.all_lineups():,}"
        most = "at most " if out else ""  # lineups are scheduled with all, and those left out
        there = "" if left == total else f", {left:,} of them left to play"
        sentence = (
            f"Plan: {counted(len(self.store.entrants) - out, 'entrant', 'entrants')}"
            f"{f' ({out:,} out)' if out else ''}, {str(chosen.format).replace('_', ' ')}, "
            f"{chosen.deals:,} {plural_of(noun)}, each from all {self.settings.table.num_players} "
            f"seats: {most}{lineups} in every {noun}. That is {most}{total:,} observations (a "
            f"lineup at a {noun}){there}."
        )
        return wrapped(sentence, PLAN_WIDTH, subsequent_indent="  ")

    def _put_out(self, failed: Failed, announce: Callable[[str], None]) -> None:
        name = self.store.entrants[failed.whose].name
        if failed.whose not in self.store.out:  # several processes may play with it at once
            announce(printable(f"{name} is out: {failed.reason}"))
        self.store.put_out(failed.whose, failed.reason)

    def _check_played(self) -> None:
        """Refuse a tournament in which entrants failed and no lineup could be played."""
        entrants, settings = self.store.entrants, self.settings
        out = [f"{each.name}: {each.out}" for each in entrants if each.out]
        left, seats = len(entrants) - len(out), settings.table.num_players
        if not out or (left and self.store.tally.observations):
            return
        reasons, instead = "; ".join(out), "another folder"
        if not left:
            said = f"all entrants are out ({reasons}); fix the players, and play in {instead}"
        elif any(each.name == settings.matchmaking.hero for each in entrants if each.out):
            said = f"the hero is out ({reasons}); fix the player, and play in {instead}"
        else:
            can_copy = settings.matchmaking.format != "random" and left > 1
            choice = "matchmaking.fill: copies" if can_copy else "a smaller table"
            said = f"{too_few(left, seats, choice)}, in {instead}. Out: {reasons}"
        raise ConfigError(said)

    def _write_settings(self) -> None:
        text = (
            "# The resolved settings of this tournament. `kille tournament` with this folder\n"
            f"# resumes it. Made with: {versions()}\n"
        )
        write_whole(self._folder.config, (text + as_yaml(self.settings)).encode())


PLAN_WIDTH = 79  # maximum length of a line of the plan


def _schedules(settings: TournamentSettings, entrants: Sequence[Entrant]) -> list[Schedule]:
    """Return the schedule of each cohort."""
    chosen, seats = settings.matchmaking, settings.table.num_players
    cohorts = cohorts_of(entrants)
    if chosen.format == "random":
        return random_tables(cohorts, seats, chosen.lineups)
    hero = {each.name: each.number for each in entrants}.get(chosen.hero)
    return round_robin(cohorts, seats, copies=chosen.fill == "copies", hero=hero)


def _config(settings: TournamentSettings) -> dict[str, Any]:
    """Return the shared settings of all results of a tournament."""
    chosen = settings.matchmaking
    return {
        "table": settings.table.table().as_dict(),
        "seed": settings.seed,
        "format": chosen.format,
        "fill": None if chosen.format == "random" else chosen.fill,
        "hero": chosen.hero,
        "lineups": chosen.lineups if chosen.format == "random" else None,
    }


def check_same(store: Store, settings: TournamentSettings) -> None:
    """Refuse settings with other tables than the stored results, or with fewer deals."""
    store.check_same(_config(settings))
    if store.deals() > settings.matchmaking.deals:
        raise ConfigError(
            f"{store.path.parent} holds results of {store.deals():,} deals, and the settings ask "
            f"for {settings.matchmaking.deals:,}; set matchmaking.deals to at least as many, or "
            "choose another name"
        )


def finished(folder: Folder, settings: TournamentSettings) -> TournamentResult | None:
    """Return the result of a finished tournament without loading a player, or None."""
    if not folder.results.is_file():
        return None
    with Store(folder.results, readonly=True) as store:
        check_same(store, settings.with_format(store.config.get("format")))
        new = store.with_new(settings.taking_part()) != store.entrants
        if new or not store.ended() or store.deals() != settings.matchmaking.deals:
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
    lineups: int = 5,
    population: Bots = NONE,
    seed: int = SEED,
    workers: int = 0,
    time_limit: float = 60.0,
    batch_tables: int = 16_384,
    out: str | Path | None = None,
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> TournamentResult:
    """Play a tournament.

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
        format: "round_robin", "gauntlet" or "random", see docs/tournaments.md. None is "random" if
            there are more than 500 lineups, otherwise "round_robin".
        fill: "distinct" or "copies": entrants that fill a table of more than two seats. None is
            "distinct" if there are enough entrants, otherwise "copies".
        deals: Deals of every lineup.
        hero: Name of the entrant that runs the gauntlet.
        lineups: Tables per entrant and deal, in the format "random".
        population: Bots of the game that also take part: "none", "train", "held_out" or "all".
        seed: Seed of the deals and of all random choices.
        workers: Processes; 0 is this process, without a time limit. Python objects are copied into
            other processes with cloudpickle.
        time_limit: Seconds that a player may take for one batch of decisions.
        batch_tables: Tables that are played side by side.
        out: Folder of the tournament, which a later call with the same players resumes or extends;
            None is a temporary one that lasts as long as the result. Players are recognized by
            their answers at fixed decisions, or by an attribute `fingerprint`, a text or a method
            that returns one.
        transfer: Whether to allow policies made for other tables; the result names them.
        trust: Whether to load model files that can run code.
        progress: Progress callback; None shows bars in terminals and notebooks, and prints the
            plan, lineups and deals, on standard error.

    Returns:
        The standings and the crosstable, also as data frames; `report` is the path of the page.

    Raises:
        ConfigError: The tournament cannot be played; the message gives the reason.
        KeyboardInterrupt: The message says how to resume.
    """
    if isinstance(players, str):
        raise ConfigError(
            f"players is {shortened(players)}, expected names of players in a list, as in "
            "['uniform', 'rule_of_thumb'], or a player for each name"
        )
    named = _by_name(players)
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
            matchmaking=MatchmakingSettings(format, fill, deals, hero, lineups),
            time_limit=time_limit,
            batch_tables=batch_tables,
            transfer=transfer,
            workers=workers,
        )
        announce = say if progress is None else ignore
        with resumable(how_to_resume(out)):
            result = play_in_folder(
                folder, settings, shown(progress), announce,
                kept=out is not None, trust=trust, objects=objects,
            )  # fmt: skip
        if out is None:
            finalize(result, stack.pop_all().close)
        return result


def play_in_folder(
    folder: Folder,
    settings: TournamentSettings,
    progress: Progress = ignore,
    announce: Callable[[str], None] = ignore,
    *,
    kept: bool = True,
    trust: bool = False,
    objects: Mapping[str, PlayerLike] | None = None,
) -> TournamentResult:
    """Play the missing deals of a tournament, and write its page."""
    where = {"executor": settings.executor, "address": settings.address, "log": folder.log}
    with pool_of(settings.workers, **where) as pool:
        tournament = Tournament(folder, settings, pool, kept=kept, trust=trust, objects=objects)
        with tournament.store as store:
            tournament.play(progress, announce)
            result = TournamentResult.of(store, tournament.remarks)
    write_tournament_page(folder, result.remarks)
    return result


def how_to_resume(out: str | Path | None) -> str:
    """Return instructions to resume in Python after Ctrl-C."""
    if out is None:
        return "nothing was saved; name a folder, out=..., and the same call will resume"
    return f"nothing is lost; the same call, with out={str(out)!r}, resumes"


@contextmanager
def tidy(path: Path) -> Generator[None]:
    """Remove a new folder if nothing can be played in it."""
    with writing(path):
        new = not path.exists()
    try:
        yield
    except BaseException:
        if new and not [*path.glob("*.npz")]:
            rmtree(path, ignore_errors=True)
        raise


@contextmanager
def folder_of(out: str | Path | None) -> Generator[Path]:
    """Open the folder of a tournament; without a name, a temporary one."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory(prefix="kille-") as path:
        yield Path(path) / "tournament"


def _by_name(players: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """Return the entrants by name."""
    if isinstance(players, Mapping):
        return dict(players)
    twice = [name for name, times in Counter(map(str, players)).items() if times > 1]
    if twice:
        raise ConfigError(
            f"two entrants are called {twice[0]!r}; give each its own name, as in "
            f"{{'first': {twice[0]!r}, 'second': {twice[0]!r}}}"
        )
    return {name: name for name in players}


def _player(value: Any) -> Any:
    return value.get("player") if isinstance(value, Mapping) else value
