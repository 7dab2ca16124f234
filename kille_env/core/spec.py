"""Facts about a game, declared as data: adapters, docs, tests and agents read them.

Shapes use one alphabet throughout the suite: `[N]` tables, `[P]` seats, `[A]` actions, `[F]`
features.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from kille_env.core.pack import Pack
from kille_env.core.parts import Part as Part
from kille_env.core.parts import feature_scale as feature_scale
from kille_env.core.parts import lay_out as lay_out
from kille_env.core.parts import offsets as offsets
from kille_env.core.parts import width as width
from kille_env.core.rules import DEFAULT_EPISODE as DEFAULT_EPISODE
from kille_env.core.rules import EPISODES as EPISODES
from kille_env.core.rules import SINGLE_DEAL as SINGLE_DEAL
from kille_env.core.rules import RulePool, Rules, RuleSets, RulesLike
from kille_env.core.rules import Value as Value
from kille_env.core.rules_part import rules_features, rules_parts
from kille_env.core.switches import PackSwitch as PackSwitch
from kille_env.core.switches import Switch as Switch
from kille_env.core.switches import is_whole as is_whole
from kille_env.core.switches import member_names as member_names
from kille_env.errors import RulesError, did_you_mean, shortened

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
        """Return a pack of the cards that rules leave out, then the given ones, int8 [C]."""
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
        return rules_parts(self.switches)

    def rules_features(self, rules: "Rules") -> np.ndarray:
        """Return the features of rules, uint8 [1, K]; of `RuleSets` [R, K]."""
        known, sets = self._features, rules.sets if isinstance(rules, RuleSets) else (rules,)
        known.update({one: rules_features(self.switches, one) for one in sets if one not in known})
        found = np.stack([known[one] for one in sets])
        if isinstance(rules, RuleSets) and not rules.told_apart:
            # Large numbers share a feature, and no policy could tell their tables apart.
            if len(np.unique(found, axis=0)) < len(sets):
                raise RulesError(
                    f"two of these rule sets of {self.name} have the same features; choose "
                    "numbers that differ more, or leave out observe_rules"
                )
            rules.__dict__["told_apart"] = True
        return found

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
            found = [self.resolve(one, **more) for one in rules]
            if not all(one.is_one for one in found):
                raise RulesError(
                    "rules is a list with several rule sets for one table, expected one for each, "
                    "or a space for all tables"
                )
            return RuleSets.by_table(self.name, found)
        if isinstance(rules, RulePool):
            self._check_game(rules)
            sets = [self.resolve(one, **more) for one in rules.rules()]
            space = rules.content if sets == list(rules.rules()) else None  # of other rules
            return RuleSets(self.name, sets, space=space)
        if isinstance(rules, Rules):
            self._check_game(rules)
            if more.get("episode", "") is None:
                del more["episode"]
            if not more:
                return rules
            if isinstance(rules, RuleSets):
                sets = [self.resolve(one, **more) for one in rules.sets]
                space = rules.space if sets == list(rules.sets) else None
                return RuleSets(self.name, sets, rules.index, space)
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
