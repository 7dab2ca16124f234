"""Metadata of a saved policy: its tables, and the way it was made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, get_origin, get_type_hints

from kille_env.errors import KilleError, PolicyError, shortened
from kille_env.registry import Table


@dataclass(frozen=True)
class Metadata:
    """The table that a policy was made for."""

    game: str
    game_version: int  # version of the game whose observations it reads
    num_players: int
    rules: Mapping[str, Any]  # every switch with its value
    made: Mapping[str, Any] = field(default_factory=dict)  # how it was made, for people

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Return the metadata in the content of a file."""
        kinds = {name: get_origin(hint) or hint for name, hint in get_type_hints(cls).items()}
        for name, kind in kinds.items():
            value, kind = content.get(name), dict if kind is Mapping else kind
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise ValueError(f"{name} is {shortened(value)}, expected {kind.__name__}")
        return cls(**{name: content[name] for name in kinds})

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables that it was made for; a switch that is younger has its default there."""
        return (self._table(self.num_players, {}),)

    def _table(self, num_players: int, changes: Mapping[str, Any]) -> Table:
        content = {"game": self.game, "num_players": num_players, "version": self.game_version}
        try:
            return Table.read({**content, "rules": {**self.rules, **changes}})
        except KilleError as error:
            raise PolicyError(f"the policy's rules do not exist here: {error}") from None
