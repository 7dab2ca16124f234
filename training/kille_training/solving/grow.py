"""Grows the deals of any game, by playing every action and every card with the game's own kernels.

A node is a record of a table. It is never stored: a depth-first walk keeps the tables from the
first to the newest one, and writes down information sets and ends (see `SequenceGame`). Where nodes
are wanted, to be exported or walked in, it writes them down as well (see `FlatTree`).

Chance is a card that leaves the pack. A table whose next cards are fixed (`stacked`) is stepped; if
it drew one card more than that, the table before the step is a chance node, at which each type of
card that is left is fixed in turn, as often as the pack holds it. Nothing is sampled. Three things
are merged, without loss:

- Cards of one type are the same card.
- Of cards that come to one hand in one step, the order does not matter: a hand is a set. So they
  are dealt from the lowest up, and the chance counts the orders that this stands for.
- A card that the game passes over when it is drawn (`passed_over`) changes only which cards are
  left, so the card that is drawn in the end is any other one, all equally likely.

A hand ends where the deal does, or where the cards are dealt again. If they are so before anybody
has decided, because of what was dealt, the hand has never been: chances are those of the others.

An information set is what `information_state` shows to a seat that has a choice; where only one
action is legal, nothing is decided. Seats that share all they know are one player, whose sets are
what they know together. The walk refuses a game in which two tables of a set differ in what the
player has done before or may do now.
"""

from collections.abc import Sequence
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
from kille_training.solving.trees.tree import TERMINAL, FlatTree

CHANCE, FORCED = -2, -3
"""Stand for an information set in `Path.frames` where a card is to be drawn, and where the seat to
act has no choice."""

SET, CHOICE, STEP, ACTION, START, FLOOR, COUNT, RUN, LEFT, NODE, EDGE, LEAF = range(12)
"""Columns of `Path.frames`: information set; next choice; sequence of the next choice. Of a chance
node: action that draws, -1 for the deal; where in the deck its cards begin; of the hand that the
card goes to the highest type that it has drawn so far, how many cards, and how many of it; and how
many cards can be drawn. The action is also that of a seat without a choice. Where nodes are written
down: the last node up to this table, and the sequence that leads on from it; and how many leaves
there were before a chance node that is one of its own."""

DEPTH, NODES, SETS, ENDS, DEALS, FAULT, LAST_END, WRITTEN, LEAVES, UNFREE = range(10)
"""What the walk counts in `size`."""

PLAYED, DRAWS, DRY, LUCK = range(4)
"""What can come of a step."""

FAULTS = {
    1: "two tables that look alike to a seat differ in what it has done before",
    2: "two tables that look alike to a seat have different legal actions",
    3: "discards are shuffled into a new talon, which no tree knows; fewer seats or discards "
    "(max_discards) or a larger pack leave cards in it",
    4: "something besides cards is decided by chance in a deal, and the game does not say what "
    "(`chances`)",
}
"""Why a walk ended early, by the number in `size[FAULT]`."""
FORGETS, CLASH, EMPTY, RANDOM = FAULTS

FIRST_ROOM = 1 << 14  # information sets, and ends, that there is room for at first
CALL = 1 << 19  # nodes of one compiled call: a fraction of a second, during which Ctrl-C waits


class Job(NamedTuple):
    """What is grown."""

    rules: np.ndarray  # [1]
    end: int  # where the cards of the deck end that are played with
    num_features: int  # of an information state
    owner: np.ndarray  # [P], the player that decides for each seat
    keeps_nodes: bool


class Path(NamedTuple):
    """The nodes from the first table to the newest, by their depth, and room to work in."""

    stack: np.ndarray  # [D] tables
    frames: np.ndarray  # [D, 12], see `SET` to `LEAF`
    weight: np.ndarray  # [D], how often chance leads there
    share: np.ndarray  # [D], how often it does from the last node written down
    last: np.ndarray  # [D, Q], the last sequence of every player
    talon: np.ndarray  # [D, K], how many cards of each type can be drawn at a chance node
    place: np.ndarray  # [D, K], where one of them lies
    row: np.ndarray
    row_bytes: np.ndarray  # the same memory
    mask: np.ndarray
    thrown_in: np.ndarray  # [1], how likely the deals so far are dealt again at once


class Sets(NamedTuple):
    """The information sets so far."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # what the player knows, packed in words
    positions: np.ndarray  # one table of each
    player: np.ndarray
    first: np.ndarray
    before: np.ndarray
    masks: np.ndarray


class Ends(NamedTuple):
    """The ends so far; those with equal sequences are one."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # the last sequences
    chance: np.ndarray
    pay: np.ndarray
    results: np.ndarray  # how often cards are dealt again; then each outcome, where asked for


class Written(NamedTuple):
    """The nodes so far, as in `FlatTree`."""

    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray


class Leaves(NamedTuple):
    """The terminal nodes so far."""

    pay: np.ndarray
    again: np.ndarray


def _the_games(*_: Any) -> Any:
    """Stands for a function of the game; it is never called."""


deal = apply = legal_actions = information_state = passed_over = outcome = holder = _the_games
_count_talon = _find_set = _play = _add_end = _the_games
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


@kernel
def _none_passed(table, rules, card):
    """Stands for `passed_over` of games that know nothing like it."""
    return False


@kernel
def _no_outcome(table):
    """Stands for `outcome` of games whose matches are not solved."""
    return 0


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
        size[UNFREE] += 1
        return FORCED
    for word in range(row.shape[0]):
        row[word] = 0
    information_state(table, rules, seat, path.row_bytes[: job.num_features])
    path.row_bytes[job.num_features] = seat
    begin, owner = job.num_features + 1, job.owner[seat]
    for other in range(job.owner.shape[0]):
        if other != seat and job.owner[other] == owner:
            known = path.row_bytes[begin : begin + job.num_features]
            information_state(table, rules, other, known)
            begin += job.num_features
    slot = slot_of(row, sets.slots, sets.rows)
    found = np.int64(sets.slots[slot])
    if found >= 0:
        if sets.before[found] != path.last[depth, owner]:
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
    sets.player[found] = owner
    sets.before[found] = path.last[depth, owner]
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


def _count_types(job, path, depth):
    """Counts what can be drawn at a chance node by type, and finds one card of each."""
    table, talon, place = path.stack[depth], path.talon[depth], path.place[depth]
    for kind in range(NUM_TYPES):
        talon[kind] = 0
    position = np.int64(table["stacked"])
    left = job.end - position
    for at in range(position, job.end):
        kind = index(table["deck"][index(at)] // COPIES)
        talon[kind] += 1
        place[kind] = at
    for kind in range(NUM_TYPES):
        if talon[kind] > 0 and passed_over(table, job.rules[0], table["deck"][place[kind]]):
            left -= talon[kind]
            talon[kind] = 0
    path.frames[depth, LEFT] = left


def _add_end_of(job, path, depth, ends, size):
    """Writes down an end: how often chance leads there, what it pays, and how it came."""
    last, table, weight = path.last[depth], path.stack[depth], path.weight[depth]
    number, same = size[LAST_END], size[ENDS] > 0
    for player in range(last.shape[0]):  # cards that come last mostly lead to one end
        same &= ends.rows[number, player] == last[player]
    if not same:
        slot = slot_of(last, ends.slots, ends.rows)
        number = np.int64(ends.slots[slot])
        if number < 0:
            number = size[ENDS]
            ends.slots[slot] = number
            size[ENDS] = number + 1
            for player in range(last.shape[0]):
                ends.rows[number, player] = last[player]
        size[LAST_END] = number
    ends.chance[number] += weight
    for seat in range(job.owner.shape[0]):
        ends.pay[number, job.owner[seat]] += weight * table["reward"][seat]
    if table["phase"] == DEAL:
        ends.results[number, 0] += weight
    elif ends.results.shape[1] > 1:
        ends.results[number, 1 + outcome(table)] += weight


@kernel
def _write(job, path, depth, kind, nodes, leaves, size):
    """Writes down a node, but for a chance node right behind another: these are one."""
    frames, number = path.frames, size[WRITTEN]
    if kind == CHANCE and frames[depth, EDGE] < 0 and frames[depth, NODE] >= 0:
        return
    nodes.infoset[number], nodes.parent[number] = kind, frames[depth, NODE]
    nodes.sequence[number], nodes.probability[number] = frames[depth, EDGE], path.share[depth]
    size[WRITTEN] = number + 1
    frames[depth, NODE], frames[depth, EDGE], path.share[depth] = number, -1, 1.0
    if kind == CHANCE:
        frames[depth, LEAF] = size[LEAVES]
    elif kind == TERMINAL:
        leaf, table = size[LEAVES], path.stack[depth]
        for player in range(leaves.pay.shape[1]):
            leaves.pay[leaf, player] = 0.0
        for seat in range(job.owner.shape[0]):
            leaves.pay[leaf, job.owner[seat]] += table["reward"][seat]
        leaves.again[leaf] = table["phase"] == DEAL
        size[LEAVES] = leaf + 1


@kernel
def _close(path, depth, nodes, leaves, size):
    """Makes a leaf of a chance node behind which nobody decides: it pays the mean."""
    node, leaf = path.frames[depth, NODE], path.frames[depth, LEAF]
    behind = size[WRITTEN] - node - 1
    if leaf < 0 or depth == 0 or behind != size[LEAVES] - leaf:
        return
    for player in range(leaves.pay.shape[1]):
        mean = 0.0
        for place in range(behind):
            mean += nodes.probability[node + 1 + place] * leaves.pay[leaf + place, player]
        leaves.pay[leaf, player] = mean
    again = 0.0
    for place in range(behind):
        again += nodes.probability[node + 1 + place] * leaves.again[leaf + place]
    leaves.again[leaf] = again
    nodes.infoset[node] = TERMINAL
    size[WRITTEN], size[LEAVES] = node + 1, leaf + 1


def walk(job, path, sets, ends, nodes, leaves, size, most):
    """Walks on until `most` nodes more are met, an array is full, a fault is found or all is done.

    `size[DEPTH]` is -1 when all is done.
    """
    frames, num_actions = path.frames, path.mask.shape[0]
    depth, stop = size[DEPTH], size[NODES] + most
    while depth >= 0 and size[NODES] < stop and size[FAULT] == 0:
        if size[SETS] == sets.player.shape[0] or size[ENDS] == ends.chance.shape[0]:
            break
        if size[WRITTEN] == nodes.infoset.shape[0] or size[LEAVES] == leaves.again.shape[0]:
            break
        kind, choice = frames[depth, SET], frames[depth, CHOICE]
        share, edge, at = path.share[depth], frames[depth, EDGE], np.int64(-1)
        weight = path.weight[depth]
        if kind == CHANCE:
            while choice < NUM_TYPES and path.talon[depth, choice] == 0:
                choice += 1
            if choice == NUM_TYPES:
                if job.keeps_nodes:
                    _close(path, depth, nodes, leaves, size)
                depth -= 1
                continue
            same = frames[depth, COUNT] > 0 and choice == frames[depth, FLOOR]
            run = frames[depth, RUN] + 1 if same else 1
            chance = path.talon[depth, choice] / frames[depth, LEFT]
            chance *= (frames[depth, COUNT] + 1) / run
            weight *= chance
            share *= chance
            action, at = frames[depth, ACTION], path.place[depth, choice]
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
            action, edge = choice, frames[depth, STEP]
        for player in range(path.last.shape[1]):
            path.last[depth + 1, player] = path.last[depth, player]
        if kind >= 0:
            path.last[depth + 1, sets.player[kind]] = frames[depth, STEP]
            frames[depth, STEP] += 1
        frames[depth, CHOICE] = choice + 1
        came = _play(job, path, depth, action, at)
        depth += 1
        size[NODES] += 1
        path.weight[depth], path.share[depth] = weight, share
        frames[depth, NODE], frames[depth, EDGE] = frames[depth - 1, NODE], edge
        phase = path.stack[depth]["phase"]
        if came == DRAWS:
            frames[depth, SET], frames[depth, CHOICE] = CHANCE, frames[depth, FLOOR]
            frames[depth, ACTION], frames[depth, LEAF] = action, -1
            _count_talon(job, path, depth)
            if frames[depth, LEFT] == 0:  # all that are left are passed over
                size[FAULT] = EMPTY
        elif came == DRY:
            size[FAULT] = EMPTY
        elif came == LUCK:
            size[FAULT] = RANDOM
        elif action < 0 and phase == DEAL:
            path.thrown_in[0] += weight
            depth -= 1
            continue
        elif phase <= OVER:
            size[DEALS] += action < 0
            if job.keeps_nodes:
                _write(job, path, depth, TERMINAL, nodes, leaves, size)
            else:
                _add_end(job, path, depth, ends, size)
            depth -= 1
            continue
        else:
            size[DEALS] += action < 0
            number = _find_set(job, path, depth, sets, size)
            frames[depth, SET], frames[depth, CHOICE] = number, 0
            frames[depth, STEP] = sets.first[number] if number >= 0 else -1
        if job.keeps_nodes and frames[depth, SET] != FORCED:
            _write(job, path, depth, frames[depth, SET], nodes, leaves, size)
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
    functions["passed_over"] = getattr(game.module, "passed_over", _none_passed)
    functions["outcome"] = getattr(game.module, "outcome", _no_outcome)
    functions["_count_talon"] = bind(_count_types, functions)
    functions["_find_set"] = bind(_find_set_of, functions)
    functions["_play"] = bind(_play_on, functions)
    functions["_add_end"] = bind(_add_end_of, functions)
    return loop(walk, functions)


class Growth:
    """A walk and the arrays that it fills; they grow with what is in them.

    Attributes:
        size: Counts, see `DEPTH` to `UNFREE`.
    """

    def __init__(
        self,
        game: Game,
        rules: Rules,
        starts: np.ndarray,
        end: int,
        *,
        owner: Sequence[int] = (),
        outcomes: int = 0,
        nodes: bool = False,
        merged: bool = True,
    ) -> None:
        """Stands before the first card.

        Args:
            game: The game.
            rules: Its rules.
            starts: [K] tables at which the cards are to be dealt, all equally likely, which no
                seat can tell apart.
            end: Where the cards of their decks end that are played with.
            owner: [P] the player that decides for each seat; none are all seats for themselves.
            outcomes: How many outcomes are told apart; see `Stage.results`.
            nodes: Whether nodes are written down, instead of ends.
            merged: Whether the orders in which cards come to a hand are merged; for checks.
        """
        spec, seats = game.spec, int(starts["num_players"][0])
        num_features = width(spec.information_state(seats))
        owners = np.array(owner or range(seats), dtype=np.int64)
        players, together = int(owners.max()) + 1, int(np.bincount(owners).max())
        self.job = Job(rules.record, end, num_features, owners, nodes)
        self._walk = walk_of(game, merged)
        depth = spec.max_decisions(rules, seats) + spec.pack.size + 2
        row = np.zeros(-(-(together * num_features + 1) // 8), dtype=np.uint64)
        types, actions = len(spec.pack.codes), spec.num_actions
        self._path = Path(
            stack=np.zeros(depth, dtype=spec.table),
            frames=np.full((depth, 12), -1, dtype=np.int64),
            weight=np.zeros(depth),
            share=np.ones(depth),
            last=np.full((depth, players), -1, dtype=np.int32),
            talon=np.zeros((depth, types), dtype=np.int64),
            place=np.zeros((depth, types), dtype=np.int64),
            row=row,
            row_bytes=row.view(np.uint8),
            mask=np.zeros(actions, dtype=np.int8),
            thrown_in=np.zeros(1),
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
            rows=np.zeros((room, players), dtype=np.int32),
            chance=np.zeros(room),
            pay=np.zeros((room, players)),
            results=np.zeros((room, 1 + outcomes)),
        )
        self._nodes = Written(
            infoset=np.full(room, CHANCE, dtype=np.int32),
            parent=np.full(room, -1, dtype=np.int32),
            sequence=np.full(room, -1, dtype=np.int32),
            probability=np.ones(room),
        )
        self._leaves = Leaves(pay=np.zeros((room, players)), again=np.zeros(room))
        self.size = np.zeros(10, dtype=np.int64)
        self.size[WRITTEN] = 1  # the root
        self._begin()

    def _begin(self) -> None:
        """Stands before the first card at the next start."""
        path, frame = self._path, self._path.frames[0]
        path.stack[0] = self._starts[self._begun]
        path.weight[0] = path.share[0] = 1.0 / len(self._starts)
        frame[[SET, CHOICE, ACTION]], frame[[NODE, EDGE]] = (FORCED, 0, -1), (0, -1)
        self._begun += 1

    @property
    def done(self) -> bool:
        """Whether all is grown."""
        return bool(self.size[DEPTH] < 0) and self._begun == len(self._starts)

    @property
    def thrown_in(self) -> float:
        """How likely the cards of a hand are dealt again at once."""
        return float(self._path.thrown_in[0])

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
        arrays = self._sets, self._ends, self._nodes, self._leaves
        self._walk(self.job, self._path, *arrays, self.size, CALL)
        if fault := int(self.size[FAULT]):
            raise KilleError(f"there is no exact tree: {FAULTS[fault]}")
        counts = (int(self.size[count]) for count in (SETS, ENDS, WRITTEN, LEAVES))
        grown = [_enlarged(*pair) for pair in zip(arrays, counts, strict=True)]
        self._sets, self._ends, self._nodes, self._leaves = grown
        return sum(array.nbytes for some in grown for array in some)

    def finished(self, pay_beyond_mean: bool) -> tuple[FlatTree | SequenceGame, dict[str, Any]]:
        """Returns the game, and what else a `Stage` knows by its fields.

        Args:
            pay_beyond_mean: Whether seats earn what they get less the table's mean.

        The arrays are those that were filled: what is beyond takes no memory.
        """
        sets, ends, nodes, leaves = (int(self.size[n]) for n in (SETS, ENDS, WRITTEN, LEAVES))
        dealt = 1.0 - self.thrown_in
        kept = self.job.keeps_nodes
        pay = self._leaves.pay[:leaves] if kept else self._ends.pay[:ends]
        results = self._leaves.again[:leaves, None] if kept else self._ends.results[:ends]
        if pay_beyond_mean:
            pay -= pay.mean(axis=1, keepdims=True)
        player, first = self._sets.player[:sets], self._sets.first[: sets + 1]
        tree: FlatTree | SequenceGame
        if kept:
            written = [array[:nodes] for array in self._nodes]
            written[-1][written[1] == 0] /= dealt
            tree = FlatTree.unchecked(pay.shape[1], player, first, *written, pay)
        else:
            before, last = self._sets.before[:sets], self._ends.rows[:ends]
            chance = self._ends.chance[:ends]
            for array in (chance, pay, results):
                array /= dealt
            tree = SequenceGame(pay.shape[1], player, first, before, last, chance, pay)
        return tree, {
            "masks": self._sets.masks[:sets],
            "positions": self._sets.positions[:sets],
            "again": results[:, 0],
            "outcomes": results[:, 1:],
            "thrown_in": self.thrown_in,
            "forced": bool(self.size[UNFREE]),
            "num_deals": int(self.size[DEALS]) // len(self._starts),
            "num_nodes": int(self.size[NODES]),
        }


def _enlarged(arrays: Any, filled: int) -> Any:
    """Returns a tuple of arrays by name with twice the room, if they are full.

    `slots` is a hash table of `rows`, which is made anew; `first` has one entry more than others.
    """
    room = len(arrays[1])
    if filled < room:
        return arrays
    larger = {}
    for name, array in arrays._asdict().items():
        larger[name] = np.zeros((len(array) + room, *array.shape[1:]), dtype=array.dtype)
        larger[name][: len(array)] = array
    if "slots" in larger:
        larger["slots"] = np.full(4 * room, -1, dtype=np.int32)
        fill_slots(larger["slots"], larger["rows"], filled)
    return type(arrays)(**larger)
