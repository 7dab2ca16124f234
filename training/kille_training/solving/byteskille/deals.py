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

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kille_env.cards.pack import KILLE_CODES
from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.jit import announce_compilation
from kille_env.core.spec import Rules
from kille_env.errors import CardError, KilleError, RulesError, shortened
from kille_env.games.byteskille.rules import Redeal
from kille_env.registry import load_game
from kille_training.solving.byteskille.dealing import (
    count_cards,
    count_deals,
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
    Hands,
)
from kille_training.solving.size import (
    MEMORY_LIMIT,
    MOST_STAGES,
    TreeTooLargeError,
    most_granted,
)
from kille_training.solving.stages import DealStages, Stage, observe
from kille_training.solving.trees.tree import FlatTree

THROWN_IN = 15
"""Hands thrown in for a kille that a tabular policy knows; more happen once in 10**16 deals."""

MOST_SETS = 1 << 15  # information sets that there is room for; if there are more, twice as many
SAMPLE = 2000  # deals from which the size of a tree is estimated
SAMPLE_NODES = 1 << 19  # room for their nodes
HAND_NODES = 1 << 10  # room for the tree of a hand whose cards are known; if need be, four times it
NODE_BYTES = 4 + 4 + 4 + 8  # infoset, parent, sequence, probability


# Stages


@dataclass(frozen=True, eq=False, kw_only=True)
class HandStage(Stage):
    """One hand of a single deal of Byteskille; it ends where the cards are dealt again.

    Attributes:
        tree: The tree. Where the cards are dealt again it pays 0 (see `worth`).
        thrown_in: How likely a hand is dealt again because of its cards.
        redealt: [T] bool, the leaves at which the cards are dealt again.
        outs: [T, 2**P] float64, how likely each set of seats (its bits) is out at each leaf; no
            columns unless asked for.
    """

    tree: FlatTree
    thrown_in: float
    redealt: np.ndarray
    outs: np.ndarray

    @property
    def dealt_again(self) -> bool:
        """Whether it is one of several hands of its deal."""
        return bool(self.granted or self.redealt.any())

    def observed(self, thrown_in: int) -> np.ndarray:
        """Returns the observations [I, F] after a number of hands thrown in for a kille."""
        tables = self.positions.copy()
        tables["deals"] += thrown_in
        return observe(tables, self.rules, self.num_players, self.tree.player)

    def ways_to_see(self) -> Iterator[np.ndarray]:
        """Yields the observations [I, F] after each number of hands thrown in for a kille."""
        left = self.rules.number("max_deals") - self.granted
        for thrown_in in range(min(THROWN_IN + 1, left) if self.thrown_in else 1):
            yield self.observed(thrown_in)

    def worth(self, continuation: np.ndarray) -> FlatTree:
        """Returns the tree in which dealing again pays the value [P] of the next hand's stage."""
        if not self.redealt.any():
            return self.tree
        payoff = self.tree.payoff.copy()
        payoff[self.redealt] += continuation
        return self.tree.changed(payoff=payoff)

    def after(self, granted: int) -> "HandStage":
        """Returns the stage of a later hand, of which only the counters differ."""
        tables = self.positions.copy()
        tables["redeals"] += granted - self.granted
        tables["deals"] += granted - self.granted
        return replace(self, granted=granted, positions=tables)


Deal = DealStages[HandStage]
"""A single deal of Byteskille: a stage for each number of granted questions.

All stages except the last share one tree: they differ only in counters that the seats see.
"""


def build_stage(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    granted: int = 0,
    cards: Sequence[str] | None = None,
    memory_limit: int = MEMORY_LIMIT,
    seats: Sequence[int] | None = None,
    shared: Sequence[int] = (),
) -> HandStage:
    """Grows the tree of one hand of a single deal.

    Args:
        num_players: P.
        rules: A preset, switches or resolved rules; the episode is always a single deal.
        granted: Questions granted before this hand.
        cards: Codes of the cards that can be dealt and drawn, in any order; None is the whole
            pack. A smaller pack makes a smaller game, for checks.
        memory_limit: The most bytes that the tree may take.
        seats: For a hand of a match: the seats that are dealt in, the last one among them. The
            others have no information set, and the stage knows who is out at each leaf.
        shared: Seats that share all they know: their information sets are also told apart by what
            the others of them know.

    Raises:
        RulesError: Impossible rules or number of players.
        CardError: The cards are not part of a pack, or too few.
        TreeTooLargeError: The tree would not fit into `memory_limit`; the message says what would.
    """
    game = load_game("byteskille")
    resolved = game.spec.resolve(rules)
    if resolved["episode"] != "deal":
        resolved = game.spec.resolve({**resolved.as_dict(), "episode": "deal"})
    batch = Batch(game, 1, num_players, resolved, seed=0, restart=False)
    granted = arguments.whole("granted", granted, 0, most_granted(resolved))
    memory_limit = arguments.whole("memory_limit", memory_limit, 1, sys.maxsize)
    together = _seats("shared", shared, num_players)
    pack = count_cards(cards, num_players)
    start, dealt = _start(batch, pack), num_players
    _after_questions(start, granted)
    if seats is not None:
        in_pot = _seats("seats", seats, num_players)
        if len(in_pot) < 2 or num_players - 1 not in in_pot:
            raise RulesError(
                f"seats are {shortened(seats)}, expected two or more, the dealer's "
                f"({num_players - 1}) among them"
            )
        start["in_pot"], start["new_pot"] = sum(1 << seat for seat in in_pot), 0
        dealt = len(in_pot)
    least = NODE_BYTES * count_deals(pack, dealt)
    if least > memory_limit:  # whatever follows the deals, and before anything is compiled
        raise _too_large(num_players, "more than", least, memory_limit)
    outs = seats is not None
    with announce_compilation("solving"):
        needed, nodes, leaves = _measure(batch, start, pack, dealt, outs)
    hands, sets = Hands(start, *deal_types(pack, dealt)), MOST_SETS
    while True:
        if needed > memory_limit:
            raise _with_advice(batch, pack, needed, memory_limit)
        growth = Growth(batch, int(pack.sum()), nodes, leaves, sets, outs, together)
        done = growth.grow(hands)
        if growth.size[CLASH]:
            raise KilleError(
                "two positions with the same information state have different legal actions: "
                "the game's information state lacks something"
            )
        if done:
            return _finish(growth, resolved, granted)
        if growth.size[SETS] == sets:
            sets *= 2
        else:
            needed, nodes, leaves = (size + size // 4 for size in (needed, nodes, leaves))


def build_hand(
    num_players: int, rules: Rules, cards: Sequence[int], *, granted: int = 0
) -> HandStage:
    """Grows the tree of one hand of a single deal in which all dealt cards are known.

    The talon is not: a card that is drawn is any of those left.

    Args:
        num_players: P.
        rules: Rules of a single deal.
        cards: [P] the cards that are dealt, from forehand on.
        granted: Questions granted before this hand.

    Raises:
        CardError: They are not one card of the pack for each seat.
    """
    game = load_game("byteskille")
    batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
    granted = arguments.whole("granted", granted, 0, most_granted(rules))
    known = set(cards) & set(range(game.spec.pack.size))
    if not len(known) == len(cards) == num_players:
        raise CardError(
            f"cards are {shortened(cards)}, expected {num_players} different ones from 0 to "
            f"{game.spec.pack.size - 1}"
        )
    start = _start(batch, count_cards(None, num_players))
    _after_questions(start, granted)
    hands = Hands(start, np.array([cards], dtype=np.int8), np.ones(1))
    nodes = HAND_NODES
    while True:
        growth = Growth(batch, game.spec.pack.size, nodes, nodes, nodes)
        with announce_compilation("solving"):
            done = growth.grow(hands)
        if done:
            return _finish(growth, rules, granted)
        nodes *= 4


def _seats(name: str, seats: Sequence[int], num_players: int) -> set[int]:
    """Returns a set of seats of a table."""
    return {arguments.whole(name, seat, 0, num_players - 1) for seat in seats}


def _start(batch: Batch, pack: np.ndarray) -> np.ndarray:
    """Returns [1] table at which the first hand is to be dealt; its last seat deals."""
    batch.reset(dealer=batch.num_players - 1, deal=False)
    start = np.array(batch.tables)
    codes = [code for code, count in zip(KILLE_CODES, pack, strict=True) for _ in range(count)]
    start["deck"], _ = batch.spec.stack(codes)
    return start


def _after_questions(start: np.ndarray, granted: int) -> None:
    """Makes a table one at which questions have been granted before."""
    if granted:
        start["redeal"], start["redeals"], start["deals"] = Redeal.QUESTION, granted, granted
        start["new_pot"] = 0


def _measure(
    batch: Batch, start: np.ndarray, pack: np.ndarray, dealt: int, outs: bool = False
) -> tuple[int, int, int]:
    """Estimates bytes, nodes and leaves of a tree from a sample of deals."""
    seats = batch.num_players
    # Without `outs`: with many seats that alone would take more memory than there is.
    growth = Growth(batch, int(pack.sum()), SAMPLE_NODES, SAMPLE_NODES, MOST_SETS)
    growth.grow(Hands(start, sample_deals(pack, dealt, SAMPLE), np.ones(SAMPLE)))
    done, nodes, leaves = (int(growth.size[what]) for what in (DEALS, NODES, LEAVES))
    if done == 0:  # a single deal is larger than all the room there was
        done, nodes, leaves = 1, SAMPLE_NODES, SAMPLE_NODES // 2
    deals = count_deals(pack, dealt)
    nodes, leaves = deals * nodes // done, deals * leaves // done
    needed = NODE_BYTES * nodes + (8 * (seats + (2**seats if outs else 0)) + 1) * leaves
    return needed, nodes + nodes // 10 + 1024, leaves + leaves // 10 + 1024


def _with_advice(
    batch: Batch, pack: np.ndarray, needed: int, memory_limit: int
) -> TreeTooLargeError:
    """Returns the error that a tree is too large, which says what would fit."""
    fits = ""
    for seats in range(batch.num_players - 1, 1, -1):
        smaller = Batch(batch.game, 1, seats, batch.rules, seed=0, restart=False)
        less, _, _ = _measure(smaller, _start(smaller, pack), pack, seats)
        if less <= memory_limit:
            fits = f" By these rules {seats} seats would fit, with about {less / 2**30:.2g} GiB."
            break
    return _too_large(batch.num_players, "about", needed, memory_limit, fits)


def _too_large(
    seats: int, about: str, needed: int, memory_limit: int, fits: str = ""
) -> TreeTooLargeError:
    return TreeTooLargeError(
        f"the tree of a deal with {seats} seats takes {about} {needed / 2**30:.3g} GiB, more than "
        f"the limit of {memory_limit / 2**30:.3g}.{fits} Fewer seats or a narrower gok_call make "
        "it smaller; a higher limit allows it"
    )


def _finish(growth: Growth, rules: Rules, granted: int) -> HandStage:
    """Makes a stage of what has been grown."""
    tree, sets = growth.finished()
    thrown_in = float(growth.scratch.thrown_in[0])
    dealt = tree.parent == 0
    tree.probability[dealt] /= 1.0 - thrown_in
    return HandStage(
        rules=rules,
        num_players=growth.num_players,
        granted=granted,
        thrown_in=thrown_in,
        num_deals=int(dealt.sum()),
        num_nodes=len(tree.infoset),
        tree=FlatTree.unchecked(growth.num_players, sets.player, sets.first, *tree[:5]),
        masks=sets.masks,
        redealt=tree.redealt,
        outs=tree.outs,
        positions=sets.positions,
    )


# Whole deals


def build_deal(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    cards: Sequence[str] | None = None,
    memory_limit: int = MEMORY_LIMIT,
    shared: Sequence[int] = (),
) -> Deal:
    """Grows the trees of a single deal with all its questions; arguments as in `build_stage`.

    Raises:
        KilleError: As `build_stage`, or too many questions can be granted.
    """
    build = partial(
        build_stage, num_players, rules, cards=cards, memory_limit=memory_limit, shared=shared
    )
    stage = build()
    if not stage.redealt.any():
        return Deal((stage,))
    last = most_granted(stage.rules)
    if last >= MOST_STAGES:
        raise KilleError(
            f"max_redeals and max_deals allow {last} granted questions in a deal, and each is a "
            f"stage to solve; expected fewer than {MOST_STAGES}"
        )
    earlier = (stage.after(granted) for granted in range(last))
    return Deal((*earlier, build(granted=last)))
