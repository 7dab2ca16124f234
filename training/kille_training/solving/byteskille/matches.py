"""Whole pots of Byteskille as stochastic games of hands.

A *state* is a table at which a hand is to be dealt. The hand ends at the showdown, or where
forehand's question is granted. Who is out then determines the next state, and the cards are
forgotten. So a hand is one tree for all states with the same seats in (`Hand`), and a state says
only what each of its outcomes is worth. Buying in is played with open cards, one seat after
another: those decisions are a small tree of perfect information between a hand and the next
(`After`).

Two things keep the states few, without loss:

- Seats are turned until the last one is the next dealer. The rules know seats only by their order,
  so turning all of them changes nothing.
- States are merged if nothing that can follow distinguishes them: the same hand, and for each of
  its outcomes the same payments, the same decisions and again merged states (bisimulation, by
  refining a partition until it no longer changes). Who has bought in how often, for example, is
  forgotten where it no longer matters.

The cap on hands (`max_deals`, 200 in the presets) is left out, unless there are infinitely many
states without it; `MatchNashConv.beyond_cap` is how likely play is to come that far. A hand that is
thrown in for a kille (`two_player: wiki`) is not counted here, even where the cap is part of the
game.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kille_env.core.spec import Rules
from kille_training.solving.byteskille.components import components
from kille_training.solving.byteskille.deals import Stage, observe
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import expected_values

AGAIN = -1
"""The outcome of a hand whose question is granted: the cards are dealt again."""


@dataclass(frozen=True, eq=False)
class Hand:
    """One hand, for all states that deal it.

    Attributes:
        stage: The tree; its own payoffs do not count.
        seats: The seats that are dealt in; the last seat of the table deals.
        outcomes: How it can end: the seats that are out, as bits, or `AGAIN`.
        results: [T, O] float64, how likely each outcome is at each leaf.
    """

    stage: Stage
    seats: tuple[int, ...]
    outcomes: tuple[int, ...]
    results: np.ndarray

    def paying(self, worth: np.ndarray) -> FlatTree:
        """Returns the tree that pays what the outcomes are worth to the seats, [O, P]."""
        return self.stage.tree.changed(payoff=self.results @ worth)

    def ends(self, strategy: np.ndarray) -> np.ndarray:
        """Returns how likely each outcome is when all play a strategy, [O]."""
        # Each outcome becomes a player that gets 1 for it.
        counting = self.stage.tree.changed(num_players=len(self.outcomes), payoff=self.results)
        return expected_values(counting, strategy)


@dataclass(frozen=True, eq=False)
class After:
    """What follows the outcomes of a state's hand: payments, buying in and the next state.

    Its nodes are numbered so that a decision comes behind the nodes that it leads to.

    Attributes:
        roots: [O], the node of each outcome of the hand.
        buyer: [N], the seat that decides at a node; -1 where none does.
        declined: [N], the node behind declining.
        bought: [N], the node behind buying.
        following: [N], the next state; -1 where the match is over or somebody decides.
        shift: [N], how far the seats are turned in the next state.
        reward: [N, P], what each seat gets on the way, where none decides; this includes the antes
            of the next hand.
        tables: [V, D] the tables at the decisions, for each table that is the state.
    """

    roots: np.ndarray
    buyer: np.ndarray
    declined: np.ndarray
    bought: np.ndarray
    following: np.ndarray
    shift: np.ndarray
    reward: np.ndarray
    tables: np.ndarray

    @cached_property
    def decisions(self) -> np.ndarray:
        """The nodes at which a seat decides, in order."""
        return np.flatnonzero(self.buyer >= 0)

    @cached_property
    def seats(self) -> np.ndarray:
        """[N, P], the number of each seat in the next state."""
        num_players = self.reward.shape[1]
        return (np.arange(num_players) + self.shift[:, None]) % num_players

    def arrive(self, values: np.ndarray) -> np.ndarray:
        """Returns what the nodes at which no seat decides are worth, [N, P].

        Args:
            values: [S, P], what the states are worth.
        """
        continues = self.following >= 0
        worth = self.reward.copy()
        worth[continues] += values[self.following[continues, None], self.seats[continues]]
        return worth

    def best(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lets each seat choose what is best for itself; between equals it declines.

        Returns:
            What the outcomes are worth [O, P], and how likely each node's seat buys [N].
        """
        worth, buys = self.arrive(values), np.zeros(len(self.buyer))
        for node in self.decisions:
            seat = self.buyer[node]
            declined, bought = worth[self.declined[node]], worth[self.bought[node]]
            buys[node] = bought[seat] > declined[seat]
            worth[node] = bought if buys[node] else declined
        return worth[self.roots], buys

    def play(self, values: np.ndarray, buys: np.ndarray, respond: bool = False) -> np.ndarray:
        """Returns what the nodes are worth if their seats buy with these probabilities, [N, P].

        Args:
            values: [S, P], what the states are worth.
            buys: [N], how likely each node's seat buys.
            respond: Whether each seat's own worth is that of its best response to the others.
        """
        worth = self.arrive(values)
        for node in self.decisions:
            seat = self.buyer[node]
            declined, bought = worth[self.declined[node]], worth[self.bought[node]]
            worth[node] = buys[node] * bought + (1.0 - buys[node]) * declined
            if respond:
                worth[node, seat] = max(declined[seat], bought[seat])
        return worth

    def arrivals(self, ends: np.ndarray, buys: np.ndarray) -> np.ndarray:
        """Returns how likely each node is, [N], given how likely the outcomes are, [O]."""
        reach = np.zeros(len(self.buyer))
        np.add.at(reach, self.roots, ends)
        for node in self.decisions[::-1]:
            reach[self.declined[node]] += reach[node] * (1.0 - buys[node])
            reach[self.bought[node]] += reach[node] * buys[node]
        return reach


@dataclass(frozen=True)
class State:
    """A table at which a hand is to be dealt; the last seat deals.

    Attributes:
        hand: Number of its hand in `Match.hands`.
        after: What follows each outcome of the hand.
        tables: [V] the tables that are this state: their differences do not matter. The antes are
            paid, and some hand has been dealt.
    """

    hand: int
    after: After
    tables: np.ndarray


@dataclass(frozen=True, eq=False)
class MatchStrategy:
    """What all seats do in a match.

    Attributes:
        hands: For each state, the strategy [S] in its hand.
        buys: For each state, how likely the seat buys at each node after it, [N].
    """

    hands: tuple[np.ndarray, ...]
    buys: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Match:
    """A whole pot; state 0 is its beginning.

    Attributes:
        rules: The rules.
        num_players: P.
        capped: Whether the cap on hands is part of the game.
        hands: The hands that its states deal.
        states: The states.
        antes: [P] float64, what the seats pay before the first hand, as a negative number.
    """

    rules: Rules
    num_players: int
    capped: bool
    hands: tuple[Hand, ...]
    states: tuple[State, ...]
    antes: np.ndarray

    @property
    def first_stage(self) -> Stage:
        """The first hand."""
        return self.hands[self.states[0].hand].stage

    @property
    def pot(self) -> int:
        """The pot when the first hand has been dealt."""
        return self.rules.number("stake") * self.num_players

    @property
    def information_sets(self) -> tuple[int, ...]:
        """The number of information sets of each seat, the first forehand first."""
        counts = np.zeros(self.num_players, dtype=np.int64)
        for state in self.states:
            player = self.hands[state.hand].stage.tree.player
            counts += np.bincount(player, minlength=self.num_players)
            buyers = state.after.buyer[state.after.decisions]
            counts += np.bincount(buyers, minlength=self.num_players)
        return tuple(counts.tolist())

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all states' hands and of what follows them."""
        return sum(
            self.hands[state.hand].stage.tree.num_nodes + len(state.after.buyer)
            for state in self.states
        )

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The groups of states that lead to one another, none before one that it leads to."""
        leads = [
            sorted({int(number) for number in state.after.following if number >= 0})
            for state in self.states
        ]
        return components(leads)

    def observe(self, tables: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Returns what a seat at each table observes, [N, F] uint8."""
        return observe(tables, self.rules, self.num_players, seats)
