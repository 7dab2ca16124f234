"""Plays a unit: all its tables in one native batch, each player asked once a step."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from kille_agents.catalog import load_policy
from kille_env.core.batch import Batch
from kille_env.core.determinization import History
from kille_env.core.spec import Rules
from kille_env.policy import (
    Policy,
    Searcher,
    best_actions,
    check_probabilities,
    decide,
    history_for,
    pick_actions,
)
from kille_env.records import Record, Recorder
from kille_env.registry import make_batch, spec
from kille_training.arena.lots import chances, deal_seeds, derive, table_keys
from kille_training.arena.seating import seatings
from kille_training.arena.units import (
    Entrant,
    EntrantFailed,
    Failure,
    Outcome,
    Result,
    Stint,
    Thinking,
    Unit,
)

Player = Policy | Searcher
Watched = Callable[[Thinking], AbstractContextManager[object]]
"""Called with who is to think about what; he does while the context is open."""
MOST_LETTERS = 500
"""Letters of a reason that are kept."""


class Bench:
    """The players of a process, each loaded once for a table."""

    def __init__(self) -> None:
        self._players: dict[tuple[Entrant, int], Player] = {}

    def player(self, entrant: Entrant, unit: Unit, rules: Rules) -> Player:
        """Returns an entrant's player for the table of a unit."""
        key = (entrant, unit.num_players)
        if key not in self._players:
            self._players[key] = load_policy(
                entrant.player, unit.game, unit.num_players, rules, trust=unit.trust
            )
        return self._players[key]


def unit_rules(unit: Unit) -> Rules:
    """Returns the rules that a unit is played by."""
    return spec(unit.game).resolve(dict(unit.rules))


def play_unit(unit: Unit, bench: Bench, watched: Watched = lambda _: nullcontext()) -> Outcome:
    """Plays a unit to the end, or until an entrant fails.

    Args:
        unit: What is played.
        bench: Players that have been loaded in this process.
        watched: Told who is thinking.

    Returns:
        The results; the same ones whatever else is played, before it or beside it.
    """
    start = time.perf_counter()
    try:
        results = _Tables(unit, bench, watched).play()
    except EntrantFailed as error:
        return Outcome(unit, failure=error.failure, seconds=time.perf_counter() - start)
    return Outcome(unit, results, seconds=time.perf_counter() - start)


def record_unit(unit: Unit, bench: Bench) -> list[Record]:
    """Plays a unit and returns the record of every table: stints, their deals, their seatings.

    Raises:
        EntrantFailed: Somebody can not go on.
    """
    return _Tables(unit, bench, lambda _: nullcontext()).record()


class _Tables:
    """The tables of a unit, stint after stint, deal after deal, seating after seating."""

    def __init__(self, unit: Unit, bench: Bench, watched: Watched) -> None:
        self.unit, self.bench, self.watched = unit, bench, watched
        self.rules = unit_rules(unit)
        self.entrants: Mapping[int, Entrant] = {each.number: each for each in unit.entrants}
        keys = {each.number: each.key for each in unit.entrants}
        self.seatings = [
            seatings(tuple(keys[member] for member in stint.members), unit.orders, unit.seed)
            for stint in unit.stints
        ]
        stint_of, deals, seated = [], [], []
        for number, (stint, turns) in enumerate(zip(unit.stints, self.seatings, strict=True)):
            stint_of.append(np.full(stint.deals * len(turns), number))
            deals.append(stint.first_deal + np.repeat(np.arange(stint.deals), len(turns)))
            seated.append(np.tile(np.array(stint.members)[turns], (stint.deals, 1)))
        self.stint_of, self.deal = np.concatenate(stint_of), np.concatenate(deals)
        self.seated = np.concatenate(seated)
        numbers = np.array(sorted(keys))
        words = np.array([keys[number] for number in numbers.tolist()], dtype=np.uint64)
        self.seated_keys = words[np.searchsorted(numbers, self.seated)]

    def play(self) -> tuple[Result, ...]:
        unit = self.unit
        seeds = deal_seeds(unit.seed, unit.num_players, self.deal)
        batch = self._batch()
        batch.reset(seed=seeds)
        total = np.zeros((batch.num_tables, batch.num_players))

        def step(actions: np.ndarray) -> None:
            batch.step(actions)
            np.add(total, batch.reward, out=total)

        self._play_out(batch, table_keys(seeds, self.seated_keys), step)
        earned = total.round(9)  # the shares of a stake are no binary fractions and leave dust
        results, end = [], 0
        for stint, turns in zip(unit.stints, self.seatings, strict=True):
            begin, end = end, end + stint.deals * len(turns)
            shape = (stint.deals, len(turns), unit.num_players)
            results.append(Result(stint, turns, earned[begin:end].reshape(shape)))
        return tuple(results)

    def record(self) -> list[Record]:
        """Plays all tables and returns their records, stint after stint."""
        seeds = deal_seeds(self.unit.seed, self.unit.num_players, self.deal)
        recorder = Recorder(self._batch())
        recorder.reset(seed=seeds)
        self._play_out(recorder.batch, table_keys(seeds, self.seated_keys), recorder.step)
        records = [recorder.record(table) for table in range(len(self.deal))]
        for record, seated in zip(records, self.seated.tolist(), strict=True):
            record["names"] = [self.entrants[who].name for who in seated]
        return records

    def _batch(self) -> Batch:
        return make_batch(
            self.unit.game,
            len(self.deal),
            self.unit.num_players,
            rules=self.rules,
            seed=0,
            restart=False,
        )

    def _play_out(
        self, batch: Batch, keys: np.ndarray, step_tables: Callable[[np.ndarray], None]
    ) -> None:
        """Plays every table to the end with the lots of its key."""
        actions = np.zeros(batch.num_tables, dtype=np.int64)
        seated = [self.entrants[number] for number in np.unique(self.seated).tolist()]
        history = history_for([self._player(each) for each in seated], batch)
        step = 0
        while True:
            playing = np.flatnonzero(batch.seat >= 0)
            if not len(playing):
                return
            to_act = self.seated[playing, batch.seat[playing]]
            order = np.argsort(to_act, kind="stable")
            playing, to_act = playing[order], to_act[order]
            starts = np.flatnonzero(np.diff(to_act, prepend=-1))
            for rows in np.split(playing, starts[1:]):
                entrant = self.entrants[int(self.seated[rows[0], batch.seat[rows[0]]])]
                actions[rows] = self._choose(
                    entrant, batch, rows, derive(keys[rows], step), history
                )
            if history is not None:
                history.note(actions)
            step_tables(actions)
            step += 1

    def _player(self, entrant: Entrant) -> Player:
        """Loads an entrant's player, and names him if that fails."""
        rows = np.flatnonzero((self.seated == entrant.number).any(axis=1))
        about = self._about(entrant, rows)._replace(decisions=0)
        try:
            with self.watched(about):
                return self.bench.player(entrant, self.unit, self.rules)
        except (Exception, SystemExit) as error:  # a player may not end the tournament
            raise EntrantFailed(failure(about, error)) from error

    def _choose(
        self,
        entrant: Entrant,
        batch: Batch,
        rows: np.ndarray,
        keys: np.ndarray,
        history: History | None,
    ) -> np.ndarray:
        """Asks an entrant, and names him if he fails in whatever way."""
        about = self._about(entrant, rows)
        try:
            player = self.bench.player(entrant, self.unit, self.rules)
            with self.watched(about):
                probabilities = decide(player, batch, rows, keys, history)
            if type(probabilities) is not np.ndarray:  # some kinds of array hide what they hold
                probabilities = np.asarray(probabilities)
                check_probabilities(player.name, probabilities, batch.mask[rows])
        except (Exception, SystemExit) as error:  # a player may not end the tournament
            raise EntrantFailed(failure(about, error)) from error
        if entrant.play == "argmax":
            return best_actions(probabilities)
        return pick_actions(probabilities, chances(keys))

    def _about(self, entrant: Entrant, rows: np.ndarray) -> Thinking:
        stint: Stint = self.unit.stints[self.stint_of[rows[0]]]
        return Thinking(entrant.number, len(rows), stint.lineup, int(self.deal[rows[0]]))


def failure(about: Thinking, error: BaseException) -> Failure:
    """Returns how somebody failed who raised an error while he was thinking."""
    try:
        text = str(error)
    except Exception:  # even his error may be wrong
        text = "an error that can not be shown"
    reason = f"{type(error).__name__}: {text}"[:MOST_LETTERS]
    return Failure(about.entrant, reason, about.lineup, about.deal)
