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
  none: chance gives it no probability. The cap on hands counts only granted questions then, and
  what a seat sees is what it sees if none was thrown in.

An information set is what `information_state` shows to the seat that decides.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, NoReturn

import numpy as np

from kille_env.cards.pack import KA, KILLE_CODES, VH
from kille_env.core.batch import Batch
from kille_env.core.jit import announce_compilation, package_root
from kille_env.core.spec import Rules, width
from kille_env.errors import CardError, KilleError, RulesError
from kille_env.games.byteskille.table import BY_QUESTION
from kille_env.registry import load_game
from kille_training.solving.byteskille.grow import (
    CLASH,
    DEALS,
    LEAVES,
    NODES,
    SETS,
    TYPES,
    Growth,
    grow,
)
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import expected_values

MEMORY_LIMIT = 4 * 2**30
"""Bytes that a tree may take unless told otherwise."""

MOST_STAGES = 1000
"""Rules that allow as many granted questions in a deal are refused: each is a stage to solve."""

SAMPLE = 2000  # deals from which the size of a tree is estimated
SAMPLE_NODES = 1 << 19  # room for them
LEFT_IN_TALON = 2  # cards that stay with whoever draws them, at most: a player's and the dealer's
NODE_BYTES = 4 + 4 + 4 + 8  # infoset, parent, sequence, probability


# Stages


@dataclass(frozen=True, eq=False)
class Stage:
    """One hand of a single deal as a tree, and what its information sets look like.

    Attributes:
        rules: The rules.
        num_players: P.
        dealer: The dealer's seat; forehand sits to his left.
        granted: Questions granted before this hand.
        thrown_in: How likely a hand is dealt again for its cards alone.
        num_deals: D, the ways to deal that lead to different nodes.
        tree: The tree. Where the cards are dealt again it pays 0 (see `worth`).
        masks: [I, A] int8, what may be done in each information set, 1 for legal actions.
        redealt: [T] bool, the leaves at which the cards are dealt again.
        outs: [T, 2**P] float64, how likely each set of seats (its bits) is out at each leaf; no
            columns unless asked for.
        grown: [I] tables, one of each information set, as they stood when the tree was grown:
            in the hand after `grown_after` granted questions.
        grown_after: See there.
    """

    rules: Rules
    num_players: int
    dealer: int
    granted: int
    thrown_in: float
    num_deals: int
    tree: FlatTree
    masks: np.ndarray
    redealt: np.ndarray
    outs: np.ndarray
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
        out = np.zeros(
            (self.tree.num_infosets, width(game.spec.information_state(self.num_players))), np.uint8
        )
        game.information_state(self.positions, self.rules.record, self.tree.player, out)
        return out

    @cached_property
    def observations(self) -> np.ndarray:
        """[I, F] uint8: what the seat that decides observes."""
        return self.observed(0)

    def observed(self, thrown_in: int) -> np.ndarray:
        """Returns the observations [I, F] after so many hands that were thrown in for a kille."""
        game = load_game("byteskille")
        tables = self.positions.copy()
        tables["deals"] += thrown_in
        out = np.zeros((len(tables), width(game.spec.observation(self.num_players))), np.uint8)
        game.observe(tables, self.rules.record, self.tree.player, out)
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
        game = load_game("byteskille")
        seat = int(self.tree.player[information_set])
        told = game.describe(self.positions[information_set], self.rules, seat)
        return "; ".join(" ".join(line.split()) for line in told.splitlines())


def build_stage(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    dealer: int | None = None,
    granted: int = 0,
    cards: Sequence[str] | None = None,
    memory_limit: int = MEMORY_LIMIT,
    copies: bool = False,
    integrate: bool = True,
    observed: bool = False,
    seats: Sequence[int] | None = None,
    outs: bool = False,
    shared: Sequence[int] = (),
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
        seats: Who is dealt in, the dealer among them; None is everybody. The others are out of the
            pot and have no information set.
        outs: Whether the stage tells who is out, which a match has to know.
        shared: Seats that tell each other all they know: each one's information sets are told
            apart by what the others of them know, too.

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
    dealer = batch.num_players - 1 if dealer is None else dealer
    pack = _count_cards(cards, batch.num_players)
    start = _start(batch, dealer, granted, pack)
    dealt = batch.num_players
    if seats is not None:
        dealt = _seat(start, seats, dealer)
    with announce_compilation("solving", package_root(grow)):
        needed, nodes, leaves = _measure(
            batch, start, pack, dealt, observed, copies, integrate, outs
        )
    if needed > memory_limit:
        _refuse(batch, pack, needed, memory_limit)
    growth = Growth(batch, observed, nodes, leaves, 4096, outs, shared)
    hands, chances = (_deal_copies if copies else deal_types)(pack, dealt)
    while growth.size[DEALS] < len(hands):
        growth.grow(start, resolved, hands, chances, int(pack.sum()), integrate)
        if growth.size[CLASH]:
            raise KilleError(
                "two positions that look alike to a seat offer it different actions: "
                "the game's information state says too little"
            )
        if growth.size[DEALS] < len(hands):
            growth.make_room()
            if growth.nbytes > memory_limit:
                _refuse(batch, pack, growth.nbytes, memory_limit)
    return _finish(growth, resolved, dealer, granted)


def most_granted(rules: Rules) -> int:
    """Returns how many questions the caps allow to be granted in a deal."""
    return min(rules.number("max_redeals"), rules.number("max_deals") - 1)


def _start(batch: Batch, dealer: int, granted: int, pack: np.ndarray) -> np.ndarray:
    """Returns [1] table at which a hand is to be dealt, after so many granted questions."""
    rules = batch.rules
    most = most_granted(rules)
    if granted and not 0 < granted <= most:
        raise RulesError(f"granted is {granted!r}; these rules grant 0 to {most} questions")
    batch.reset(dealer=dealer, deal=False)
    start = np.array(batch.tables)
    codes = [code for code, count in zip(KILLE_CODES, pack, strict=True) for _ in range(count)]
    start["deck"], _ = batch.spec.stack(codes)
    if granted:
        start["redeal"], start["redeals"], start["deals"] = BY_QUESTION, granted, granted
        start["new_pot"] = 0
    return start


def _seat(start: np.ndarray, seats: Sequence[int], dealer: int) -> int:
    """Deals only these seats in; returns how many they are."""
    everybody = range(int(start["num_players"][0]))
    chosen = set(seats)
    if not chosen <= set(everybody) or dealer not in chosen or len(chosen) < 2:
        raise RulesError(
            f"seats are {list(seats)!r}; expected at least two of the seats 0 to "
            f"{everybody[-1]}, the dealer {dealer} among them"
        )
    start["in_pot"], start["new_pot"] = sum(1 << seat for seat in chosen), 0
    return len(chosen)


def _count_cards(cards: Sequence[str] | None, num_players: int) -> np.ndarray:
    """Returns how many cards of each type there are."""
    if cards is None:
        return np.full(TYPES, 2)
    stacked, _ = load_game("byteskille").spec.stack(list(cards))
    pack = np.bincount(stacked[: len(cards)] >> 1, minlength=TYPES)
    staying, needed = int(pack.sum() - pack[VH] - pack[KA]), num_players + LEFT_IN_TALON
    if staying < needed:
        raise CardError(
            f"{len(cards)} cards, {staying} without inns and cavaliers, are too few for "
            f"{num_players} players and the talon; expected at least {needed} without"
        )
    return pack


def deal_types(pack: np.ndarray, num_players: int) -> tuple[np.ndarray, np.ndarray]:
    """Every way to deal types: cards [D, P] from forehand on, and chances [D].

    Of equal cards the one that is dealt first is copy 0.
    """
    cards, chances = np.zeros((1, 0), dtype=np.int8), np.ones(1)
    for dealt in range(num_players):
        used = ((cards >> 1)[:, :, None] == np.arange(TYPES)).sum(axis=1)
        left = pack - used
        number, kind = np.nonzero(left > 0)
        chances = chances[number] * left[number, kind] / (pack.sum() - dealt)
        card = 2 * kind + used[number, kind]
        cards = np.column_stack([cards[number], card]).astype(np.int8)
    return cards, chances


def _deal_copies(pack: np.ndarray, num_players: int) -> tuple[np.ndarray, np.ndarray]:
    """Every way to deal the cards themselves, see `deal_types`."""
    each = [2 * kind + copy for kind in range(TYPES) for copy in range(pack[kind])]
    cards = np.array(list(permutations(each, num_players)), dtype=np.int8)
    return cards, np.full(len(cards), 1 / len(cards))


def _count_deals(pack: np.ndarray, num_players: int) -> int:
    """Returns in how many ways types can be dealt."""
    ways = [1.0] + [0.0] * num_players  # to k seats with the types so far, divided by k!
    for count in pack:
        ways = [
            sum(ways[k - j] / math.factorial(j) for j in range(min(int(count), k) + 1))
            for k in range(num_players + 1)
        ]
    return round(ways[num_players] * math.factorial(num_players))


def _measure(
    batch: Batch,
    start: np.ndarray,
    pack: np.ndarray,
    dealt: int,
    observed: bool = False,
    copies: bool = False,
    integrate: bool = True,
    outs: bool = False,
) -> tuple[int, int, int]:
    """Estimates bytes, nodes and leaves of a tree from a sample of deals."""
    seats = batch.num_players
    deals = math.perm(int(pack.sum()), dealt) if copies else _count_deals(pack, dealt)
    # Without who is out: for many seats that alone would take more memory than there is.
    growth = Growth(batch, observed, SAMPLE_NODES, SAMPLE_NODES, 1 << 13)
    sample = _sample(pack, dealt)
    growth.grow(start, batch.rules, sample, np.ones(SAMPLE), int(pack.sum()), integrate)
    done, nodes, leaves = (int(growth.size[what]) for what in (DEALS, NODES, LEAVES))
    if done == 0:  # a single deal is larger than all the room there was
        done, nodes, leaves = 1, SAMPLE_NODES, SAMPLE_NODES // 2
    nodes, leaves = deals * nodes // done, deals * leaves // done
    needed = NODE_BYTES * nodes + (8 * (seats + (2**seats if outs else 0)) + 1) * leaves
    return needed, nodes + nodes // 10 + 1024, leaves + leaves // 10 + 1024


def _sample(pack: np.ndarray, num_players: int) -> np.ndarray:
    """Draws deals, [SAMPLE, P], each type that is left as likely as any other."""
    rng = np.random.default_rng(0)
    used = np.zeros((SAMPLE, TYPES), dtype=np.int64)
    each, cards = np.arange(SAMPLE), []
    for _ in range(num_players):
        kind = (rng.random((SAMPLE, TYPES)) * (used < pack)).argmax(axis=1)
        cards.append(2 * kind + used[each, kind])
        used[each, kind] += 1
    return np.column_stack(cards).astype(np.int8)


def _refuse(batch: Batch, pack: np.ndarray, needed: int, memory_limit: int) -> NoReturn:
    """Says how large the tree is and what would fit."""
    fits = ""
    for seats in range(batch.num_players - 1, 1, -1):
        smaller = Batch(batch.game, 1, seats, batch.rules, seed=0, restart=False)
        less, _, _ = _measure(smaller, _start(smaller, seats - 1, 0, pack), pack, seats)
        if less <= memory_limit:
            fits = f" By these rules {seats} seats would fit, with about {_told(less)}."
            break
    raise KilleError(
        f"the tree of a deal with {batch.num_players} seats takes about {_told(needed)}, "
        f"more than the limit of {_told(memory_limit)}.{fits} Fewer seats, a narrower gok_call "
        "or a smaller pack (cards) make it smaller; memory_limit allows more"
    )


def _told(size: int) -> str:
    """A number of bytes for people."""
    if size >= 2**50:  # nobody reads a number of so many digits
        return f"{size / 2**30:.1e} GiB"
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"


def _finish(growth: Growth, rules: Rules, dealer: int, granted: int) -> Stage:
    """Cuts the arrays to their lengths and makes a stage of them."""
    size, tree, sets = growth.size, growth.tree, growth.sets
    growth.resize(int(size[NODES]), int(size[LEAVES]), int(size[SETS]))
    dealt = tree.parent == 0
    tree.probability[dealt] /= 1.0 - growth.void[0]
    flat = FlatTree(
        num_players=growth.num_players,
        player=sets.player,
        first=sets.first,
        infoset=tree.infoset,
        parent=tree.parent,
        sequence=tree.sequence,
        probability=tree.probability,
        payoff=tree.payoff,
    )
    return Stage(
        rules=rules,
        num_players=growth.num_players,
        dealer=dealer,
        granted=granted,
        thrown_in=float(growth.void[0]),
        num_deals=int(dealt.sum()),
        tree=flat,
        masks=sets.masks,
        redealt=tree.redealt,
        outs=tree.outs,
        grown=sets.positions,
        grown_after=granted,
    )


# Whole deals


@dataclass(frozen=True, eq=False)
class DealStages:
    """A single deal with all its questions: a stage for each number of them granted.

    The stages but the last share one tree: only counters that the seats see differ.

    Attributes:
        stages: From no granted question on; the last one is where none can be granted any more.
    """

    stages: tuple[Stage, ...]

    @property
    def num_players(self) -> int:
        """P."""
        return self.stages[0].num_players

    def backwards(
        self, solve: Callable[[Stage, FlatTree], np.ndarray]
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Solves the stages, the last one first.

        Args:
            solve: Returns a strategy [S] for a stage, given the tree that pays the value of the
                next stage where the cards are dealt again.

        Returns:
            The strategies, in the order of the stages, and the value of the deal [P].
        """
        value, strategies = None, []
        for stage in reversed(self.stages):
            tree = stage.worth(value)
            strategies.append(solve(stage, tree))
            value = expected_values(tree, strategies[-1], stage.tell)
        assert value is not None  # there is a stage
        return tuple(reversed(strategies)), value


def build_deal(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    dealer: int | None = None,
    cards: Sequence[str] | None = None,
    memory_limit: int = MEMORY_LIMIT,
    shared: Sequence[int] = (),
) -> DealStages:
    """Grows the trees of a single deal with all its questions; arguments as in `build_stage`.

    Raises:
        KilleError: As `build_stage`, or more questions can be granted than can be solved for.
    """

    def build(granted: int) -> Stage:
        return build_stage(
            num_players,
            rules,
            dealer=dealer,
            granted=granted,
            cards=cards,
            memory_limit=memory_limit,
            shared=shared,
        )

    stage = build(0)
    if not stage.redealt.any():
        return DealStages((stage,))
    last = most_granted(stage.rules)
    if last >= MOST_STAGES:
        raise KilleError(
            f"max_redeals and max_deals allow {last} granted questions in a deal, each a stage to "
            f"be solved; expected fewer than {MOST_STAGES}"
        )
    return DealStages((*(stage.after(granted) for granted in range(last)), build(last)))
