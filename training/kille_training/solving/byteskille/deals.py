"""Trees of single deals of Byteskille, grown by the game's own kernels.

A *stage* is one hand: it ends at the showdown, or where forehand's question is granted and the
cards are dealt again. Nothing of a hand is known in the next one except the number of questions
granted. So where a stage ends in another hand, it is worth what that hand's stage is worth, and a
deal with all its questions is solved stage by stage from the last one (`DealStages`).

Three things make the tree small, without loss:

- Hands are dealt by type. The two copies of a type look alike and rank alike, so it does not matter
  which of them a seat holds; the probability counts the ways to deal a type.
- A draw from the talon after which nobody decides is not a node: the leaf pays the expectation over
  the card. An inn or cavalier that is laid aside for another card changes only which cards are
  left, so the card that is kept is any other card of the talon, all equally likely.
- A hand of two players that is thrown in for a kille (`two_player: wiki`) has probability 0: cards
  are dealt until there is no kille. The cap on hands then counts only granted questions, and the
  observations are those of a deal in which no hand was thrown in.

An information set is what `information_state` shows to the seat that decides.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from kille_env.cards.pack import KILLE_CODES
from kille_env.core.batch import Batch
from kille_env.core.jit import announce_compilation, package_root
from kille_env.core.spec import Rules, width
from kille_env.errors import KilleError, RulesError
from kille_env.games.byteskille.table import Redeal
from kille_env.registry import load_game
from kille_training.solving.byteskille.dealing import (
    count_cards,
    count_deals,
    deal_copies,
    deal_types,
    sample_deals,
)
from kille_training.solving.byteskille.grow import (
    CLASH,
    DEALS,
    LEAVES,
    NODES,
    SETS,
    Growth,
    grow,
)
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import expected_values

MEMORY_LIMIT = 4 * 2**30
"""Bytes that a tree may take by default."""

MOST_STAGES = 1000
"""Rules that allow this many granted questions in a deal are refused: each is a stage to solve."""

SAMPLE = 2000  # deals from which the size of a tree is estimated
SAMPLE_NODES = 1 << 19  # room for their nodes
NODE_BYTES = 4 + 4 + 4 + 8  # infoset, parent, sequence, probability


class TreeTooLargeError(KilleError):
    """A tree would take more memory than allowed."""


# Stages


@dataclass(frozen=True, eq=False)
class Stage:
    """One hand of a single deal as a tree, with its information sets.

    Attributes:
        rules: The rules.
        num_players: P.
        dealer: The dealer's seat; forehand sits on its left.
        granted: Questions granted before this hand.
        thrown_in: How likely a hand is dealt again because of its cards.
        num_deals: D, the number of different ways to deal.
        tree: The tree. Where the cards are dealt again it pays 0 (see `worth`).
        masks: [I, A] int8, 1 for the legal actions of each information set.
        redealt: [T] bool, the leaves at which the cards are dealt again.
        outs: [T, 2**P] float64, how likely each set of seats (its bits) is out at each leaf; no
            columns unless asked for.
        grown: [I] tables, one of each information set, from growing the tree: in the hand after
            `grown_after` granted questions.
        grown_after: See `grown`.
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
        """[I, F] uint8: the observations of the seats that decide."""
        return self.observed(0)

    def observed(self, thrown_in: int) -> np.ndarray:
        """Returns the observations [I, F] after a number of hands thrown in for a kille."""
        game = load_game("byteskille")
        tables = self.positions.copy()
        tables["deals"] += thrown_in
        out = np.zeros((len(tables), width(game.spec.observation(self.num_players))), np.uint8)
        game.observe(tables, self.rules.record, self.tree.player, out)
        return out

    @property
    def information_sets(self) -> tuple[int, ...]:
        """The number of information sets of each seat, forehand first, the dealer last."""
        sets = np.bincount(self.tree.player, minlength=self.num_players)
        return tuple(int(sets[seat]) for seat in self.order)

    @property
    def order(self) -> tuple[int, ...]:
        """The seats from forehand to the dealer."""
        return tuple((self.dealer + 1 + i) % self.num_players for i in range(self.num_players))

    def worth(self, continuation: Sequence[float] | np.ndarray | None) -> FlatTree:
        """Returns the tree in which dealing again pays a continuation.

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
                f"a continuation is one number for each of {self.num_players} seats, "
                f"got {continuation!r}"
            )
        payoff = self.tree.payoff.copy()
        payoff[self.redealt] += given
        return self.tree._replace(payoff=payoff)

    def after(self, granted: int) -> "Stage":
        """Returns the stage of a later hand, of which only the counters differ."""
        return replace(self, granted=granted)

    def by_action(self, strategy: np.ndarray) -> np.ndarray:
        """Returns a strategy [S] with a row for each information set, [I, A]; 0 where illegal."""
        rows = np.zeros(self.masks.shape)
        rows[self.masks != 0] = strategy
        return rows

    def describe(self, information_set: int) -> str:
        """Returns a text for an information set, as its seat sees it, on one line."""
        game = load_game("byteskille")
        seat = int(self.tree.player[information_set])
        text = game.describe(self.positions[information_set], self.rules, seat)
        return "; ".join(" ".join(line.split()) for line in text.splitlines())


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
        dealer: The dealer's seat; None is the last seat, so that forehand is seat 0.
        granted: Questions granted before this hand.
        cards: Codes of the cards that can be dealt and drawn, in any order; None is the whole
            pack. A smaller pack makes a smaller game, for checks.
        memory_limit: The most bytes that the tree may take.
        copies: Deal the cards themselves instead of types; for checks, many times larger.
        integrate: Whether draws that no decision follows are averaged; otherwise every drawn card
            is a node. For checks, too.
        observed: Whether information sets are also told apart by observations. For the check that
            these add nothing.
        seats: The seats that are dealt in, the dealer among them; None is all. The others are out
            of the pot and have no information set.
        outs: Whether the stage knows who is out at each leaf, which a match needs.
        shared: Seats that share all they know: their information sets are also told apart by what
            the others of them know.

    Raises:
        RulesError: Impossible rules, number of players, dealer or number of questions.
        CardError: The cards are not part of a pack, or too few.
        TreeTooLargeError: The tree would not fit into `memory_limit`; the message says what would.
    """
    game = load_game("byteskille")
    resolved = game.spec.resolve(rules)
    if resolved["episode"] != "deal":
        resolved = game.spec.resolve({**resolved.as_dict(), "episode": "deal"})
    batch = Batch(game, 1, num_players, resolved, seed=0, restart=False)
    dealer = batch.num_players - 1 if dealer is None else dealer
    pack = count_cards(cards, batch.num_players)
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
    hands, chances = (deal_copies if copies else deal_types)(pack, dealt)
    while growth.size[DEALS] < len(hands):
        growth.grow(start, resolved, hands, chances, int(pack.sum()), integrate)
        if growth.size[CLASH]:
            raise KilleError(
                "two positions with the same information state have different legal actions: "
                "the game's information state lacks something"
            )
        if growth.size[DEALS] < len(hands):
            growth.make_room()
            if growth.nbytes > memory_limit:
                _refuse(batch, pack, growth.nbytes, memory_limit)
    return _finish(growth, resolved, dealer, granted)


def most_granted(rules: Rules) -> int:
    """Returns the number of questions that the caps allow to be granted in a deal."""
    return min(rules.number("max_redeals"), rules.number("max_deals") - 1)


def _start(batch: Batch, dealer: int, granted: int, pack: np.ndarray) -> np.ndarray:
    """Returns [1] table at which a hand is to be dealt, after a number of granted questions."""
    rules = batch.rules
    most = most_granted(rules)
    if granted and not 0 < granted <= most:
        raise RulesError(f"granted is {granted!r}; these rules grant 0 to {most} questions")
    batch.reset(dealer=dealer, deal=False)
    start = np.array(batch.tables)
    codes = [code for code, count in zip(KILLE_CODES, pack, strict=True) for _ in range(count)]
    start["deck"], _ = batch.spec.stack(codes)
    if granted:
        start["redeal"], start["redeals"], start["deals"] = Redeal.QUESTION, granted, granted
        start["new_pot"] = 0
    return start


def _seat(start: np.ndarray, seats: Sequence[int], dealer: int) -> int:
    """Deals only some seats in; returns their number."""
    everybody = range(int(start["num_players"][0]))
    chosen = set(seats)
    if not chosen <= set(everybody) or dealer not in chosen or len(chosen) < 2:
        raise RulesError(
            f"seats are {list(seats)!r}; expected at least two of the seats 0 to "
            f"{everybody[-1]}, the dealer {dealer} among them"
        )
    start["in_pot"], start["new_pot"] = sum(1 << seat for seat in chosen), 0
    return len(chosen)


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
    deals = math.perm(int(pack.sum()), dealt) if copies else count_deals(pack, dealt)
    # Without `outs`: with many seats that alone would take more memory than there is.
    growth = Growth(batch, observed, SAMPLE_NODES, SAMPLE_NODES, 1 << 13)
    sample = sample_deals(pack, dealt, SAMPLE)
    growth.grow(start, batch.rules, sample, np.ones(SAMPLE), int(pack.sum()), integrate)
    done, nodes, leaves = (int(growth.size[what]) for what in (DEALS, NODES, LEAVES))
    if done == 0:  # a single deal is larger than all the room there was
        done, nodes, leaves = 1, SAMPLE_NODES, SAMPLE_NODES // 2
    nodes, leaves = deals * nodes // done, deals * leaves // done
    needed = NODE_BYTES * nodes + (8 * (seats + (2**seats if outs else 0)) + 1) * leaves
    return needed, nodes + nodes // 10 + 1024, leaves + leaves // 10 + 1024


def _refuse(batch: Batch, pack: np.ndarray, needed: int, memory_limit: int) -> NoReturn:
    """Refuses a tree, and says what would fit."""
    fits = ""
    for seats in range(batch.num_players - 1, 1, -1):
        smaller = Batch(batch.game, 1, seats, batch.rules, seed=0, restart=False)
        less, _, _ = _measure(smaller, _start(smaller, seats - 1, 0, pack), pack, seats)
        if less <= memory_limit:
            fits = f" By these rules {seats} seats would fit, with about {_size_text(less)}."
            break
    raise TreeTooLargeError(
        f"the tree of a deal with {batch.num_players} seats takes about {_size_text(needed)}, "
        f"more than the limit of {_size_text(memory_limit)}.{fits} Fewer seats or a narrower "
        "gok_call make it smaller; a higher limit allows it"
    )


def _size_text(size: int) -> str:
    """Returns a number of bytes as people read it."""
    if size >= 2**50:  # too many digits to read
        return f"{size / 2**30:.1e} GiB"
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"


def _finish(growth: Growth, rules: Rules, dealer: int, granted: int) -> Stage:
    """Cuts the arrays to their lengths and makes a stage of them."""
    size, tree, sets = growth.size, growth.tree, growth.sets
    growth.resize(int(size[NODES]), int(size[LEAVES]), int(size[SETS]))
    dealt = tree.parent == 0
    tree.probability[dealt] /= 1.0 - growth.scratch.thrown_in[0]
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
        thrown_in=float(growth.scratch.thrown_in[0]),
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
    """A single deal with all its questions: a stage for each number of granted questions.

    All stages except the last share one tree: they differ only in counters that the seats see.

    Attributes:
        stages: From no granted question on; in the last one no more can be granted.
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
            solve: Returns a strategy [S] for a stage, given the tree in which dealing again pays
                the value of the next stage.

        Returns:
            The strategies, in the order of the stages, and the value of the deal [P].
        """
        value, strategies = None, []
        for stage in reversed(self.stages):
            tree = stage.worth(value)
            strategies.append(solve(stage, tree))
            value = expected_values(tree, strategies[-1], stage.describe)
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
        KilleError: As `build_stage`, or too many questions can be granted.
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
            f"max_redeals and max_deals allow {last} granted questions in a deal, and each is a "
            f"stage to solve; expected fewer than {MOST_STAGES}"
        )
    return DealStages((*(stage.after(granted) for granted in range(last)), build(last)))
