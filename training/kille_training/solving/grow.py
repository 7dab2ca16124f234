"""Grows the deals of any game, by playing every action and every card with the game's own kernels.

A node is a record of a table. It is never stored: a depth-first walk keeps the tables from the
first to the newest one, and writes down information sets and ends (see `SequenceGame`).

Chance is a card that leaves the pack. A table whose next cards are fixed (`stacked`) is stepped; if
it drew one card more than that, the table before the step is a chance node, at which each type of
card that is left is fixed in turn, as often as the pack holds it. Nothing is sampled. Two things
are merged, without loss:

- Cards of one type are the same card.
- Of cards that come to one hand in one step, the order does not matter: a hand is a set. So they
  are dealt from the lowest up, and the chance counts the orders that this stands for.

An information set is what `information_state` shows to a seat that has a choice; where only one
action is legal, nothing is decided. The walk refuses a
game in which two tables of a set differ in what the seat has done before or may do now.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.game import Game
from kille_env.core.jit import bind, index, kernel, loop
from kille_env.core.spec import Rules, width
from kille_env.core.table import DEAL, OVER
from kille_env.errors import KilleError
from kille_training.solving.slots import fill_slots, slot_of
from kille_training.solving.trees.sequence_game import SequenceGame

CHANCE, FORCED = -2, -3
"""Stand for an information set in `Path.frames` where a card is to be drawn, and where the seat to
act has no choice."""

SET, CHOICE, STEP, ACTION, START, FLOOR, COUNT, RUN = range(8)
"""Columns of `Path.frames`: information set; next choice; sequence of the next choice. Of a chance
node: action that draws, -1 for the deal; where in the deck its cards begin; and of the hand that
the card goes to the highest type that it has drawn so far, how many cards, and how many of it. The
action is also that of a seat without a choice."""

DEPTH, NODES, SETS, ENDS, DEALS, FAULT = range(6)
"""What the walk counts in `size`."""

PLAYED, DRAWS, DRY, LUCK = range(4)
"""What can come of a step."""

FAULTS = {
    1: "two tables that look alike to a seat differ in what it has done before",
    2: "two tables that look alike to a seat have different legal actions",
    3: "discards are shuffled into a new talon, which no tree knows; fewer seats or discards "
    "(max_discards) or a larger pack leave cards in it",
    4: "the cards of a deal can be dealt again, which this tree does not know",
    5: "something besides cards is decided by chance in a deal, and the game does not say what "
    "(`chances`)",
}
"""Why a walk ended early, by the number in `size[FAULT]`."""
FORGETS, CLASH, EMPTY, AGAIN, RANDOM = FAULTS

FIRST_ROOM = 1 << 14  # information sets, and ends, that there is room for at first
CALL = 1 << 19  # nodes of one compiled call: a fraction of a second, during which Ctrl-C waits


class Job(NamedTuple):
    """What is grown."""

    rules: np.ndarray  # [1]
    end: int  # where the cards of the deck end that are played with
    num_features: int  # of an information state


class Path(NamedTuple):
    """The nodes from the first table to the newest, by their depth, and room to work in."""

    stack: np.ndarray  # [D] tables
    frames: np.ndarray  # [D, 8], see `SET` to `RUN`
    weight: np.ndarray  # [D], how often chance leads there
    last: np.ndarray  # [D, P], the last sequence of every seat
    row: np.ndarray
    row_bytes: np.ndarray  # the same memory
    mask: np.ndarray
    talon: np.ndarray  # how many cards of each type are left
    place: np.ndarray  # where one of them lies


class Sets(NamedTuple):
    """The information sets so far."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # what the seat knows, packed in words
    positions: np.ndarray  # one table of each
    player: np.ndarray
    first: np.ndarray
    before: np.ndarray
    masks: np.ndarray


class Ends(NamedTuple):
    """The ends so far; those with equal sequences are one."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    last: np.ndarray
    chance: np.ndarray
    pay: np.ndarray


def _the_games(*_: Any) -> Any:
    """Stands for a function of the game; it is never called."""


deal = apply = legal_actions = information_state = holder = _the_games
_count_talon = _find_set = _play = _the_games
NUM_TYPES, COPIES = 0, 1
"""The game's: types of cards in the pack, and how many equal cards there are of each."""


@kernel
def _in_hands(table, card):
    """Returns the seat whose hand, a set of cards, holds a card; -1 if none does."""
    for seat in range(np.int64(table["num_players"])):
        if (np.uint64(table["hand"][index(seat)]) >> np.uint64(card)) & np.uint64(1):
            return seat
    return -1


@kernel
def _nowhere(table, card):
    """Stands for `_in_hands` in games whose hands are no sets: no orders are merged."""
    return -1


def _find_set_of(job, path, depth, sets, size):
    """Returns the number of a table's information set, a new one if need be.

    Returns:
        The number; `FORCED`, and the only action is in `frames`; -1 after a fault.
    """
    table, rules, row, mask = path.stack[depth], job.rules[0], path.row, path.mask
    seat, legal = np.int64(table["seat"]), 0
    legal_actions(table, rules, seat, mask)
    for action in range(mask.shape[0]):
        legal += mask[action]
        if mask[action] != 0:
            path.frames[depth, ACTION] = action
    if legal == 1:
        return FORCED
    for word in range(row.shape[0]):
        row[word] = 0
    information_state(table, rules, seat, path.row_bytes[: job.num_features])
    path.row_bytes[job.num_features] = seat
    slot = slot_of(row, sets.slots, sets.rows)
    found = np.int64(sets.slots[slot])
    if found >= 0:
        if sets.before[found] != path.last[depth, seat]:
            size[FAULT] = FORGETS
        for action in range(mask.shape[0]):
            if mask[action] != sets.masks[found, action]:
                size[FAULT] = CLASH
        return found if size[FAULT] == 0 else -1
    found = size[SETS]
    sets.slots[slot] = found
    for word in range(row.shape[0]):
        sets.rows[found, word] = row[word]
    sets.positions[found] = table
    sets.player[found] = seat
    sets.before[found] = path.last[depth, seat]
    for action in range(mask.shape[0]):
        sets.masks[found, action] = mask[action]
    sets.first[found + 1] = sets.first[found] + legal
    size[SETS] = found + 1
    return found


@kernel
def _put(table, at):
    """Fixes the next card of the pack: the one that lies at `at` of the deck."""
    position = np.int64(table["stacked"])
    card = table["deck"][index(at)]
    table["deck"][index(at)] = table["deck"][index(position)]
    table["deck"][index(position)] = card
    table["stacked"] = position + 1


def _play_on(job, path, depth, action, at):
    """Steps a copy of a table, onto the next place of the stack.

    Args:
        job: What is grown.
        path: The nodes.
        depth: The table that is stepped.
        action: The action; -1 deals.
        at: Where in the deck the card lies that is drawn next; -1 if none is to be fixed.

    Returns:
        `PLAYED`; `DRY` and `LUCK`, which are faults; or `DRAWS`, and the copy waits, not stepped,
        for its next card.
    """
    stack, frames = path.stack, path.frames
    start = frames[depth, START] if at >= 0 else np.int64(stack[depth]["stacked"])
    stack[depth + 1] = stack[depth]
    table = stack[depth + 1]
    if at >= 0:
        _put(table, at)
    fixed = np.int64(table["stacked"])
    if action < 0:
        deal(table, job.rules[0])
    else:
        apply(table, job.rules[0], action)
    if table["drawn"] > job.end:
        return DRY
    if table["drawn"] <= fixed:
        table["stacked"] = table["drawn"]
        return LUCK if action >= 0 and table["rng"] != stack[depth]["rng"] else PLAYED
    # Which of the cards that are fixed in this step have come to the same hand as the next one.
    to, floor, number, run = holder(table, table["deck"][index(fixed)]), 0, 0, 0
    for position in range(start, fixed if to >= 0 else start):
        card = table["deck"][index(position)]
        if holder(table, card) == to:
            run = run + 1 if number > 0 and card // COPIES == floor else 1
            number += 1
            floor = np.int64(card // COPIES)
    stack[depth + 1] = stack[depth]
    if at >= 0:
        _put(stack[depth + 1], at)
    frames[depth + 1, START], frames[depth + 1, FLOOR] = start, floor
    frames[depth + 1, COUNT], frames[depth + 1, RUN] = number, run
    return DRAWS


def _count_types(table, end, talon, place):
    """Counts the types of the cards that are not fixed yet, and finds one of each.

    Returns:
        The number of cards.
    """
    for kind in range(talon.shape[0]):
        talon[kind] = 0
    position = np.int64(table["stacked"])
    for at in range(position, end):
        kind = index(table["deck"][index(at)] // COPIES)
        talon[kind] += 1
        place[kind] = at
    return end - position


@kernel
def _add_end(path, depth, ends, size):
    """Writes down an end: how often chance leads there, and what it pays."""
    last, table, weight = path.last[depth], path.stack[depth], path.weight[depth]
    slot = slot_of(last, ends.slots, ends.last)
    number = np.int64(ends.slots[slot])
    if number < 0:
        number = size[ENDS]
        ends.slots[slot] = number
        size[ENDS] = number + 1
        for seat in range(last.shape[0]):
            ends.last[number, seat] = last[seat]
    ends.chance[number] += weight
    for seat in range(last.shape[0]):
        ends.pay[number, seat] += weight * table["reward"][seat]


def walk(job, path, sets, ends, size, most):
    """Walks on until `most` nodes more are met, an array is full, a fault is found or all is done.

    `size[DEPTH]` is -1 when all is done.
    """
    frames, num_actions = path.frames, path.mask.shape[0]
    depth, stop = size[DEPTH], size[NODES] + most
    while depth >= 0 and size[NODES] < stop and size[FAULT] == 0:
        if size[SETS] == sets.player.shape[0] or size[ENDS] == ends.chance.shape[0]:
            break
        kind, choice = frames[depth, SET], frames[depth, CHOICE]
        weight, at = path.weight[depth], np.int64(-1)
        if kind == CHANCE:
            left = _count_talon(path.stack[depth], job.end, path.talon, path.place)
            while choice < NUM_TYPES and path.talon[choice] == 0:
                choice += 1
            if choice == NUM_TYPES:
                depth -= 1
                continue
            same = frames[depth, COUNT] > 0 and choice == frames[depth, FLOOR]
            run = frames[depth, RUN] + 1 if same else 1
            weight *= path.talon[choice] / left * ((frames[depth, COUNT] + 1) / run)
            action, at = frames[depth, ACTION], path.place[choice]
        elif kind == FORCED:
            if choice > 0:
                depth -= 1
                continue
            action = frames[depth, ACTION]
        else:
            while choice < num_actions and sets.masks[kind, choice] == 0:
                choice += 1
            if choice == num_actions:
                depth -= 1
                continue
            action = choice
        for seat in range(path.last.shape[1]):
            path.last[depth + 1, seat] = path.last[depth, seat]
        if kind >= 0:
            path.last[depth + 1, sets.player[kind]] = frames[depth, STEP]
            frames[depth, STEP] += 1
        frames[depth, CHOICE] = choice + 1
        came = _play(job, path, depth, action, at)
        depth += 1
        size[NODES] += 1
        path.weight[depth] = weight
        phase = path.stack[depth]["phase"]
        size[DEALS] += action < 0 and came == PLAYED
        if came == DRAWS:
            frames[depth, SET], frames[depth, CHOICE] = CHANCE, frames[depth, FLOOR]
            frames[depth, ACTION] = action
        elif came == DRY:
            size[FAULT] = EMPTY
        elif came == LUCK:
            size[FAULT] = RANDOM
        elif phase == OVER:
            _add_end(path, depth, ends, size)
            depth -= 1
        elif phase == DEAL:
            size[FAULT] = AGAIN
        else:
            number = _find_set(job, path, depth, sets, size)
            frames[depth, SET], frames[depth, CHOICE] = number, 0
            frames[depth, STEP] = sets.first[number] if number >= 0 else -1
    size[DEPTH] = depth


@cache
def walk_of(game: Game, merged: bool = True) -> Any:
    """Returns the walk of a game, compiled when it is first called.

    Args:
        game: The game.
        merged: Whether the orders in which cards come to a hand are merged.
    """
    hand = (game.spec.table.fields or {}).get("hand")
    is_set = hand is not None and hand[0].base == np.uint64 and hand[0].ndim == 1
    names = ("deal", "apply", "legal_actions", "information_state")
    functions = {name: getattr(game.module, name) for name in names}
    functions |= {
        "holder": _in_hands if merged and is_set else _nowhere,
        "NUM_TYPES": len(game.spec.pack.codes),
        "COPIES": game.spec.pack.copies,
    }
    functions["_count_talon"] = bind(_count_types, functions)
    functions["_find_set"] = bind(_find_set_of, functions)
    functions["_play"] = bind(_play_on, functions)
    return loop(walk, functions)


class Growth:
    """A walk and the arrays that it fills; they grow with what is in them.

    Attributes:
        job: What is grown.
        num_players: P.
        size: Counts, see `DEPTH` to `FAULT`.
    """

    def __init__(
        self, game: Game, num_players: int, rules: Rules, starts: np.ndarray, end: int,
        merged: bool = True,
    ) -> None:  # fmt: skip
        """Stands before the first card.

        Args:
            game: The game.
            num_players: P.
            rules: Its rules.
            starts: [K] tables at which the cards are to be dealt, all equally likely, which no
                seat can tell apart.
            end: Where the cards of their decks end that are played with.
            merged: Whether the orders in which cards come to a hand are merged; for checks.
        """
        spec = game.spec
        num_features = width(spec.information_state(num_players))
        self.job, self.num_players = Job(rules.record, end, num_features), num_players
        self._walk = walk_of(game, merged)
        depth = spec.max_decisions(rules, num_players) + spec.pack.size + 2
        row = np.zeros(-(-(num_features + 1) // 8), dtype=np.uint64)
        types, actions = len(spec.pack.codes), spec.num_actions
        self._path = Path(
            stack=np.zeros(depth, dtype=spec.table),
            frames=np.zeros((depth, 8), dtype=np.int64),
            weight=np.zeros(depth),
            last=np.full((depth, num_players), -1, dtype=np.int32),
            row=row,
            row_bytes=row.view(np.uint8),
            mask=np.zeros(actions, dtype=np.int8),
            talon=np.zeros(types, dtype=np.int64),
            place=np.zeros(types, dtype=np.int64),
        )
        self._starts, self._begun = starts, 0
        room = FIRST_ROOM
        self._sets = Sets(
            slots=np.full(2 * room, -1, dtype=np.int32),
            rows=np.zeros((room, len(row)), dtype=np.uint64),
            positions=np.zeros(room, dtype=spec.table),
            player=np.zeros(room, dtype=np.int8),
            first=np.zeros(room + 1, dtype=np.int32),
            before=np.zeros(room, dtype=np.int32),
            masks=np.zeros((room, actions), dtype=np.int8),
        )
        self._ends = Ends(
            slots=np.full(2 * room, -1, dtype=np.int32),
            last=np.zeros((room, num_players), dtype=np.int32),
            chance=np.zeros(room),
            pay=np.zeros((room, num_players)),
        )
        self.size = np.zeros(6, dtype=np.int64)
        self._begin()

    def _begin(self) -> None:
        """Stands before the first card at the next start."""
        path, start = self._path, self._starts[self._begun]
        path.stack[0], path.weight[0] = start, 1.0 / len(self._starts)
        path.frames[0, SET], path.frames[0, ACTION] = CHANCE, -1
        path.frames[0, CHOICE], path.frames[0, START] = 0, start["stacked"]
        self._begun += 1

    @property
    def done(self) -> bool:
        """Whether all is grown."""
        return bool(self.size[DEPTH] < 0) and self._begun == len(self._starts)

    def walk(self) -> int:
        """Walks on for a fraction of a second.

        Returns:
            How many bytes the arrays would take after the next enlargement.

        Raises:
            KilleError: No tree can hold the game; the message says why.
        """
        if self.size[DEPTH] < 0:
            self.size[DEPTH] = 0
            self._begin()
        self._walk(self.job, self._path, self._sets, self._ends, self.size, CALL)
        if fault := int(self.size[FAULT]):
            raise KilleError(f"there is no exact tree: {FAULTS[fault]}")
        self._sets = _enlarged(self._sets, int(self.size[SETS]), self._sets.rows, ("first",))
        self._ends = _enlarged(self._ends, int(self.size[ENDS]), self._ends.last, ())
        return sum(array.nbytes for array in (*self._sets, *self._ends))

    def finished(self, pay_beyond_mean: bool) -> tuple[SequenceGame, np.ndarray, np.ndarray]:
        """Returns the game, a table of each information set, and the legal actions there.

        Args:
            pay_beyond_mean: Whether seats earn what they get less the table's mean.
        """
        sets, ends = int(self.size[SETS]), int(self.size[ENDS])
        pay = self._ends.pay[:ends].copy()
        if pay_beyond_mean:
            pay -= pay.mean(axis=1, keepdims=True)
        game = SequenceGame(
            self.num_players,
            self._sets.player[:sets].copy(),
            self._sets.first[: sets + 1].copy(),
            self._sets.before[:sets].copy(),
            self._ends.last[:ends].copy(),
            self._ends.chance[:ends].copy(),
            pay,
        )
        return game, self._sets.positions[:sets].copy(), self._sets.masks[:sets].copy()


def _enlarged(arrays: Any, filled: int, rows: np.ndarray, longer: tuple[str, ...]) -> Any:
    """Returns arrays with twice the room, their hash table made anew, if they are full.

    Args:
        arrays: A tuple of arrays by name, a hash table of `rows` among them.
        filled: How many rows are in use.
        rows: The rows.
        longer: Names of the arrays that have one entry more than there are rows.
    """
    room = len(rows)
    if filled < room:
        return arrays
    larger = {}
    for name, array in arrays._asdict().items():
        grown = np.zeros((2 * room + (name in longer), *array.shape[1:]), dtype=array.dtype)
        if name == "slots":
            grown = np.full(4 * room, -1, dtype=array.dtype)
        else:
            grown[: len(array)] = array
        larger[name] = grown
    arrays = type(arrays)(**larger)
    fill_slots(arrays.slots, arrays.last if isinstance(arrays, Ends) else arrays.rows, filled)
    return arrays
