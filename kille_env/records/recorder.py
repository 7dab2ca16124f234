"""Recording what is played."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.table import OVER
from kille_env.errors import RecordError
from kille_env.records.notation import CHANCE, FORMAT, Record

Watch = Callable[[Any, Any], None]


def returns(batch: Batch, table: int) -> list[float]:
    """Returns [P] net units of a match that `deal` and `apply` played, whole numbers as such."""
    paid = batch.tables["reward"][table, : batch.num_players].tolist()
    return [int(units) if units == int(units) else units for units in paid]


class Recorder:
    """Plays the tables of a batch hand by hand and records every match.

    It uses the low level of the batch: `batch.reward` stays zero, and the batch must have
    `restart=False`. An environment of one table that calls `Batch.step` keeps a
    `Logbook` instead.

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

    def __init__(
        self, batch: Batch, names: Sequence[str] | None = None, watch: Watch | None = None
    ) -> None:
        """Prepares to record; call `reset` to begin matches.

        Args:
            batch: The tables.
            names: [P] names of the seats for the records.
            watch: Called with table 0 before and after every deal and every action.

        Raises:
            RecordError: The batch restarts finished tables by itself.
        """
        if batch.restart:
            raise RecordError("a Recorder needs a batch with restart=False")
        self.batch, self.names = batch, None if names is None else list(names)
        self._watch = watch
        self._codes = np.repeat(np.array(batch.spec.pack.codes), batch.spec.pack.copies)
        self._matches: list[dict[str, Any]] = [{"deals": []} for _ in range(batch.num_tables)]

    def reset(
        self,
        seed: int | Sequence[int] | np.ndarray | None = None,
        *,
        which: np.ndarray | None = None,
        **options: Any,
    ) -> None:
        """Begins matches as `Batch.reset` does, with the same arguments."""
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

    def step(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Plays one action at every table that is not over, and deals where a hand has ended.

        Args:
            actions: [N].
            which: [N] bool, the tables to play at; None is all of them.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played.
        """
        batch = self.batch
        asked = batch.seat >= 0 if which is None else which & (batch.seat >= 0)
        live = np.flatnonzero(asked).tolist()
        seats, numbers = batch.seat.tolist(), batch.check_legal(actions, which).tolist()
        texts = [batch.action_text(numbers[table], table) for table in live]
        self._move(lambda: batch.apply(actions, which))
        for table, text in zip(live, texts, strict=True):
            self._matches[table]["deals"][-1]["actions"].append([seats[table], text])
        self._close(live)
        self._deal()

    def record(self, table: int = 0) -> Record:
        """Returns the current match of a table, as far as it has been played."""
        batch = self.batch
        over = batch.tables["phase"][table] == OVER
        match = copy.deepcopy(self._matches[table])
        if match["deals"]:
            match["deals"][-1]["deck"] = self._deck(table)
        return Record(
            format=FORMAT,
            game=batch.spec.name,
            rules=batch.rules.as_dict(),
            num_players=batch.num_players,
            names=self.names,
            **match,
            **batch.game.chance(batch.tables[table], batch.rules),
            returns=returns(batch, table) if over else None,
            truncated=bool(batch.tables["truncated"][table]) if over else None,
        )

    def _move(self, move: Callable[[], None]) -> None:
        if self._watch is None:
            move()
            return
        before = self.batch.tables[0].copy()
        move()
        self._watch(before, self.batch.tables[0].copy())

    def _deal(self) -> None:
        """Deals until every table has somebody to decide or is over; hands can end undecided."""
        while len(waiting := np.flatnonzero(self.batch.at_chance).tolist()):
            self._move(self.batch.deal)
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


class Logbook:
    """What an environment of one table keeps so that a record of its match can be made later.

    It costs one copy of the table per reset and one of the action per step; the record is made by
    playing the match again.
    """

    def __init__(self, batch: Batch) -> None:
        """Starts empty; from now on, reset and step the batch through the logbook.

        Raises:
            RecordError: It has several tables, or begins matches itself; see `Recorder`.
        """
        if batch.num_tables > 1 or batch.restart:
            raise RecordError("a Logbook needs one table and restart=False; a Recorder takes many")
        self.batch = batch
        self._before: bytes | None = None
        self._options: dict[str, Any] = {}
        self._actions: list[np.ndarray] = []  # of one or more steps, [M]

    def reset(self, seed: Any = None, **options: Any) -> None:
        """Calls `Batch.reset`, and forgets the match before."""
        before = self.batch.tables.tobytes()  # an array would be copied field by field
        self.batch.reset(seed, **options)
        self._before, self._options, self._actions = before, {"seed": seed, **options}, []

    def step(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Calls `Batch.step`."""
        self.batch.step(actions, which)
        self.note(np.array(actions))

    def note(self, actions: np.ndarray) -> None:
        """Notes actions [M] that were played, one after the other."""
        self._actions.append(actions.copy())

    def record(self, names: Sequence[str] | None = None) -> Record:
        """Returns the match since the last reset, ended or not.

        Args:
            names: [P] names of the seats.

        Raises:
            RecordError: There was no reset yet.
        """
        if self._before is None:
            raise RecordError("there is no match to record yet: reset first")
        mine = self.batch
        again = Batch(mine.game, 1, mine.num_players, mine.rules, 0, restart=False)
        again.place(np.frombuffer(self._before, dtype=again.tables.dtype))
        recorder = Recorder(again, names)
        recorder.reset(**self._options)
        for actions in self._actions:
            for action in actions:
                recorder.step(np.array([action]))
        return recorder.record()
