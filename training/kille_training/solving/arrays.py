"""State and results of a walk: growing arrays, and hash tables over their rows.

A hash table (`slots`) is an array of row numbers, -1 for a free slot. Its length is a power of two
and larger than the number of rows.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from kille_env.core.jit import kernel
from kille_training.solving.trees.tree import CHANCE

FIRST_ROOM = 1 << 14  # initial capacity of each array

FRAME = np.dtype(
    [
        ("set", np.int64),  # the information set, `CHANCE` or `FORCED`
        ("choice", np.int64),  # the next one to walk on from: an action, or a type of card
        ("step", np.int64),  # the sequence of that choice
        ("action", np.int64),  # the only legal one; at a chance node the one that draws, -1 deals
        # Of a chance node: where in the deck the cards of its step begin; of the hand that the card
        # goes to the highest type that it has drawn so far, how many cards, and how many of it.
        ("start", np.int64),
        ("floor", np.int64),
        ("count", np.int64),
        ("run", np.int64),
        ("left", np.int64),  # how many cards can be drawn
        ("first", np.int64),  # the node's histories: rows of `Path.last` and `Path.weight`
        ("end", np.int64),
        ("chance", np.float64),  # how often chance leads here from the first table
        # Where nodes are written down: the last one up to this table, the sequence that leads on
        # from it, how often chance does, and how many ends there were before a chance node that is
        # a node of its own (-1: it is none).
        ("node", np.int64),
        ("edge", np.int64),
        ("share", np.float64),
        ("leaf", np.int64),
    ],
    align=True,
)
"""A node on the way from the first table to the newest."""

COUNTS = np.dtype(
    [
        # How much there is in each of `Arrays`.
        ("sets", np.int64),
        ("ends", np.int64),
        ("ways", np.int64),
        ("nodes", np.int64),
        ("aside", np.int64),
        ("histories", np.int64),
        # Where the walk stands.
        ("depth", np.int64),
        ("begun", np.int64),  # tables of the round
        ("met", np.int64),  # nodes, written down or not
        ("deals", np.int64),
        ("most", np.int64),  # histories of a node
        ("last_end", np.int64),
        ("fault", np.int64),  # see `FAULTS`, 0 for none
    ],
    align=True,
)
"""Counters of a walk."""


class Job(NamedTuple):
    """Settings of a walk."""

    rules: np.ndarray  # [R]; the tree is grown by the first, and its ends pay by all
    end: int  # where the cards of the deck end that are played with
    num_features: int  # of an information state
    owner: np.ndarray  # [P], the player that decides for each seat
    forgets: np.ndarray  # features of an information state that are one set; see `own_cards`
    keeps_nodes: bool


class Path(NamedTuple):
    """The nodes from the first table to the newest, by their depth, and room to work in."""

    stack: np.ndarray  # [D] tables
    frames: np.ndarray  # [D] of `FRAME`
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
    paid: np.ndarray  # [R, P], the payments of the newest end, by rules and seat
    thrown_in: np.ndarray  # [1], how likely the deals so far are dealt again at once


class Round(NamedTuple):
    """The tables from which the walk goes on, one after the other, with their histories."""

    tables: np.ndarray
    first: np.ndarray  # the first history of each; the last entry is their number
    last: np.ndarray
    weight: np.ndarray


class Sets(NamedTuple):
    """The information sets so far."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # what the player knows, packed in words
    positions: np.ndarray  # one table of each
    player: np.ndarray
    first: np.ndarray
    before: np.ndarray  # of the first table
    masks: np.ndarray


class Ends(NamedTuple):
    """The ends so far; those with equal sequences are one. With nodes, `paid` of each leaf."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # the last sequences
    chance: np.ndarray
    paid: np.ndarray  # what each player gets; how often cards are dealt again; then each outcome,
    # where asked for; then what each player gets by each of the further rules: all times how often
    # chance leads there, but with nodes as they are


class Ways(NamedTuple):
    """The ways to information sets so far, where seats forget."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # the set, and the player's own sequence before it
    weight: np.ndarray  # how often chance leads there; and times a number made of the others' play


class Written(NamedTuple):
    """The nodes so far, as in `FlatTree`."""

    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray


class Aside(NamedTuple):
    """The tables of the next round."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # what all seats know together, and what is left in the pack
    tables: np.ndarray


class Histories(NamedTuple):
    """Their histories."""

    number: np.ndarray  # of the table in `Aside`
    last: np.ndarray
    weight: np.ndarray


class Arrays(NamedTuple):
    """The results of a walk."""

    sets: Sets
    ends: Ends
    ways: Ways
    nodes: Written
    aside: Aside
    histories: Histories

    @classmethod
    def nothing(
        cls, table: np.dtype, row: int, joint: int, players: int, actions: int, outcomes: int
    ) -> Self:
        """Return empty arrays."""
        room = FIRST_ROOM
        sets = Sets(
            slots=free_slots(),
            rows=np.zeros((room, row), dtype=np.uint64),
            positions=np.zeros(room, dtype=table),
            player=np.zeros(room, dtype=np.int8),
            first=np.zeros(room + 1, dtype=np.int32),
            before=np.zeros(room, dtype=np.int32),
            masks=np.zeros((room, actions), dtype=np.int8),
        )
        ends = Ends(
            slots=free_slots(),
            rows=np.zeros((room, players), dtype=np.int32),
            chance=np.zeros(room),
            paid=np.zeros((room, players + 1 + outcomes)),
        )
        ways = Ways(
            slots=free_slots(),
            rows=np.zeros((room, 2), dtype=np.int32),
            weight=np.zeros((room, 2)),
        )
        nodes = Written(
            infoset=np.full(room, CHANCE, dtype=np.int32),
            parent=np.full(room, -1, dtype=np.int32),
            sequence=np.full(room, -1, dtype=np.int32),
            probability=np.ones(room),
        )
        aside = Aside(
            slots=free_slots(),
            rows=np.zeros((room, joint), dtype=np.uint64),
            tables=np.zeros(room, dtype=table),
        )
        histories = Histories(
            number=np.zeros(room, dtype=np.int32),
            last=np.zeros((room, players), dtype=np.int32),
            weight=np.zeros(room),
        )
        return cls(sets, ends, ways, nodes, aside, histories)


def free_slots() -> np.ndarray:
    """Return the hash table of no rows."""
    return np.full(2 * FIRST_ROOM, -1, dtype=np.int32)


@kernel
def _hash(row):
    """Return a hash of a row: FNV-1a over words, folded."""
    value = np.uint64(0xCBF29CE484222325)
    for number in range(row.shape[0]):
        value = (value ^ np.uint64(row[number])) * np.uint64(0x100000001B3)
        value ^= value >> np.uint64(29)
    return value


@kernel
def slot_of(row, slots, rows):
    """Return the slot of a row's number, or the free slot for it."""
    slot = np.int64(_hash(row) & np.uint64(slots.shape[0] - 1))
    while slots[slot] >= 0:
        other = slots[slot]
        same = True
        for i in range(row.shape[0]):
            same &= rows[other, i] == row[i]
        if same:
            break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


@kernel
def fill_slots(slots, rows, count):
    """Fill an empty hash table with distinct rows."""
    for number in range(count):
        slots[slot_of(rows[number], slots, rows)] = number


def enlarged(arrays: Any, filled: int, most: int) -> Any:
    """Return a tuple of arrays by name with room for so many more entries.

    They grow in place, because a copy would double the memory. `slots` is a hash table of `rows`,
    which is rebuilt at two thirds of its capacity; `first` has one entry more.
    """
    room = len(arrays[1])
    if filled + most <= room:
        return arrays
    more = max(room // 4, filled + most - room)
    for name, array in arrays._asdict().items():
        if name != "slots":
            resize(array, len(array) + more)
    if "slots" not in arrays._fields or 3 * (room + more) < 2 * len(arrays.slots):
        return arrays
    length = len(arrays.slots)
    while 3 * (room + more) >= 2 * length:
        length *= 2
    slots = np.full(length, -1, dtype=np.int32)
    fill_slots(slots, arrays.rows, filled)
    return arrays._replace(slots=slots)


def resize(array: np.ndarray, length: int) -> None:
    """Change the length of an array in place; new entries are 0."""
    array.resize((length, *array.shape[1:]), refcheck=False)
