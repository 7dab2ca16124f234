"""Grows trees of hands of Byteskille by playing every action with the game's own kernels.

`deals` explains what these trees are, and what they leave out without loss.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.jit import index, kernel
from kille_env.core.spec import width
from kille_env.core.table import DEAL, OVER
from kille_env.games.byteskille import (
    apply,
    deal,
    information_state,
    legal_actions,
)
from kille_env.games.byteskille.rules import Redeal
from kille_training.solving.byteskille.dealing import TYPES
from kille_training.solving.slots import slot_of
from kille_training.solving.trees.tree import CHANCE, TERMINAL

DEALS, NODES, LEAVES, SETS, CLASH = range(5)
"""What `grow` counts in `size`."""

NODE, KIND, NEXT, ACTION = range(4)
"""Columns of `Scratch.frames`: number and kind of a node, its next step, the action before it."""

PLAYED, DRAWS, AVERAGED = range(3)
"""What can come of an action, see `_play`."""


class Hands(NamedTuple):
    """The hands whose trees are grown."""

    start: np.ndarray  # [1] table at which the hand is to be dealt
    cards: np.ndarray  # [D, P], the cards to deal, from forehand on
    chances: np.ndarray  # [D], how likely each hand is


class Job(NamedTuple):
    """How trees are grown."""

    rules: np.ndarray  # [1]
    num_cards: int  # of the pack
    num_features: int  # of an information state
    shared: int  # the set of seats, as bits, that share all they know


class Grown(NamedTuple):
    """The nodes so far; the first five arrays as in `FlatTree`."""

    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray
    payoff: np.ndarray
    redealt: np.ndarray  # [T], whether a leaf ends in another hand
    outs: np.ndarray  # [T, O], how likely each set of seats is out; no columns unless asked for


class Sets(NamedTuple):
    """The information sets so far."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # what the seat knows, packed in words
    positions: np.ndarray  # one table of each
    player: np.ndarray
    first: np.ndarray
    masks: np.ndarray


class Scratch(NamedTuple):
    """Room for `grow` to work in."""

    stack: np.ndarray  # the tables from the dealt one down to the newest node
    frames: np.ndarray  # for each of them the columns `NODE` to `ACTION`
    row: np.ndarray
    row_bytes: np.ndarray  # the same memory
    mask: np.ndarray
    talon: np.ndarray  # how many cards of each type are left
    place: np.ndarray
    expected: np.ndarray
    expected_outs: np.ndarray
    thrown_in: np.ndarray  # [1], how likely the hands so far are thrown in for a kille


@kernel
def _infoset_of(job, table, sets, scratch, size):
    """Returns the number of a table's information set, a new one if need be; -1 after a clash."""
    rules, seat = job.rules[0], np.int64(table["seat"])
    row, seen, mask = scratch.row, scratch.row_bytes, scratch.mask
    row[:] = 0
    information_state(table, rules, seat, seen[: job.num_features])
    seen[job.num_features] = seat
    begin = job.num_features + 1
    if job.shared >> seat & 1:
        for other in range(np.int64(table["num_players"])):
            if other != seat and job.shared >> other & 1:
                information_state(table, rules, other, seen[begin : begin + job.num_features])
                begin += job.num_features
    legal_actions(table, rules, seat, mask)
    slot = slot_of(row, sets.slots, sets.rows)
    found = np.int64(sets.slots[slot])
    if found >= 0:
        for action in range(mask.shape[0]):
            if mask[action] != sets.masks[found, action]:
                return -1
        return found
    found = size[SETS]
    sets.slots[slot] = found
    for word in range(row.shape[0]):
        sets.rows[found, word] = row[word]
    sets.positions[found] = table
    sets.player[found] = seat
    legal = 0
    for action in range(mask.shape[0]):
        sets.masks[found, action] = mask[action]
        legal += mask[action]
    sets.first[found + 1] = sets.first[found] + legal
    size[SETS] = found + 1
    return found


@kernel
def _put(table, position, at):
    """Moves the card at `at` of the deck to `position`, where the fixed cards end."""
    deck = table["deck"]
    card = deck[index(at)]
    deck[index(at)] = deck[index(position)]
    deck[index(position)] = card
    table["stacked"] = position + 1


@kernel
def _count_talon(table, position, num_cards, count, place):
    """Counts the types from a position of the deck on, and finds one of each."""
    count[:] = 0
    for at in range(position, num_cards):
        kind = np.int64(table["deck"][index(at)]) >> 1
        count[kind] += 1
        place[kind] = at


@kernel
def _deal_hand(hands, number, rules, stack):
    """Deals the cards of a hand; those that are left keep their order."""
    stack[0] = hands.start[0]
    table, hand = stack[0], hands.cards[number]
    for place in range(hand.shape[0]):
        card, at = hand[place], place
        while table["deck"][at] != card:
            at += 1
        while at > place:
            table["deck"][at] = table["deck"][at - 1]
            at -= 1
        table["deck"][place] = card
    table["stacked"] = hand.shape[0]
    deal(table, rules[0])
    table["stacked"] = table["drawn"]


@kernel
def _play(job, depth, action, drawn_at, scratch):
    """Plays an action onto the next table of the stack.

    Where the action draws a card and nobody decides after it, its payoff is averaged over the
    cards.

    Args:
        job: What is grown.
        depth: The table on which the action is played.
        action: The action.
        drawn_at: Where in the deck the card lies that is drawn first; -1 if that is not fixed.
        scratch: The next table is written, and `expected` if the payoff is averaged.

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
        apply(table, job.rules[0], action)
        draws = table["drawn"] > table["stacked"]
        if kind < 0:
            if not draws:
                table["stacked"] = table["drawn"]
                return PLAYED
            if drawn_at >= 0:
                break
            # In the table before: this one has drawn some card already.
            _count_talon(stack[depth], position, job.num_cards, count, place)
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
def grow(hands, job, tree, sets, scratch, size):
    """Grows the trees of deals, one behind the other in preorder, until an array is full.

    A deal that does not fit is left out whole.
    `size[CLASH]` is set if two tables that look alike to a seat offer it different actions.
    """
    for number in range(size[DEALS], hands.cards.shape[0]):
        _deal_hand(hands, number, job.rules, scratch.stack)
        table = scratch.stack[0]
        if table["phase"] == DEAL and table["redeal"] == Redeal.KILLE:
            scratch.thrown_in[0] += hands.chances[number]
        elif not _grow_deal(job, hands.chances[number], tree, sets, scratch, size):
            return
        size[DEALS] = number + 1


@kernel
def _grow_deal(job, chance, tree, sets, scratch, size):
    """Grows the tree of one deal, depth first, with a stack of tables; False if it does not fit.

    It calls few functions for a node: each array in a named tuple costs a moment per call.
    """
    stack, frames = scratch.stack, scratch.frames
    nodes, leaves, num_actions = size[NODES], size[LEAVES], scratch.mask.shape[0]
    depth, above, through = 0, 0, -1
    came, action = PLAYED, -1
    while depth >= 0:
        # A new node: the table at `depth`.
        if (
            nodes == tree.infoset.shape[0]
            or leaves == tree.payoff.shape[0]
            or size[SETS] == sets.player.shape[0]
        ):
            return False
        table = stack[depth]
        if came == DRAWS:
            kind = CHANCE
        elif came == AVERAGED or table["phase"] <= OVER:
            kind = TERMINAL
            _add_leaf(
                table, came == AVERAGED, leaves, tree, scratch.expected, scratch.expected_outs
            )
            leaves += 1
        else:
            kind = _infoset_of(job, table, sets, scratch, size)
            if kind < 0:
                size[CLASH] = 1
                return False
        tree.infoset[nodes], tree.parent[nodes] = kind, above
        tree.sequence[nodes], tree.probability[nodes] = through, chance
        frames[depth, NODE], frames[depth, KIND] = nodes, kind
        frames[depth, NEXT], frames[depth, ACTION] = 0, action
        nodes += 1

        # The next step, from the deepest node that has one left.
        while depth >= 0:
            kind, choice = np.int64(frames[depth, KIND]), np.int64(frames[depth, NEXT])
            table, drawn_at = stack[depth], -1
            if kind == TERMINAL:
                depth -= 1
                continue
            if kind == CHANCE:
                position = np.int64(table["stacked"])
                _count_talon(table, position, job.num_cards, scratch.talon, scratch.place)
                while choice < TYPES and scratch.talon[choice] == 0:
                    choice += 1
                if choice == TYPES:
                    depth -= 1
                    continue
                action, drawn_at = np.int64(frames[depth, ACTION]), scratch.place[choice]
                chance, through = scratch.talon[choice] / (job.num_cards - position), -1
            else:
                while choice < num_actions and sets.masks[kind, choice] == 0:
                    choice += 1
                if choice == num_actions:
                    depth -= 1
                    continue
                action, chance, through = choice, 1.0, np.int64(sets.first[kind])
                for other in range(choice):
                    through += sets.masks[kind, other]
            frames[depth, NEXT] = choice + 1
            above = np.int64(frames[depth, NODE])
            came = _play(job, depth, action, drawn_at, scratch)
            depth += 1
            break
    size[NODES], size[LEAVES] = nodes, leaves
    return True


@kernel
def _add_leaf(table, averaged, leaf, tree, expected, expected_outs):
    """Writes what a terminal node pays, and how it ends."""
    again = not averaged and table["phase"] == DEAL and table["redeal"] == Redeal.QUESTION
    tree.redealt[leaf] = again
    for seat in range(tree.payoff.shape[1]):
        tree.payoff[leaf, seat] = expected[seat] if averaged else table["reward"][seat]
    for out in range(tree.outs.shape[1]):
        if averaged:
            tree.outs[leaf, out] = expected_outs[out]
        else:
            tree.outs[leaf, out] = 1.0 if not again and out == table["out"] else 0.0


class Growth:
    """The arrays that `grow` fills; what is not filled takes no memory."""

    def __init__(
        self,
        batch: Batch,
        num_cards: int,
        nodes: int,
        leaves: int,
        sets: int,
        outs: bool = False,
        shared: Collection[int] = (),
    ) -> None:
        spec, seats = batch.spec, batch.num_players
        out_sets = 1 << seats if outs else 0
        self.num_players = seats
        num_features = width(spec.information_state(seats))
        together = sum(1 << seat for seat in shared)
        self.job = Job(batch.rules.record, num_cards, num_features, together)
        words = -(-(num_features * max(len(shared), 1) + 1) // 8)
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
            thrown_in=np.zeros(1),
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
            slots=np.full(2 * sets, -1, dtype=np.int32),
            rows=np.zeros((sets, words), dtype=np.uint64),
            positions=np.zeros(sets, dtype=spec.table),
            player=np.zeros(sets, dtype=np.int8),
            first=np.zeros(sets + 1, dtype=np.int32),
            masks=np.zeros((sets, spec.num_actions), dtype=np.int8),
        )
        self.size = np.zeros(5, dtype=np.int64)
        self.tree.infoset[0], self.tree.parent[0], self.tree.sequence[0] = CHANCE, -1, -1
        self.tree.probability[0] = 1.0
        self.size[NODES] = 1

    def grow(self, hands: Hands) -> bool:
        """Grows trees; returns whether they are all done, and no array was full before."""
        grow(hands, self.job, self.tree, self.sets, self.scratch, self.size)
        return self.size[DEALS] == len(hands.cards)

    def finished(self) -> tuple[Grown, Sets]:
        """Returns the arrays as far as they are filled."""
        nodes, leaves, sets = (int(self.size[what]) for what in (NODES, LEAVES, SETS))
        tree = [array[:nodes] for array in self.tree[:4]]
        tree += [array[:leaves] for array in self.tree[4:]]
        filled = [array[:sets] for array in self.sets]
        return Grown(*tree), Sets(*filled)._replace(first=self.sets.first[: sets + 1])
