"""What a saved policy was made for, and how another table differs from that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from kille_env.core.spec import Rules, width
from kille_env.errors import PolicyError, shortened
from kille_env.registry import Table, spec


@dataclass(frozen=True)
class Metadata:
    """The table that a policy was made for.

    Attributes:
        game: The game.
        game_version: Version of the game whose observations it reads.
        num_players: Seats.
        rules: Every switch with its value.
        made: How it was made, for people.
    """

    KINDS: ClassVar[dict[str, type]] = {
        "game": str,
        "game_version": int,
        "num_players": int,
        "rules": dict,
        "made": dict,
    }

    game: str
    game_version: int
    num_players: int
    rules: Mapping[str, Any]
    made: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Returns what a file says.

        Raises:
            ValueError: Something is missing, or of another type; the message names it.
        """
        for name, kind in cls.KINDS.items():
            value = content.get(name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise ValueError(f"{name} is {shortened(value)}, expected {kind.__name__}")
        return cls(**{name: content[name] for name in cls.KINDS})

    @classmethod
    def of(cls, table: Table) -> "Metadata":
        """Return the metadata of a policy that was made for a table."""
        return Metadata(table.game, table.version, table.num_players, table.rules.as_dict())

    @property
    def table(self) -> Table:
        """The table that it was made for.

        Raises:
            RulesError: There is no such rule now.
        """
        rules = spec(self.game).resolve(dict(self.rules))
        return Table(self.game, self.num_players, rules, self.game_version)

    def at(self, num_players: int, episode: Any) -> Self:
        """Return it at another of its tables; itself where it was made for one alone."""
        return self

    def check(self, what: str, game: str, num_players: int, rules: Rules) -> None:
        """Refuses a table that the policy was not made for.

        Args:
            what: What errors call the policy.
            game: The game of the table.
            num_players: Its seats.
            rules: Its rules.

        Raises:
            PolicyError: The message names every difference.
        """
        if wrong := self.differences(game, num_players, rules):
            raise PolicyError(f"{what} does not fit this table: {'; '.join(wrong)}")

    @property
    def seats(self) -> str:
        """How many seats it was made for, for people."""
        return str(self.num_players)

    def differences(self, game: str, num_players: int, rules: Rules) -> list[str]:
        """Return in words what a table has otherwise; empty if it is the one it was made for."""
        if self.game != game:
            return [f"it plays {self.game}, not {game}"]
        wrong = []
        version = spec(game).version
        if self.game_version != version:
            wrong.append(
                f"it was made for version {self.game_version} of {game}, this is {version}"
            )
        if self.num_players != num_players:
            wrong.append(f"it was made for {self.seats} seats, not {num_players}")
        # A switch that is younger than the policy has its default: play as it was before.
        preset, theirs = str(self.rules.get("preset")), rules.as_dict()
        younger = {each.name: each.value_for(preset) for each in spec(game).switches}
        mine = {**younger, **self.rules}
        for name in sorted((mine.keys() | theirs.keys()) - {"preset"}):
            if mine.get(name) != theirs.get(name):
                its = shortened(mine.get(name))
                wrong.append(f"its rule {name} is {its}, not {theirs.get(name)!r}")
        return wrong


def check_size(what: str, features: int, actions: int, game: str, num_players: int) -> None:
    """Refuses a table with other observations or actions.

    Args:
        what: What errors call the policy.
        features: F that it reads.
        actions: A that it knows.
        game: The game of the table.
        num_players: Its seats.

    Raises:
        PolicyError: The message names both numbers.
    """
    table = spec(game)
    needed = (width(table.observation(num_players)), table.num_actions)
    if (features, actions) != needed:
        raise PolicyError(
            f"{what} reads {features} features and knows {actions} actions; "
            f"{game} with {num_players} seats has {needed[0]} and {needed[1]}"
        )
