"""Grows trees of hands of Byteskille by playing every action with the game's own kernels.

What a tree is here and what is left out of it without loss stands in `deals`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kille_env.cards.pack import KILLE_CODES
from kille_env.core.batch import Batch
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Rules, width
from kille_env.core.table import DEAL, OVER
from kille_env.games.byteskille import (
    apply,
    deal,
    information_state,
    legal_actions,
    observe,
)
from kille_env.games.byteskille.table import BY_KILLE, BY_QUESTION
from kille_training.solving.trees.tree import CHANCE, TERMINAL

TYPES = len(KILLE_CODES)

# What `grow` counts, and the columns of a frame of its stack.
DEALS, NODES, LEAVES, SETS, CLASH = range(5)
NODE, STANDS, NEXT, ACTION = range(4)
PLAYED, DRAWS, AVERAGED = range(3)

LARGE_DEAL = 4096
"""Nodes of room that a single deal can count on."""


class Grown(NamedTuple):
    """The nodes so far, as in `FlatTree`.

    `redealt` says which leaves end in another hand; `outs`, where it has columns, how likely each
    set of seats is out.
    """

    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray
    payoff: np.ndarray
    redealt: np.ndarray
    outs: np.ndarray


class Sets(NamedTuple):
    """The information sets so far: what the seat knows, packed in words, and one such table."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray
    positions: np.ndarray
    player: np.ndarray
    first: np.ndarray
    masks: np.ndarray


class Scratch(NamedTuple):
    """Room for `grow` to work in."""

    stack: np.ndarray  # the tables from the dealt one down to the newest node
    frames: np.ndarray  # of each of them: node, information set, next choice, action
    row: np.ndarray
    row_bytes: np.ndarray  # the same memory
    mask: np.ndarray
    talon: np.ndarray  # how many cards of each type are left
    place: np.ndarray
    expected: np.ndarray
    expected_outs: np.ndarray


@kernel
def _hash(row):
    """FNV-1a over words, folded."""
    value = np.uint64(0xCBF29CE484222325)
    for word in row:
        value = (value ^ word) * np.uint64(0x100000001B3)
        value ^= value >> np.uint64(29)
    return value


@kernel
def _slot(row, slots, rows):
    """Returns the slot where a row's number stands, or the free one where it is to be put."""
    slot = np.int64(_hash(row) & np.uint64(slots.shape[0] - 1))
    while slots[slot] >= 0:
        other = rows[slots[slot]]
        same = True
        for i in range(row.shape[0]):
            same &= other[i] == row[i]
        if same:
            break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


@kernel
def index_sets(sets, number):
    """Fills an empty hash table with the first sets."""
    for i in range(number):
        sets.slots[_slot(sets.rows[i], sets.slots, sets.rows)] = i


@kernel
def _set_of(table, rules, sets, size, scratch, num_features, observed, shared):
    """Returns the number of the information set at a table, a new one if need be; -1: a clash.

    `shared` has a bit for each seat that tells the others of them all it knows.
    """
    seat = np.int64(table["seat"])
    row, seen, mask = scratch.row, scratch.row_bytes, scratch.mask
    row[:] = 0
    information_state(table, rules, seat, seen[:num_features])
    seen[num_features] = seat
    if observed > 0:
        observe(table, rules, seat, seen[num_features + 1 : num_features + 1 + observed])
    if shared >> seat & 1:
        begin = num_features + 1 + observed
        for other in range(np.int64(table["num_players"])):
            if other != seat and shared >> other & 1:
                information_state(table, rules, other, seen[begin : begin + num_features])
                begin += num_features
    legal_actions(table, rules, seat, mask)
    slot = _slot(row, sets.slots, sets.rows)
    found = np.int64(sets.slots[slot])
    if found >= 0:
        for action in range(mask.shape[0]):
            if mask[action] != sets.masks[found, action]:
                return -1
        return found
    found = size[SETS]
    sets.slots[slot] = found
    sets.rows[found] = row
    sets.masks[found] = mask
    sets.positions[found] = table
    sets.player[found] = seat
    legal = 0
    for action in range(mask.shape[0]):
        legal += mask[action]
    sets.first[found + 1] = sets.first[found] + legal
    size[SETS] = found + 1
    return found


@kernel
def _put(table, position, at):
    """Puts the card of the pack at `at` to `position`, the last that is given."""
    deck = table["deck"]
    card = deck[index(at)]
    deck[index(at)] = deck[index(position)]
    deck[index(position)] = card
    table["stacked"] = position + 1


@kernel
def _count_talon(table, position, num_cards, count, place):
    """Counts the types from a position of the pack on, and where one of each lies."""
    count[:] = 0
    for at in range(position, num_cards):
        kind = np.int64(table["deck"][index(at)]) >> 1
        count[kind] += 1
        place[kind] = at


@kernel
def _deal_hand(start, rules, hand, stack):
    """Deals the given cards; those that are left keep their order."""
    stack[0] = start[0]
    table = stack[0]
    for place in range(hand.shape[0]):
        card, at = hand[place], place
        while table["deck"][at] != card:
            at += 1
        while at > place:
            table["deck"][at] = table["deck"][at - 1]
            at -= 1
        table["deck"][place] = card
    table["stacked"] = hand.shape[0]
    deal(table, rules)
    table["stacked"] = table["drawn"]


@kernel
def _play(scratch, depth, rules, action, drawn_at, num_cards, integrate):
    """Plays an action onto the next table of the stack.

    `drawn_at` is where the card lies that is drawn first, -1 if none is known to be drawn. Where
    the action draws and nothing is known, and nobody decides after it, what it pays is averaged.

    Returns:
        `PLAYED`; `AVERAGED`, into `expected`; or `DRAWS`, and the next table waits for a card.
    """
    stack, count, place, expected, outs = (
        scratch.stack,
        scratch.talon,
        scratch.place,
        scratch.expected,
        scratch.expected_outs,
    )
    position = np.int64(stack[depth]["stacked"])
    kind, weight, at = -1, 0, drawn_at
    while True:
        stack[depth + 1] = stack[depth]
        table = stack[depth + 1]
        if at >= 0:
            _put(table, position, at)
        apply(table, rules, action)
        draws = table["drawn"] > table["stacked"]
        if kind < 0:
            if not draws:
                table["stacked"] = table["drawn"]
                return PLAYED
            if drawn_at >= 0 or not integrate:
                break
            # In the table before: this one has drawn some card already.
            _count_talon(stack[depth], position, num_cards, count, place)
            expected[:] = 0.0
            outs[:] = 0.0
        elif not draws:  # else it is laid aside for another card
            if table["phase"] > OVER:
                break
            weight += count[kind]
            for seat in range(expected.shape[0]):
                expected[seat] += count[kind] * table["reward"][seat]
            if outs.shape[0] > 0:
                outs[np.int64(table["out"])] += count[kind]
        kind += 1
        while kind < TYPES and count[kind] == 0:
            kind += 1
        if kind == TYPES:
            for seat in range(expected.shape[0]):
                expected[seat] /= weight
            for out in range(outs.shape[0]):
                outs[out] /= weight
            return AVERAGED
        at = place[kind]
    stack[depth + 1] = stack[depth]
    if drawn_at >= 0:
        _put(stack[depth + 1], position, drawn_at)
    return DRAWS


@kernel
def grow(
    start,
    rules,
    hands,
    chances,
    num_cards,
    integrate,
    num_features,
    observed,
    shared,
    tree,
    sets,
    scratch,
    void,
    size,
):
    """Grows the trees of deals, one behind the other in preorder, until an array is full.

    Depth first, with a stack of tables. A deal that does not fit is left out whole: the caller
    makes room and comes again. `size[CLASH]` is set if two tables that look alike to a seat offer
    it different actions.
    """
    stack, frames = scratch.stack, scratch.frames
    num_players, num_actions = tree.payoff.shape[1], scratch.mask.shape[0]
    for number in range(size[DEALS], hands.shape[0]):
        nodes, leaves = size[NODES], size[LEAVES]
        _deal_hand(start, rules, hands[number], stack)
        if stack[0]["phase"] == DEAL and stack[0]["redeal"] == BY_KILLE:
            void[0] += chances[number]
            size[DEALS] = number + 1
            continue
        depth, above, through, chance = 0, 0, -1, chances[number]
        came, action = PLAYED, -1
        while depth >= 0:
            # A new node: the table at `depth`.
            if (
                nodes == tree.infoset.shape[0]
                or leaves == tree.payoff.shape[0]
                or size[SETS] == sets.player.shape[0]
            ):
                return
            table = stack[depth]
            tree.parent[nodes] = above
            tree.sequence[nodes] = through
            tree.probability[nodes] = chance
            if came == DRAWS:
                stands = CHANCE
            elif came == AVERAGED or table["phase"] <= OVER:
                stands = TERMINAL
                again = came == PLAYED and table["phase"] == DEAL
                tree.redealt[leaves] = again and table["redeal"] == BY_QUESTION
                for seat in range(num_players):
                    paid = scratch.expected[seat] if came == AVERAGED else table["reward"][seat]
                    tree.payoff[leaves, seat] = paid
                for out in range(tree.outs.shape[1]):
                    if came == AVERAGED:
                        tree.outs[leaves, out] = scratch.expected_outs[out]
                    else:
                        ends = not tree.redealt[leaves] and out == table["out"]
                        tree.outs[leaves, out] = 1.0 if ends else 0.0
                leaves += 1
            else:
                stands = _set_of(table, rules, sets, size, scratch, num_features, observed, shared)
                if stands < 0:
                    size[CLASH] = 1
                    return
            tree.infoset[nodes] = stands
            frames[depth, NODE], frames[depth, STANDS] = nodes, stands
            frames[depth, NEXT], frames[depth, ACTION] = 0, action
            nodes += 1

            # The next step, from the deepest node that has one left.
            while depth >= 0:
                stands, choice = np.int64(frames[depth, STANDS]), np.int64(frames[depth, NEXT])
                table, at = stack[depth], -1
                if stands == TERMINAL:
                    depth -= 1
                    continue
                if stands == CHANCE:
                    position = np.int64(table["stacked"])
                    _count_talon(table, position, num_cards, scratch.talon, scratch.place)
                    while choice < TYPES and scratch.talon[choice] == 0:
                        choice += 1
                    if choice == TYPES:
                        depth -= 1
                        continue
                    action, at = np.int64(frames[depth, ACTION]), scratch.place[choice]
                    chance, through = scratch.talon[choice] / (num_cards - position), -1
                else:
                    while choice < num_actions and sets.masks[stands, choice] == 0:
                        choice += 1
                    if choice == num_actions:
                        depth -= 1
                        continue
                    action, chance, through = choice, 1.0, np.int64(sets.first[stands])
                    for other in range(choice):
                        through += sets.masks[stands, other]
                frames[depth, NEXT] = choice + 1
                above = np.int64(frames[depth, NODE])
                came = _play(scratch, depth, rules, action, at, num_cards, integrate)
                depth += 1
                break
        size[DEALS], size[NODES], size[LEAVES] = number + 1, nodes, leaves


class Growth:
    """The arrays that `grow` fills, which double where they are full."""

    def __init__(
        self,
        batch: Batch,
        observed: bool,
        nodes: int,
        leaves: int,
        sets: int,
        outs: bool = False,
        shared: Sequence[int] = (),
    ) -> None:
        spec, seats = batch.spec, batch.num_players
        out_sets = 1 << seats if outs else 0
        self.num_players = seats
        self.num_features = width(spec.information_state(seats))
        self.observed = width(spec.observation(seats)) if observed else 0
        self.shared = np.int64(sum(1 << seat for seat in set(shared)))
        told = self.num_features * (1 + max(len(set(shared)) - 1, 0))
        words = -(-(told + 1 + self.observed) // 8)
        depth = spec.max_decisions(batch.rules, seats) + 16  # draws are steps too
        row = np.zeros(words, dtype=np.uint64)
        self.scratch = Scratch(
            stack=np.zeros(depth, dtype=spec.table),
            frames=np.zeros((depth, 4), dtype=np.int32),
            row=row,
            row_bytes=row.view(np.uint8),
            mask=np.zeros(spec.num_actions, dtype=np.int8),
            talon=np.zeros(TYPES, dtype=np.int64),
            place=np.zeros(TYPES, dtype=np.int64),
            expected=np.zeros(seats),
            expected_outs=np.zeros(out_sets),
        )
        self.tree = Grown(
            infoset=np.zeros(nodes, dtype=np.int32),
            parent=np.zeros(nodes, dtype=np.int32),
            sequence=np.zeros(nodes, dtype=np.int32),
            probability=np.zeros(nodes),
            payoff=np.zeros((leaves, seats)),
            redealt=np.zeros(leaves, dtype=np.bool_),
            outs=np.zeros((leaves, out_sets)),
        )
        self.sets = Sets(
            slots=_free_slots(sets),
            rows=np.zeros((sets, words), dtype=np.uint64),
            positions=np.zeros(sets, dtype=spec.table),
            player=np.zeros(sets, dtype=np.int8),
            first=np.zeros(sets + 1, dtype=np.int32),
            masks=np.zeros((sets, spec.num_actions), dtype=np.int8),
        )
        self.void = np.zeros(1)
        self.size = np.zeros(5, dtype=np.int64)
        self.tree.infoset[0], self.tree.parent[0], self.tree.sequence[0] = CHANCE, -1, -1
        self.tree.probability[0] = 1.0
        self.size[NODES] = 1

    def resize(self, nodes: int, leaves: int, sets: int) -> None:
        """Gives the arrays these lengths."""
        lengths = [nodes] * 4 + [leaves] * 3
        for array, length in zip(self.tree, lengths, strict=True):
            array.resize((length, *array.shape[1:]), refcheck=False)
        if sets != len(self.sets.player):
            for array in self.sets[1:]:
                length = sets + (array is self.sets.first)
                array.resize((length, *array.shape[1:]), refcheck=False)

    def make_room(self) -> None:
        """Makes longer what may be full."""
        grown, sets = int(self.size[SETS]), len(self.sets.player)
        more = 2 * sets if 2 * grown > sets else sets
        nodes, leaves = len(self.tree.infoset), len(self.tree.payoff)
        self.resize(nodes + nodes // 4 + LARGE_DEAL, leaves + leaves // 4 + LARGE_DEAL, more)
        if more != sets:
            self.sets = self.sets._replace(slots=_free_slots(more))
            index_sets(self.sets, grown)

    @property
    def nbytes(self) -> int:
        """Memory of the tree and of its information sets."""
        return sum(array.nbytes for array in (*self.tree, *self.sets))

    def grow(
        self,
        start: np.ndarray,
        rules: Rules,
        cards: np.ndarray,
        chances: np.ndarray,
        num_cards: int,
        integrate: bool,
    ) -> None:
        """Grows the trees of the hands until all are done or an array is full."""
        grow(
            start,
            rules.record[0],
            cards,
            chances,
            num_cards,
            integrate,
            self.num_features,
            self.observed,
            self.shared,
            self.tree,
            self.sets,
            self.scratch,
            self.void,
            self.size,
        )


def _free_slots(sets: int) -> np.ndarray:
    """A hash table with at least twice as many slots as sets."""
    return np.full(1 << (2 * sets - 1).bit_length(), -1, dtype=np.int32)
