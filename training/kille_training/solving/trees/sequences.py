"""The sequence form of a game: what is left of it when only strategies change.

What a sequence of a player is worth, apart from what comes after it, is a sum over the terminal
nodes that have it as the player's last one: payoff times chance times how often the others play
their own last sequences there. The nodes in between are not needed. So each player gets a sparse
matrix, with one row for each of its sequences and one column for each combination of the others'
last sequences; terminal nodes that no player can tell apart share one entry. The others' reach of
every combination is multiplied out once, and then a row costs one multiplication for each entry,
however many players there are.

Sequences are renumbered into slots: first one for each player's empty sequence, then player by
player, an information set behind all that lead to it.
"""

from typing import NamedTuple

import numpy as np

from kille_training.solving.trees.sequence_game import SequenceGame


class SequenceForm(NamedTuple):
    """A tree's sequence form; K slots, E entries, C columns. Kernels take it as it is.

    Attributes:
        slot: [S] uint32, the slot of each sequence of the game.
        sets: [P + 1] uint32, the first information set of each player.
        begin: [I + 1] uint32, the first slot of each set.
        ways: [I + 1] uint32, the first entry of each set in `before` and `share`.
        before: [W] uint32, the slots that lead to each set.
        share: [W] float64, how often chance comes by each of them; see `SequenceGame`.
        rows: [K + 1] uint64, the first entry of each slot.
        column: [E] uint32, the column of each entry.
        weight: [E] float64, payoff times chance of each entry.
        columns: [P + 1] uint32, the first column of each player.
        others: [P - 1, C] uint32, the other players' slots that a column stands for.
    """

    slot: np.ndarray
    sets: np.ndarray
    begin: np.ndarray
    ways: np.ndarray
    before: np.ndarray
    share: np.ndarray
    rows: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    columns: np.ndarray
    others: np.ndarray


def sequence_form(game: SequenceGame) -> SequenceForm:
    """Returns the sequence form of a game, for solvers."""
    players = game.num_players
    order = np.argsort(game.player, kind="stable")
    sizes = np.diff(game.first)[order]
    begin = np.concatenate([[0], np.cumsum(sizes)]) + players
    slot = np.empty(game.num_sequences, dtype=np.uint32)
    offsets = np.arange(game.num_sequences) - np.repeat(begin[:-1] - players, sizes)
    slot[np.repeat(game.first[:-1][order], sizes) + offsets] = np.arange(game.num_sequences)
    slot += np.uint32(players)

    roads = np.diff(game.ways)[order]
    ways = np.concatenate([[0], np.cumsum(roads)])
    taken = np.repeat(game.ways[:-1][order] - ways[:-1], roads) + np.arange(ways[-1])
    before = _slots(slot, game.before[taken], np.repeat(game.player[order], roads))
    last = _slots(slot, game.last, np.arange(players))

    num_slots = game.num_sequences + players
    counts = np.zeros(num_slots, dtype=np.int64)
    entries, weights, combinations, columns = [], [], [], [0]
    for player in range(players):
        own = last[:, player].astype(np.int64)
        weight = game.pay[:, player]
        counted = (weight != 0.0) & (own >= players)
        own, weight = own[counted], weight[counted]
        others = np.delete(last[counted], player, axis=1)
        somewhere, joint = _combine(others)
        width = max(len(somewhere), 1)
        keys, entry = np.unique(own * width + joint, return_inverse=True)
        entries.append(keys % width + columns[-1])
        weights.append(np.bincount(entry, weight, len(keys)))
        counts += np.bincount(keys // width, minlength=num_slots)
        combinations.append(others[somewhere])
        columns.append(columns[-1] + len(somewhere))
    table = np.concatenate(combinations).T
    if players == 1:  # no others: the one column is an empty sequence, which is certain
        table = np.zeros((1, columns[-1]))
    return SequenceForm(
        slot,
        np.concatenate([[0], np.cumsum(np.bincount(game.player, minlength=players))]).astype(
            np.uint32
        ),
        begin.astype(np.uint32),
        ways.astype(np.uint32),
        before,
        game.share[taken],
        np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64),
        np.concatenate(entries).astype(np.uint32),
        np.concatenate(weights).astype(np.float64),
        np.array(columns, dtype=np.uint32),
        np.ascontiguousarray(table, dtype=np.uint32),
    )


def _slots(slot: np.ndarray, sequences: np.ndarray, players: np.ndarray) -> np.ndarray:
    """Returns the slots of sequences of players; -1 is a player's empty sequence."""
    if not len(slot):
        return np.broadcast_to(players, sequences.shape).astype(np.uint32)
    return np.where(sequences >= 0, slot[sequences], players).astype(np.uint32)


def _combine(slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers the different rows; returns one place of each, and the number of every row."""
    number = np.zeros(len(slots), dtype=np.int64)
    most = 1
    for place in range(slots.shape[1]):
        column = slots[:, place].astype(np.int64)
        width = int(column.max(initial=0)) + 1
        if most * width >= 2**63:
            known, number = np.unique(number, return_inverse=True)
            most = len(known)
        number = number * width + column
        most *= width
    known, number = np.unique(number, return_inverse=True)
    somewhere = np.empty(len(known), dtype=np.int64)
    somewhere[number] = np.arange(len(slots))
    return somewhere, number
