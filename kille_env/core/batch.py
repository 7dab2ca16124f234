"""Many tables of one game: Python owns the arrays, compiled kernels fill them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NoReturn

import numpy as np

from kille_env.core import arguments
from kille_env.core.arrays import Arrays, Shown, Told, read_only
from kille_env.core.game import Game, game_of
from kille_env.core.jit import Kernel, announce_compilation, in_plain
from kille_env.core.loops import MOST_PASSED, first_illegal
from kille_env.core.spec import Rules, RuleSets, RulesLike
from kille_env.core.start import finish
from kille_env.core.table import DEAL, OVER
from kille_env.core.views import Views, width_of
from kille_env.errors import IllegalActionError, KilleError, RulesError

INT64 = np.dtype(np.int64)
"""NumPy has one object for it; to compare types otherwise takes longer."""


class Batch(Views):
    """N tables of a game that are stepped together.

    After `reset` and after every `step`, these arrays show what is to be decided; before the first
    `reset` they are zeros. They are read-only views that the next call overwrites; copy what you
    keep. Whatever plays or looks at tables raises a `KilleError` before the first `reset`, and
    while another thread uses the batch. None of the attributes but `restart` can be replaced:
    kernels rely on their shapes.

    Attributes:
        rules: The rules of all tables, or `RuleSets` where they have their own; see `rules_at`.
        rule_sets: The R rule sets that are played.
        seat: [N] the seat to act, -1 where the match is over (only with `restart=False`).
        observation: [N, F] uint8, what this seat sees; with `observe_rules`, the features of the
            table's rules at its end.
        mask: [N, A] int8, 1 for each action that it may take.
        reward: [N, P] float64, units that each seat earned in this step.
        terminated: [N] bool, whether this step ended the match by the rules.
        truncated: [N] bool, whether this step ended it by a cap.
        tables: [N] records, the whole state; field names are the game's.
        arrays: The same arrays as kernels take them, writable.
    """

    FIXED = frozenset(
        {
            *("game", "spec", "rules", "rule_sets", "num_players", "num_tables", "observe_rules"),
            *("arrays", "tables", *Shown._fields),
        }
    )

    def __init__(
        self,
        game: Game,
        num_tables: int = 1,
        num_players: int | None = None,
        rules: RulesLike = None,
        seed: int | None = None,
        restart: bool = True,
        observe_rules: bool = False,
    ) -> None:
        """Set up the arrays; call `reset` before the first `step`.

        The arguments are those of `kille_env.make_batch`, which also finds a game by its name and
        resolves rules.
        """
        self.game, self.spec = game, game.spec
        self.num_tables = arguments.whole("num_tables", num_tables, 1)
        self.rules = arguments.rules(rules, self.spec, self.num_tables)
        self.rule_sets = self.rules.sets if isinstance(self.rules, RuleSets) else (self.rules,)
        self.num_players = self.spec.check_players(num_players, self.rules)
        self.restart = arguments.flag("restart", restart)
        self.observe_rules = arguments.flag("observe_rules", observe_rules)
        # A single table plays on in plain Python while its kernels compile in a child process.
        if self.num_tables > 1 and Kernel.starting:
            finish()  # in plain Python many tables take minutes
        spec, record = self.spec, np.array(self.rules.record)
        self._shape = (self.num_tables,)
        tables = self._array("table", spec.table)
        shown = Shown(
            self._array("seat", np.int8),
            self._array("observation", np.uint8, width_of(spec.observation, self.num_players)),
            self._array("mask", np.int8, spec.num_actions),
            self._array("reward", np.float64, self.num_players),
            self._array("terminated", np.bool_),
            self._array("truncated", np.bool_),
        )
        # As they are before their first match, with the rules' pack.
        tables["rules"], tables["pool"] = numbers_of(self.rules)
        for number in (0,) if self.rules.is_one else np.unique(tables["rules"]).tolist():
            its, own = tables["rules"] == number, self.rule_sets[number]
            tables["deck"][its] = spec.stack((), own)
            tables["drawn"][its] = len(spec.left_out(own))
        tables["phase"], tables["seat"], shown.seat[:] = OVER, -1, -1
        told = None
        if self.observe_rules:
            size = shown.observation.shape[1] + self.rules_features.shape[1]
            seen = self._array("observation with rules", np.uint8, size)
            told = Told(self.rules_features, seen)
        self.arrays = Arrays(tables, record, shown, told)
        public = shown if told is None else shown._replace(observation=told.observation)
        self.tables = read_only(tables)
        self.seat, self.observation, self.mask, self.reward, self.terminated, self.truncated = map(
            read_only, public
        )
        self._everyone = np.ones(self.num_tables, dtype=np.bool_)
        self._no_dealers = np.full(self.num_tables, -1, dtype=np.int8)  # they are drawn
        self._began = False
        self.seed(seed)

    def seed(
        self, seed: int | Sequence[int] | np.ndarray | None, which: np.ndarray | None = None
    ) -> None:
        """Seed the tables; the next `reset` begins their match 1.

        Args:
            seed: One seed for the batch (table i plays stream i of it), or [N] seeds, each as if
                its table were table 0 of that seed. None takes one from the operating system.
            which: [N] bool, the tables; None is all of them.

        Raises:
            RulesError: A seed or choice of tables that is impossible.
        """
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        seeds, streams = arguments.seeds(seed, self.num_tables)
        chosen = self._chosen(which)
        with self.arrays as arrays:
            self.game.seed(arrays.tables, seeds, streams, chosen, self.num_players)

    def reset(
        self,
        seed: int | Sequence[int] | np.ndarray | None = None,
        *,
        deck: Sequence[str] | Sequence[Sequence[str]] | None = None,
        dealer: int | Sequence[int] | np.ndarray | None = None,
        start: Mapping[str, Any] | None = None,
        which: np.ndarray | None = None,
        deal: bool = True,
    ) -> None:
        """Begin a new match at every table (or at the chosen ones).

        Args:
            seed: New seed or seeds for the tables that begin; None continues their random streams.
            deck: Card codes in the order in which they leave the pack, for the first hand: one list
                for all tables, or a list of lists, [N]. It may be shorter than the pack; the rest
                is random.
            dealer: First dealer, one or [N]; None draws it.
            start: State of a match that is under way, for all tables, with the keys of the record
                notation: `{"pot": 6, "owed": [2, 2, 2]}`. None is the beginning of a match. Only
                the match that begins now uses it.
            which: [N] bool, the tables to begin; None is all of them.
            deal: Whether to deal; if not, the tables wait at a chance node (see `deal`).

        Raises:
            CardError: The deck is impossible.
            RulesError: The dealer, seed or start is impossible.
        """
        chosen = self._chosen(which)
        dealers = self._no_dealers
        if dealer is not None:
            dealers = arguments.seats(dealer, self.num_players, self.num_tables, "dealers")
        decks = self._decks(deck)
        for rules in self.rule_sets if isinstance(start, Mapping) else self.rule_sets[:1]:
            self.game.check_start(rules, self.num_players, start)
        if (decks or start) and isinstance(self.rules, RuleSets) and self.rules.index is None:
            raise RulesError(
                "each match draws its rules here, and a deck or start is for known ones: give the "
                "tables a list of rules"
            )
        if seed is not None:
            self.seed(seed, chosen)
        with self.arrays:
            self._reset(chosen, dealers, decks, start, deal)

    def begin_next(
        self,
        which: np.ndarray | None = None,
        *,
        reset: Callable[..., Any] | None = None,
        **options: Any,
    ) -> np.ndarray:
        """Begin the next match where one is over, until each has a decision.

        A match that the cards decide before anybody acts is passed over.

        Args:
            which: [N] bool, the tables that may begin one; None is all of them.
            reset: Begins them; None is `Batch.reset`. A `Recorder`'s records them.
            **options: Its other arguments, a dealer or a start.

        Returns:
            [N] how many matches a table has begun.

        Raises:
            KilleError: No seat has had a decision in `MOST_PASSED` matches.
            RulesError: An option is impossible.
        """
        chosen = self._chosen(which)
        begun = np.zeros(self.num_tables, dtype=np.int64)
        while (over := chosen & self.over).any():
            if begun.max() >= MOST_PASSED:
                raise _undecided()
            (reset or self.reset)(which=over, **options)
            begun += over
        return begun

    def _reset(
        self,
        chosen: np.ndarray,
        dealers: np.ndarray,
        decks: list[arguments.Stacked] | None,
        start: Mapping[str, Any] | None,
        deal: bool,
    ) -> None:
        first, tables, rules = not self._began, self.arrays.tables, self.arrays.rules
        name = self.spec.name if deal else f"{self.spec.name} (per hand)"
        with announce_compilation(name) if first and not in_plain() else nullcontext():
            decided = chosen
            # With anything given, begin and deal are separate calls; else one kernel does both.
            if start or decks or not deal:
                self.game.begin(tables, rules, dealers, chosen)
                if start:
                    for table in np.flatnonzero(chosen).tolist():
                        self.game.set_up(tables[table], self.rules_at(table), start)
                self._stack(decks, chosen)
                if deal:
                    self.game.deal(tables, rules, chosen, False)
                # Matches that the given cards have decided are over; with `restart` random ones
                # follow.
                decided = chosen & self.over & (self.restart and deal)
            if decided.any():
                self.game.open(tables, rules, dealers, decided, self.restart)
                if self.restart and (decided & self.over).any():
                    raise _undecided()
            self._show(chosen)
            self._began = True
            if first and deal:
                self.compile_step()
            elif first:  # a reset without a deal is for play by hand
                self.game.deal(tables, rules, ~self._everyone, True)
                self.game.apply(*self._no_tables())

    def compile_step(self) -> None:
        """Compile `step`, or load it from the cache, so that its first call is fast."""
        shown = (array[:0] for array in self.arrays.shown)
        self.game.step(*self._no_tables(), *shown, self.restart)

    def _no_tables(self) -> tuple[np.ndarray, ...]:
        """Return the first arguments of a kernel that plays actions, for N = 0."""
        arrays = self.arrays
        return arrays.tables[:0], arrays.rules, np.zeros(0, np.int64), self._everyone[:0]

    def step(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Play one action at every table (or at the chosen ones).

        Args:
            actions: [N] whole numbers; where a match is over, any number will do.
            which: [N] bool, the tables to step; None is all of them. The others do not change, and
                their reward is 0.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played at any table.
        """
        if not self._began:
            self._check_began()
        if (
            type(actions) is np.ndarray
            and actions.dtype is INT64
            and actions.shape == self._shape
            and actions.flags.c_contiguous
        ):
            actions = actions.copy()  # `arguments.actions` takes longer than a step of one table
        else:
            actions = arguments.actions(actions, self.num_tables)
        chosen = self._everyone if which is None else arguments.which(which, self.num_tables)
        arrays = self.arrays
        if arrays.busy:
            arrays.refuse()
        arrays.busy = True  # `with` takes as long as the whole rest of this
        try:
            illegal = self.game.step(
                arrays.tables, arrays.rules, actions, chosen, *arrays.shown, self.restart
            )
            if illegal >= 0:
                self.refuse(illegal, int(actions[illegal]))
            if arrays.told is not None:
                arrays.tell()
        finally:
            arrays.busy = False

    def deal(
        self,
        deck: Sequence[str] | Sequence[Sequence[str]] | None = None,
        which: np.ndarray | None = None,
    ) -> None:
        """Deal one hand at every table that waits at a chance node, and nothing more.

        Args:
            deck: Card codes for that hand, or a list of them for each table, as in `reset`.
            which: [N] bool, the tables to deal at; None is all of them.

        Raises:
            CardError: The deck is impossible.
        """
        self._check_began()
        chosen = self._chosen(which)
        decks = self._decks(deck)
        with self.arrays as arrays:
            waiting = chosen & (arrays.tables["phase"] == DEAL)
            self._stack(decks, waiting)
            # One hand and no more: a solver or a replay stops at every chance node.
            self.game.deal(arrays.tables, arrays.rules, waiting, True)
            self._show()

    def apply(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Play one action at every table like `step`, but stops before cards are dealt.

        Rewards stay in the tables' `reward` field. For replays, search and solvers.

        Args:
            actions: [N] whole numbers; where nobody is to act, any number will do.
            which: [N] bool, the tables to play at; None is all of them.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played.
        """
        self._check_began()
        chosen = self._chosen(which)
        with self.arrays as arrays:
            self.game.apply(arrays.tables, arrays.rules, self.check_legal(actions, chosen), chosen)
            self._show(chosen)

    def check_legal(self, actions: Any, which: np.ndarray | None = None) -> np.ndarray:
        """Return actions as [N] int64 if they are legal now; nothing is played.

        Args:
            actions: [N] whole numbers.
            which: [N] bool, the tables at which they must be legal; None is all of them.

        Raises:
            IllegalActionError: They are not [N] whole numbers, or one is illegal.
        """
        actions = arguments.actions(actions, self.num_tables)
        chosen = self._chosen(which)
        shown = self.arrays.shown
        illegal = first_illegal(shown.seat, shown.mask, actions, chosen)
        if illegal >= 0:
            self.refuse(illegal, int(actions[illegal]))
        return actions

    def clone(self) -> "Batch":
        """Return a copy that continues exactly as this batch would."""
        return self.take(np.arange(self.num_tables))

    def take(self, rows: Any) -> "Batch":
        """Return a batch of copies of tables, in the given order; a table may appear often.

        Args:
            rows: [M] numbers of tables.

        Raises:
            RulesError: There is no such table.
        """
        rows = arguments.rows(rows, self.num_tables)
        rules = self.rules.at(rows) if isinstance(self.rules, RuleSets) else self.rules
        options = self.restart, self.observe_rules
        copy = Batch(self.game, len(rows), self.num_players, rules, 0, *options)
        copy._began = self._began
        with self.arrays as arrays:
            # Taken so, records are copied as wholes, not field by field: thirty times as fast.
            its = copy.arrays
            np.take(arrays.tables, rows, axis=0, out=its.tables, mode="wrap")
            for array, copied in zip(arrays.shown, its.shown, strict=True):
                np.take(array, rows, axis=0, out=copied, mode="wrap")
            its.tell()
        return copy

    def resample(self, seats: Any, keys: Any) -> np.ndarray:
        """Replace each table by a determinization: one that a seat cannot tell from it.

        All determinizations that agree with the seat's knowledge of the deal are equally likely:
        the hidden cards lie in another order, and later draws are random. The others' actions are
        not taken as evidence about their cards. For search and beliefs.

        Args:
            seats: One seat or [N].
            keys: [N] whole numbers from 0 to 2**64 - 1; each fixes its table's determinization.

        Returns:
            [N, pack] int8: the card that now lies where card c lay.

        Raises:
            RulesError: There is no such seat, or there is not one key per table.
        """
        self._check_began()
        keys = arguments.words("keys", keys, self.num_tables)
        seats = arguments.seats(seats, self.num_players, self.num_tables)
        cards = self._array("cards", np.int8, self.spec.pack.size)
        with self.arrays as arrays:
            self.game.resample(arrays.tables, arrays.rules, seats, keys, cards)
            self._show()
        return cards

    def place(self, tables: np.ndarray) -> None:
        """Replace all tables without a check.

        For tests and solvers, some of whose tables no pack deals. `reward`, `terminated` and
        `truncated` then show no step.

        Args:
            tables: [N] records of this game, seats and rules.

        Raises:
            RulesError: A table plays by a rule set that the batch does not have.
        """
        # Kernels index with it.
        if not 0 <= tables["rules"].min() <= tables["rules"].max() < len(self.rule_sets):
            raise RulesError(
                f"the tables' rules are numbered 0 to {len(self.rule_sets) - 1}, got "
                f"{tables['rules'].min()} to {tables['rules'].max()}"
            )
        with self.arrays as arrays:
            arrays.tables[:] = tables
            self._began = True
            self._show()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the tables, not the kernels."""
        options = self.restart, self.observe_rules
        settings = self.num_tables, self.num_players, self.rules, 0, *options
        arrays = self.arrays
        return again, (
            self.game.module.__name__,
            settings,
            self._began,
            (arrays.tables, *arrays.shown),
        )

    def _show(self, which: np.ndarray | None = None) -> None:
        arrays = self.arrays
        self.game.show(arrays.tables, arrays.rules, self._chosen(which), *arrays.shown)

    def _chosen(self, which: Any) -> np.ndarray:
        return self._everyone if which is None else arguments.which(which, self.num_tables)

    def _decks(self, deck: Any) -> list[arguments.Stacked] | None:
        tables = self.arrays.tables["rules"].tolist() if deck is not None else []
        return arguments.decks(deck, self.spec, [self.rule_sets[number] for number in tables])

    def _stack(self, decks: list[arguments.Stacked] | None, which: np.ndarray) -> None:
        if decks is None:
            return
        tables = self.arrays.tables
        for table in np.flatnonzero(which):
            tables["deck"][table], tables["stacked"][table] = decks[table]

    def refuse(self, table: int, action: int, number: int | None = None) -> NoReturn:
        """Raise the error about an illegal action, with its table, seat and the legal ones.

        Args:
            table: The table.
            action: The action.
            number: Number of the table in the error, for a copy of another; None is `table`.
        """
        known = 0 <= action < self.spec.num_actions
        name = f"{action} ({self.spec.actions[action]})" if known else f"{action}"
        legal = ", ".join(f"{a} ({self.action_text(a, table)})" for a in self._legal(table))
        raise IllegalActionError(
            f"table {table if number is None else number}, seat {self.seat[table]}: action {name} "
            f"is not legal now. Legal: {legal}"
        )


def numbers_of(rules: Rules) -> tuple[Any, int]:
    """Return the number of each table's rule set, and of how many each match draws one."""
    if not isinstance(rules, RuleSets):
        return 0, 0
    return (0, len(rules.sets)) if rules.index is None else (rules.index, 0)


def _undecided() -> KilleError:
    return KilleError(f"no seat has had a decision in {MOST_PASSED} matches")


def again(
    game: str, settings: tuple[Any, ...], began: bool, arrays: tuple[np.ndarray, ...]
) -> Batch:
    """Return a batch that holds copied tables: the settings are those of `Batch`, by place."""
    batch = Batch(game_of(game), *settings)
    batch._began = began
    target = batch.arrays
    for its, kept in zip((target.tables, *target.shown), arrays, strict=True):
        its[...] = kept
    target.tell()
    return batch
