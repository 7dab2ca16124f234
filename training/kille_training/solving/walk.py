"""Walks the deals of any game, by playing every action and every card with the game's own kernels.

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

Without nodes a seat forgets which of its cards it drew and which it was dealt, since all orders of
the pack are equally likely: several sequences then lead to a set (`SequenceGame.ways`). The walk
refuses a game in which the others' situation depends on which of them did. Tables that are alike
but for what seats forget are one node with several histories: after a draw a table is put aside
until all like it are found (`gather`), and is walked on from once, in the next round.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.game import Game
from kille_env.core.jit import bind, index, kernel, loop
from kille_env.core.table import DEAL, OVER
from kille_training.solving.arrays import (
    ASIDE,
    ENDS,
    HISTORIES,
    SETS,
    WAYS,
    WRITTEN,
    slot_of,
)
from kille_training.solving.trees.tree import TERMINAL

CHANCE, FORCED = -2, -3
"""Stand for an information set in `Path.frames` where a card is to be drawn, and where the seat to
act has no choice."""

SET, CHOICE, STEP, ACTION, START, FLOOR, COUNT, RUN, LEFT, NODE, EDGE, LEAF, FROM, TO = range(14)
"""Columns of `Path.frames`: information set; next choice; sequence of the next choice. Of a chance
node: action that draws, -1 for the deal; where in the deck its cards begin; of the hand that the
card goes to the highest type that it has drawn so far, how many cards, and how many of it; and how
many cards can be drawn. The action is also that of a seat without a choice. Where nodes are written
down: the last node up to this table, and the sequence that leads on from it; and how many ends
there were before a chance node that is one of its own. The node's histories are the rows of
`Path.last` and `Path.weight` from `FROM` up to `TO`."""

DEPTH, NODES, DEALS, FAULT, LAST_END, UNFREE, BEGUN, MOST = range(6, 14)
"""What else the walk counts in `size`; `MOST` is how many histories a node has at most."""

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

SCATTER = 0x9E3779B97F4A7C15  # an odd multiplier: numbers that look random


class Job(NamedTuple):
    """What is grown."""

    rules: np.ndarray  # [1]
    end: int  # where the cards of the deck end that are played with
    num_features: int  # of an information state
    owner: np.ndarray  # [P], the player that decides for each seat
    forgets: np.ndarray  # features of an information state that are one set; see `own_cards`
    keeps_nodes: bool


class Path(NamedTuple):
    """The nodes from the first table to the newest, by their depth, and room to work in."""

    stack: np.ndarray  # [D] tables
    frames: np.ndarray  # [D, 14], see `SET` to `TO`
    chance: np.ndarray  # [D], how often chance leads there from the first table
    share: np.ndarray  # [D], how often it does from the last node written down
    last: np.ndarray  # [H, Q], the last sequence of every player, by history
    weight: np.ndarray  # [H], how often chance leads to the first table
    talon: np.ndarray  # [D, K], how many cards of each type can be drawn at a chance node
    place: np.ndarray  # [D, K], where one of them lies
    row: np.ndarray
    row_bytes: np.ndarray  # the same memory
    joint: np.ndarray
    joint_bytes: np.ndarray  # the same memory
    way: np.ndarray
    mask: np.ndarray
    thrown_in: np.ndarray  # [1], how likely the deals so far are dealt again at once


class Round(NamedTuple):
    """The tables from which the walk goes on, one after the other, with their histories."""

    tables: np.ndarray
    first: np.ndarray  # the first history of each; the last entry is their number
    last: np.ndarray
    weight: np.ndarray


def _the_games(*_: Any) -> Any:
    """Stands for a function of the game; it is never called."""


deal = apply = legal_actions = information_state = passed_over = outcome = holder = _the_games
NUM_TYPES, COPIES = 0, 1
"""The game's: types of cards in the pack, and how many equal cards there are of each."""


@kernel
def in_hands(table, card):
    """Returns the seat whose hand, a set of cards, holds a card; -1 if none does."""
    for seat in range(np.int64(table["num_players"])):
        if (np.uint64(table["hand"][index(seat)]) >> np.uint64(card)) & np.uint64(1):
            return seat
    return -1


@kernel
def nowhere(table, card):
    """Stands for `in_hands` in games whose hands are no sets: no orders are merged."""
    return -1


@kernel
def none_passed(table, rules, card):
    """Stands for `passed_over` of games that know nothing like it."""
    return False


@kernel
def no_outcome(table):
    """Stands for `outcome` of games whose matches are not solved."""
    return 0


@kernel
def _forget_order(state, places):
    """Sorts what stands at some places."""
    for number in range(1, places.shape[0]):
        at = number
        while at > 0 and state[places[at - 1]] > state[places[at]]:
            lower = state[places[at]]
            state[places[at]] = state[places[at - 1]]
            state[places[at - 1]] = lower
            at -= 1


@kernel
def _add_ways(path, depth, number, owner, ways, size):
    """Counts the ways to an information set: the weights of all are told apart by its share."""
    for history in range(path.frames[depth, FROM], path.frames[depth, TO]):
        before, others = path.last[history, owner], np.uint64(0)
        for player in range(path.last.shape[1]):
            if player != owner:
                others = (others ^ np.uint64(path.last[history, player] + 2)) * np.uint64(SCATTER)
                others ^= others >> np.uint64(29)
        path.way[0], path.way[1] = number, before
        slot = slot_of(path.way, ways.slots, ways.rows)
        way = np.int64(ways.slots[slot])
        if way < 0:
            way = size[WAYS]
            ways.slots[slot] = way
            ways.rows[way, 0], ways.rows[way, 1] = number, before
            size[WAYS] = way + 1
        weight = path.chance[depth] * path.weight[history]
        ways.weight[way, 0] += weight
        ways.weight[way, 1] += weight * np.float64(others >> np.uint64(11)) / 2**53


def find_set(job, path, depth, sets, ways, size):
    """Writes down a table's information set in `frames`, a new one if need be; or `FORCED`."""
    table, rules, row, mask = path.stack[depth], job.rules[0], path.row, path.mask
    frames, seat, legal = path.frames, np.int64(table["seat"]), 0
    frames[depth, CHOICE] = 0
    legal_actions(table, rules, seat, mask)
    for action in range(mask.shape[0]):
        legal += mask[action]
        if mask[action] != 0:
            frames[depth, ACTION] = action
    if legal == 1:
        size[UNFREE] += 1
        frames[depth, SET] = FORCED
        return
    for word in range(row.shape[0]):
        row[word] = 0
    information_state(table, rules, seat, path.row_bytes[: job.num_features])
    _forget_order(path.row_bytes, job.forgets)
    path.row_bytes[job.num_features] = seat
    begin, owner = job.num_features + 1, job.owner[seat]
    for other in range(job.owner.shape[0]):
        if other != seat and job.owner[other] == owner:
            known = path.row_bytes[begin : begin + job.num_features]
            information_state(table, rules, other, known)
            _forget_order(known, job.forgets)
            begin += job.num_features
    slot = slot_of(row, sets.slots, sets.rows)
    found = np.int64(sets.slots[slot])
    before = path.last[frames[depth, FROM], owner]
    if found < 0:
        found = size[SETS]
        sets.slots[slot] = found
        for word in range(row.shape[0]):
            sets.rows[found, word] = row[word]
        sets.positions[found] = table
        sets.player[found] = owner
        sets.before[found] = before
        for action in range(mask.shape[0]):
            sets.masks[found, action] = mask[action]
        sets.first[found + 1] = sets.first[found] + legal
        size[SETS] = found + 1
    frames[depth, SET], frames[depth, STEP] = found, sets.first[found]
    if job.forgets.shape[0] > 0:
        _add_ways(path, depth, found, owner, ways, size)
    elif sets.before[found] != before:
        size[FAULT] = FORGETS
    for action in range(mask.shape[0]):
        if mask[action] != sets.masks[found, action]:
            size[FAULT] = CLASH


def gather(job, path, depth, aside, histories, size):
    """Puts a table aside: another that differs in what seats forget alone is the same one."""
    table, row, known = path.stack[depth], path.joint, path.joint_bytes
    for word in range(row.shape[0]):
        row[word] = 0
    begin = 0
    for seat in range(job.owner.shape[0]):
        own = known[begin : begin + job.num_features]
        information_state(table, job.rules[0], seat, own)
        _forget_order(own, job.forgets)
        begin += job.num_features
    known[begin] = table["seat"]
    for at in range(np.int64(table["stacked"]), job.end):
        known[begin + 1 + table["deck"][index(at)] // COPIES] += 1
    slot = slot_of(row, aside.slots, aside.rows)
    number = np.int64(aside.slots[slot])
    if number < 0:
        number = size[ASIDE]
        aside.slots[slot] = number
        for word in range(row.shape[0]):
            aside.rows[number, word] = row[word]
        aside.tables[number] = table
        size[ASIDE] = number + 1
    for history in range(path.frames[depth, FROM], path.frames[depth, TO]):
        added = size[HISTORIES]
        histories.number[added] = number
        for player in range(path.last.shape[1]):
            histories.last[added, player] = path.last[history, player]
        histories.weight[added] = path.chance[depth] * path.weight[history]
        size[HISTORIES] = added + 1


@kernel
def _begin(start, path, size):
    """Stands before the next table of a round."""
    number, frames = size[BEGUN], path.frames
    first, end = start.first[number], start.first[number + 1]
    path.stack[0] = start.tables[number]
    for history in range(first, end):
        path.weight[history - first] = start.weight[history]
        for player in range(path.last.shape[1]):
            path.last[history - first, player] = start.last[history, player]
    path.chance[0], path.share[0] = 1.0, start.weight[first]
    frames[0, SET], frames[0, CHOICE], frames[0, ACTION] = FORCED, 0, -1
    frames[0, NODE], frames[0, EDGE], frames[0, FROM], frames[0, TO] = 0, -1, 0, end - first
    size[BEGUN] = number + 1


@kernel
def _lead_on(path, depth, player, sequence):
    """Writes down the histories behind an action; those that differ no more are one."""
    first, behind = path.frames[depth, FROM], path.frames[depth, TO]
    end, last, differ = behind, path.last, False
    for history in range(first + 1, behind):
        differ |= last[history, player] != last[first, player]
    for history in range(first, behind):
        at = behind if differ else end
        while at < end:
            same = True
            for other in range(last.shape[1]):
                same &= (last[at, other] == last[history, other]) | (other == player)
            if same:
                break
            at += 1
        if at == end:
            for other in range(last.shape[1]):
                last[at, other] = last[history, other]
            last[at, player] = sequence
            path.weight[at] = 0.0
            end += 1
        path.weight[at] += path.weight[history]
    path.frames[depth + 1, FROM], path.frames[depth + 1, TO] = behind, end


@kernel
def _put(table, at):
    """Fixes the next card of the pack: the one that lies at `at` of the deck."""
    position = np.int64(table["stacked"])
    card = table["deck"][index(at)]
    table["deck"][index(at)] = table["deck"][index(position)]
    table["deck"][index(position)] = card
    table["stacked"] = position + 1


def play(job, path, depth, action, at):
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


def count_talon(job, path, depth):
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


def add_end(job, path, depth, ends, size):
    """Writes down an end: how often chance leads there, what it pays, and how it came."""
    table, players = path.stack[depth], path.last.shape[1]
    for history in range(path.frames[depth, FROM], path.frames[depth, TO]):
        last, weight = path.last[history], path.chance[depth] * path.weight[history]
        number, same = size[LAST_END], size[ENDS] > 0
        for player in range(players):  # cards that come last mostly lead to one end
            same &= ends.rows[number, player] == last[player]
        if not same:
            slot = slot_of(last, ends.slots, ends.rows)
            number = np.int64(ends.slots[slot])
            if number < 0:
                number = size[ENDS]
                ends.slots[slot] = number
                size[ENDS] = number + 1
                for player in range(players):
                    ends.rows[number, player] = last[player]
            size[LAST_END] = number
        ends.chance[number] += weight
        for seat in range(job.owner.shape[0]):
            ends.paid[number, job.owner[seat]] += weight * table["reward"][seat]
        if table["phase"] == DEAL:
            ends.paid[number, players] += weight
        elif ends.paid.shape[1] > players + 1:
            ends.paid[number, players + 1 + outcome(table)] += weight


@kernel
def _write(job, path, depth, kind, nodes, ends, size):
    """Writes down a node, but for a chance node right behind another: these are one."""
    frames, number = path.frames, size[WRITTEN]
    if kind == CHANCE and frames[depth, EDGE] < 0 and frames[depth, NODE] >= 0:
        return
    nodes.infoset[number], nodes.parent[number] = kind, frames[depth, NODE]
    nodes.sequence[number], nodes.probability[number] = frames[depth, EDGE], path.share[depth]
    size[WRITTEN] = number + 1
    frames[depth, NODE], frames[depth, EDGE], path.share[depth] = number, -1, 1.0
    if kind == CHANCE:
        frames[depth, LEAF] = size[ENDS]
    elif kind == TERMINAL:
        leaf, table, players = size[ENDS], path.stack[depth], path.last.shape[1]
        for player in range(players):
            ends.paid[leaf, player] = 0.0
        for seat in range(job.owner.shape[0]):
            ends.paid[leaf, job.owner[seat]] += table["reward"][seat]
        ends.paid[leaf, players] = table["phase"] == DEAL
        size[ENDS] = leaf + 1


@kernel
def _close(path, depth, nodes, ends, size):
    """Makes a leaf of a chance node behind which nobody decides: it pays the mean."""
    node, leaf = path.frames[depth, NODE], path.frames[depth, LEAF]
    behind = size[WRITTEN] - node - 1
    if leaf < 0 or depth == 0 or behind != size[ENDS] - leaf:
        return
    for column in range(ends.paid.shape[1]):
        mean = 0.0
        for place in range(behind):
            mean += nodes.probability[node + 1 + place] * ends.paid[leaf + place, column]
        ends.paid[leaf, column] = mean
    nodes.infoset[node] = TERMINAL
    size[WRITTEN], size[ENDS] = node + 1, leaf + 1


@kernel
def _is_full(arrays, size):
    """Whether a node more might find no room in an array."""
    most = size[MOST]
    return (
        (size[SETS] == arrays.sets.player.shape[0])
        | (size[ENDS] + most > arrays.ends.chance.shape[0])
        | (size[WAYS] + most > arrays.ways.weight.shape[0])
        | (size[WRITTEN] == arrays.nodes.infoset.shape[0])
        | (size[ASIDE] == arrays.aside.tables.shape[0])
        | (size[HISTORIES] + most > arrays.histories.weight.shape[0])
    )


def walk(job, start, path, arrays, size, limit):
    """Walks on until `limit` nodes more are met, an array is full, a fault is found or all is done.

    `size[DEPTH]` is -1 between two tables of the round `start`.
    """
    frames, num_actions = path.frames, path.mask.shape[0]
    sets, ends, ways, nodes = arrays.sets, arrays.ends, arrays.ways, arrays.nodes
    depth, stop = size[DEPTH], size[NODES] + limit
    while size[NODES] < stop and size[FAULT] == 0:
        if _is_full(arrays, size):
            break
        if depth < 0:
            if size[BEGUN] == start.tables.shape[0]:
                break
            _begin(start, path, size)
            depth = 0
            if path.stack[0]["phase"] != DEAL:
                find_set(job, path, depth, sets, ways, size)
            continue
        kind, choice = frames[depth, SET], frames[depth, CHOICE]
        share, edge, at = path.share[depth], frames[depth, EDGE], np.int64(-1)
        chance = path.chance[depth]
        if kind == CHANCE:
            while choice < NUM_TYPES and path.talon[depth, choice] == 0:
                choice += 1
            if choice == NUM_TYPES:
                if job.keeps_nodes:
                    _close(path, depth, nodes, ends, size)
                depth -= 1
                continue
            same = frames[depth, COUNT] > 0 and choice == frames[depth, FLOOR]
            run = frames[depth, RUN] + 1 if same else 1
            likely = path.talon[depth, choice] / frames[depth, LEFT]
            likely *= (frames[depth, COUNT] + 1) / run
            chance *= likely
            share *= likely
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
        if kind >= 0:
            _lead_on(path, depth, sets.player[kind], edge)
            frames[depth, STEP] += 1
        else:
            frames[depth + 1, FROM], frames[depth + 1, TO] = frames[depth, FROM], frames[depth, TO]
        frames[depth, CHOICE] = choice + 1
        came = play(job, path, depth, action, at)
        depth += 1
        size[NODES] += 1
        path.chance[depth], path.share[depth] = chance, share
        frames[depth, NODE], frames[depth, EDGE] = frames[depth - 1, NODE], edge
        phase = path.stack[depth]["phase"]
        if came == DRAWS:
            frames[depth, SET], frames[depth, CHOICE] = CHANCE, frames[depth, FLOOR]
            frames[depth, ACTION], frames[depth, LEAF] = action, -1
            count_talon(job, path, depth)
            if frames[depth, LEFT] == 0:  # all that are left are passed over
                size[FAULT] = EMPTY
        elif came == DRY:
            size[FAULT] = EMPTY
        elif came == LUCK:
            size[FAULT] = RANDOM
        elif action < 0 and phase == DEAL:
            path.thrown_in[0] += chance * path.weight[0]
            depth -= 1
            continue
        elif phase <= OVER:
            size[DEALS] += action < 0
            if job.keeps_nodes:
                _write(job, path, depth, TERMINAL, nodes, ends, size)
            else:
                add_end(job, path, depth, ends, size)
            depth -= 1
            continue
        elif at >= 0 and action >= 0 and job.forgets.shape[0] > 0:
            gather(job, path, depth, arrays.aside, arrays.histories, size)
            depth -= 1
            continue
        else:
            size[DEALS] += action < 0
            find_set(job, path, depth, sets, ways, size)
        if job.keeps_nodes and frames[depth, SET] != FORCED:
            _write(job, path, depth, frames[depth, SET], nodes, ends, size)
    size[DEPTH] = depth


@cache
def walk_of(game: Game) -> Any:
    """Returns the walk of a game, compiled when it is first called."""
    hand = (game.spec.table.fields or {}).get("hand")
    is_set = hand is not None and hand[0].base == np.uint64 and hand[0].ndim == 1
    names = ("deal", "apply", "legal_actions", "information_state")
    functions = {name: getattr(game.module, name) for name in names}
    functions |= {
        "holder": in_hands if is_set else nowhere,
        "NUM_TYPES": len(game.spec.pack.codes),
        "COPIES": game.spec.pack.copies,
    }
    functions["passed_over"] = getattr(game.module, "passed_over", none_passed)
    functions["outcome"] = getattr(game.module, "outcome", no_outcome)
    parts = (count_talon, find_set, play, add_end, gather)
    functions |= {part.__name__: bind(part, functions) for part in parts}
    return loop(walk, functions)
