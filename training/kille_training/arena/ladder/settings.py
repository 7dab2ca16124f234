"""Settings and folder of a ladder."""

import shlex
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.arena.ladder.submissions import Submissions
from kille_training.arena.settings import Executor, TablesSettings, TournamentSettings
from kille_training.arena.tournament import Folder
from kille_training.arena.work import Entrant
from kille_training.settings import OneSize, as_yaml, load, settings


@settings
class LadderSettings:
    """A ladder.

    Attributes:
        game: Name of the game.
        num_players: Seats of its tables, P.
        rules: Preset and switches, as `kille_env.make(rules=...)` takes them.
        episode: "deal" or "match", see `TablesSettings`.
        seed: Seed of the deals and of everything that is drawn.
        deals: Deals of each table of a round, D.
        tables: Tables of a round; 0 is as many as all players fill. A newcomer has one of its own.
        test_deals: Deals that each running test plays beside a round.
        tests_at_once: Tests that run at a time; the others wait for their turn.
        time_limit: Seconds that a player may take for one batch of decisions.
        batch_tables: Tables that are played side by side, and whose results are kept together.
        executor: "local" or "ray", see `TournamentSettings`.
        workers: Work units that are played at a time, see `TournamentSettings`.
    """

    game: str = "byteskille"
    num_players: OneSize = 3
    rules: Mapping[str, Any] = field(default_factory=dict)
    episode: str = "deal"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    deals: Annotated[int, Field(ge=2)] = 100
    tables: Annotated[int, Field(ge=0)] = 0
    test_deals: Annotated[int, Field(ge=2)] = 1_000
    tests_at_once: Annotated[int, Field(ge=1)] = 4
    time_limit: Annotated[float, Field(gt=0)] = 60.0
    batch_tables: Annotated[int, Field(ge=1)] = 16_384
    executor: Executor = "local"
    workers: Annotated[int, Field(ge=0)] = 1

    def __post_init__(self) -> None:
        """Refuses a game, a switch or a table that does not exist."""
        _ = self.table

    @property
    def table(self) -> TablesSettings:
        """What is played, as a tournament has it."""
        return TablesSettings(self.game, (self.num_players,), self.rules, self.episode)

    def tournament(self, entrants: Mapping[str, Entrant], **values: Any) -> TournamentSettings:
        """Returns the settings of a tournament at the ladder's tables.

        Args:
            entrants: Who takes part, by name.
            **values: What else it has.
        """
        return TournamentSettings(
            table=self.table,
            entrants={
                name: {"player": each.player, "play": each.play} for name, each in entrants.items()
            },
            time_limit=self.time_limit,
            batch_tables=self.batch_tables,
            executor=self.executor,
            workers=self.workers,
            **{"seed": self.seed, **values},
        )


class LadderFolder(Folder):
    """The folder of a ladder.

    Attributes:
        config: The settings.
        submissions: Who waits to enter.
        tests: The folders of the tests.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.config, self.tests = path / "ladder.yaml", path / "tests"
        self.submissions = Submissions(path)

    def create(self, settings: LadderSettings) -> None:
        """Writes the settings of a new ladder.

        Raises:
            ConfigError: There is something else, or a ladder already.
        """
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ConfigError(f"{self.path} is there already; name a new folder for the ladder")
        self.path.mkdir(parents=True, exist_ok=True)
        text = (
            "# The settings of this ladder. tables, tests_at_once, time_limit, batch_tables,\n"
            "# executor and workers may change while nothing plays; the others stay as they are.\n"
        )
        write_whole(self.config, (text + as_yaml(settings)).encode())

    def ladder_settings(self) -> LadderSettings:
        """Reads the settings.

        Raises:
            ConfigError: The folder holds no ladder.
        """
        if not self.config.is_file():
            raise ConfigError(
                f"{self.path} holds no ladder: there is no {self.config.name}; begin one with: "
                f"kille ladder new {shlex.quote(str(self.path))}"
            )
        return load(LadderSettings, self.config)
