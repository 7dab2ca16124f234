"""The tables at which the benchmark's methods learn and are measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kille_env.core.spec import Rules, Value
from kille_env.errors import KilleError, did_you_mean
from kille_env.registry import Table, spec
from kille_training.solving.size import is_exact


@dataclass(frozen=True)
class BenchmarkTable:
    """A game, its seats and its rules.

    Attributes:
        name: What settings and pages call it.
        game: The game.
        num_players: P, the seats.
        episode: "deal" or "match".
        switches: Rules that differ from the game's default preset.
    """

    name: str
    game: str
    num_players: int
    episode: str = "deal"
    switches: Mapping[str, Value] = field(default_factory=dict)

    @cached_property
    def rules(self) -> Rules:
        """All rules."""
        return spec(self.game).resolve({**self.switches, "episode": self.episode})

    @property
    def is_exact(self) -> bool:
        """Whether NashConv of a policy is computed exactly here, without sampling."""
        return is_exact(self.num_players, self.rules)

    @property
    def table(self) -> Table:
        """The table itself."""
        return Table.of(self.game, self.num_players, self.rules)


def _byteskille(seats: int, suffix: str = "", **options: Any) -> BenchmarkTable:
    return BenchmarkTable(f"byteskille-{seats}{suffix}", "byteskille", seats, **options)


TABLES: Mapping[str, BenchmarkTable] = {
    table.name: table
    for table in (
        *(_byteskille(seats) for seats in (2, 3, 4)),
        *(_byteskille(seats, "-noquestion", switches={"fraga": "off"}) for seats in (2, 3)),
        _byteskille(2, "-match", episode="match"),
        BenchmarkTable("kungsholmskille-4", "kungsholmskille", 4),
        BenchmarkTable("krypkille-4", "krypkille", 4),
        BenchmarkTable("knack-4", "knack", 4),
        BenchmarkTable("femkortskille-4", "femkortskille", 4),
    )
}
"""By name. With four seats nobody may ask for better cards anyway."""


def table_named(name: str) -> BenchmarkTable:
    """Returns a table of the benchmark.

    Raises:
        KilleError: There is no such table; the message suggests one.
    """
    if name not in TABLES:
        raise KilleError(f"the benchmark has no table {name!r}. {did_you_mean(name, TABLES)}")
    return TABLES[name]
