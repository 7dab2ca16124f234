"""Whole pots of Byteskille as stochastic games of hands, found by playing every outcome of a hand.

A *state* is a table before a hand is dealt. The hand ends at the showdown, or when forehand's
question is granted. The set of losers determines the next state, independent of the cards. So a
hand is one tree for all states with the same active seats (`Hand`), and a state only defines the
values of its outcomes. Buying in, one seat after another, is a small tree of perfect information
between two hands (`After`).

Two things keep the states few, without loss:

- Seats are rotated until the last one is the next dealer, because the rules depend on their order
  only.
- States are merged if they are bisimilar: the same hand, and for each outcome the same payments,
  the same decisions and again merged states (by partition refinement). For example, the numbers of
  purchases are dropped once they no longer matter.

The cap on hands (`max_deals`, 200 in the presets) is omitted, unless there are infinitely many
states without it; `match_length` returns the probability of reaching it. A redeal because of a
kille (`two_player: wiki`) is not counted here, even if the cap is part of the game.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from kille_env.cards.pack import KILLE_CODES
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.game import Game
from kille_env.core.jit import announce_compilation, kernel
from kille_env.core.spec import Rules
from kille_env.core.table import DEAL
from kille_env.errors import KilleError
from kille_env.games.byteskille.rules import Action, Phase, Redeal, deal, deal_again, go_out
from kille_env.registry import load_game
from kille_training.solving.grow import grow_stage
from kille_training.solving.size import MEMORY_LIMIT, check_deal
from kille_training.solving.stages import Stage, observe
from kille_training.solving.trees.sequence_game import SequenceGame, payoffs_of

AGAIN = -1  # outcome of a granted question: the cards are dealt again
STATE_LIMIT = 5000  # maximum number of states of a match before merging

TURNED = ("in_pot", "declined", "first_buyers", "prepaid")
COPIED = ("pot", "first_done", "second_done", "new_pot", "redeal")
STATE = (*TURNED, *COPIED, "entries", "redeals", "deals")
"""Fields that distinguish tables before a hand; the first are sets of seats."""

ENDLESS = 10**9  # a cap on hands that no match reaches
PLAIN = KILLE_CODES[:15] * 2  # cards that end no hand by themselves, for hands that are not played


@dataclass(frozen=True, eq=False)
class Hand:
    """One hand, for all states that deal it."""

    stage: Stage  # tree; its own payoffs do not count
    seats: tuple[int, ...]  # seats that are dealt in; the last seat of the table deals
    outcomes: tuple[int, ...]  # possible outcomes: the losing seats, as bits, or `AGAIN`
    # [K, O] float64, the probability of each outcome, by the number of the payoff
    results: np.ndarray

    @property
    def tree(self) -> SequenceGame:
        """The tree."""
        return self.stage.tree

    def paying(self, worth: np.ndarray) -> SequenceGame:
        """Return the tree with the values of its outcomes to the seats, [O, P], as payoffs."""
        return self.tree._replace(payoff=self.results @ worth)

    def ends(self, strategy: np.ndarray) -> np.ndarray:
        """Return the probability of each outcome under a strategy, [O]."""
        return payoffs_of(self.tree, strategy) @ self.results


@dataclass(frozen=True, eq=False)
class After:
    """Events behind the outcomes of a state's hand: payments, buying in and the next state.

    Nodes are in reverse topological order: a decision comes behind its children.
    """

    roots: np.ndarray  # [O], the node of each outcome of the hand
    buyer: np.ndarray  # [N], the deciding seat of a node; -1 for none
    declined: np.ndarray  # [N], the node behind declining
    bought: np.ndarray  # [N], the node behind buying
    following: np.ndarray  # [N], the next state; -1 at decisions and at the end of the match
    shift: np.ndarray  # [N], the rotation of the seats in the next state
    # [N, P], the payments to each seat, including the antes of the next hand; at leaves
    reward: np.ndarray
    tables: np.ndarray  # [V, D] tables at the decisions, for each table of the state

    @cached_property
    def decisions(self) -> np.ndarray:
        """The nodes with a decision, in order."""
        return np.flatnonzero(self.buyer >= 0)

    @cached_property
    def seats(self) -> np.ndarray:
        """[N, P], the number of each seat in the next state."""
        num_players = self.reward.shape[1]
        return (np.arange(num_players) + self.shift[:, None]) % num_players

    def arrive(self, values: np.ndarray) -> np.ndarray:
        """Return the values of nodes without a decision, [N, P]."""
        continues = self.following >= 0
        worth = self.reward.copy()
        worth[continues] += values[self.following[continues, None], self.seats[continues]]
        return worth

    def best(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maximize each seat's own value; ties are declined."""
        worth, buys = self.arrive(values), np.zeros(len(self.buyer))
        for node in self.decisions:
            seat = self.buyer[node]
            declined, bought = worth[self.declined[node]], worth[self.bought[node]]
            buys[node] = bought[seat] > declined[seat]
            worth[node] = bought if buys[node] else declined
        return worth[self.roots], buys

    def play(self, values: np.ndarray, buys: np.ndarray, respond: bool = False) -> np.ndarray:
        """Return the values of nodes for given probabilities of buying, [N, P]."""
        worth = self.arrive(values)
        for node in self.decisions:
            seat = self.buyer[node]
            declined, bought = worth[self.declined[node]], worth[self.bought[node]]
            worth[node] = buys[node] * bought + (1.0 - buys[node]) * declined
            if respond:
                worth[node, seat] = max(declined[seat], bought[seat])
        return worth

    def arrivals(self, ends: np.ndarray, buys: np.ndarray) -> np.ndarray:
        """Return the probability of each node, [N], given those of the outcomes, [O]."""
        reach = np.zeros(len(self.buyer))
        np.add.at(reach, self.roots, ends)
        for node in self.decisions[::-1]:
            reach[self.declined[node]] += reach[node] * (1.0 - buys[node])
            reach[self.bought[node]] += reach[node] * buys[node]
        return reach


@dataclass(frozen=True)
class State:
    """A table before a hand is dealt; the last seat deals."""

    hand: int  # number of its hand in `Match.hands`
    after: After  # events after each outcome of the hand
    # [V] equivalent tables of this state. The antes are paid, and some hand has been dealt
    tables: np.ndarray


@dataclass(frozen=True, eq=False)
class MatchStrategy:
    """The strategy of all seats in a match."""

    hands: tuple[np.ndarray, ...]  # for each state, the strategy [S] in its hand
    # for each state, the probability of buying at each node after it, [N]
    buys: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Match:
    """A whole pot; state 0 is its beginning."""

    rules: Rules
    num_players: int
    capped: bool  # whether the cap on hands is part of the game
    hands: tuple[Hand, ...]
    states: tuple[State, ...]
    antes: np.ndarray  # [P] float64, payments before the first hand, as negative numbers

    @property
    def first_stage(self) -> Stage:
        """The first hand."""
        return self.hands[self.states[0].hand].stage

    @property
    def pot(self) -> int:
        """The pot after the first deal."""
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
        """The number of nodes of all states, with buying in."""
        return sum(
            self.hands[state.hand].stage.num_nodes + len(state.after.buyer) for state in self.states
        )

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The strongly connected components of the states, successors first."""
        leads = [
            sorted({int(number) for number in state.after.following if number >= 0})
            for state in self.states
        ]
        return _components(leads)

    def observe(self, tables: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return the observation of a seat at each table, [N, F] uint8."""
        return observe(tables, self.rules, self.num_players, seats)


# Finding the states


@kernel
def end_hands(tables, rules, outs):
    """Deal a hand at each table and end it at once, with these seats out or with a new deal."""
    # The rest of the match depends on nothing else of the hand.
    for number in range(tables.shape[0]):
        table = tables[number]
        deal(table, rules[0])
        table["reward"][:] = 0.0  # the antes were paid on the way to this state
        if outs[number] < 0:
            table["redeals"] += 1
            deal_again(table, rules[0], Redeal.QUESTION)
        else:
            go_out(table, rules[0], np.uint32(outs[number]))


def build_match(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    cards: Sequence[str] = (),
    memory_limit: int = MEMORY_LIMIT,
) -> Match:
    """Find all states of a match and grow the trees of their hands."""
    game = load_game("byteskille")
    resolved = game.spec.resolve(rules)
    if resolved["episode"] != "match":
        resolved = game.spec.resolve({**resolved.as_dict(), "episode": "match"})
    if resolved.number("pots") != 1:
        raise KilleError(
            f"pots is {resolved['pots']}, expected 1: matches are solved pot by pot, because only "
            "the dealer carries over"
        )
    if not cards:
        check_deal(num_players, game.spec.resolve(resolved, episode="deal"), memory_limit)
    explorer = _Explorer(game, num_players, resolved, cards, memory_limit)
    explorer.explore()
    return explorer.finish()


class _Explorer:
    """Explore every outcome of a hand from every reachable table."""

    def __init__(
        self,
        game: Game,
        num_players: int,
        rules: Rules,
        cards: Sequence[str],
        memory_limit: int,
    ) -> None:
        self.game, self.rules = game, rules
        # Hands without a loser let the pot grow without bound: only the cap ends that.
        self.capped = rules["ante"] == "deal"
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        self.num_players = batch.num_players
        batch.reset(dealer=self.num_players - 1, deal=False)
        self.start = np.array(batch.tables)
        self.start["deck"] = game.spec.stack(PLAIN)
        self.start["stacked"] = self.num_players
        endless = {**rules.as_dict(), "max_deals": ENDLESS}
        self.played = rules if self.capped else game.spec.resolve(endless)
        deal_rules = {**rules.as_dict(), "episode": "deal", "max_deals": ENDLESS}
        self.grow = partial(
            grow_stage,
            self.num_players,
            game.spec.resolve(deal_rules),
            cards=cards,
            outcomes=1 << self.num_players,
            memory_limit=memory_limit,
        )
        self.hands: list[Hand] = []
        self.hand_numbers: dict[tuple[int, bool], int] = {}
        self.numbers: dict[bytes, int] = {}
        self.tables: list[np.ndarray] = []
        self.dealt: list[np.ndarray] = []
        self.antes: list[np.ndarray] = []
        self.found: list[tuple[int, After]] = []

    def explore(self) -> None:
        """Visit all tables, the first one first."""
        self._number(self.start)
        while len(self.found) < len(self.tables):
            if len(self.tables) > STATE_LIMIT:
                counted = ""
                if self.capped:
                    most = self.rules["max_deals"]
                    counted = (
                        f" The cap is part of the game; with max_deals below {most} it has fewer."
                    )
                raise KilleError(
                    f"the match has more than {STATE_LIMIT:,} states.{counted} Fewer seats, "
                    "another reentry or fraga 'off' reduce their number"
                )
            table = self.tables[len(self.found)]
            hand = self._hand(table)
            self.found.append((hand, self._follow(table, self.hands[hand].outcomes)))

    def _number(self, table: np.ndarray) -> int:
        """Return the number of a table before a hand, rotated to put the dealer last."""
        fresh, last = self.start.copy(), self.num_players - 1
        again = table["redeal"][0] == Redeal.QUESTION
        shift = last - int(table["next_dealer"][0])
        for name in TURNED:
            fresh[name] = self._turned(int(table[name][0]), shift)
        entries = table["entries"][:, : self.num_players]
        fresh["entries"][:, : self.num_players] = np.roll(entries, shift, axis=1)
        for name in COPIED:
            fresh[name] = table[name]
        fresh["redeals"] = table["redeals"] if again else 0
        fresh["deals"] = table["deals"] if self.capped else 0
        # Not the whole record, which has padding bytes between its fields.
        key = b"".join(fresh[name].tobytes() for name in STATE)
        if key not in self.numbers:
            self.numbers[key] = len(self.tables)
            self.tables.append(fresh)
            dealt = fresh.copy()
            self.game.deal(dealt, self.played.record, np.ones(1, dtype=np.bool_), True)
            self.dealt.append(dealt)
            self.antes.append(dealt["reward"][0, : self.num_players].copy())
        return self.numbers[key]

    def _turned(self, seats: int, shift: int) -> int:
        return sum(1 << (seat + shift) % self.num_players for seat in members(seats))

    def _hand(self, table: np.ndarray) -> int:
        """Return the number of a table's hand."""
        in_pot, most = int(table["in_pot"][0]), self.rules.number("max_redeals")
        exhausted = self.rules["fraga"] == "forced" and int(table["redeals"][0]) >= most
        key = in_pot, exhausted
        if key not in self.hand_numbers:
            self.hand_numbers[key] = len(self.hands)
            start = {"in_pot": in_pot, "new_pot": 0}
            stage = self.grow(start=start, granted=most if exhausted else 0)
            self.hands.append(_with_outcomes(stage, members(in_pot)))
        return self.hand_numbers[key]

    def _follow(self, table: np.ndarray, outcomes: tuple[int, ...]) -> After:
        """Play all continuations of a hand."""
        ended = np.concatenate([table] * len(outcomes))
        with announce_compilation("matches"):
            end_hands(ended, self.played.record, np.array(outcomes))
        nodes: list[tuple[Any, ...]] = []
        asking = [table[:0]]
        roots = [self._reach(ended[i : i + 1], nodes, asking) for i in range(len(outcomes))]
        columns = list(zip(*nodes, strict=True))
        return After(
            np.array(roots),
            *(np.array(column) for column in columns[:5]),
            reward=np.array(columns[5]),
            tables=np.concatenate(asking)[None],
        )

    def _reach(
        self, table: np.ndarray, nodes: list[tuple[Any, ...]], asking: list[np.ndarray]
    ) -> int:
        """Add the node of a table, behind its children, and return its number."""
        reward = table["reward"][0, : self.num_players].copy()
        if table["phase"][0] == Phase.BUYIN:
            declined, bought = (
                self._reach(self._applied(table, action), nodes, asking)
                for action in (Action.DECLINE, Action.BUY)
            )
            nodes.append((int(table["seat"][0]), declined, bought, -1, 0, 0 * reward))
            asking.append(table)
        elif table["phase"][0] == DEAL:
            number, shift = self._number(table), self.num_players - 1 - int(table["next_dealer"][0])
            reward += np.roll(self.antes[number], -shift)
            nodes.append((-1, -1, -1, number, shift, reward))
        else:
            nodes.append((-1, -1, -1, -1, 0, reward))
        return len(nodes) - 1

    def _applied(self, table: np.ndarray, action: int) -> np.ndarray:
        table = table.copy()
        self.game.apply(table, self.played.record, np.array([action]), np.ones(1, np.bool_))
        return table

    def finish(self) -> Match:
        """Merge equivalent tables and return the match."""
        classes = bisimilar(self.found)
        firsts = np.unique(classes, return_index=True)[1]
        states = []
        for number, first in enumerate(firsts):
            hand, after = self.found[first]
            following = np.where(after.following >= 0, classes[after.following], -1)
            equal = np.flatnonzero(classes == number)
            tables = np.concatenate([self.dealt[i] for i in equal])
            asking = np.concatenate([self.found[i][1].tables for i in equal])
            after = replace(after, following=following, tables=asking)
            states.append(State(hand, after, tables))
        return Match(
            rules=self.rules,
            num_players=self.num_players,
            capped=self.capped,
            hands=tuple(self.hands),
            states=tuple(states),
            antes=self.antes[0],
        )


def _with_outcomes(stage: Stage, seats: Sequence[int]) -> Hand:
    """Return a stage with its possible outcomes."""
    possible = np.flatnonzero(stage.outcomes.any(axis=0))
    outcomes, results = possible.tolist(), stage.outcomes[:, possible]
    if stage.again.any():
        outcomes.append(AGAIN)
        results = np.column_stack([results, stage.again])
    return Hand(stage, tuple(seats), tuple(outcomes), np.ascontiguousarray(results))


def bisimilar(found: Sequence[tuple[int, After]]) -> np.ndarray:
    """Return the bisimulation class of each table, numbered by first occurrence."""
    classes = np.array([hand for hand, _ in found])
    while True:
        signs: dict[tuple[Any, ...], int] = {}
        finer = np.empty_like(classes)
        for number, (hand, after) in enumerate(found):
            following = np.where(after.following >= 0, classes[after.following], -1)
            arrays = (after.roots, after.buyer, after.declined, after.bought, after.shift)
            content = (following, after.reward, *arrays)
            sign = (int(classes[number]), hand, *(array.tobytes() for array in content))
            finer[number] = signs.setdefault(sign, len(signs))
        if finer.max() == classes.max():
            return classes
        classes = finer


def _components(leads: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the strongly connected components of a graph, and their nodes, successors first."""
    graph = np.zeros((len(leads), len(leads)), dtype=np.bool_)
    for node, others in enumerate(leads):
        graph[node, list(others)] = True
    _, label = connected_components(graph, connection="strong")
    found: dict[int, list[int]] = {}
    for node in reversed(_finishing_order(leads)):
        found.setdefault(int(label[node]), []).append(node)
    return tuple(tuple(reversed(nodes)) for nodes in reversed(found.values()))


def _finishing_order(leads: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes in postorder of a depth-first search."""
    order, entered = [], set()
    waiting = list(reversed(range(len(leads))))
    while waiting:
        node = waiting.pop()
        if node < 0:
            order.append(~node)
        elif node not in entered:
            entered.add(node)
            waiting += [~node, *reversed(leads[node])]
    return order
