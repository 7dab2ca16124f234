"""What seats, people and networks see of the tables of a batch."""

from collections.abc import Callable
from functools import cache, cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.arrays import Arrays, Fixed
from kille_env.core.floats import READINGS, SeatLayout, reading, seat_layout
from kille_env.core.game import Game
from kille_env.core.provided import provided
from kille_env.core.spec import GameSpec, Part, Rules, width
from kille_env.core.table import DEAL, OVER
from kille_env.errors import IllegalActionError, KilleError, RulesError, shortened

if TYPE_CHECKING:
    from kille_env.registry import Table


@cache
def width_of(layout: Callable[[int], tuple[Part, ...]], num_players: int) -> int:
    """Return how many features a layout has; laying it out takes longer than a step."""
    return width(layout(num_players))


class Views(Fixed):
    """Base of `Batch`: the part that only looks at the tables; see there for the attributes."""

    game: Game
    spec: GameSpec
    rules: Rules
    rule_sets: tuple[Rules, ...]
    num_players: int
    num_tables: int
    observe_rules: bool
    arrays: Arrays
    seat: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    _began: bool

    def rules_at(self, table: int = 0) -> Rules:
        """Return the rules of a table: of all tables, its own, or those that its match has drawn.

        Raises:
            RulesError: There is no such table.
        """
        return self.rule_sets[self._row(table)["rules"]]

    def shared_rules(self, rows: np.ndarray) -> Rules:
        """Return the rules that tables [M] share now, or `RuleSets` if they do not."""
        if self.rules.is_one:
            return self.rules
        numbers = np.unique(self.arrays.tables["rules"][rows])
        return self.rule_sets[numbers[0]] if len(numbers) == 1 else self.rules

    @cached_property
    def rules_features(self) -> np.ndarray:
        """[R, K] uint8, the features of each rule set; `spec.rules_parts` is their layout."""
        return self.spec.rules_features(self.rules)

    @property
    def table(self) -> "Table":
        """The game, seats and rules."""
        make: type[Table] = provided("table")
        return make(self.spec.name, self.num_players, self.rules, self.spec.version)

    def __repr__(self) -> str:
        return f"<Batch of N = {self.num_tables:,}: {self.table}>"

    @property
    def at_chance(self) -> np.ndarray:
        """[N] bool: which tables wait for cards (after `reset(deal=False)`, `deal` or `apply`)."""
        return self.arrays.tables["phase"] == DEAL

    @property
    def over(self) -> np.ndarray:
        """[N] bool: which tables have ended their match (only with `restart=False`)."""
        return self.arrays.tables["phase"] == OVER

    def observe(self, seats: Any) -> np.ndarray:
        """Return fresh observations [N, F] of one seat of each table, to act or not."""
        return self._with_rules(self._look("observe", seats, self._features, np.uint8))

    def legal_actions(self, seats: Any) -> np.ndarray:
        """Return fresh masks [N, A] of one seat of each table, as far as the seat knows."""
        return self._look("mask", seats, self.spec.num_actions, np.int8)

    def information_state(self, seats: Any = None) -> np.ndarray:
        """Return fresh information states [N, F] of a seat of each table (None: the one to act)."""
        return self._with_rules(self.plain_state("information_state", seats))

    def full_state(self, seats: Any = None) -> np.ndarray:
        """Return fresh full-information states [N, F], seen from seats (None: those to act)."""
        return self._with_rules(self.plain_state("full_state", seats))

    def read(self, kind: str = "float", seats: Any = None) -> np.ndarray:
        """Return network inputs for one seat of each table, float32 [N, S], fresh.

        Args:
            kind: "float": each feature in 0 to 1; "seats": of one size at tables of every size. See
                `kille_env.core.floats`.
            seats: One seat, or [N]; None is the seat to act.

        Raises:
            RulesError: There is no such kind or seat.
        """
        if not isinstance(kind, str) or kind not in READINGS:
            raise RulesError(f"kind is {shortened(kind)}, expected {' or '.join(READINGS)}")
        seen = self.observation if seats is None else self.observe(seats)
        self._check_began()
        return reading(kind, self.spec, self.num_players, self.observe_rules)(seen)

    @property
    def seat_layout(self) -> SeatLayout:
        """Where the numbers of `read("seats")` lie: the same at all tables of the game."""
        return seat_layout(self.spec, self.observe_rules)

    def legal_texts(self, table: int = 0) -> list[str]:
        """Return the texts of the legal actions of the seat to act."""
        return [self.action_text(action, table) for action in self._legal(table)]

    def action_text(self, action: int, table: int = 0) -> str:
        """Return the text of an action of the seat to act, with the cards that it means.

        Raises:
            IllegalActionError: The game has no action of that number.
        """
        action = arguments.action(action, self.spec)
        return self.game.action_text(self._row(table), action)

    def find_action(self, text: str, table: int = 0) -> int:
        """Return the legal action with a text.

        Raises:
            IllegalActionError: No legal action of the seat to act is called that.
        """
        texts = self.legal_texts(table)
        if isinstance(text, str) and text in texts:
            return self._legal(table)[texts.index(text)]
        raise IllegalActionError(
            f"table {table}, seat {self.seat[table]}: {shortened(text)} is not legal now. "
            f"Legal: {', '.join(texts)}"
        )

    def result(self, table: int = 0) -> dict[str, Any]:
        """Return the result of the hand that has just ended, before the next one is dealt.

        Raises:
            KilleError: The hand is still going on, or there has been none.
        """
        record = self._row(table)
        if record["deals"] == 0:
            raise KilleError(f"no hand has been played at table {table}: it has no result yet")
        self._check_began()
        if record["phase"] > OVER:
            raise KilleError(f"the hand at table {table} is still going on: it has no result yet")
        return self.game.result(record, self.rules_at(table))

    def drawn_cards(self, table: int = 0) -> np.ndarray:
        """Return the cards that have left the pack in this deal, in order."""
        record = self._row(table)
        first = len(self.spec.left_out(self.rules_at(table)))  # these lie in front of the pack
        return record["deck"][first : record["drawn"]].copy()

    def picture(self, table: int = 0, seat: int | None = None) -> Any:
        """Return a table as an SVG text that a notebook shows; arguments as for `describe`."""
        self.describe(table, seat)  # refuses what cannot be looked at
        view = self.game.view(self._row(table), self.rules_at(table), seat)
        return provided("drawing")(view, self.spec)

    def _repr_html_(self) -> str:
        shown = f"<p>{escape(repr(self))}</p>"
        return shown + self.picture()._repr_html_() if self.began else shown

    @property
    def began(self) -> bool:
        """Whether there are tables to look at: whether matches have begun."""
        return self._began

    def describe(self, table: int = 0, seat: int | None = None) -> str:
        """Return a table in words, as a seat sees it or (None) with every card.

        Raises:
            RulesError: There is no such table or seat.
        """
        self._check_began()
        if seat is not None:
            seat = arguments.seat(seat, self.num_players)
        return self.game.describe(self._row(table), self.rules_at(table), seat)

    def _check_began(self) -> None:
        if not self.began:
            raise KilleError("no match has begun: call reset() first")

    def plain_state(self, kind: str, seats: Any = None) -> np.ndarray:
        """Return fresh features of `kind` for seats, or for those to act, without the rules."""
        if seats is None:
            self._check_began()
            if self.seat.min() < 0:
                raise RulesError(f"nobody is to act at table {self.seat.argmin()}: name the seats")
            seats = self.seat
        size = width_of(getattr(self.spec, kind), self.num_players)
        return self._look(kind, seats, size, np.uint8)

    @property
    def _features(self) -> int:
        """F, without the rules."""
        return self.arrays.shown.observation.shape[1]

    def _with_rules(self, seen: np.ndarray) -> np.ndarray:
        """Return views of seats [N, ...] with the features of the tables' rules behind them."""
        told = self.arrays.told
        if told is None:
            return seen
        return np.concatenate([seen, told.rules[self.arrays.tables["rules"]]], axis=1)

    def _look(self, kind: str, seats: Any, size: int, dtype: Any) -> np.ndarray:
        self._check_began()
        chosen = arguments.seats(seats, self.num_players, self.num_tables)
        out = self._array(kind, dtype, size)
        with self.arrays as arrays:
            getattr(self.game, kind)(arrays.tables, arrays.rules, chosen, out)
        return out

    def _array(self, name: str, dtype: Any, *size: int) -> np.ndarray:
        """Return zeros for each table that kernels write into; a check of games adds guards."""
        return np.zeros((self.num_tables, *size), dtype=dtype)

    def _row(self, table: Any) -> np.record:
        return self.arrays.tables[arguments.table(table, self.num_tables)]

    def _legal(self, table: int) -> list[int]:
        return np.flatnonzero(self.mask[arguments.table(table, self.num_tables)]).tolist()
