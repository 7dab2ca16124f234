"""The tables at which the benchmark's methods learn and are measured."""

from collections.abc import Mapping

from kille_env.errors import KilleError, did_you_mean
from kille_env.registry import Table
from kille_training.solving.size import is_exact

_WITHOUT = {"fraga": "off"}

TABLES: Mapping[str, Table] = {
    "byteskille-2": Table.of("byteskille", 2),
    "byteskille-3": Table.of("byteskille", 3),
    "byteskille-4": Table.of("byteskille", 4),
    "byteskille-2-noquestion": Table.of("byteskille", 2, _WITHOUT),
    "byteskille-3-noquestion": Table.of("byteskille", 3, _WITHOUT),
    "byteskille-2-match": Table.of("byteskille", 2, episode="match"),
    "kungsholmskille-4": Table.of("kungsholmskille", 4),
    "krypkille-4": Table.of("krypkille", 4),
    "knack-4": Table.of("knack", 4),
    "femkortskille-4": Table.of("femkortskille", 4),
}
"""By name. With four seats nobody may ask for better cards anyway."""


def table_named(name: str) -> Table:
    """Returns a table of the benchmark.

    Raises:
        KilleError: There is no such table; the message suggests one.
    """
    if name not in TABLES:
        raise KilleError(f"the benchmark has no table {name!r}. {did_you_mean(name, TABLES)}")
    return TABLES[name]


def measured_exactly(name: str) -> bool:
    """Returns whether NashConv of a policy is computed exactly at a table, without sampling."""
    table = table_named(name)
    return is_exact(table.num_players, table.rules)
