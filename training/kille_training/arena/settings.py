"""Settings of a tournament: who plays what against whom, and how much of it."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, did_you_mean
from kille_env.registry import load_game
from kille_training.arena.seating import check_orders
from kille_training.arena.units import PLAYS, Entrant
from kille_training.settings import Sizes, load, settings

FORMATS = ("round_robin", "gauntlet", "swiss", "random")
FILLS = ("distinct", "copies")
EXECUTORS = ("local", "ray")
NOBODY = "none"


@settings
class TablesSettings:
    """What is played.

    Attributes:
        game: Name of the game.
        num_players: Table sizes; each is a tournament of its own among the same entrants.
        rules: Preset and switches, as `kille_env.make(rules=...)` takes them.
        episode: "deal" is one deal, "match" the whole game until a pot is won; then a "deal" of the
            tournament is a match from one shuffle.
        orders: Orders round the table that a lineup plays at every deal, each from all positions: a
            number, or "all".
    """

    game: str = "byteskille"
    num_players: Sizes = (3,)
    rules: Mapping[str, Any] = field(default_factory=dict)
    episode: str = "deal"
    orders: Any = 1

    def __post_init__(self) -> None:
        """Refuses a game, a switch or a table that does not exist."""
        self.resolve()
        for seats in self.num_players:
            load_game(self.game).spec.check_players(seats)
            check_orders(self.orders, seats)

    def resolve(self) -> Rules:
        """Returns the complete rules."""
        if "episode" in self.rules:
            raise ConfigError(
                "table.rules has the key 'episode'; it stands beside them, table.episode"
            )
        return load_game(self.game).spec.resolve(dict(self.rules), episode=self.episode)


@settings
class MatchmakingSettings:
    """Who meets whom.

    Attributes:
        format: "round_robin": everybody meets everybody; "gauntlet": `hero` meets everybody;
            "swiss": in each round neighbours in the standings meet; "random": drawn lineups.
        fill: Who fills a table of more than two seats: "distinct": different entrants, every choice
            of them; "copies": one sits among copies of another. Swiss and random tables are always
            distinct.
        deals: Deals of every lineup; in a Swiss tournament of every round. All lineups of a table
            size play the same ones.
        hero: Name of the entrant who runs the gauntlet.
        rounds: Rounds of a Swiss tournament.
        lineups: Lineups that are drawn for each entrant, of random tables.
    """

    format: str = "round_robin"
    fill: str = "distinct"
    deals: int = 1_000
    hero: str = ""
    rounds: int = 7
    lineups: int = 50

    def __post_init__(self) -> None:
        """Refuses what is no way to meet."""
        for name, value, known in (("format", self.format, FORMATS), ("fill", self.fill, FILLS)):
            if value not in known:
                raise ConfigError(f"matchmaking.{name} is {value!r}. {did_you_mean(value, known)}")
        for name, least in (("deals", 2), ("rounds", 1), ("lineups", 1)):
            if getattr(self, name) < least:
                raise ConfigError(
                    f"matchmaking.{name} is {getattr(self, name)}, expected at least {least}"
                )
        if bool(self.hero) != (self.format == "gauntlet"):
            raise ConfigError(
                f"matchmaking.hero is {self.hero!r}, and the format is {self.format}; a gauntlet "
                "needs a hero, and nothing else has one"
            )


@settings
class TournamentSettings:
    """A tournament.

    Attributes:
        name: Folder of the run below `runs/`.
        seed: Seed of the deals and of all that is drawn.
        table: What is played.
        entrants: Who takes part: by his name in the tournament the player, a name or a path as
            `kille evaluate` takes it, or `{player: ..., play: argmax}`.
        population: Bots of the game that take part besides: "none", "train", "held_out" or "all".
        matchmaking: Who meets whom.
        time_limit: Seconds that a player may take for one batch of decisions.
        batch_tables: Tables that are played side by side, and kept together.
        executor: "local": processes of this machine; "ray": a Ray cluster.
        workers: Units that are played at a time, each by a process of its own. 0 on this machine:
            in the process of the command itself, without a time limit; 0 on a Ray cluster: as many
            as it has processors.
    """

    name: str = "tournament"
    seed: int = 1
    table: TablesSettings = field(default_factory=TablesSettings)
    entrants: Mapping[str, Any] = field(default_factory=dict)
    population: str = NOBODY
    matchmaking: MatchmakingSettings = field(default_factory=MatchmakingSettings)
    time_limit: float = 60.0
    batch_tables: int = 16_384
    executor: str = "local"
    workers: int = 1

    def __post_init__(self) -> None:
        """Refuses what can not be played."""
        if not self.name or Path(self.name).name != self.name or self.name.startswith("."):
            raise ConfigError(f"name is {self.name!r}, expected the name of a folder below runs/")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"seed is {self.seed}, expected a whole number from 0 below 2**63")
        if not 0.0 < self.time_limit < float("inf"):
            raise ConfigError(f"time_limit is {self.time_limit}, expected seconds above 0")
        if self.batch_tables < 1 or self.workers < 0:
            raise ConfigError(
                f"batch_tables is {self.batch_tables} and workers {self.workers}; expected at "
                "least 1 table and no fewer than 0 processes"
            )
        splits = (NOBODY, "train", "held_out", "all")
        for name, value, known in (
            ("population", self.population, splits),
            ("executor", self.executor, EXECUTORS),
        ):
            if value not in known:
                raise ConfigError(f"{name} is {value!r}. {did_you_mean(value, known)}")
        names = [entrant.name for entrant in self.taking_part()]
        hero = self.matchmaking.hero
        if hero and hero not in names:
            raise ConfigError(
                f"matchmaking.hero is {hero!r}, who takes no part. {did_you_mean(hero, names)}"
            )

    def taking_part(self) -> list[Entrant]:
        """Returns all entrants in the order of entering, those with names of their own first.

        Raises:
            ConfigError: There are none, one is no player, or two have one name.
        """
        from kille_agents.population import population

        found = [_entrant(name, value) for name, value in self.entrants.items()]
        if self.population != NOBODY:
            bots = population(self.table.game, self.population)
            found += [Entrant(0, bot, bot) for bot in bots]
        names = [entrant.name for entrant in found]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two entrants are called {name!r}; give one another name")
        if len(found) < 2:
            raise ConfigError(
                f"{len(found)} entrants take part, expected at least 2; name them under entrants, "
                "or take the bots of the game with population: train"
            )
        return [
            Entrant(number, each.name, each.player, each.play) for number, each in enumerate(found)
        ]


def _entrant(name: Any, value: Any) -> Entrant:
    """Returns an entrant as the settings have him."""
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
    play = fields.get("play", PLAYS[0])
    if play not in PLAYS:
        raise ConfigError(
            f"the entrant {name!r} has play {play!r}. {did_you_mean(str(play), PLAYS)}"
        )
    return Entrant(0, name, fields["player"], play)


def load_tournament(path: Path, overrides: Sequence[str] = (), **values: Any) -> TournamentSettings:
    """Reads the settings of a tournament; see `kille_training.settings.load`."""
    return load(TournamentSettings, path, overrides, **values)
