"""Settings of a tournament: table, entrants, matchmaking and machines."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from math import comb
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from kille_agents.greedy import PLAYS
from kille_agents.population import population
from kille_env.errors import ConfigError, did_you_mean
from kille_training.arena.entrants import SAMPLED, Entrant
from kille_training.settings import FolderName, TableSettings, load, settings

Format = Literal["round_robin", "gauntlet", "random"]
Fill = Literal["distinct", "copies"]
Bots = Literal["none", "train", "held_out", "all"]
NONE = "none"
ALL_LINEUPS = 500
"""Maximum number of lineups, orders round the table included, that are all played by default."""


def _by_name(entrants: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: entrants[name] for name in sorted(entrants, key=str)}


@settings
class MatchmakingSettings:
    """The lineups. Places at the table are permuted at random at every deal.

    Attributes:
        format: "round_robin": every entrant meets every other; "gauntlet": `hero` meets every
            other; "random": a random sample of all choices of entrants, anew at every deal. None is
            "random" if there are more than `ALL_LINEUPS` choices, otherwise "round_robin".
        fill: Entrants that fill a table of more than two seats: "distinct": different ones, every
            choice of them; "copies": one entrant among copies of another. Random tables are always
            distinct.
        deals: Deals of every lineup. All lineups play the same ones.
        hero: Name of the entrant that runs the gauntlet.
        lineups: Tables per entrant and deal, plus or minus one, in the format
            "random".
    """

    format: Format | None = None
    fill: Fill = "distinct"
    deals: Annotated[int, Field(ge=2, le=10**9)] = 1_000
    hero: str = ""
    lineups: Annotated[int, Field(ge=1, le=10**6)] = 5

    def __post_init__(self) -> None:
        """Refuse a gauntlet without a hero, and a hero without a gauntlet."""
        if bool(self.hero) != (self.format == "gauntlet"):
            raise ConfigError(
                f"hero is {self.hero!r}, and format is {self.format}; a gauntlet needs a hero, "
                "and no other format has one"
            )


@settings
class TournamentSettings:
    """A tournament.

    Attributes:
        name: Folder of the run below `runs/`.
        seed: Seed of the deals and of all random choices.
        table: The table.
        entrants: The entrants: for each name in the tournament a player, a name or a path as
            `kille evaluate` takes it, or `{player: ..., play: greedy}`, in any order.
        population: Bots of the game that also take part: "none", "train", "held_out" or "all".
        matchmaking: The lineups.
        time_limit: Seconds that a player may take for one batch of decisions.
        batch_tables: Tables that are played side by side.
        transfer: Whether players trained for other tables may take part.
        executor: "local": processes of this machine; "ray": a Ray cluster.
        workers: Number of processes, each playing one shard at a time. 0 plays in the process of
            the command, without a time limit; on a Ray cluster, 0 is its number of processors.
        address: Address of the head of a Ray cluster, HOST:PORT or "auto"; empty starts one here.
    """

    name: FolderName = "tournament"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    table: TableSettings = field(default_factory=TableSettings)
    entrants: Annotated[Mapping[Any, Any], AfterValidator(_by_name)] = field(default_factory=dict)
    population: Bots = NONE
    matchmaking: MatchmakingSettings = field(default_factory=MatchmakingSettings)
    time_limit: Annotated[float, Field(gt=0)] = 60.0
    batch_tables: Annotated[int, Field(ge=1, le=2**24)] = 16_384
    transfer: bool = False
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Field(ge=0)] = 1
    address: str = ""

    def __post_init__(self) -> None:
        """Refuse an impossible table or entrant, and a hero that is not an entrant."""
        self.table.table()
        names = [entrant.name for entrant in self.taking_part()]
        hero = self.matchmaking.hero
        if hero and hero not in names:
            raise ConfigError(
                f"matchmaking.hero is {hero!r}, expected an entrant. {did_you_mean(hero, names)}"
            )

    def all_lineups(self) -> int:
        """Return the number of lineups of different entrants."""
        return comb(len(self.taking_part()), self.table.num_players)

    def with_format(self, kept: Format | None = None) -> "TournamentSettings":
        """Return the settings with the format of stored results, or one chosen by their number."""
        chosen = self.matchmaking
        if chosen.format is not None:
            return self
        many = chosen.fill == "distinct" and self.all_lineups() > ALL_LINEUPS
        found = kept or ("random" if many else "round_robin")
        return replace(self, matchmaking=replace(chosen, format=found))

    def taking_part(self) -> list[Entrant]:
        """Return all entrants, sorted by name; fewer than two, or equal names, are refused."""
        found = [_entrant(name, value) for name, value in self.entrants.items()]
        if self.population != NONE:
            bots = population(self.table.game, self.population)
            found += [Entrant(0, bot, bot) for bot in bots]
        found.sort(key=lambda entrant: entrant.name)
        names = [entrant.name for entrant in found]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two entrants are called {name!r}; give one another name")
        if len(found) < 2:
            raise ConfigError(
                f"{len(found)} entrants take part, expected at least 2; name them under entrants, "
                "or take the bots of the game with population: train"
            )
        return [replace(entrant, number=number) for number, entrant in enumerate(found)]


def _entrant(name: Any, value: Any) -> Entrant:
    """Return an entrant from the settings."""
    if not isinstance(name, str) or not name.strip() or "," in name:
        raise ConfigError(f"an entrant is called {name!r}, expected a text without commas")
    fields = {"player": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping) or not isinstance(fields.get("player"), str):
        raise ConfigError(
            f"the entrant {name!r} is {value!r}, expected a player by name or path, or "
            "{player: ..., play: ...}"
        )
    for key in fields:
        if key not in ("player", "play"):
            raise ConfigError(
                f"the entrant {name!r} has the unknown key {key!r}. "
                f"{did_you_mean(str(key), ('player', 'play'))}"
            )
    play = fields.get("play", SAMPLED)
    if play not in PLAYS:
        raise ConfigError(
            f"the entrant {name!r} has play {play!r}. {did_you_mean(str(play), PLAYS)}"
        )
    return Entrant(0, name, fields["player"], play)


def load_tournament(path: Path, overrides: Sequence[str] = (), **values: Any) -> TournamentSettings:
    """Read the settings of a tournament; see `kille_training.settings.load`."""
    return load(TournamentSettings, path, overrides, **values)


class Folder:
    """The folder of a tournament."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.results = path / "config.yaml", path / "results.npz"
        self.log, self.report = path / "players.log", path / "report.html"

    def settings(self) -> TournamentSettings:
        """Read the settings that the tournament was last played with."""
        if not self.config.is_file():
            raise ConfigError(f"{self.path} is not a tournament: {self.config.name} is missing")
        return load_tournament(self.config)
