"""Record matches while they are played."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.table import OVER
from kille_env.errors import RecordError
from kille_env.records.notation import CHANCE, FORMAT, Record

Entry = tuple[str, Any, Any]
"""("reset", options, None), or ("step", actions, `which`)."""


def returns(batch: Batch, table: int) -> list[float]:
    """Return [P] net units of a match that `deal` and `apply` played, whole numbers as such."""
    paid = batch.tables["reward"][table, : batch.num_players].tolist()
    return [int(units) if units == int(units) else units for units in paid]


class Recorder:
    """Records the matches of a batch that is reset and stepped through it.

    Recording costs a copy of the actions per step. A record is written when it is asked for, by
    playing the matches again.

    Example:
        >>> import kille_env
        >>> batch = kille_env.make_batch("byteskille", 2, 3, restart=False)
        >>> recorder = kille_env.Recorder(batch)
        >>> recorder.reset(seed=[1, 2])
        >>> while (batch.seat >= 0).any():
        ...     recorder.step(batch.mask.argmax(axis=1))
        >>> print(recorder.record(0))
        byteskille, 3 seats: 1 deal, returns ...
    """

    def __init__(self, batch: Batch, names: Sequence[str] | None = None) -> None:
        """Prepare to record; call `reset` to begin matches.

        Args:
            batch: The tables, made with `restart=False`.
            names: [P] names of the seats for the records.

        Raises:
            RecordError: The batch restarts finished tables by itself.
        """
        if batch.restart:
            raise RecordError("a Recorder needs a batch with restart=False")
        self.batch, self.names = batch, None if names is None else list(names)
        self._before: bytes | None = None
        self._entries: list[Entry] = []
        self._written: _Writer | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Copy no tables that can be played again."""
        return {**vars(self), "_written": None}

    def reset(
        self,
        seed: int | Sequence[int] | np.ndarray | None = None,
        *,
        which: np.ndarray | None = None,
        **options: Any,
    ) -> None:
        """Begin matches as `Batch.reset` does, with the same arguments."""
        # A reset without a seed continues the tables' random streams, so these are part of the
        # record.
        before = self.batch.tables.tobytes()  # an array would be copied field by field
        self.batch.reset(seed, which=which, **options)
        # When all tables begin anew, nothing before can belong to a current match.
        if self._before is None or which is None or np.all(which):
            self._before, self._entries = before, []
        self._note("reset", {"seed": seed, "which": which, **options}, None)

    def step(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Play actions as `Batch.step` does.

        Args:
            actions: [N].
            which: [N] bool, the tables to play at; None is all of them.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played.
        """
        self.batch.step(actions, which)
        self._note("step", np.array(actions), None if which is None else np.array(which))

    def note(self, actions: np.ndarray) -> None:
        """Record actions [M] that were played at a single table, one after the other."""
        for action in actions.tolist():
            self._note("step", np.array([action]), None)

    def record(self, table: int = 0, names: Sequence[str] | None = None) -> Record:
        """Return the current match of a table, ended or not.

        Args:
            table: Number of the table.
            names: [P] names of the seats, in place of the recorder's.

        Raises:
            RecordError: There was no reset yet.
        """
        if self._before is None:
            raise RecordError("there is no match to record yet: reset first")
        table = arguments.table(table, self.batch.num_tables)
        if self._written is None:
            self._written = _Writer(self.batch, self._before)
            for kind, what, which in self._entries:
                if kind == "reset":
                    self._written.reset(**what)
                else:
                    self._written.step(what, which)
        return self._written.record(table, self.names if names is None else list(names))

    def _note(self, kind: str, what: Any, which: np.ndarray | None) -> None:
        # Only what was done is kept; results, texts and decks follow from playing it again.
        self._entries.append((kind, what, which))
        self._written = None


class _Writer:
    """Plays the tables of a batch again, hand by hand, and writes every match down."""

    def __init__(self, batch: Batch, before: bytes) -> None:
        game, rules = batch.game, batch.rules
        self.batch = Batch(game, batch.num_tables, batch.num_players, rules, 0, restart=False)
        self.batch.place(np.frombuffer(before, dtype=batch.tables.dtype))
        self._codes = np.repeat(np.array(batch.spec.pack.codes), batch.spec.pack.copies)
        self._matches: list[dict[str, Any]] = [{"deals": []} for _ in range(batch.num_tables)]

    def reset(self, seed: Any, *, which: np.ndarray | None, **options: Any) -> None:
        """Begin matches; see `Recorder.reset`."""
        batch = self.batch
        batch.reset(seed, which=which, **{**options, "deal": False})
        chosen = range(batch.num_tables) if which is None else np.flatnonzero(which).tolist()
        # A seed goes into the record if it alone says which cards a single table would see.
        stacked = any(options.get(name) is not None for name in ("deck", "dealer", "start"))
        alone: list[int] | None = None
        if seed is not None and not stacked and (np.ndim(seed) > 0 or batch.num_tables == 1):
            alone = np.atleast_1d(np.asarray(seed, dtype=object)).tolist()  # any size of int
        start = options.get("start") or {}
        start = {key: start[key] for key in start if key not in CHANCE}
        for table in chosen:
            self._matches[table] = {
                "seed": None if alone is None else alone[table],
                "first_dealer": int(batch.tables["dealer"][table]),
                "start": start,
                "deals": [],
            }
        self._deal()

    def step(self, actions: Any, which: np.ndarray | None) -> None:
        """Play one action at every table that is not over, and deal where a hand has ended."""
        batch = self.batch
        asked = batch.seat >= 0 if which is None else which & (batch.seat >= 0)
        live = np.flatnonzero(asked).tolist()
        seats, numbers = batch.seat.tolist(), batch.check_legal(actions, which).tolist()
        texts = [batch.action_text(numbers[table], table) for table in live]
        batch.apply(actions, which)
        for table, text in zip(live, texts, strict=True):
            self._matches[table]["deals"][-1]["actions"].append([seats[table], text])
        self._close(live)
        self._deal()

    def record(self, table: int, names: list[str] | None) -> Record:
        """Return the current match of a table."""
        batch = self.batch
        over = batch.tables["phase"][table] == OVER
        match = copy.deepcopy(self._matches[table])
        if match["deals"]:
            match["deals"][-1]["deck"] = self._deck(table)
        return Record(
            format=FORMAT,
            game=batch.spec.name,
            rules=batch.rules_at(table).as_dict(),
            num_players=batch.num_players,
            names=names,
            **match,
            **batch.game.chance(batch.tables[table], batch.rules_at(table)),
            returns=returns(batch, table) if over else None,
            truncated=bool(batch.tables["truncated"][table]) if over else None,
        )

    def _deal(self) -> None:
        """Deal until every table has a decision or is over; hands can end undecided."""
        while len(waiting := np.flatnonzero(self.batch.at_chance).tolist()):
            self.batch.deal()
            for table in waiting:
                self._matches[table]["deals"].append({"deck": [], "actions": []})
            self._close(waiting)

    def _close(self, tables: list[int]) -> None:
        phases = self.batch.tables["phase"]
        for table in tables:
            if phases[table] <= OVER:
                deal = self._matches[table]["deals"][-1]
                deal |= {"deck": self._deck(table), "result": self.batch.result(table)}

    def _deck(self, table: int) -> list[str]:
        return self._codes[self.batch.drawn_cards(table)].tolist()
