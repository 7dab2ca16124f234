"""Facts about a game, declared as data: adapters, docs, tests and agents read them.

Shapes use one alphabet throughout the suite: `[N]` tables, `[P]` seats, `[A]` actions, `[F]`
features.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np

from kille_env.core.pack import Pack
from kille_env.core.rules import Rules as Rules
from kille_env.core.rules import RuleSets as RuleSets
from kille_env.core.rules import RulesLike as RulesLike
from kille_env.core.rules import Value as Value
from kille_env.errors import CardError, RulesError, did_you_mean, shortened

EPISODES = ("match", "deal")
DEFAULT_EPISODE = "deal"
"""The default of the option `episode`, at all tables of the suite."""
SINGLE_DEAL = EPISODES.index("deal")  # the number in a rules record's `episode`


def is_whole(value: Any) -> TypeGuard[int | np.integer]:
    """Return whether a value is a whole number of Python or NumPy; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


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


@dataclass(frozen=True)
class Part:
    """A named stretch of a vector of features.

    Attributes:
        name: Its name, the key in `parts` views and in the docs.
        size: Number of features.
        meaning: Their meaning, in a line.
        high: Largest value (the least is 0).
        offset: Index of its first feature; filled in by `lay_out`.
    """

    name: str
    size: int
    meaning: str
    high: int = 1
    offset: int = 0

    @property
    def slice(self) -> slice:
        """Where the part lies."""
        return slice(self.offset, self.offset + self.size)


def lay_out(*parts: Part) -> tuple[Part, ...]:
    """Return the parts one behind the other, with their offsets."""
    placed, offset = [], 0
    for part in parts:
        placed.append(replace(part, offset=offset))
        offset += part.size
    return tuple(placed)


def offsets(layout: Callable[[int], tuple[Part, ...]]) -> Any:
    """Return where the parts of a layout begin, by name, as a constant for kernels.

    Two numbers for each part: it begins at the first, plus the second for each seat of the table.
    `kille_env.cards.features` has what reads them.
    """
    one, two = layout(1), layout(2)
    # Offsets are linear in the number of seats, so those for one and for two seats fix the line.
    begins = [(2 * a.offset - b.offset, b.offset - a.offset) for a, b in zip(one, two, strict=True)]
    names = [part.name for part in one]
    return namedtuple("Offsets", names)(*begins)  # pyright: ignore[reportUntypedNamedTuple]


def member_names(members: type[IntEnum]) -> tuple[str, ...]:
    """Return the names of an enum's members: values of a switch, phases or actions of a game."""
    return tuple(member.name.lower() for member in members)


def width(parts: tuple[Part, ...]) -> int:
    """Return the number of features of a layout."""
    return parts[-1].offset + parts[-1].size


def feature_scale(parts: tuple[Part, ...]) -> np.ndarray:
    """Return the factors that scale a layout's features to between 0 and 1, [F] float32."""
    return np.concatenate([np.full(part.size, 1.0 / part.high, np.float32) for part in parts])


MOST_SHOWN = 12
"""Actions that a spec prints, at most."""


@dataclass(frozen=True, repr=False)
class GameSpec:
    """The facts about a game.

    Attributes:
        name, title: Key of the registry, and name for people.
        version: Rises when play, observation or reward changes.
        pack: The cards.
        min_players, max_players, default_players: Fewest and most seats, and those of `make(name)`.
        actions: Text of every action; the index is the action.
        phases: Names of the phases, by number, from the table's `phase` field.
        presets: Names of the rule sets; the first is the default.
        switches: The rules that can be set, besides `episode`.
        table: Record dtype of a table.
        observation, information_state, full_state: Their layouts for a number of seats.
        reward_range: Least and largest reward of a step, and sum of the rewards of an episode, for
            resolved rules and a number of seats.
        zero_sum: Whether an episode's rewards sum to zero when nothing is left on the table (a
            field `left_on_table` of it, where a split can leave something).
        max_decisions: Upper bound on the decisions of one hand, from its dealing to the next, for
            resolved rules and a number of seats. A single deal can take several hands: where its
            rules have the cards dealt again.
        secret_phases: Phases in which nobody else can know that the seat to act is asked.
        secret_actions: Actions that nobody else learns of, as long as the deal goes on.
        covered_actions: Actions that everybody sees, but whose cards only the seat that acts knows:
            a card that is led face down, discards by their places in the hand.
        cards_needed: How many cards a hand may take from the pack at most, for resolved rules and a
            number of seats, where rules can make the pack smaller: as many can sit as it suffices
            for.
        redeals: How often choices can have the cards of a deal dealt again, for resolved rules and
            a number of seats.
        chances: The equally likely decisions of chance in a deal besides the cards, as starts, for
            the same; no seat can tell them apart while it decides.
        result_keys: The keys of a deal's result, in the order in which records write them; None if
            it does not say, and a record with other keys is refused only when it is replayed.
    """

    name: str
    title: str
    version: int
    pack: Pack
    min_players: int
    max_players: int
    default_players: int
    actions: tuple[str, ...]
    phases: tuple[str, ...]
    presets: tuple[str, ...]
    switches: tuple[Switch, ...]
    table: np.dtype
    observation: Callable[[int], tuple[Part, ...]]
    information_state: Callable[[int], tuple[Part, ...]]
    full_state: Callable[[int], tuple[Part, ...]]
    reward_range: Callable[["Rules", int], tuple[float, float]]
    zero_sum: bool
    max_decisions: Callable[["Rules", int], int]
    secret_phases: tuple[int, ...] = ()
    secret_actions: tuple[int, ...] = ()
    covered_actions: tuple[int, ...] = ()
    cards_needed: Callable[["Rules", int], int] = lambda rules, num_players: 0
    redeals: Callable[["Rules", int], int] = lambda rules, num_players: 0
    chances: Callable[["Rules", int], Sequence[Mapping[str, Any]]] = lambda rules, num_players: [{}]
    result_keys: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        seats = f"{self.min_players} to {self.max_players} seats, {self.default_players} by default"
        switches = ", ".join(switch.name for switch in self.switches)
        few = self.num_actions <= MOST_SHOWN
        actions = self.actions if few else (*self.actions[: MOST_SHOWN - 1], "...")
        return (
            f"{self.title} ({self.name}, version {self.version}): {seats}\n"
            f"actions   {self.num_actions}: {', '.join(actions)}\n"
            f"presets   {', '.join(self.presets)}\n"
            f"switches  {switches or 'none'}"
        )

    @property
    def num_actions(self) -> int:
        """Size of the action space."""
        return len(self.actions)

    def stack(self, codes: Sequence[str], rules: "Rules | None" = None) -> np.ndarray:
        """Return a pack that begins with the given cards, int8 [C].

        The cards that the rules leave out (None: no card) lie in front of them.

        Raises:
            CardError: As `Pack.stack`.
        """
        return self.pack.stack(codes, self.left_out(rules) if rules else ())

    def left_out(self, rules: "Rules") -> tuple[int, ...]:
        """Return the cards of the pack that are not played with."""
        if isinstance(rules, RuleSets):
            rules.refuse()
        for switch in self.switches:
            if isinstance(switch, PackSwitch):
                word = rules.number(switch.name)
                return tuple(card for card in range(self.pack.size) if word >> card & 1)
        return ()

    @cached_property
    def rules_dtype(self) -> np.dtype:
        """Record dtype of the resolved rules, as the kernels read them."""
        fields = [("episode", np.int64), *((switch.name, np.int64) for switch in self.switches)]
        return np.dtype((np.record, np.dtype(fields, align=True)))

    @cached_property
    def rules_parts(self) -> tuple[Part, ...]:
        """Layout of the rules as features, see `kille_env.core.rules_part`."""
        from kille_env.core.rules_part import rules_parts

        return rules_parts(self)

    def rules_features(self, rules: "Rules") -> np.ndarray:
        """Return the features of rules, uint8 [1, K]; of `RuleSets` [R, K]."""
        from kille_env.core.rules_part import rules_features

        known, sets = self._features, rules.sets if isinstance(rules, RuleSets) else (rules,)
        known.update({one: rules_features(self, one) for one in sets if one not in known})
        return np.stack([known[one] for one in sets])

    @cached_property
    def _features(self) -> dict["Rules", np.ndarray]:
        """The features of rules that were asked for."""
        return {}

    def layout(self, kind: str, observe_rules: bool = False) -> Callable[[int], tuple[Part, ...]]:
        """Return the layout of a view for a number of seats, with the rules at its end or not.

        Args:
            kind: "observation", "information_state" or "full_state".
            observe_rules: Whether the rules are a part of it.
        """
        return self._with_rules[kind] if observe_rules else getattr(self, kind)

    @cached_property
    def _with_rules(self) -> dict[str, Callable[[int], tuple[Part, ...]]]:
        """The layouts with rules, each one object: readings are cached by it."""

        def followed(layout: Callable[[int], tuple[Part, ...]]) -> Callable[[int], Any]:
            return lambda num_players: lay_out(*layout(num_players), *self.rules_parts)

        kinds = ("observation", "information_state", "full_state")
        return {kind: followed(getattr(self, kind)) for kind in kinds}

    def most_players(self, rules: "Rules") -> int:
        """Return how many can sit: fewer where the rules leave cards out; 0 if nobody can."""
        if isinstance(rules, RuleSets):
            return min((self.most_players(one) for one in rules.sets), default=self.max_players)
        size = self.pack.size - len(self.left_out(rules))
        seats = range(self.min_players, self.max_players + 1)
        return max((n for n in seats if self.cards_needed(rules, n) <= size), default=0)

    def check_players(self, num_players: int | None, rules: "Rules | None" = None) -> int:
        """Return the number of seats, the default for None.

        Args:
            num_players: The number.
            rules: The rules, which may leave too few cards for it; None is the game's default.

        Raises:
            RulesError: The game is not played by that many.
        """
        most = self.most_players(rules) if rules else self.max_players
        if num_players is None and most:
            return min(self.default_players, most)
        seats = self.min_players if num_players is None else num_players
        if not is_whole(seats) or not self.min_players <= seats <= self.max_players:
            raise RulesError(
                f"{self.name} is played by {self.min_players} to {self.max_players}, "
                f"num_players is {shortened(num_players)}"
            )
        # Rules may leave out cards, or deal larger hands, so that fewer can sit.
        if rules and seats > most:
            if isinstance(rules, RuleSets):
                rules = next(one for one in rules.sets if self.most_players(one) == most)
            size = self.pack.size - len(self.left_out(rules))
            sit = f"seat at most {most}" if most else "nobody can play by them"
            raise RulesError(
                f"{self.name} with {seats} players may take {self.cards_needed(rules, int(seats))} "
                f"cards, and the pack of these rules has {size}: {sit}, or choose rules that put "
                "more cards into the pack or give a seat fewer"
            )
        return int(seats)

    def resolve(self, rules: "RulesLike" = None, **more: Any) -> "Rules":
        """Return complete rules.

        Args:
            rules: A preset's name, a mapping of switches (with "preset" and "episode" if wanted),
                rules that are resolved already, or None for the default preset. An episode is a
                single deal unless they say otherwise. A list of these, one for each table, or a
                `RuleSpace` gives `RuleSets`.
            **more: Further switches; None means "as `rules` say", where None is no value of the
                switch.

        Raises:
            RulesError: A preset, switch or value does not exist, or the rules are of another game;
                the message says what is possible.
        """
        if isinstance(rules, (list, tuple)):
            if not rules:
                raise RulesError("rules is an empty list, expected rules for each table")
            return RuleSets.by_table(self.name, [self.resolve(one, **more) for one in rules])
        if not isinstance(rules, (Rules, Mapping, str, type(None))):
            from kille_env.core.rule_space import RuleSpace  # which imports this module

            if isinstance(rules, RuleSpace):
                self._check_game(rules)
                return RuleSets(self.name, [self.resolve(one, **more) for one in rules.rules()])
        if isinstance(rules, Rules):
            self._check_game(rules)
            if more.get("episode", "") is None:
                del more["episode"]
            if not more:
                return rules
            if isinstance(rules, RuleSets):
                sets = [self.resolve(one, **more) for one in rules.sets]
                return RuleSets(self.name, sets, rules.index)
            rules = rules.values
        if isinstance(rules, str):
            rules = {"preset": rules}
        if not isinstance(rules, (Mapping, type(None))):
            raise RulesError(
                f"rules of {self.name} are a preset's name or a mapping, not {shortened(rules)}"
            )
        given: dict[str, Any] = dict(rules or {})
        by_name = {switch.name: switch for switch in self.switches}
        for key, value in more.items():
            # None means "as `rules` say", unless it is a value of the switch itself.
            if value is not None or (key in by_name and by_name[key].nullable):
                given[key] = value
        preset = given.pop("preset", None)
        preset = self.presets[0] if preset is None else preset
        _check_known(preset, self.presets, f"{self.name} has no preset")
        episode = given.pop("episode", DEFAULT_EPISODE)
        if not isinstance(episode, str) or episode not in EPISODES:
            raise RulesError(f"'episode' is {shortened(episode)}, expected 'match' or 'deal'")
        for key in given:
            _check_known(key, by_name, f"{self.name} has no switch")
        values = {s.name: given.get(s.name, s.value_for(preset)) for s in self.switches}
        record = np.zeros(1, dtype=self.rules_dtype)
        record["episode"][0] = EPISODES.index(episode)
        for switch in self.switches:
            value = values[switch.name]
            record[switch.name][0] = switch.encode(value)
            values[switch.name] = switch.plain(value)
        # Rules are compared and hashed by these bytes.
        record.flags.writeable = False
        resolved = {"preset": preset, "episode": episode, **values}
        return Rules(self.name, MappingProxyType(resolved), record)

    def _check_game(self, rules: Any) -> None:
        if rules.game != self.name:
            raise RulesError(f"these are rules of {rules.game}, expected rules of {self.name}")


def _check_known(name: Any, known: Iterable[str], what: str) -> None:
    if not (isinstance(name, str) and name in known):
        raise RulesError(f"{what} {shortened(name)}. {did_you_mean(name, known)}")
