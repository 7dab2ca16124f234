"""Trees of single deals of Byteskille, grown by the game's own kernels.

A *stage* is one hand: it ends at the showdown, or where forehand's question is granted and the
cards are dealt again. Nothing of a hand is known in the next one but how many questions have been
granted, so a stage that ends in another hand is worth there what that hand's stage is worth, and a
deal with all its questions is solved stage by stage from the last one (`DealStages`).

What makes the tree small, without loss:

- Hands are dealt by type. The two copies of a type look alike and rank alike, so which of them a
  seat holds changes nothing; how many ways there are to deal a type stands in the chance.
- A draw from the talon after which nobody decides any more is not a node: the leaf pays what is to
  be expected over the next card. An inn or cavalier that is laid aside for another card changes
  nothing but which cards are left, so the card that stays is any other card of the talon, each as
  likely as the next.
- A hand of two players that is thrown in for a kille (`two_player: wiki`) is dealt until there is
  none: chance gives it no probability. The cap on hands counts only granted questions then.

An information set is what `information_state` shows to the seat that decides.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.deck import KA, KILLE_CODES, VH
from kille_env.core.game import DEAL, OVER
from kille_env.core.jit import announce_compilation, index, kernel, package_root
from kille_env.core.spec import Rules, width
from kille_env.errors import CardError, KilleError, RulesError
from kille_env.games.byteskille import (
    apply,
    deal,
    information_state,
    legal_actions,
    observe,
)
from kille_env.games.byteskille.table import BY_KILLE, BY_QUESTION
from kille_env.registry import load_game
from kille_training.solving.tree import CHANCE, TERMINAL, FlatTree

MEMORY_LIMIT = 4 * 2**30
"""Bytes that a tree may take unless told otherwise."""

TYPES = len(KILLE_CODES)
SAMPLE = 300  # deals from which the size of a tree is estimated
LEFT_IN_TALON = 2  # cards that stay with whoever draws them, at most: a player's and the dealer's
NODE_BYTES = 4 + 4 + 4 + 8  # infoset, parent, sequence, probability

# What `grow` counts, and the columns of a frame of its stack.
DEALS, NODES, LEAVES, SETS, CLASH = range(5)
NODE, STANDS, NEXT, ACTION = range(4)
PLAYED, DRAWS, AVERAGED = range(3)


# Growing


class Grown(NamedTuple):
    """The nodes so far, as in `FlatTree`; `redealt` says which leaves end in another hand."""

    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray
    payoff: np.ndarray
    redealt: np.ndarray


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
    count: np.ndarray
    place: np.ndarray
    expected: np.ndarray


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
def _set_of(table, rules, sets, size, scratch, num_features, observed):
    """Returns the number of the information set at a table, a new one if need be; -1: a clash."""
    seat = np.int64(table["seat"])
    row, seen, mask = scratch.row, scratch.row_bytes, scratch.mask
    row[:] = 0
    information_state(table, rules, seat, seen[:num_features])
    seen[num_features] = seat
    if observed > 0:
        observe(table, rules, seat, seen[num_features + 1 : num_features + 1 + observed])
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
    stack, count, place, expected = (
        scratch.stack,
        scratch.count,
        scratch.place,
        scratch.expected,
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
            _count_talon(table, position, num_cards, count, place)
            expected[:] = 0.0
        elif not draws:  # else it is laid aside for another card
            if table["phase"] > OVER:
                break
            weight += count[kind]
            for seat in range(expected.shape[0]):
                expected[seat] += count[kind] * table["reward"][seat]
        kind += 1
        while kind < TYPES and count[kind] == 0:
            kind += 1
        if kind == TYPES:
            for seat in range(expected.shape[0]):
                expected[seat] /= weight
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
                leaves += 1
            else:
                stands = _set_of(table, rules, sets, size, scratch, num_features, observed)
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
                    _count_talon(table, position, num_cards, scratch.count, scratch.place)
                    while choice < TYPES and scratch.count[choice] == 0:
                        choice += 1
                    if choice == TYPES:
                        depth -= 1
                        continue
                    action, at = np.int64(frames[depth, ACTION]), scratch.place[choice]
                    chance, through = scratch.count[choice] / (num_cards - position), -1
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


class _Arrays:
    """The arrays that `grow` fills, which double where they are full."""

    def __init__(self, batch: Batch, observed: bool, nodes: int, leaves: int, sets: int) -> None:
        spec, seats = batch.spec, batch.num_players
        self.num_players = seats
        self.num_features = width(spec.information_state(seats))
        self.observed = width(spec.observation(seats)) if observed else 0
        words = -(-(self.num_features + 1 + self.observed) // 8)
        depth = spec.max_decisions(batch.rules, seats) + 16  # draws are steps too
        row = np.zeros(words, dtype=np.uint64)
        self.scratch = Scratch(
            stack=np.zeros(depth, dtype=spec.table),
            frames=np.zeros((depth, 4), dtype=np.int32),
            row=row,
            row_bytes=row.view(np.uint8),
            mask=np.zeros(spec.num_actions, dtype=np.int8),
            count=np.zeros(TYPES, dtype=np.int64),
            place=np.zeros(TYPES, dtype=np.int64),
            expected=np.zeros(seats),
        )
        self.tree = Grown(
            infoset=np.zeros(nodes, dtype=np.int32),
            parent=np.zeros(nodes, dtype=np.int32),
            sequence=np.zeros(nodes, dtype=np.int32),
            probability=np.zeros(nodes),
            payoff=np.zeros((leaves, seats)),
            redealt=np.zeros(leaves, dtype=np.bool_),
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
        lengths = [nodes] * 4 + [leaves] * 2
        for array, length in zip(self.tree, lengths, strict=True):
            array.resize((length, *array.shape[1:]), refcheck=False)
        if sets != len(self.sets.player):
            for array in self.sets[1:]:
                length = sets + (array is self.sets.first)
                array.resize((length, *array.shape[1:]), refcheck=False)

    def make_room(self) -> None:
        """Doubles what may be full."""
        grown, sets = int(self.size[SETS]), len(self.sets.player)
        more = 2 * sets if 2 * grown > sets else sets
        self.resize(2 * len(self.tree.infoset), 2 * len(self.tree.payoff), more)
        if more != sets:
            self.sets = self.sets._replace(slots=_free_slots(more))
            index_sets(self.sets, grown)

    @property
    def nbytes(self) -> int:
        """Memory of the tree and of its information sets."""
        return sum(array.nbytes for array in (*self.tree, *self.sets))

    def grow(
        self, start: np.ndarray, rules: Rules, hands: "_Hands", num_cards: int, integrate: bool
    ) -> None:
        """Grows the trees of the hands until all are done or an array is full."""
        grow(
            start,
            rules.record[0],
            hands.cards,
            hands.chances,
            num_cards,
            integrate,
            self.num_features,
            self.observed,
            self.tree,
            self.sets,
            self.scratch,
            self.void,
            self.size,
        )


def _free_slots(sets: int) -> np.ndarray:
    """A hash table with at least twice as many slots as sets."""
    return np.full(1 << (2 * sets - 1).bit_length(), -1, dtype=np.int32)


@dataclass(frozen=True)
class _Hands:
    """Ways to deal: the cards from forehand on [D, P], and how likely each is [D]."""

    cards: np.ndarray
    chances: np.ndarray

    def __len__(self) -> int:
        return len(self.chances)


def _hands_by_type(counts: np.ndarray, num_players: int) -> _Hands:
    """Every way to deal types; of equal cards the one dealt first is copy 0."""
    cards = np.zeros((1, 0), dtype=np.int8)
    chances = np.ones(1)
    for dealt in range(num_players):
        used = ((cards >> 1)[:, :, None] == np.arange(TYPES)).sum(axis=1)
        left = counts - used
        deal_number, kind = np.nonzero(left > 0)
        copy = used[deal_number, kind]
        chances = chances[deal_number] * left[deal_number, kind] / (counts.sum() - dealt)
        cards = np.column_stack([cards[deal_number], 2 * kind + copy]).astype(np.int8)
    return _Hands(cards, chances)


def _hands_by_copy(counts: np.ndarray, num_players: int) -> _Hands:
    """Every way to deal the cards themselves."""
    pack = [2 * kind + copy for kind in range(TYPES) for copy in range(counts[kind])]
    cards = np.array(list(permutations(pack, num_players)), dtype=np.int8)
    return _Hands(cards, np.full(len(cards), 1 / len(cards)))


def count_hands(counts: np.ndarray, num_players: int) -> int:
    """Returns in how many ways types can be dealt, `counts[t]` cards of each type t."""
    ways = [1.0] + [0.0] * num_players  # of k seats, divided by k!
    for count in counts:
        ways = [
            sum(ways[k - j] / math.factorial(j) for j in range(min(int(count), k) + 1))
            for k in range(num_players + 1)
        ]
    return round(ways[num_players] * math.factorial(num_players))


# Stages


@dataclass(frozen=True, eq=False)
class Stage:
    """One hand of a single deal as a tree, and what its information sets look like.

    Attributes:
        rules: The rules.
        num_players: P.
        dealer: The dealer's seat; forehand sits to his left.
        granted: Questions granted before this hand.
        num_deals: D, the ways to deal that lead to different nodes.
        tree: The tree. Where the cards are dealt again it pays 0 (see `worth`).
        masks: [I, A] int8, what may be done in each information set, 1 for legal actions.
        redealt: [T] bool, the leaves at which the cards are dealt again.
        grown: [I] tables, one of each information set, as they stood when the tree was grown:
            in the hand after `grown_after` granted questions.
        grown_after: See there.
    """

    rules: Rules
    num_players: int
    dealer: int
    granted: int
    num_deals: int
    tree: FlatTree
    masks: np.ndarray
    redealt: np.ndarray
    grown: np.ndarray
    grown_after: int

    @cached_property
    def positions(self) -> np.ndarray:
        """[I] tables: one position of each information set."""
        tables = self.grown.copy()
        tables["redeals"] += self.granted - self.grown_after
        tables["deals"] += self.granted - self.grown_after
        return tables

    @cached_property
    def states(self) -> np.ndarray:
        """[I, F] uint8: the information states."""
        game = load_game("byteskille")
        return self._look(game.information_state, game.spec.information_state(self.num_players))

    @cached_property
    def observations(self) -> np.ndarray:
        """[I, F] uint8: what the seat that decides observes."""
        game = load_game("byteskille")
        return self._look(game.observe, game.spec.observation(self.num_players))

    def _look(self, kernel_of_game: Any, layout: Any) -> np.ndarray:
        out = np.zeros((self.tree.num_infosets, width(layout)), dtype=np.uint8)
        kernel_of_game(self.positions, self.rules.record, self.tree.player, out)
        return out

    @property
    def information_sets(self) -> tuple[int, ...]:
        """How many information sets each seat has, forehand first, the dealer last."""
        sets = np.bincount(self.tree.player, minlength=self.num_players)
        return tuple(int(sets[seat]) for seat in self.order)

    @property
    def order(self) -> tuple[int, ...]:
        """The seats from forehand to the dealer."""
        return tuple((self.dealer + 1 + i) % self.num_players for i in range(self.num_players))

    def worth(self, continuation: Sequence[float] | np.ndarray | None) -> FlatTree:
        """Returns the tree with what each seat gets where the cards are dealt again.

        Args:
            continuation: [P], the value of the next hand's stage; None is 0.

        Raises:
            KilleError: It is not a number for each seat.
        """
        if continuation is None:
            return self.tree
        given = np.asarray(continuation, dtype=np.float64)
        if given.shape != (self.num_players,) or not np.isfinite(given).all():
            raise KilleError(
                f"a continuation is a number for each of {self.num_players} seats, "
                f"got {continuation!r}"
            )
        payoff = self.tree.payoff.copy()
        payoff[self.redealt] += given
        return replace(self.tree, payoff=payoff)

    def after(self, granted: int) -> "Stage":
        """Returns the stage of a later hand that goes like this one: only the counters differ."""
        return replace(self, granted=granted)

    def tell(self, information_set: int) -> str:
        """Returns an information set in words, as its seat sees it, on one line."""
        module = load_game("byteskille").module
        seat = int(self.tree.player[information_set])
        told = module.describe(self.positions[information_set], self.rules, seat)
        return "; ".join(" ".join(line.split()) for line in told.splitlines())


def build_stage(
    num_players: int,
    rules: Rules | str | dict[str, Any] | None = None,
    *,
    dealer: int | None = None,
    granted: int = 0,
    cards: Sequence[str] | None = None,
    memory_limit: int = MEMORY_LIMIT,
    copies: bool = False,
    integrate: bool = True,
    observed: bool = False,
) -> Stage:
    """Grows the tree of one hand of a single deal.

    Args:
        num_players: P.
        rules: A preset, switches or resolved rules; the episode is always a single deal.
        dealer: The dealer's seat; None is the last one, so that forehand is seat 0.
        granted: Questions granted before this hand.
        cards: Codes of the cards that can be dealt and drawn, in any order; None is the whole
            pack. A smaller pack makes a smaller game, for checks.
        memory_limit: Most bytes that the tree may take.
        copies: Deal the cards themselves instead of types; for checks, many times larger.
        integrate: Whether draws that nobody follows are averaged; without, every drawn card is a
            node. For checks, too.
        observed: Whether what a seat observes is part of what tells information sets apart. For
            the check that it adds nothing.

    Raises:
        RulesError: Impossible rules, number of players, dealer or number of questions.
        CardError: The cards are no part of a pack, or too few.
        KilleError: The tree would not fit into `memory_limit`; the message says what would.
    """
    game = load_game("byteskille")
    resolved = game.spec.resolve(rules)
    if resolved["episode"] != "deal":
        resolved = game.spec.resolve({**resolved.as_dict(), "episode": "deal"})
    batch = Batch(game, 1, num_players, resolved, seed=0, restart=False)
    num_players = batch.num_players
    dealer = num_players - 1 if dealer is None else dealer
    start = _start(batch, dealer, granted)
    counts = _counts(cards, num_players)
    start["deck"], _ = game.spec.stack(_codes(counts))
    num_cards = int(counts.sum())
    with announce_compilation("solving", package_root(grow)):
        arrays = _estimate(batch, start, counts, memory_limit, observed, copies, integrate)
    hands = (_hands_by_copy if copies else _hands_by_type)(counts, num_players)
    while arrays.size[DEALS] < len(hands):
        arrays.grow(start, resolved, hands, num_cards, integrate)
        if arrays.size[CLASH]:
            raise KilleError(
                "two positions that look alike to a seat offer it different actions: "
                "the game's information state says too little"
            )
        if arrays.size[DEALS] < len(hands):
            if 2 * arrays.nbytes > memory_limit:
                _refuse(batch, counts, 2 * arrays.nbytes, memory_limit)
            arrays.make_room()
    return _finish(arrays, resolved, dealer, granted, len(hands))


def _start(batch: Batch, dealer: int, granted: int) -> np.ndarray:
    """Returns [1] table at which a hand is to be dealt, after so many granted questions."""
    rules = batch.rules
    most = min(rules.number("max_redeals"), rules.number("max_deals") - 1)
    if granted and not 0 < granted <= most:
        raise RulesError(f"granted is {granted!r}; these rules grant 0 to {most} questions")
    batch.reset(dealer=dealer, deal=False)
    start = np.array(batch.tables)
    if granted:
        start["redeal"], start["redeals"], start["deals"] = BY_QUESTION, granted, granted
        start["new_pot"], start["next_dealer"] = 0, dealer
    return start


def _counts(cards: Sequence[str] | None, num_players: int) -> np.ndarray:
    """Returns how many cards of each type there are."""
    if cards is None:
        return np.full(TYPES, 2)
    pack, _ = load_game("byteskille").spec.stack(list(cards))
    counts = np.bincount(pack[: len(cards)] >> 1, minlength=TYPES)
    staying = int(counts.sum() - counts[VH] - counts[KA])
    if staying < num_players + LEFT_IN_TALON:
        raise CardError(
            f"{len(cards)} cards, {staying} without inns and cavaliers, are too few for "
            f"{num_players} players and the talon; expected at least "
            f"{num_players + LEFT_IN_TALON} without"
        )
    return counts


def _codes(counts: np.ndarray) -> list[str]:
    return [code for code, count in zip(KILLE_CODES, counts, strict=True) for _ in range(count)]


def _estimate(
    batch: Batch,
    start: np.ndarray,
    counts: np.ndarray,
    memory_limit: int,
    observed: bool,
    copies: bool,
    integrate: bool,
) -> _Arrays:
    """Returns arrays of about the right size, or refuses to build the tree."""
    needed, nodes, leaves = _measure(batch, start, counts, observed, copies, integrate)
    if needed > memory_limit:
        _refuse(batch, counts, needed, memory_limit)
    return _Arrays(batch, observed, nodes, leaves, 4096)


def _measure(
    batch: Batch,
    start: np.ndarray,
    counts: np.ndarray,
    observed: bool = False,
    copies: bool = False,
    integrate: bool = True,
) -> tuple[int, int, int]:
    """Estimates bytes, nodes and leaves of a tree from a sample of deals."""
    seats = batch.num_players
    deals = math.perm(int(counts.sum()), seats) if copies else count_hands(counts, seats)
    hands = _sample(counts, seats)
    arrays = _Arrays(batch, observed, 1 << 17, 1 << 17, 1 << 13)
    arrays.grow(start, batch.rules, hands, int(counts.sum()), integrate)
    done = int(arrays.size[DEALS])
    if done == len(hands):
        nodes, leaves = int(arrays.size[NODES]) / done, int(arrays.size[LEAVES]) / done
    else:  # more than all the room there was: at least so many
        nodes, leaves = len(arrays.tree.infoset) / (done + 1), len(arrays.tree.payoff) / (done + 1)
    per_leaf = 8 * seats + 1
    needed = deals * (NODE_BYTES * nodes + per_leaf * leaves)
    return int(needed), int(1.2 * deals * nodes) + 1024, int(1.2 * deals * leaves) + 1024


def _sample(counts: np.ndarray, num_players: int) -> _Hands:
    """Draws deals, every way to deal types as likely as any other."""
    rng = np.random.default_rng(0)
    kinds = np.flatnonzero(counts)
    cards: list[list[int]] = []
    while len(cards) < SAMPLE:
        drawn: list[int] = []
        for _ in range(num_players):
            open_kinds = [k for k in kinds if sum(card >> 1 == k for card in drawn) < counts[k]]
            kind = int(rng.choice(open_kinds))
            drawn.append(2 * kind + sum(card >> 1 == kind for card in drawn))
        cards.append(drawn)
    return _Hands(np.array(cards, dtype=np.int8), np.ones(SAMPLE))


def _refuse(batch: Batch, counts: np.ndarray, needed: int, memory_limit: int) -> None:
    """Says how large the tree is and what would fit."""
    fits = "nothing smaller"
    for seats in range(batch.num_players - 1, 1, -1):
        smaller = Batch(batch.game, 1, seats, batch.rules, seed=0, restart=False)
        start = _start(smaller, seats - 1, 0)
        start["deck"], _ = batch.spec.stack(_codes(counts))
        bytes_needed, _, _ = _measure(smaller, start, counts)
        if bytes_needed <= memory_limit:
            fits = f"{seats} seats, about {_mebibytes(bytes_needed)}"
            break
    raise KilleError(
        f"the tree of a deal with {batch.num_players} seats takes about {_mebibytes(needed)}, "
        f"more than the limit of {_mebibytes(memory_limit)}. It would fit with: {fits}; or "
        "raise memory_limit"
    )


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def _finish(arrays: _Arrays, rules: Rules, dealer: int, granted: int, deals: int) -> Stage:
    """Cuts the arrays to their lengths and makes a stage of them."""
    size, tree, sets = arrays.size, arrays.tree, arrays.sets
    arrays.resize(int(size[NODES]), int(size[LEAVES]), int(size[SETS]))
    tree.probability[tree.parent == 0] /= 1.0 - arrays.void[0]
    flat = FlatTree(
        num_players=arrays.num_players,
        player=sets.player,
        first=sets.first,
        infoset=tree.infoset,
        parent=tree.parent,
        sequence=tree.sequence,
        probability=tree.probability,
        payoff=tree.payoff,
    )
    return Stage(
        rules,
        arrays.num_players,
        dealer,
        granted,
        deals,
        flat,
        sets.masks,
        tree.redealt,
        sets.positions,
        granted,
    )
