"""Switches: the rules of a game that can be set, and the numbers by which kernels know them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeGuard

import numpy as np

from kille_env.core.pack import Pack
from kille_env.core.rules import Value
from kille_env.errors import CardError, RulesError, shortened


def is_whole(value: Any) -> TypeGuard[int | np.integer]:
    """Return whether a value is a whole number of Python or NumPy; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def member_names(members: type[IntEnum]) -> tuple[str, ...]:
    """Return the names of an enum's members: values of a switch, phases or actions of a game."""
    return tuple(member.name.lower() for member in members)


@dataclass(frozen=True)
class Switch:
    """One rule that can be set.

    Attributes:
        name: Its key in `rules`.
        meaning: Its effect, in a line.
        default: Its value by preset (the first of them for a preset that is not named), or one
            value for all.
        values: The choices; empty for a whole number.
        minimum, maximum: Least and largest whole number.
        even: Whether the whole number must be even.
        nullable: Whether None ("as the game ends by itself") is a value too.
        decision: Its number in the register of decisions of the game's page.
        pays: Whether only the payment of a hand reads it: tables that differ in it alone are the
            same up to there, so a tree of one serves all.
    """

    name: str
    meaning: str
    default: Value | Mapping[str, Value]
    values: tuple[str | bool, ...] = ()
    minimum: int = 0
    even: bool = False
    nullable: bool = False
    decision: str = ""
    maximum: int = 1_000_000_000
    pays: bool = False

    def value_for(self, preset: str) -> Value:
        """Return the value that a preset gives it."""
        if not isinstance(self.default, Mapping):
            return self.default
        return self.default.get(preset, next(iter(self.default.values())))

    def plain(self, value: Any) -> Value:
        """Return a possible value as rules keep it: a number of NumPy becomes one of Python."""
        return value.item() if isinstance(value, np.generic) else value

    def encode(self, value: Any) -> int:
        """Return the number that stands for `value` in the kernels' record.

        Raises:
            RulesError: The value is impossible; the message says what is possible.
        """
        # -1 is none of the numbers that a switch can have.
        if value is None and self.nullable:
            return -1
        if self.values:
            for code, known in enumerate(self.values):
                # The type too: 1 == True in Python, but a switch takes one or the other.
                if isinstance(value, type(known)) and value == known:
                    return int(known) if isinstance(known, bool) else code
        elif (
            is_whole(value)
            and self.minimum <= value <= self.maximum
            and not (self.even and value % 2)
        ):
            return int(value)
        raise RulesError(f"switch {self.name!r} is {shortened(value)}, expected {self.possible()}")

    def possible(self) -> str:
        """Return the possible values as text."""
        if self.values:
            words = [str(v).lower() if isinstance(v, bool) else repr(v) for v in self.values]
            return " or ".join(words)
        kind = "an even whole number" if self.even else "a whole number"
        least = self.minimum + (self.minimum % 2 if self.even else 0)
        most = f" to {self.maximum}" if self.maximum < Switch.maximum else ""
        return f"{kind} from {least}{most}" + (" or null" if self.nullable else "")


@dataclass(frozen=True)
class PackSwitch(Switch):
    """The switch for the cards that are played with.

    A value is codes of cards, each of which is there in all its copies: "BL+L4+L8"; None is the
    whole pack. Kernels read the set of the cards that are left out: bit c stands for card c.

    Attributes:
        pack: The whole pack.
    """

    pack: Pack = field(kw_only=True)

    def plain(self, value: Any) -> Value:
        """Return the codes in the order of the pack; None if that is all of it."""
        known = self._codes(value)
        return None if known == list(self.pack.codes) else "+".join(known)

    def encode(self, value: Any) -> int:
        """Return the set of the cards that are left out; see `Switch.encode`."""
        known = self._codes(value)
        cards = range(self.pack.size)
        return sum(1 << card for card in cards if self.pack.code(card) not in known)

    def possible(self) -> str:
        """Return the possible values as text."""
        return "codes of cards joined by +, each once, or null for the whole pack"

    def _codes(self, value: Any) -> list[str]:
        """Return the codes that a value names, in the order of the pack."""
        if value is None:
            return list(self.pack.codes)
        said = f"switch {self.name!r} is {shortened(value)}, expected {self.possible()}"
        if not isinstance(value, str):
            raise RulesError(said)
        codes = value.split("+")
        try:
            kinds = sorted(map(self.pack.parse, codes))
        except CardError as error:
            raise RulesError(f"{said}: {error}") from None
        if len(set(kinds)) < len(kinds):
            raise RulesError(said)
        return [self.pack.codes[kind] for kind in kinds]
