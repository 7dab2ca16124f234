"""Tournaments and comparisons from Python: `kille_training.play_tournament` and `.compare`.

The commands `kille tournament` and `kille compare` call the same functions, so the same players,
deals and seats earn the same units to the bit. Players may be Python objects: functions, classes,
torch modules, models of Stable-Baselines3, policies. They play in this process or, as copies, in
others, and a folder recognizes them by their fingerprints.
"""

import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

from kille_env.errors import ConfigError
from kille_env.policy import PlayerLike
from kille_env.registry import Table
from kille_training.arena.compare import (
    BY,
    Comparison,
    Question,
    play_comparison,
)
from kille_training.arena.entrants import OBJECT
from kille_training.arena.fingerprints import fingerprint_of
from kille_training.arena.results import TournamentResult
from kille_training.arena.settings import (
    NONE,
    Bots,
    Fill,
    Format,
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
)
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder, Progress, Tournament, executor_of
from kille_training.labels import SEED, unit_of
from kille_training.scores import bounds_of, uncut_of
from kille_training.statistics.sequential import Hypotheses
from kille_training.tables import RulesLike, seat

MARK = 16
"""Characters of a fingerprint that tell an object from all others."""
Shown = Callable[[Store, str], AbstractContextManager[Progress | None]]
"""Opens what shows the progress of a tournament, given its results and the kind of episode."""


def play_tournament(
    players: Mapping[str, Any] | Sequence[str],
    game: str | None = None,
    *,
    num_players: int | Sequence[int] | None = None,
    rules: RulesLike = None,
    episode: str | None = None,
    orders: int | str = 1,
    format: Format = "round_robin",
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
    readmit: Sequence[str] = (),
    transfer: bool = False,
    trust: bool = False,
) -> TournamentResult:
    """Plays a tournament.

        import kille_training as kt

        def even(observation, mask):
            return mask / mask.sum(axis=1, keepdims=True)

        print(kt.play_tournament({"even": even, "rule": "rule_of_thumb"}, num_players=2, deals=200))

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
        orders: Orders round the table that a lineup plays at every deal; "all" is every one.
        format: "round_robin", "gauntlet", "swiss" or "random"; docs/tournaments.md says more.
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
            None is a temporary one, which lasts as long as what is returned. Objects are recognized
            by what they are, their code and their state, or by an attribute `fingerprint`, a text
            or a method that returns one.
        readmit: Names of entrants that are out and may play again.
        transfer: Whether policies that were made for other tables may take part; the result says
            so.
        trust: Whether model files that can run code may be loaded.

    Returns:
        The standings, crosstables and the page, as data frames and HTML. A notebook shows the
        standings.

    Raises:
        ConfigError: It cannot be played; the message says why.
    """
    named = dict(players) if isinstance(players, Mapping) else {name: name for name in players}
    first = num_players[0] if isinstance(num_players, Sequence) else num_players
    table, named, transferred = _seated(named, game, first, episode, rules, transfer, trust)
    sizes = (table.num_players,) if num_players is None else num_players
    if fill is None:
        most = max(sizes) if isinstance(sizes, Sequence) else table.num_players
        few = population == NONE and len(named) < most
        fill = "copies" if few and format in ("round_robin", "gauntlet") else "distinct"
    entrants, objects = _entrants(named, out is not None)
    with ExitStack() as stack:
        folder = stack.enter_context(_folder(out))
        settings = TournamentSettings(
            name=folder.path.resolve().name,
            seed=seed,
            table=_settings_of(table, sizes, orders),
            entrants=entrants,
            population=population,
            matchmaking=MatchmakingSettings(format, fill, deals, hero, rounds, lineups),
            time_limit=time_limit,
            batch_tables=batch_tables,
            workers=workers,
        )
        result = play_in_folder(folder, settings, readmit=readmit, trust=trust, objects=objects)
        result = replace(result, transferred=transferred)
        if out is None:
            finalize(result, stack.pop_all().close)
        return result


def compare(
    better: PlayerLike,
    worse: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    by: float | None = None,
    low: float = 0.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    most: int = 0,
    bounds: tuple[float, float] | None = None,
    rules: RulesLike = None,
    episode: str | None = None,
    seed: int = SEED,
    workers: int = 0,
    time_limit: float = 60.0,
    out: str | Path | None = None,
    transfer: bool = False,
    trust: bool = False,
    looked: Callable[[Comparison], None] = lambda _: None,
) -> Comparison:
    """Plays until it is known whether a player earns more than another, or less than that and `by`.

        import kille_training as kt

        print(kt.compare("rule_of_thumb", "uniform", num_players=2, by=0.05))

    Args:
        better: The player that is asked about; see `play_tournament` for what a player is.
        worse: The player whose copies fill the other seats.
        game: The game; the default is the one that a policy of the two was made for, or byteskille.
        num_players: Seats of the table; the default is what it was made for, or the game's.
        by: Units per deal (or match) above `low` that are to be told from it; None is 0.005 for
            deals and 0.05 for matches.
        low: Units per deal that are not enough.
        alpha: Chance of a wrong "more than low".
        beta: Chance of a wrong "less than low + by".
        most: Deals after which it ends undecided; 0 is never.
        bounds: Lowest and highest score of a deal; None takes what the rules imply, and cuts what
            is far beyond several deals from matches.
        rules: Preset and switches, as `kille_env.make` takes them; likewise.
        episode: "deal" or "match"; likewise.
        seed: Seed of the deals.
        workers: Processes; 0 is this process.
        time_limit: Seconds that a player may take for one batch of decisions.
        out: Folder of the comparison, which the same call resumes; None keeps nothing on disk.
        transfer: Whether a policy that was made for another table may play at this one; the result
            says so.
        trust: Whether model files that can run code may be loaded.
        looked: Called with what has been found after each look.

    Raises:
        ConfigError: One of the two cannot play, or failed; the message says why.
    """
    if by is not None and not by > 0:
        raise ConfigError(f"by is {by}; expected more than 0: the units that are to be told apart")
    names = [_name(player) for player in (better, worse)]
    if names[0] == names[1]:
        if better == worse:
            raise ConfigError(f"{names[0]!r} is compared with itself; name two players")
        names[1] += " (2)"
    named: dict[str, Any] = dict(zip(names, (better, worse), strict=True))
    table, named, transferred = _seated(named, game, num_players, episode, rules, transfer, trust)
    unit = unit_of(table.rules["episode"])
    by = BY[unit] if by is None else by
    entrants, objects = _entrants(named, out is not None)
    with _folder(out) as folder:
        settings = TournamentSettings(
            name=folder.path.resolve().name,
            seed=seed,
            table=_settings_of(table, (table.num_players,)),
            entrants=entrants,
            matchmaking=MatchmakingSettings("gauntlet", "copies", hero=names[0]),
            time_limit=time_limit,
            workers=workers,
        )
        least, greatest = bounds or bounds_of(table.rules, table.num_players)
        uncut = None if bounds else uncut_of(table.rules, table.num_players)
        hypotheses = Hypotheses(low, low + by, least, greatest, alpha, beta, most, uncut)
        question = Question(names[0], names[1], table.num_players, unit, hypotheses)

        def placed(found: Comparison) -> Comparison:
            return replace(found, table=table, transferred=transferred)

        found = play_comparison(
            folder, settings, question, lambda found: looked(placed(found)),
            trust=trust, objects=objects,
        )  # fmt: skip
        return placed(found)


def play_in_folder(
    folder: Folder,
    settings: TournamentSettings,
    shown: Shown = lambda store, episode: nullcontext(),
    *,
    address: str | None = None,
    readmit: Sequence[str] = (),
    trust: bool = False,
    objects: Mapping[str, PlayerLike] | None = None,
) -> TournamentResult:
    """Plays what is missing of a tournament.

    Args:
        folder: Where it lies, or is to lie.
        settings: What is to be played.
        shown: Opens what shows its progress.
        address: Of the Ray cluster, for the executor "ray".
        readmit: Names of entrants that are out and may play again.
        trust: Whether model files that can run code may be loaded.
        objects: Players that are Python objects, by what the settings call the player.

    Raises:
        KilleError: It cannot be played; the message says why.
    """
    with executor_of(settings, folder, address=address, objects=objects) as executor:
        played = Tournament(folder, settings, trust=trust, objects=objects)
        try:
            played.store.forget_failures(readmit)
            with shown(played.store, settings.table.episode) as progress:
                played.play(executor, progress)
            return TournamentResult.of(played.store, settings.table.episode, folder.path)
        finally:
            played.close()


@contextmanager
def _folder(out: str | Path | None) -> Generator[Folder]:
    """Opens the folder of a tournament; without a name, one that lasts as long as the context."""
    if out is not None:
        yield Folder(Path(out))
        return
    with TemporaryDirectory(prefix="kille-") as path:
        yield Folder(Path(path) / "tournament")


def _entrants(
    players: Mapping[str, Any], keep: bool
) -> tuple[dict[str, Any], dict[str, PlayerLike]]:
    """Returns entrants for the settings, and those of their players that are Python objects.

    Args:
        players: The entrants by name, as `play_tournament` takes them.
        keep: Whether results are kept. What the settings call an object then ends with its
            fingerprint, by which a later call recognizes it.
    """
    entrants: dict[str, Any] = {}
    objects: dict[str, PlayerLike] = {}
    for name, value in players.items():
        fields = dict(value) if isinstance(value, Mapping) else {"player": value}
        player = fields.get("player")
        if isinstance(player, Path):
            fields["player"] = str(player)
        elif player is not None and not isinstance(player, str):
            mark = fingerprint_of(name, player) if keep else uuid.uuid4().hex
            fields["player"] = f"{OBJECT}{_name(player)} {mark[:MARK]}"
            objects[fields["player"]] = player
        entrants[name] = fields
    return entrants, objects


def _name(player: Any) -> str:
    """Returns what a player is called that has been given no name."""
    if isinstance(player, (str, Path)):
        return str(player)
    for attribute in ("name", "__name__"):
        if isinstance(found := getattr(player, attribute, None), str):
            return found
    return type(player).__name__


def _seated(
    named: Mapping[str, Any],
    game: str | None,
    num_players: int | None,
    episode: str | None,
    rules: RulesLike,
    transfer: bool,
    trust: bool,
) -> tuple[Table, dict[str, Any], dict[str, str]]:
    """Returns the table, the entrants as they play there, and which of them are transferred."""
    fields = [
        dict(value) if isinstance(value, Mapping) else {"player": value} for value in named.values()
    ]
    players: list[Any] = [each.get("player") for each in fields]
    table, players, transferred = seat(
        players, game, num_players, episode, rules, transfer=transfer, trust=trust
    )
    entrants = {
        name: {**each, "player": player} if isinstance(value, Mapping) else player
        for (name, value), each, player in zip(named.items(), fields, players, strict=True)
    }
    return table, entrants, transferred


def _settings_of(table: Table, sizes: Any, orders: int | str = 1) -> TablesSettings:
    switches = table.rules.as_dict()
    return TablesSettings(table.game, sizes, switches, str(switches.pop("episode")), orders)
