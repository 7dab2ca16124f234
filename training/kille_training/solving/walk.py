"""Walk the deals of any game: play every action and every card with the game's own kernels.

A node is a record of a table. A depth-first walk keeps only the tables on the current path, and
stores information sets and terminal nodes, the "ends" (see `SequenceGame`), and on request all
nodes (see `FlatTree`).

Chance is a card that leaves the pack. The walk steps a table with fixed next cards (`stacked`). If
the step draws one card more, the table before it is a chance node: each remaining type of card is
fixed in turn, with its multiplicity. Nothing is sampled. Three lossless reductions apply:

- Cards of one type are identical.
- The order of cards that one hand receives in one step does not matter. They are dealt in ascending
  order, with the number of orders in their probability.
- A card that the game skips when drawn (`passed_over`) only changes the rest of the pack, so the
  finally drawn card is uniform over the others.

A hand ends with the deal or when the cards are dealt again. A redeal before any decision does not
count as a hand: chances are conditional on there being none.

An information set is the `information_state` of a seat with at least two legal actions. Seats with
shared knowledge are one player with their joint information. The walk refuses a game if two tables
of a set differ in the player's earlier actions or legal actions.

Without nodes a seat forgets the order of its dealt and drawn cards, as all orders of the pack are
equally likely: several sequences then lead to a set (`SequenceGame.ways`). The walk refuses a game
if that order is informative about the others. Tables that differ only in forgotten information are
one node with several histories: after a draw a table waits until all such tables are found
(`gather`), and is continued once, in the next round.
"""

from functools import cache
from typing import Any

import numpy as np

from kille_env.core.game import Game
from kille_env.core.jit import bind, index, kernel, loop
from kille_env.core.table import DEAL, OVER
from kille_training.solving.arrays import slot_of
from kille_training.solving.trees.tree import TERMINAL

CHANCE, FORCED = -2, -3
"""Stand for the information set of a frame at chance nodes, and at decisions without a choice."""

PLAYED, DRAWS, DRY, LUCK = range(4)  # results of a step

FAULTS = {
    1: "two tables that look alike to a seat differ in what it has done before",
    2: "two tables that look alike to a seat have different legal actions",
    3: "more cards are drawn than the pack holds; fewer seats or a larger pack leave cards in it",
    4: "a deal has chance events other than cards, and the game does not define them (`chances`)",
    5: "a deal ends by some of the rules and goes on by others (`pays` of a switch is wrong)",
}
"""Errors of a walk, by `COUNTS["fault"]`."""
FORGETS, CLASH, EMPTY, RANDOM, UNEQUAL = FAULTS

SCATTER = 0x9E3779B97F4A7C15  # an odd multiplier: numbers that look random


def bound_later(*_: Any) -> Any:
    """Stand in for a function of the game until `bind` replaces it; never called."""


deal = apply = legal_actions = information_state = passed_over = outcome = holder = bound_later
NUM_TYPES, COPIES = 0, 1  # game's number of card types, and of equal cards of each


@kernel
def in_hands(table, card):
    """Return the seat with a card in its hand, -1 for none."""
    for seat in range(np.int64(table["num_players"])):
        if (np.uint64(table["hand"][index(seat)]) >> np.uint64(card)) & np.uint64(1):
            return seat
    return -1


@kernel
def nowhere(table, card):
    """Stand for `in_hands` in games with ordered hands: no orders are merged."""
    return -1


@kernel
def none_passed(table, rules, card):
    """Stand for `passed_over` in games without it."""
    return False


@kernel
def no_outcome(table):
    """Stand for `outcome` in games without solved matches."""
    return 0


# Information sets


@kernel
def _forget_order(state, places):
    """Sort the features at places with a forgotten order."""
    for number in range(1, places.shape[0]):
        at = number
        while at > 0 and state[places[at - 1]] > state[places[at]]:
            lower = state[places[at]]
            state[places[at]] = state[places[at - 1]]
            state[places[at - 1]] = lower
            at -= 1


@kernel
def _add_ways(path, depth, number, owner, ways, size):
    """Add the current histories to the ways to an information set."""
    frame = path.frames[depth]
    for history in range(frame["first"], frame["end"]):
        before, others = path.last[history, owner], np.uint64(0)
        # A hash of the others' sequences: equal means over the ways show that they are independent.
        for player in range(path.last.shape[1]):
            if player != owner:
                others = (others ^ np.uint64(path.last[history, player] + 2)) * np.uint64(SCATTER)
                others ^= others >> np.uint64(29)
        path.way[0], path.way[1] = number, before
        slot = slot_of(path.way, ways.slots, ways.rows)
        way = np.int64(ways.slots[slot])
        if way < 0:
            way = size["ways"]
            ways.slots[slot] = way
            ways.rows[way, 0], ways.rows[way, 1] = number, before
            size["ways"] = way + 1
        weight = frame["chance"] * path.weight[history]
        ways.weight[way, 0] += weight
        ways.weight[way, 1] += weight * np.float64(others >> np.uint64(11)) / 2**53


def find_set(job, path, depth, sets, ways, size):
    """Find or add a table's information set and write it into its frame, or `FORCED`."""
    table, rules, row, mask = path.stack[depth], job.rules[0], path.row, path.mask
    frame, seat, legal = path.frames[depth], np.int64(table["seat"]), 0
    frame["choice"] = 0
    legal_actions(table, rules, seat, mask)
    for action in range(mask.shape[0]):
        legal += mask[action]
        if mask[action] != 0:
            frame["action"] = action
    if legal == 1:
        frame["set"] = FORCED
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
    before = path.last[frame["first"], owner]
    if found < 0:
        found = size["sets"]
        sets.slots[slot] = found
        for word in range(row.shape[0]):
            sets.rows[found, word] = row[word]
        sets.positions[found] = table
        sets.player[found] = owner
        sets.before[found] = before
        for action in range(mask.shape[0]):
            sets.masks[found, action] = mask[action]
        sets.first[found + 1] = sets.first[found] + legal
        size["sets"] = found + 1
    frame["set"], frame["step"] = found, sets.first[found]
    if job.forgets.shape[0] > 0:
        _add_ways(path, depth, found, owner, ways, size)
    elif sets.before[found] != before:
        size["fault"] = FORGETS
    for action in range(mask.shape[0]):
        if mask[action] != sets.masks[found, action]:
            size["fault"] = CLASH


def gather(job, path, depth, aside, histories, size):
    """Put a table aside, merged with those that differ only in forgotten features."""
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
        number = size["aside"]
        aside.slots[slot] = number
        for word in range(row.shape[0]):
            aside.rows[number, word] = row[word]
        aside.tables[number] = table
        size["aside"] = number + 1
    frame = path.frames[depth]
    for history in range(frame["first"], frame["end"]):
        added = size["histories"]
        histories.number[added] = number
        for player in range(path.last.shape[1]):
            histories.last[added, player] = path.last[history, player]
        histories.weight[added] = frame["chance"] * path.weight[history]
        size["histories"] = added + 1


# A step


@kernel
def _put(table, at):
    """Fix the next card of the pack: the one at position `at` of the deck."""
    position = np.int64(table["stacked"])
    card = table["deck"][index(at)]
    table["deck"][index(at)] = table["deck"][index(position)]
    table["deck"][index(position)] = card
    table["stacked"] = position + 1


def play(job, path, depth, action, at, number):
    """Step a copy of a table onto the next place of the stack, and return the outcome.

    Action -1 deals; `at` is the position in the deck of the next card, -1 for none; `number` is
    that of the rules. If the step `DRAWS` another card, the copy stays before the step and waits
    for it.
    """
    stack, frames = path.stack, path.frames
    start = frames[depth]["start"] if at >= 0 else np.int64(stack[depth]["stacked"])
    stack[depth + 1] = stack[depth]
    table = stack[depth + 1]
    if at >= 0:
        _put(table, at)
    fixed = np.int64(table["stacked"])
    if action < 0:
        deal(table, job.rules[number])
    else:
        apply(table, job.rules[number], action)
    if table["drawn"] > job.end:
        return DRY
    if table["drawn"] <= fixed:
        table["stacked"] = table["drawn"]
        return LUCK if action >= 0 and table["rng"] != stack[depth]["rng"] else PLAYED
    # The random card that the step drew only shows which hand receives the next card. The order of
    # that hand's fixed cards in this step does not matter, so draw them in ascending order.
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
    frame = frames[depth + 1]
    frame["start"], frame["floor"], frame["count"], frame["run"] = start, floor, number, run
    return DRAWS


def play_on(job, path, depth, action, at, size):
    """Step as `play` does; where the hand ends, note the payments by each of the rules."""
    came, stack, phase = PLAYED, path.stack, np.int64(0)
    for number in range(job.rules.shape[0]):
        came = play(job, path, depth, action, at, number)
        table = stack[depth + 1]
        if number > 0 and (came != PLAYED or table["phase"] != phase):
            size["fault"] = UNEQUAL
        phase = np.int64(table["phase"])
        if came != PLAYED or phase > OVER:
            break
        for seat in range(job.owner.shape[0]):
            path.paid[number, seat] = table["reward"][seat]
    return came


def count_talon(job, path, depth):
    """Count the drawable cards at a chance node by type, and find one of each."""
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
    path.frames[depth]["left"] = left


# Ends and nodes


def add_end(job, path, depth, ends, size):
    """Store an end: its reach by chance, payoffs and sequences."""
    table, frame, players = path.stack[depth], path.frames[depth], path.last.shape[1]
    more = players * (job.rules.shape[0] - 1)  # the columns of further rules, the last ones
    columns = ends.paid.shape[1] - more
    for history in range(frame["first"], frame["end"]):
        last, weight = path.last[history], frame["chance"] * path.weight[history]
        # Consecutive last cards mostly lead to the same end: try the latest before the hash table.
        number, same = size["last_end"], size["ends"] > 0
        for player in range(players):
            same &= ends.rows[number, player] == last[player]
        if not same:
            slot = slot_of(last, ends.slots, ends.rows)
            number = np.int64(ends.slots[slot])
            if number < 0:
                number = size["ends"]
                ends.slots[slot] = number
                size["ends"] = number + 1
                for player in range(players):
                    ends.rows[number, player] = last[player]
            size["last_end"] = number
        ends.chance[number] += weight
        for seat in range(job.owner.shape[0]):
            ends.paid[number, job.owner[seat]] += weight * path.paid[0, seat]
        if table["phase"] == DEAL:
            ends.paid[number, players] += weight
        elif columns > players + 1:
            ends.paid[number, players + 1 + outcome(table)] += weight
        for other in range(1, job.rules.shape[0]):
            place = columns + (other - 1) * players
            for seat in range(job.owner.shape[0]):
                ends.paid[number, place + job.owner[seat]] += weight * path.paid[other, seat]


@kernel
def _write(job, path, depth, kind, nodes, ends, size):
    """Store a node, unless it is a chance node right behind another: these are merged."""
    frame, number = path.frames[depth], size["nodes"]
    if kind == CHANCE and frame["edge"] < 0 and frame["node"] >= 0:
        return
    nodes.infoset[number], nodes.parent[number] = kind, frame["node"]
    nodes.sequence[number], nodes.probability[number] = frame["edge"], frame["share"]
    size["nodes"] = number + 1
    frame["node"], frame["edge"], frame["share"] = number, -1, 1.0
    if kind == CHANCE:
        frame["leaf"] = size["ends"]
    elif kind == TERMINAL:
        leaf, table, players = size["ends"], path.stack[depth], path.last.shape[1]
        for player in range(players):
            ends.paid[leaf, player] = 0.0
        for seat in range(job.owner.shape[0]):
            ends.paid[leaf, job.owner[seat]] += table["reward"][seat]
        ends.paid[leaf, players] = table["phase"] == DEAL
        size["ends"] = leaf + 1


@kernel
def _close(path, depth, nodes, ends, size):
    """Turn a chance node without later decisions into a leaf with the mean payoff."""
    node, leaf = path.frames[depth]["node"], path.frames[depth]["leaf"]
    behind = size["nodes"] - node - 1
    if leaf < 0 or depth == 0 or behind != size["ends"] - leaf:
        return
    for column in range(ends.paid.shape[1]):
        mean = 0.0
        for place in range(behind):
            mean += nodes.probability[node + 1 + place] * ends.paid[leaf + place, column]
        ends.paid[leaf, column] = mean
    nodes.infoset[node] = TERMINAL
    size["nodes"], size["ends"] = node + 1, leaf + 1


# The walk


@kernel
def _begin(start, path, size):
    """Begin the walk from the next table of a round."""
    number, frame = size["begun"], path.frames[0]
    first, end = start.first[number], start.first[number + 1]
    path.stack[0] = start.tables[number]
    for history in range(first, end):
        path.weight[history - first] = start.weight[history]
        for player in range(path.last.shape[1]):
            path.last[history - first, player] = start.last[history, player]
    frame["chance"], frame["share"] = 1.0, start.weight[first]
    frame["set"], frame["choice"], frame["action"] = FORCED, 0, -1
    frame["node"], frame["edge"], frame["first"], frame["end"] = 0, -1, 0, end - first
    size["begun"], size["depth"] = number + 1, 0


@kernel
def _next_choice(path, depth, sets):
    """Return the next choice of a node, -1 after the last."""
    frame = path.frames[depth]
    kind, choice = frame["set"], frame["choice"]
    if kind == FORCED:
        return choice if choice == 0 else np.int64(-1)
    most = path.talon.shape[1] if kind == CHANCE else path.mask.shape[0]
    while choice < most:
        if (path.talon[depth, choice] if kind == CHANCE else sets.masks[kind, choice]) != 0:
            return choice
        choice += 1
    return np.int64(-1)


@kernel
def _likely(path, depth, kind):
    """Return the probability of a type of card, including the orders of an ascending draw."""
    frame = path.frames[depth]
    same = frame["count"] > 0 and kind == frame["floor"]
    run = frame["run"] + 1 if same else 1
    return path.talon[depth, kind] / frame["left"] * ((frame["count"] + 1) / run)


@kernel
def _lead_on(path, depth, player, sequence):
    """Store the histories behind an action, merging equal ones."""
    first, behind = path.frames[depth]["first"], path.frames[depth]["end"]
    end, last, differ = behind, path.last, False
    for history in range(first + 1, behind):
        differ |= last[history, player] != last[first, player]
    for history in range(first, behind):
        # If the player's own sequences were equal before, no two histories merge now.
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
    path.frames[depth + 1]["first"], path.frames[depth + 1]["end"] = behind, end


@kernel
def _branch(path, depth, choice, sets):
    """Write the frame of the node behind a choice; return the action and its card's position."""
    frame, below = path.frames[depth], path.frames[depth + 1]
    kind, action, at = frame["set"], frame["action"], np.int64(-1)
    chance, share, edge = frame["chance"], frame["share"], frame["edge"]
    if kind >= 0:
        action, edge = choice, frame["step"]
        _lead_on(path, depth, sets.player[kind], edge)
        frame["step"] = edge + 1
    else:
        below["first"], below["end"] = frame["first"], frame["end"]
        if kind == CHANCE:
            likely = _likely(path, depth, choice)
            chance, share, at = chance * likely, share * likely, path.place[depth, choice]
    frame["choice"] = choice + 1
    below["chance"], below["share"] = chance, share
    below["node"], below["edge"] = frame["node"], edge
    return action, at


def arrive(job, path, depth, action, at, came, arrays, size):
    """Store the table after a step; return whether the walk continues from there."""
    frame, phase = path.frames[depth], path.stack[depth]["phase"]
    if came == DRAWS:
        frame["set"], frame["choice"] = CHANCE, frame["floor"]
        frame["action"], frame["leaf"] = action, -1
        count_talon(job, path, depth)
        if frame["left"] == 0:  # all remaining cards are passed over
            size["fault"] = EMPTY
    elif came == DRY:
        size["fault"] = EMPTY
    elif came == LUCK:
        size["fault"] = RANDOM
    elif action < 0 and phase == DEAL:
        # A redeal before any decision does not count as a hand.
        path.thrown_in[0] += frame["chance"] * path.weight[0]
        return False
    elif phase <= OVER:
        size["deals"] += action < 0
        if job.keeps_nodes:
            _write(job, path, depth, TERMINAL, arrays.nodes, arrays.ends, size)
        else:
            add_end(job, path, depth, arrays.ends, size)
        return False
    elif at >= 0 and action >= 0 and job.forgets.shape[0] > 0:
        # After a draw other histories may lead to the same table: wait for all of them.
        gather(job, path, depth, arrays.aside, arrays.histories, size)
        return False
    else:
        size["deals"] += action < 0
        find_set(job, path, depth, arrays.sets, arrays.ways, size)
    if job.keeps_nodes and frame["set"] != FORCED:
        _write(job, path, depth, frame["set"], arrays.nodes, arrays.ends, size)
    return True


@kernel
def _is_full(arrays, size):
    """Return whether one more node might not fit into an array."""
    most = size["most"]
    return (
        (size["sets"] == arrays.sets.player.shape[0])
        | (size["ends"] + most > arrays.ends.chance.shape[0])
        | (size["ways"] + most > arrays.ways.weight.shape[0])
        | (size["nodes"] == arrays.nodes.infoset.shape[0])
        | (size["aside"] == arrays.aside.tables.shape[0])
        | (size["histories"] + most > arrays.histories.weight.shape[0])
    )


def walk(job, start, path, arrays, counts, limit):
    """Walk until `limit` more nodes, a full array, a fault or the end of the round `start`."""
    # The depth is -1 between two tables of the round.
    size, sets = counts[0], arrays.sets
    stop = size["met"] + limit
    while size["met"] < stop and size["fault"] == 0 and not _is_full(arrays, size):
        depth = size["depth"]
        if depth < 0:
            if size["begun"] == start.tables.shape[0]:
                break
            _begin(start, path, size)
            if path.stack[0]["phase"] != DEAL:
                find_set(job, path, 0, sets, arrays.ways, size)
            continue
        choice = _next_choice(path, depth, sets)
        if choice < 0:
            if job.keeps_nodes and path.frames[depth]["set"] == CHANCE:
                _close(path, depth, arrays.nodes, arrays.ends, size)
            size["depth"] = depth - 1
            continue
        action, at = _branch(path, depth, choice, sets)
        came = play_on(job, path, depth, action, at, size)
        size["met"] += 1
        if arrive(job, path, depth + 1, action, at, came, arrays, size):
            size["depth"] = depth + 1


@cache
def walk_of(game: Game) -> Any:
    """Return the walk of a game, compiled when it is first called."""
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
    # These call the others.
    functions |= {part.__name__: bind(part, functions) for part in (play_on, arrive)}
    return loop(walk, functions)
