"""Rules for tests of tables that have rules of their own."""

from collections.abc import Sequence

import kille_env
from kille_env.core.rules import RulePool, Rules

TABLES = 24


class Space(RulePool):
    """A space with a given pool."""

    def __init__(self, game: str, pool: Sequence[Rules]) -> None:
        self.game, self.pool = game, tuple(pool)

    def rules(self) -> tuple[Rules, ...]:
        return self.pool


def seats_of(game: str) -> int:
    spec = kille_env.spec(game)
    return max(2, spec.min_players)


def rule_sets(game: str) -> list[Rules]:
    """Return rules that differ in switches, in cards where the game has such, and in length."""
    spec = kille_env.spec(game)
    return [
        *(spec.resolve(preset) for preset in spec.presets),
        spec.resolve(spec.presets[0], episode="match"),
    ]


def by_table(game: str, number: int = TABLES) -> list[Rules]:
    pool = rule_sets(game)
    return [pool[table % len(pool)] for table in range(number)]
