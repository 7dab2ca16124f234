"""The games as OpenSpiel's Python games, over the same kernels.

    import pyspiel
    import kille_env.adapters.open_spiel  # registers them

    pyspiel.load_game("kille_byteskille(players=2,rules=wikipedia;fraga:off)")
    pyspiel.load_game("kille_knack(players=4,episode=match)")

Players are seats from forehand on: the last one deals the first hand. Every card that leaves the
pack is a chance node, whose outcomes are the kinds of cards that are left: the chances are exact
at every number of seats, also where a card is drawn in the middle of a deal. Returns are units,
paid at the end.

OpenSpiel (Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games", 2019) also
knows sampled chance, but asks such a game for the state of its generator, which a Python game
cannot give.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from kille_env.core import rng
from kille_env.core.batch import Batch
from kille_env.core.spec import DEFAULT_EPISODE, GameSpec, Part, Rules, Switch, feature_scale, width
from kille_env.core.table import DEAL, OVER
from kille_env.errors import CardError, IllegalActionError, KilleError, RulesError, did_you_mean
from kille_env.extras import needs
from kille_env.registry import Table, list_games, load_game, spec

with needs("openspiel"):
    import pyspiel

DEALING: Final = -1
"""In the place of an action: the next hand is to be dealt."""
_FIRST = np.zeros(1, dtype=np.int64)


__all__ = ["load"]


def short_name(game: str) -> str:
    """Return the name of a game in OpenSpiel's registry, "kille_knack" for "knack"."""
    return f"kille_{game}"


def load(
    game: str,
    num_players: int | None = None,
    *,
    rules: Rules | Mapping[str, Any] | str | None = None,
    episode: str | None = None,
    cards: Sequence[str] = (),
) -> "KilleGame":
    """Return a game as OpenSpiel's, like `pyspiel.load_game` with rules in any form.

    A game that is registered after this module was imported is registered with OpenSpiel here.

    Args:
        game: The game.
        num_players: P; None is the game's default.
        rules: A preset's name, a mapping of switches, or resolved rules.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".
        cards: Codes of the only cards in the pack, for a smaller game; none means the whole pack.

    Raises:
        RulesError: Impossible rules or number of seats.
        CardError: The cards are not part of a pack.
    """
    table = spec(game)
    _make_known(game)
    resolved = table.resolve(rules, episode=episode)
    seats = table.check_players(num_players, resolved)
    _form(game, seats, resolved, tuple(cards))
    parameters = {
        "players": seats,
        "rules": rules_text(resolved),
        "episode": resolved["episode"],
        "cards": " ".join(cards),
    }
    return _load(short_name(game), parameters)


def state_at(game: "KilleGame", table: np.ndarray) -> "KilleState":
    """Return the state, without a history, of a table [1] at a decision; player 0 is forehand."""
    state, table, form = game.new_initial_state(), _copied(table), game.form
    table["stacked"] = table["drawn"]
    if form.rules["episode"] == "deal":
        first = (int(table["dealer"][0]) + 1) % form.num_players
        form = _form(form.game.spec.name, form.num_players, form.rules, form.cards, first)
    state.position = Position(form, table)
    return state


# Rules as text


def rules_text(rules: Rules) -> str:
    """Return rules as a parameter, the preset and changed switches: "wikipedia;fraga:off"."""
    table, preset = spec(rules.game), str(rules["preset"])
    by_preset = table.resolve(preset)
    changed = [
        f"{switch.name}:{_value_text(rules[switch.name])}"
        for switch in table.switches
        if rules[switch.name] != by_preset[switch.name]
    ]
    return ";".join([preset, *changed])


def parse_rules(text: str, table: GameSpec) -> dict[str, Any]:
    """Return the switches in a text of `rules_text`; "" is the first preset."""
    switches = {switch.name: switch for switch in table.switches}
    found: dict[str, Any] = {}
    for item in filter(None, text.split(";")):
        name, colon, value = item.partition(":")
        if not colon:
            found["preset"] = name
        elif name in switches:
            found[name] = _value(switches[name], value)
        else:
            raise RulesError(f"{table.name} has no switch {name!r}. {did_you_mean(name, switches)}")
    return found


def _value_text(value: Any) -> str:
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def _value(switch: Switch, text: str) -> Any:
    """Return the value of a switch of its text."""
    named = {_value_text(value): value for value in switch.values}
    if text in named:
        return named[text]
    if text == "null":
        return None
    return int(text) if text.isdecimal() else text


# Positions


class Form:
    """Game, rules and seats of an OpenSpiel game, shared by its positions.

    `cards` are codes of the cards, if not the whole pack, and `first` is the seat of OpenSpiel's
    player 0. The `deck` begins with the cards that the rules leave out (`outside` of them), then
    come those of `cards`; up to `size` they are played with.
    """

    def __init__(
        self, name: str, num_players: int, rules: Rules, cards: tuple[str, ...], first: int
    ) -> None:
        self.game, self.rules, self.num_players = load_game(name), rules, num_players
        self.cards, self.first, self.switches = cards, first, np.array(rules.record)
        self.deck = self.game.spec.stack(cards, rules)
        self.outside = len(self.game.spec.left_out(rules))
        self.size = self.outside + len(cards) if cards else len(self.deck)
        self.copies = self.game.spec.pack.copies
        self._everyone = np.ones(1, dtype=np.bool_)

    @cached_property
    def start(self) -> "Position":
        """The position before the first card; the last seat deals."""
        batch = Batch(self.game, 1, self.num_players, self.rules, seed=0, restart=False)
        batch.reset(dealer=self.num_players - 1, deal=False)
        return self.to_deal(_copied(batch.tables))

    def to_deal(self, table: np.ndarray) -> "Position":
        """Return the position before the first card of a hand; `table` is kept."""
        table["deck"][0], table["stacked"] = self.deck, self.outside
        return Position(self, table, DEALING, self._kinds(self.deck[self.outside : self.size]))

    def proceed(self, before: np.ndarray, doing: int) -> "Position":
        """Return the position after `doing`, or before the first card that is not fixed."""
        table, fixed = _copied(before), int(before["stacked"][0])
        if doing == DEALING:
            self.game.deal(table, self.switches, self._everyone, True)
        else:
            self.game.apply(table, self.switches, np.array([doing]), self._everyone)
        # The kernels draw by themselves: a trial run tells whether a card is needed that is not
        # fixed yet. If so, it is thrown away, and the card is a chance node of its own.
        if table["drawn"][0] > fixed:
            return Position(self, before, doing, self._kinds(self._left(before, fixed)))
        if table["phase"][0] == DEAL:
            return self.to_deal(table)
        if table["phase"][0] > OVER:
            table["stacked"] = fixed
        return Position(self, table)

    def fix(self, before: np.ndarray, doing: int, kind: int) -> "Position":
        """Return the position after a card of a kind is drawn for `doing`."""
        table, at = _copied(before), int(before["stacked"][0])
        _bring(table["deck"][0], kind, self.copies, at)
        table["stacked"] = at + 1
        # A random decision of the rules without a card then follows from the cards.
        table["match_key"] = rng.derive(table["match_key"][0], kind)
        return self.proceed(table, doing)

    def seat_of(self, player: int) -> int:
        """Return the seat of a player of OpenSpiel."""
        return (player + self.first) % self.num_players

    def look(
        self, kernel: Callable[..., None], table: np.ndarray, seat: int, size: int, dtype: Any
    ) -> np.ndarray:
        """Return a seat's features by a kernel of the game, [size]."""
        out = np.zeros((1, size), dtype=dtype)
        kernel(table, self.switches, np.array([seat], dtype=np.int8), out)
        return out[0]

    def _left(self, before: np.ndarray, at: int) -> np.ndarray:
        """Return the cards of which the card at a place of the pack is one."""
        if at >= self.size:
            raise CardError(
                f"{len(self.cards)} cards are too few: another one would have to be drawn"
            )
        return before["deck"][0, at : self.size]

    def _kinds(self, cards: np.ndarray) -> dict[int, int]:
        """Return how many of some cards are of each kind."""
        return dict(sorted(Counter((cards // self.copies).tolist()).items()))

    def __deepcopy__(self, memo: dict[int, Any]) -> "Form":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        name = self.game.spec.name
        return _form, (name, self.num_players, self.rules, self.cards, self.first)


@lru_cache(maxsize=64)
def _form(
    name: str, num_players: int, rules: Rules, cards: tuple[str, ...], first: int = 0
) -> Form:
    """Return the form of positions, the same object each time."""
    return Form(name, num_players, rules, cards, first)


def _copied(table: np.ndarray) -> np.ndarray:
    """Return a copy of a table."""
    return table.take(_FIRST, mode="wrap")  # `copy` goes field by field, thirty times as slow


def _bring(cards: np.ndarray, kind: int, copies: int, at: int) -> None:
    """Swap the card at a place with the first one of a kind from there on."""
    # Which copy comes makes no difference: OpenSpiel's outcomes are kinds.
    other = at + int((cards[at:] // copies == kind).argmax())
    cards[at], cards[other] = cards[other], cards[at]


class Position:
    """An immutable position: a decision, a chance node or the end.

    At a chance node `table` [1] is as it was before `doing`, the action that needs a card or
    `DEALING`, and `left` has the number of cards of each kind that may be drawn.
    """

    def __init__(
        self,
        form: Form,
        table: np.ndarray,
        doing: int | None = None,
        left: dict[int, int] | None = None,
    ) -> None:
        self.form, self.table, self.doing, self.left = form, table, doing, left or {}

    @property
    def player(self) -> int:
        """The player to act, as OpenSpiel numbers players."""
        if self.doing is not None:
            return pyspiel.PlayerId.CHANCE
        if self.table["phase"][0] == OVER:
            return pyspiel.PlayerId.TERMINAL
        return (int(self.table["seat"][0]) - self.form.first) % self.form.num_players

    @cached_property
    def legal(self) -> list[int]:
        """The legal actions of the player to act, in ascending order."""
        game, size = self.form.game, self.form.game.spec.num_actions
        seat = self.form.seat_of(self.player)
        mask = self.form.look(game.mask, self.table, seat, size, np.int8)
        return np.flatnonzero(mask).tolist()

    def after(self, action: int) -> "Position":
        """Return the position after an action, or after a card of that kind."""
        if self.doing is not None:
            if action not in self.left:
                raise IllegalActionError(f"no card of kind {action} is left; left: {self.left}")
            return self.form.fix(self.table, self.doing, action)
        if action not in self.legal:
            raise IllegalActionError(f"action {action} is not legal now; legal: {self.legal}")
        return self.form.proceed(self.table, action)

    def resampled(self, player: int, key: int) -> np.ndarray:
        """Return a determinization, [1]: a table that a seat cannot tell from this one."""
        form = self.form
        if self.doing is not None or form.cards:
            raise KilleError(
                "a position is resampled where somebody decides, and with the whole pack: "
                f"{'cards are given' if form.cards else 'a card is awaited'} here"
            )
        table = _copied(self.table)
        cards = np.zeros((1, form.game.spec.pack.size), dtype=np.int8)
        seats = np.array([form.seat_of(player)], dtype=np.int8)
        keys = np.array([key], dtype=np.uint64)
        form.game.resample(table, form.switches, seats, keys, cards)
        return table

    def __deepcopy__(self, memo: dict[int, Any]) -> "Position":
        return self


# OpenSpiel's classes


class KilleState(pyspiel.State):  # pyright: ignore[reportUntypedBaseClass]
    """A state of a game, around a `Position`."""

    def __init__(self, game: "KilleGame") -> None:
        super().__init__(game)
        self.position = game.form.start  # the only attribute: OpenSpiel copies each of them

    def current_player(self) -> int:
        """Return the player to act, or OpenSpiel's number for chance or for the end."""
        return self.position.player

    def is_terminal(self) -> bool:
        """Return whether the deal or the match is over."""
        return self.position.player == pyspiel.PlayerId.TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the kinds of cards that may be drawn, with their probabilities."""
        total = sum(self.position.left.values())
        return [(kind, count / total) for kind, count in self.position.left.items()]

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        game = self.position.form.game
        if player == pyspiel.PlayerId.CHANCE:
            return game.spec.pack.codes[action]
        return game.action_text(self.position.table[0], action)

    def returns(self) -> list[float]:
        """Return the units of each player; zeros before the end."""
        form = self.position.form
        # Players are counted from forehand, seats are not.
        earned = np.roll(self.position.table["reward"][0, : form.num_players], -form.first)
        return earned.tolist() if self.is_terminal() else [0.0] * len(earned)

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> "KilleState":
        """Return a state that a player cannot tell from this one, all being equally likely.

        The others' actions are not taken as evidence about their cards. The state has no
        history: secret questions can differ, so none would be true to both.
        """
        high, low = (int(probability_sampler() * 2**32) for _ in range(2))
        return state_at(self.get_game(), self.position.resampled(player_id, high << 32 | low))

    def __str__(self) -> str:
        position = self.position
        text = position.form.game.describe(position.table[0], position.form.rules, None)
        if position.doing is None:
            return text
        doing = "deal" if position.doing == DEALING else f"action {position.doing}"
        fixed, form = int(position.table["stacked"][0]), position.form
        cards = position.table["deck"][0][form.outside : fixed]
        drawn = [form.game.spec.pack.code(card) for card in cards]
        return f"{text}\nCards are drawn for: {doing}; pack so far: {' '.join(drawn)}"


class KilleObserver:
    """OpenSpiel's observer of the information state or of the observation, in 0 to 1."""

    def __init__(self, form: Form, perfect_recall: bool) -> None:
        kernel, layout = "observe", "observation"
        if perfect_recall:
            kernel = layout = "information_state"
        self._kernel = getattr(form.game, kernel)
        self._parts: tuple[Part, ...] = getattr(form.game.spec, layout)(form.num_players)
        self._scale = feature_scale(self._parts)
        self.tensor = np.zeros(width(self._parts), dtype=np.float32)
        self.dict = {part.name: self.tensor[part.slice] for part in self._parts}

    def set_from(self, state: KilleState, player: int) -> None:
        """Fill `tensor` and `dict` with a player's features."""
        np.multiply(self._look(state, player), self._scale, out=self.tensor)

    def string_from(self, state: KilleState, player: int) -> str:
        """Return the player and all features but zeros; equal if and only if these are.

        A part is its name and the places of its features, with their values where these are not 1.
        """
        return state_text(player, self._look(state, player), self._parts)

    def _look(self, state: KilleState, player: int) -> np.ndarray:
        position = state.position
        seat, size = position.form.seat_of(player), len(self.tensor)
        return position.form.look(self._kernel, position.table, seat, size, np.uint8)


def state_text(seat: int, features: np.ndarray, parts: tuple[Part, ...]) -> str:
    """Return features [F] as text: "1 card=7 pot=0:12"; see `KilleObserver.string_from`."""
    words, places = [str(seat)], np.flatnonzero(features).tolist()
    values, at = features[places].tolist(), 0
    for part in parts:
        end, found = part.offset + part.size, []
        while at < len(places) and places[at] < end:
            value = "" if values[at] == 1 else f":{values[at]}"
            found.append(f"{places[at] - part.offset}{value}")
            at += 1
        if found:
            words.append(f"{part.name}={','.join(found)}")
    return " ".join(words)


class KilleGame(pyspiel.Game):  # pyright: ignore[reportUntypedBaseClass]
    """A game as OpenSpiel's; each game has a subclass."""

    name: ClassVar[str]

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        name, table = self.name, spec(self.name)
        given = parse_rules(parameters["rules"], table)
        rules = table.resolve(given, episode=parameters["episode"])
        seats = table.check_players(parameters["players"], rules)
        self.form = _form(name, seats, rules, tuple(parameters["cards"].split()))
        low, high = table.reward_range(rules, seats)
        zero_sum = _zero_sum(table)
        hands = _most_hands(rules, seats)
        self._chance_nodes = hands * table.pack.size
        information = pyspiel.GameInfo(
            num_distinct_actions=table.num_actions,
            max_chance_outcomes=len(table.pack.codes),
            num_players=seats,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if zero_sum else None,
            max_game_length=hands * table.max_decisions(rules, seats),
        )
        super().__init__(_game_type(name), information, dict(parameters))

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        form = self.form
        return Table(self.name, form.num_players, form.rules, form.game.spec.version)

    def new_initial_state(self, *_: Any) -> KilleState:
        """Return the state before the first card."""
        return KilleState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return a bound on the cards that are drawn."""
        return self._chance_nodes

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> KilleObserver:
        """Return an observer of a player's information state or observation."""
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        own = wanted.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        if params or not own or not wanted.public_info:
            raise KilleError(
                "an observation holds a player's own cards and public information, and has no "
                f"parameters; got {wanted} and {params}"
            )
        return KilleObserver(self.form, wanted.perfect_recall)

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (short_name(self.name), self.get_parameters())


def _load(name: str, parameters: dict[str, Any]) -> KilleGame:
    """Return a game; importing this module to unpickle it registers the games."""
    return pyspiel.load_game(name, parameters)


def _zero_sum(table: GameSpec) -> bool:
    """Return whether all units are paid out."""
    return table.zero_sum and "left_on_table" not in (table.table.names or ())


def _most_hands(rules: Rules, num_players: int) -> int:
    """Return a bound on the hands of an episode."""
    if rules["episode"] == "deal" and "max_redeals" not in rules.values:
        return 1
    values = rules.values
    return int(values.get("max_deals") or values.get("deals") or num_players)


def _game_type(name: str) -> Any:
    table, kind = spec(name), pyspiel.GameType
    utility = kind.Utility.ZERO_SUM if _zero_sum(table) else kind.Utility.GENERAL_SUM
    return kind(
        short_name=short_name(name),
        long_name=f"{table.title} (kille-env)",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=table.max_players,
        min_num_players=table.min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "players": table.default_players,
            "rules": "",
            "episode": DEFAULT_EPISODE,
            "cards": "",
        },
    )


def _make_known(name: str) -> None:
    """Register a game with OpenSpiel, once; this imports the game's module."""
    if short_name(name) in pyspiel.registered_names():
        return
    # A class, as OpenSpiel holds it beyond the interpreter's end, where a function would be freed.
    pyspiel.register_game(_game_type(name), type(f"Kille_{name}", (KilleGame,), {"name": name}))


for _name in list_games():
    _make_known(_name)
