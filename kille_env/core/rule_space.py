"""A space of rules: switches that vary, their values, and regions held out from training.

A region is a list of conditions. A condition names values of some switches, and holds for rules
that have one of these values in each of them; rules are in a region if a condition of it holds.
Rules that satisfy no condition are in the region `TRAIN`.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from kille_env.core import arguments, keys
from kille_env.core.rules import RulePool
from kille_env.core.spec import GameSpec, Rules, Switch, is_whole
from kille_env.errors import RulesError, did_you_mean, shortened

TRAIN = "train"
"""The region that training draws from."""
POOL = 2048
"""Most rule sets of a region: of a larger one, a sample that is always the same."""
CANDIDATES = 1 << 16
"""Combinations that are looked at for a pool: all of a space of up to as many."""
MOST = 1 << 40
"""Most combinations of a space: they are numbered."""
KEY = np.uint64(51)
"""Key of the sample of a space."""


class RuleSpace(RulePool):
    """Rules of one game in which some switches vary.

    Example:
        >>> import kille_env
        >>> space = kille_env.rule_space("krypkille-scores")
        >>> len(space.draw(3, seed=7)), space.regions
        (3, ('train', 'test', 'tune'))
        >>> rules = space.region("test").rules()[0]
        >>> space.region_of(rules), space.contains(rules)
        ('test', False)

    Attributes:
        name: Its name.
        game: Name of the game.
        seats: Numbers of seats that all of its rules can be played with.
        base: The rules that hold where nothing varies.
        vary: The values of each switch that varies.
        regions: Its regions: "train" and the held-out ones.
        current: The region of `rules`, `draw` and `contains` where none is named.
    """

    def __init__(
        self,
        spec: GameSpec,
        *,
        name: str = "custom",
        seats: Sequence[int],
        vary: Mapping[str, Sequence[Any]],
        base: Rules | Mapping[str, Any] | str | None = None,
        held_out: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        dull: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Check everything, and draw nothing yet.

        Args:
            spec: The facts about the game.
            name: A name, for errors and results.
            seats: Numbers of seats.
            vary: At least one switch, each with at least two values.
            base: A preset, switches, or resolved rules.
            held_out: Regions by name, each with its conditions: switches that vary, each with some
                of its values.
            dull: Conditions of rules that are in no region: nothing is at stake in them.

        Raises:
            RulesError: There is no such switch or value, or it does not vary here.
        """
        if not isinstance(spec, GameSpec):
            raise RulesError(
                f"a space is made of kille_env.spec(game), got {shortened(spec)} in its place"
            )
        self.name, self.game, self._spec = name, spec.name, spec
        self.base = spec.resolve(base)
        if not self.base.is_one:
            raise RulesError(f"{name}: base is {shortened(base)}, expected one rule set")
        self.seats = _seats(name, spec, seats)
        switches = {switch.name: switch for switch in spec.switches}
        if not isinstance(vary, Mapping) or not vary:
            raise RulesError(
                f"{name}: vary is {shortened(vary)}, expected switches with their values"
            )
        for switch in vary:
            if switch not in switches:
                raise RulesError(
                    f"{name}: {self.game} has no switch {shortened(switch)}. "
                    f"{did_you_mean(switch, switches)}"
                )
        self.vary = {
            switch: _values(f"{name}: vary", switches[switch], values)
            for switch, values in vary.items()
        }
        for switch, values in self.vary.items():
            if len(values) < 2:
                raise RulesError(f"{name}: {switch!r} has one value; set it in base instead")
        self._sizes = tuple(map(len, self.vary.values()))
        if (total := math.prod(self._sizes)) > MOST:
            raise RulesError(
                f"{name}: {total:,} combinations of values, expected at most {MOST:,}; vary fewer "
                "switches or values"
            )
        self._dull = self._conditions("dull", switches, dull)
        if not isinstance(held_out or {}, Mapping):
            raise RulesError(f"{name}: held_out is {shortened(held_out)}, expected regions by name")
        for region in held_out or {}:
            if not isinstance(region, str) or not region:
                raise RulesError(f"{name}: held_out names a region {region!r}, expected a text")
        self._held_out = {
            region: self._conditions(f"held_out.{region}", switches, conditions)
            for region, conditions in (held_out or {}).items()
        }
        if TRAIN in self._held_out:
            raise RulesError(f"{name}: held_out names the region {TRAIN!r}, which is all the rest")
        self.regions, self.current = (TRAIN, *self._held_out), TRAIN
        self._pools: dict[str, tuple[Rules, ...]] = {}

    def __repr__(self) -> str:
        seats = " or ".join(map(str, self.seats))
        return (
            f"<RuleSpace {self.name}: {self.game} with {seats} seats, {len(self.vary)} switches, "
            f"{math.prod(self._sizes):,} combinations; region {self.current} of "
            f"{', '.join(self.regions)}>"
        )

    def region(self, name: str) -> "RuleSpace":
        """Return the space with another current region.

        Raises:
            RulesError: There is no such region.
        """
        found = copy(self)
        found.current = self._known(name)
        return found

    def rules(self, region: str | None = None) -> tuple[Rules, ...]:
        """Return the rule sets of a region, at most `POOL`: always the same ones, all different.

        Args:
            region: Its name; None is the current region.

        Raises:
            RulesError: There is no such region, or it is empty.
        """
        region = self._known(region)
        if region not in self._pools:
            self._pools[region] = self._pool(region)
        return self._pools[region]

    def draw(self, count: int, seed: int = 0, region: str | None = None) -> tuple[Rules, ...]:
        """Return rule sets drawn from a region with replacement, all equally likely.

        Draw i of a seed is the same in a sample of any size.

        Args:
            count: Number of rule sets.
            seed: Seed.
            region: Name of the region; None is the current one.

        Raises:
            RulesError: There is no such region, or it is empty.
        """
        pool, numbers = self.rules(region), np.arange(arguments.whole("count", count, 0))
        words = keys.derive(np.uint64(arguments.seed(seed)), numbers)
        return tuple(pool[int(share * len(pool))] for share in keys.uniforms(words))

    def region_of(self, rules: Rules) -> str | None:
        """Return the region of a rule set; None if it is dull, or not in the space.

        Raises:
            RulesError: These are no resolved rules.
        """
        if not isinstance(rules, Rules):
            raise RulesError(
                f"rules are asked for as kille_env.spec({self.game!r}).resolve(...) returns them, "
                f"got {shortened(rules)}"
            )
        if rules.game != self.game:
            return None
        row = np.zeros((1, len(self.vary)), dtype=np.int64)
        for column, (switch, values) in enumerate(self.vary.items()):
            if rules[switch] not in values:
                return None
            row[0, column] = values.index(rules[switch])
        if self._at(row[0]) != rules or not self._is_playable(rules):
            return None
        return next((name for name in self.regions if self._inside(name, row)[0]), None)

    def contains(self, rules: Rules) -> bool:
        """Return whether a rule set is in the current region."""
        return self.region_of(rules) == self.current

    @cached_property
    def content(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The space as its arguments, which JSON can hold."""
        switches, values = list(self.vary), list(self.vary.values())

        def plain(conditions: list[dict[int, list[int]]]) -> list[dict[str, list[Any]]]:
            return [
                {switches[at]: [values[at][number] for number in row[at]] for at in row}
                for row in conditions
            ]

        return {
            "name": self.name,
            "seats": list(self.seats),
            "base": self.base.as_dict(),
            "vary": {switch: list(values) for switch, values in self.vary.items()},
            "held_out": {region: plain(rows) for region, rows in self._held_out.items()},
            "dull": plain(self._dull),
        }

    @cached_property
    def digest(self) -> str:
        """A digest of the rules and regions: spaces that differ in them have different ones."""
        words = repr((self.base.as_dict(), self.vary, self._held_out, self._dull))
        return hashlib.sha256(words.encode()).hexdigest()[:16]

    @property
    def points(self) -> dict[str, Rules]:
        """The presets of the game that lie in the space, in any region."""
        episode = self.base["episode"]
        presets = {name: self._spec.resolve(name, episode=episode) for name in self._spec.presets}
        return {name: rules for name, rules in presets.items() if self.region_of(rules)}

    def _known(self, region: str | None) -> str:
        region = self.current if region is None else region
        if region not in self.regions:
            raise RulesError(
                f"{self.name} has no region {shortened(region)}. "
                f"{did_you_mean(region, self.regions)}"
            )
        return region

    def _conditions(
        self, where: str, switches: Mapping[str, Switch], conditions: Any
    ) -> list[dict[int, list[int]]]:
        """Return conditions as numbers of values by column of `vary`."""
        where, found = f"{self.name}: {where}", list[dict[int, list[int]]]()
        if not isinstance(conditions, (list, tuple)):
            raise RulesError(f"{where} is {shortened(conditions)}, expected a list of conditions")
        for condition in conditions:
            if not isinstance(condition, Mapping) or not condition:
                raise RulesError(
                    f"{where} has the condition {shortened(condition)}, expected switches with "
                    "their values"
                )
            row = dict[int, list[int]]()
            for switch, values in condition.items():
                if switch not in self.vary:
                    raise RulesError(
                        f"{where}: {shortened(switch)} does not vary. "
                        f"{did_you_mean(switch, self.vary)}"
                    )
                known, chosen = self.vary[switch], _values(where, switches[switch], values)
                if others := [value for value in chosen if value not in known]:
                    raise RulesError(
                        f"{where}: {switch!r} never is {others[0]!r} here, expected one of "
                        f"{', '.join(map(repr, known))}"
                    )
                row[list(self.vary).index(switch)] = [known.index(value) for value in chosen]
            found.append(row)
        return found

    def _inside(self, region: str, digits: np.ndarray) -> np.ndarray:
        """Return which combinations [M, V] are in a region, [M]."""
        outside = _holds(self._dull, digits)
        for name in self.regions[1:]:  # the first region that a rule set is in counts
            holds = _holds(self._held_out[name], digits) & ~outside
            if name == region:
                return holds
            outside |= holds
        return ~outside

    def _pool(self, region: str) -> tuple[Rules, ...]:
        """Return the rule sets of a region, or a sample of them."""
        numbers = np.arange(total := math.prod(self._sizes))[:CANDIDATES]
        if total > CANDIDATES:
            shares = keys.uniforms(keys.derive(KEY, numbers))
            numbers = np.unique((shares * total).astype(np.int64))
        digits = np.stack(np.unravel_index(numbers, self._sizes), axis=1)
        inside = self._inside(region, digits)
        order = np.argsort(keys.derive(KEY, numbers[inside]), kind="stable")
        pool = list[Rules]()
        for row in digits[inside][order]:
            if self._is_playable(rules := self._at(row)):
                pool.append(rules)
            if len(pool) == POOL:
                break
        if not pool:
            raise RulesError(
                f"the region {region!r} of {self.name} is empty: no playable rules have its values"
            )
        return tuple(pool)

    def _at(self, row: np.ndarray) -> Rules:
        """Return the rules of a combination [V]."""
        pairs = zip(self.vary.items(), row.tolist(), strict=True)
        values = {switch: values[number] for (switch, values), number in pairs}
        return self._spec.resolve({**self.base.values, **values})

    def _is_playable(self, rules: Rules) -> bool:
        return self._spec.most_players(rules) >= max(self.seats)


def _seats(name: str, spec: GameSpec, seats: Any) -> tuple[int, ...]:
    if not isinstance(seats, (list, tuple)) or not seats or not all(map(is_whole, seats)):
        raise RulesError(f"{name}: seats are {shortened(seats)}, expected a list of numbers")
    return tuple(sorted({spec.check_players(number) for number in seats}))


def _values(where: str, switch: Switch, values: Any) -> tuple[Any, ...]:
    """Return checked values of a switch, as rules keep them."""
    if not isinstance(values, (list, tuple)) or not values:
        raise RulesError(f"{where}: {switch.name!r} has {shortened(values)}, expected a list")
    try:
        codes = [switch.encode(value) for value in values]
    except RulesError as error:
        raise RulesError(f"{where}: {error}") from None
    if len(set(codes)) < len(codes):
        raise RulesError(f"{where}: {switch.name!r} has a value twice: {shortened(values)}")
    return tuple(switch.plain(value) for value in values)


def _holds(conditions: Sequence[Mapping[int, Sequence[int]]], digits: np.ndarray) -> np.ndarray:
    """Return for which combinations [M, V] one of the conditions holds, [M]."""
    found = np.zeros(len(digits), dtype=np.bool_)
    for condition in conditions:
        columns = [np.isin(digits[:, column], chosen) for column, chosen in condition.items()]
        found |= np.logical_and.reduce(columns)
    return found
