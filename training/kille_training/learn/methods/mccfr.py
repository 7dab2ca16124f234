"""External-sampling Monte Carlo counterfactual regret minimization, on the exact tree of a deal.

Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive
games", NIPS 2009. A traversal tries every action of one seat, the traverser, and samples the cards
and the other seats' actions. It adds the advantage of each action over the strategy to its regret.
Regrets and averages weigh iteration t by t: linear MCCFR (Brown and Sandholm, "Solving
imperfect-information games via discounted regret minimization", AAAI 2019).

The average strategy converges if iterations are weighted by its own seat's probability of reaching
an information set. The paper updates it at the others' decisions of the same traversal, which with
more than two seats also weights iterations by the play of third seats. Here the average has its own
traversal: one seat plays its strategy, and the others play uniformly in every iteration.

If forehand's question is granted, cards are dealt again: the traversal continues in the next tree.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, cast

import numpy as np

from kille_agents.tabular import TabularPolicy
from kille_env.core.jit import announce_compilation, kernel
from kille_env.errors import ConfigError, KilleError
from kille_env.registry import Table
from kille_env.rule_spaces import SpaceTable
from kille_training.learn.method import Left, loaded, state_of
from kille_training.settings import settings
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import policy_of
from kille_training.solving.size import check_deal
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.tree import CHANCE, TERMINAL, FlatTree
from kille_training.solving.trees.values import normalised

AGAIN = -1  # stands for the payoff of a new deal
KEPT = ("regret", "average", "decisions")
"""Arrays of the memory that make up the state of a learner."""


@settings
class Settings:
    """Hyperparameters.

    Attributes:
        iterations: Iterations per update, each with two traversals per seat.
        exponent: Exponent of t in the weight of iteration t.
    """

    iterations: int = 20_000
    exponent: float = 1.0


class Hands(NamedTuple):
    """The trees of the H hands of a deal, from 0 granted questions on, concatenated.

    Hands that differ only in the number of granted questions share a tree; each has its own
    sequences.
    """

    player: np.ndarray  # [I] int8, the seat that decides in each information set
    first: np.ndarray  # [I + 1] int64, the first sequence of each information set, see `shift`
    infoset: np.ndarray  # [M] int64, the information set of each node, `TERMINAL` or `CHANCE`
    child: np.ndarray  # [M] int64, the children of all nodes, those of a node together
    # [M] int64, the place of a node's first child in `child`; of a terminal node its row in
    # `payoff`, or AGAIN if the cards are dealt again
    link: np.ndarray
    payoff: np.ndarray  # [T, P] float64
    # [M] float64, in the places of a root's children the chances of the deals so far
    chance: np.ndarray
    # [M] float64, in the places of other chance nodes' children the chances so far, the last one
    # infinite
    draw: np.ndarray
    deals: np.ndarray  # [H, 2] int64, the range of each hand's deals in `child`
    shift: np.ndarray  # [H] int64, the offset of each hand's sequences


class Memory(NamedTuple):
    """Regrets and averages, and buffers for a traversal of at most Q nodes."""

    regret: np.ndarray  # [S] float64, of each sequence
    average: np.ndarray  # [S] float64, the weight of each sequence in the average strategy
    decisions: np.ndarray  # [1] int64, the number of visited decisions
    strategy: np.ndarray  # [A] float64, the strategy in the last visited information set
    node: np.ndarray  # [Q] int64, the visited nodes
    hand: np.ndarray  # [Q] int64, their hands
    above: np.ndarray  # [Q] int64, the numbers of their parents
    share: np.ndarray  # [Q] float64, the weight of each node in the value of its parent
    behind: np.ndarray  # [Q] int64, the number of the first visited child
    worth: np.ndarray  # [Q] float64, the traverser's value of each node


class Learner:
    """Regrets and an average strategy on the tree of a deal."""

    decisions_per_update: ClassVar[int] = 1
    figures: ClassVar[tuple[str, ...]] = ()

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Build the tree."""
        if isinstance(table, SpaceTable):
            raise ConfigError(
                "mccfr learns one table without a network, so it cannot learn over the space "
                f"{table.space.name}; choose another method"
            )
        try:
            check_deal(table.num_players, table.rules)
        except KilleError as error:
            raise KilleError(f"mccfr needs an exact tree: {error}; choose another method") from None
        self.settings, self.rng = settings, np.random.default_rng(seed)
        self.deal = build_deal(table.num_players, table.rules, nodes=True)
        self.hands = _walkable(self.deal)
        self.memory, self.done = _empty(self.hands, self.deal), 0

    @property
    def decisions(self) -> int:
        """Decisions visited so far."""
        return int(self.memory.decisions[0])

    def update(self, left: Left) -> dict[str, float]:
        """Make `settings.iterations` iterations; `left` is unused, as nothing is annealed."""
        settings = self.settings
        turns = self.done + np.arange(settings.iterations)
        weights = (1.0 + turns) ** settings.exponent
        with announce_compilation("mccfr"):
            _iterate(weights / settings.iterations, self.hands, self.memory, self.rng)
        self.done += settings.iterations
        return {}

    def policy(self, name: str) -> TabularPolicy:
        """Return the average strategy."""
        return _average_of(self.deal, self.memory.average, name)

    def state(self) -> dict[str, np.ndarray]:
        """See `learn.method.Learner`."""
        kept = {name: getattr(self.memory, name).copy() for name in KEPT}
        return {**kept, "done": np.array(self.done), **state_of(self.rng)}

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `learn.method.Learner`."""
        for name in KEPT:
            getattr(self.memory, name)[:] = state[name]
        self.done, self.rng = int(state["done"]), loaded(self.rng, state)


def _average_of(deal: DealStages, weights: np.ndarray, name: str) -> TabularPolicy:
    """Return the average strategy as a policy; weights [S] of the sequences of all hands."""
    trees = [stage.tree for stage in deal.stages]
    ends = np.cumsum([tree.num_sequences for tree in trees])[:-1]
    strategies = map(normalised, trees, np.split(weights, ends))
    return policy_of(list(strategies), deal, name, by="mccfr")


def _walkable(deal: DealStages) -> Hands:
    """Return the concatenated trees of a deal."""
    kinds = list({id(stage.tree): stage for stage in deal.stages}.values())
    trees = [cast(FlatTree, stage.nodes) for stage in kinds]  # grown with them
    counts = [(t.num_nodes, t.num_infosets, t.num_sequences) for t in trees]
    root, sets, sequences = np.cumsum(np.array([(0, 0, 0), *counts]), axis=0).T
    infoset = _joined([t.infoset for t in trees], sets)
    parent = _joined([t.parent for t in trees], root)
    first = _joined([t.first[:-1] for t in trees], sequences)
    child = np.argsort(parent, kind="stable")
    degree = np.bincount(parent + 1, minlength=len(parent) + 1)  # the first is of no node
    link = np.cumsum(degree)[:-1]
    share = np.concatenate([t.probability for t in trees])[child]
    total, above = np.cumsum(share), parent[child]
    draw = total - (total - share)[link[np.maximum(above, 0)]]
    draw[np.append(np.diff(above) != 0, True)] = np.inf
    redealt = np.concatenate([stage.again for stage in kinds]) > 0.0
    link[infoset == TERMINAL] = np.where(redealt, AGAIN, np.arange(len(redealt)))
    chance = share * np.isin(above, root)
    kind = np.array([[t is stage.nodes for t in trees].index(True) for stage in deal.stages])
    begun = np.cumsum([0, *(stage.tree.num_sequences for stage in deal.stages)])
    return Hands(
        player=np.concatenate([t.player for t in trees]),
        first=np.append(first, sequences[-1]),
        infoset=infoset,
        child=child,
        link=link,
        payoff=np.concatenate([t.payoff for t in trees]),
        chance=np.cumsum(chance),
        draw=draw,
        deals=np.stack([link[root[kind]], link[root[kind]] + degree[root[kind] + 1]], axis=1),
        shift=begun[:-1] - sequences[kind],
    )


def _joined(parts: Sequence[np.ndarray], starts: np.ndarray) -> np.ndarray:
    """Concatenate arrays of numbers, shifted to each tree's start; negative ones are constants."""
    pairs = zip(parts, starts[:-1], strict=True)
    return np.concatenate([np.where(part < 0, part, part + start) for part, start in pairs])


def _empty(hands: Hands, deal: DealStages) -> Memory:
    """Return the memory before the first iteration."""
    sequences = sum(stage.tree.num_sequences for stage in deal.stages)
    dealt = np.unique(np.concatenate([hands.child[low:high] for low, high in hands.deals]))
    longest = np.diff(np.append(dealt, len(hands.infoset))).max()  # of all deals in all hands
    room = longest * len(deal.stages)
    return Memory(
        regret=np.zeros(sequences),
        average=np.zeros(sequences),
        decisions=np.zeros(1, dtype=np.int64),
        strategy=np.zeros(deal.first_stage.masks.shape[1]),
        node=np.zeros(room, dtype=np.int64),
        hand=np.zeros(room, dtype=np.int64),
        above=np.zeros(room, dtype=np.int64),
        behind=np.zeros(room, dtype=np.int64),
        share=np.zeros(room),
        worth=np.zeros(room),
    )


@kernel
def _iterate(weights, hands, memory, rng):
    """Traverse for each seat in turn, once for its regrets and once for its average."""
    for turn in range(len(weights)):
        for seat in range(hands.payoff.shape[1]):
            _learn(weights[turn], seat, hands, memory, rng)
            _average(weights[turn], seat, hands, memory, rng)


@kernel
def _deal(hand, hands, rng):
    """Return the node of a random deal."""
    low, high = hands.deals[hand, 0], hands.deals[hand, 1]
    before = hands.chance[low - 1]
    drawn = before + rng.random() * (hands.chance[high - 1] - before)
    place = low + np.searchsorted(hands.chance[low:high], drawn, side="right")
    return hands.child[min(place, high - 1)]


@kernel
def _draw_card(link, hands, rng):
    """Return the node of a random draw at a chance node inside a deal."""
    place, drawn = link, rng.random()
    while drawn >= hands.draw[place]:
        place += 1
    return hands.child[place]


@kernel
def _match_regrets(begin, count, memory):
    """Set `strategy` by regret matching: in proportion to the positive regrets."""
    total = 0.0
    for action in range(count):
        memory.strategy[action] = max(memory.regret[begin + action], 0.0)
        total += memory.strategy[action]
    for action in range(count):
        memory.strategy[action] = memory.strategy[action] / total if total > 0.0 else 1.0 / count


@kernel
def _draw(count, memory, rng):
    """Return an action drawn from `strategy`."""
    left, action = rng.random(), 0
    while action < count - 1 and left >= memory.strategy[action]:
        left -= memory.strategy[action]
        action += 1
    return action


@kernel
def _learn(weight, seat, hands, memory, rng):
    """Traverse all actions of a seat and sampled ones of the others; update the seat's regrets."""
    m = memory
    m.node[0], m.hand[0], m.above[0], m.share[0] = _deal(0, hands, rng), 0, 0, 0.0
    met, place = 1, 0
    while place < met:  # forward: collect the nodes, parents first
        node, hand = m.node[place], m.hand[place]
        begun, infoset, link = met, hands.infoset[node], hands.link[node]
        m.worth[place], m.behind[place] = 0.0, begun
        if infoset >= 0:
            m.decisions[0] += 1
            count = hands.first[infoset + 1] - hands.first[infoset]
            _match_regrets(hands.first[infoset] + hands.shift[hand], count, memory)
            if hands.player[infoset] == seat:
                for action in range(count):
                    m.node[met], m.share[met] = hands.child[link + action], m.strategy[action]
                    met += 1
            else:
                m.node[met], m.share[met] = hands.child[link + _draw(count, memory, rng)], 1.0
                met += 1
        elif infoset == CHANCE:
            m.node[met], m.share[met] = _draw_card(link, hands, rng), 1.0
            met += 1
        elif link == AGAIN:
            hand += 1
            m.node[met], m.share[met] = _deal(hand, hands, rng), 1.0
            met += 1
        else:
            m.worth[place] = hands.payoff[link, seat]
        for number in range(begun, met):
            m.hand[number], m.above[number] = hand, place
        place += 1
    while place > 0:  # backward: their values
        place -= 1
        infoset = hands.infoset[m.node[place]]
        if infoset >= 0 and hands.player[infoset] == seat:
            begin = hands.first[infoset] + hands.shift[m.hand[place]]
            for action in range(hands.first[infoset + 1] - hands.first[infoset]):
                gain = m.worth[m.behind[place] + action] - m.worth[place]
                m.regret[begin + action] += weight * gain
        m.worth[m.above[place]] += m.share[place] * m.worth[place]


@kernel
def _average(weight, seat, hands, memory, rng):
    """Sample a seat's strategy against uniform play, and update the seat's average."""
    hand, node = 0, _deal(0, hands, rng)
    while True:
        infoset, link = hands.infoset[node], hands.link[node]
        if infoset >= 0:
            memory.decisions[0] += 1
            count = hands.first[infoset + 1] - hands.first[infoset]
            begin, action = hands.first[infoset] + hands.shift[hand], int(rng.random() * count)
            if hands.player[infoset] == seat:
                _match_regrets(begin, count, memory)
                for option in range(count):
                    memory.average[begin + option] += weight * memory.strategy[option]
                action = _draw(count, memory, rng)
            node = hands.child[link + action]
        elif infoset == CHANCE:
            node = _draw_card(link, hands, rng)
        elif link == AGAIN:
            hand += 1
            node = _deal(hand, hands, rng)
        else:
            return
