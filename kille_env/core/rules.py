"""Resolved rules: one rule set, or those of many tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

import numpy as np

from kille_env.errors import RulesError

Value = str | bool | int | None
EPISODES = ("match", "deal")
DEFAULT_EPISODE = "deal"
"""The default of the option `episode`, at all tables of the suite."""
SINGLE_DEAL = EPISODES.index("deal")  # the number in a rules record's `episode`


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """Resolved rules of a game.

    Attributes:
        game: The game's name.
        values: Every switch with its value, with "preset" and "episode" first.
        record: The same for the kernels, shape [1].
        is_one: Whether this is one rule set, as it is but for `RuleSets`.
    """

    is_one: ClassVar[bool] = True

    game: str
    values: Mapping[str, Value]
    record: np.ndarray

    def __eq__(self, other: object) -> bool:
        """Two rules are equal if they play the same game in the same way, by any preset."""
        return (
            isinstance(other, Rules)
            and self.game == other.game
            and self.record.tobytes() == other.record.tobytes()
        )

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((self.game, self.record.tobytes()))

    def __repr__(self) -> str:
        switches = ", ".join(f"{name}={value}" for name, value in self.values.items())
        return f"<Rules of {self.game}: {switches}>"

    def __getitem__(self, name: str) -> Value:
        """Return the value of a switch."""
        return self.values[name]

    def number(self, name: str) -> int:
        """Return the value of a switch that is a whole number."""
        return int(self.record[name][0])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the values and the record: a read-only view of a mapping cannot be."""
        return _rules_again, (self.game, dict(self.values), self.record)

    @property
    def base(self) -> Mapping[str, Value] | None:
        """Its values, or those that a space begins from; None where there are several by a list."""
        return self.values

    def as_dict(self) -> dict[str, Value]:
        """Return every switch with its value, as JSON can hold it."""
        return dict(self.values)


class RuleSets(Rules):
    """The rule sets of tables that do not share one.

    Where one rule set is needed, as by a result or an exact measure, they are refused.

    Attributes:
        sets: The distinct rule sets, R.
        index: [N] the number of each table's rule set; None where each match draws one.
        record: [R] records for the kernels.
        space: The space that they are drawn from, `RulePool.content`; None for a list.
        told_apart: Whether their features are known to differ.
    """

    is_one: ClassVar[bool] = False
    told_apart: bool
    sets: tuple[Rules, ...]
    index: np.ndarray | None
    space: Mapping[str, Any] | None

    def __init__(
        self,
        game: str,
        sets: Sequence[Rules],
        index: np.ndarray | None = None,
        space: Mapping[str, Any] | None = None,
    ) -> None:
        """Take distinct rule sets of one game."""
        record = np.concatenate([one.record for one in sets])
        record.flags.writeable = False
        self.__dict__.update(
            game=game, sets=tuple(sets), index=index, record=record, space=space, told_apart=False
        )

    @classmethod
    def by_table(cls, game: str, given: Sequence[Rules]) -> "RuleSets":
        """Return the rule sets of N tables, one each; equal ones are kept once."""
        numbers = {one: number for number, one in enumerate(dict.fromkeys(given))}
        return cls(game, list(numbers), np.array([numbers[one] for one in given], dtype=np.int32))

    def at(self, rows: np.ndarray | slice) -> "RuleSets":
        """Return the rule sets of copies of tables [M]."""
        found = object.__new__(RuleSets)  # without joining the records anew
        index = None if self.index is None else self.index[rows]
        found.__dict__.update({**self.__dict__, "index": index})
        return found

    def refuse(self) -> NoReturn:
        """Raise the error that one rule set is needed."""
        raise RulesError(
            f"this needs the rules of one table of {self.game}, and got {self}: name one rule set"
        )

    @property
    def values(self) -> Mapping[str, Value]:  # type: ignore[override]
        """Refuse: there is no value of all."""
        self.refuse()

    @property
    def base(self) -> Mapping[str, Value] | None:
        """See `Rules`."""
        return self.space["base"] if self.space else None

    def number(self, name: str) -> int:
        """Refuse: there is no value of all."""
        self.refuse()

    def _key(self) -> tuple[Any, ...]:
        index = None if self.index is None else self.index.tobytes()
        return self.game, self.record.tobytes(), index

    def __eq__(self, other: object) -> bool:
        """Two are equal if their tables play by equal rules."""
        return isinstance(other, RuleSets) and self._key() == other._key()

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self._key())

    def __str__(self) -> str:
        return f"the space {self.space['name']}" if self.space else f"{len(self.sets):,} rule sets"

    def __repr__(self) -> str:
        drawn = ", drawn at each match" if self.index is None else ""
        return f"<{self} of {self.game}{drawn}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RuleSets, (self.game, self.sets, self.index, self.space)


class RulePool:
    """Base of `kille_env.core.rule_space.RuleSpace`, which draws the rules of each match.

    Attributes:
        game: Name of the game.
        content: What the pool is a sample of, as JSON can hold it; None if it is all there is.
    """

    game: str
    content: Mapping[str, Any] | None = None

    def rules(self) -> Sequence[Rules]:
        """Return the rule sets of the pool, all different."""
        raise NotImplementedError


RulesLike = Rules | Mapping[str, Any] | str | Sequence[Any] | RulePool | None
"""What `GameSpec.resolve` takes."""


def _rules_again(game: str, values: dict[str, Value], record: np.ndarray) -> Rules:
    return Rules(game, MappingProxyType(values), record)
