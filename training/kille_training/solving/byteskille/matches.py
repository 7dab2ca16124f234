"""Whole pots of Byteskille as stochastic games of hands, and what strategies earn in them exactly.

A *state* is a table at which a hand is to be dealt. The hand ends at the showdown, or where
forehand's question is granted; who is out then decides about the next state, and how the cards lay
is forgotten. So a hand is one tree for all states with the same seats in (`Hand`), and a state says
only what each of its outcomes is worth. Buying in is played with all cards open, one seat after
another: those decisions are a small tree of perfect information between a hand and the next
(`After`). All of it is played by the game's own kernels.

What makes the states few, without loss:

- Seats are turned until the last one is the next dealer. The rules know seats only by who sits
  clockwise of whom, so turning all of them changes nothing.
- Two states are one if nothing that can follow tells them apart: the same hand, and for each of its
  outcomes the same payments, the same decisions and again states that are one (bisimulation, by
  refining a partition until it stands still). Who has bought in how often, for example, is
  forgotten where it decides about nothing any more.

The cap on hands (`max_deals`, 200 in the presets) is left out, unless it is asked for or without it
there are infinitely many states; how likely it is that play comes so far, `beyond_cap` says. A hand
that is thrown in for a kille (`two_player: wiki`) is not counted here, even where the cap is part
of the game.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kille_env.cards.pack import KILLE_CODES
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.game import Game
from kille_env.core.jit import announce_compilation, kernel, package_root
from kille_env.core.spec import Rules
from kille_env.core.table import DEAL
from kille_env.errors import KilleError, PolicyError
from kille_env.games.byteskille.rules import deal
from kille_env.games.byteskille.settle import deal_again, go_out
from kille_env.games.byteskille.table import BUY, BUYIN, BY_QUESTION, DECLINE
from kille_env.registry import load_game
from kille_training.solving.byteskille.deals import MEMORY_LIMIT, Stage, build_stage
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import NashConv, best_response, expected_values

AGAIN = -1
"""The outcome of a hand whose question is granted: the cards are dealt again."""

STATE_LIMIT = 5000
"""States that a match may have unless told otherwise, before equal ones are made one."""

TOLD = (  # what tells tables apart at which a hand is to be dealt
    "in_pot",
    "declined",
    "first_buyers",
    "prepaid",
    "entries",
    "pot",
    "first_done",
    "second_done",
    "new_pot",
    "redeal",
    "redeals",
    "deals",
)
ENDLESS = 10**9  # a cap on hands that no match meets
PLAIN = KILLE_CODES[:15] * 2  # cards that end no hand by themselves, for hands that are not played
SETTLED = 1e-12  # change of a value, as a share of the pot, at which it stands still


# Hands and what comes after them


@dataclass(frozen=True, eq=False)
class Hand:
    """One hand, for all states that deal it.

    Attributes:
        stage: The tree; what it pays itself does not count.
        seats: Who is dealt in; the last seat of the table deals.
        outcomes: How it can end: the seats that are out as a set of bits, or `AGAIN`.
        results: [T, O] float64, how likely each outcome is at each leaf.
    """

    stage: Stage
    seats: tuple[int, ...]
    outcomes: tuple[int, ...]
    results: np.ndarray

    def paying(self, worth: np.ndarray) -> FlatTree:
        """Returns the tree that pays what the outcomes are worth to the seats, [O, P]."""
        return replace(self.stage.tree, payoff=self.results @ worth)

    def ends(self, strategy: np.ndarray) -> np.ndarray:
        """Returns how likely each outcome is when all play a strategy, [O]."""
        # Each outcome is made a player who gets 1 for it.
        counting = replace(self.stage.tree, num_players=len(self.outcomes), payoff=self.results)
        return expected_values(counting, strategy, self.stage.tell)


@dataclass(frozen=True, eq=False)
class After:
    """What follows the outcomes of a state's hand: payments, buying in and the next state.

    Its nodes are numbered so that a decision comes behind what it leads to.

    Attributes:
        roots: [O], the node of each outcome of the hand.
        buyer: [N], who decides at a node; -1 where nobody does.
        declined: [N], the node behind declining.
        bought: [N], the node behind buying.
        following: [N], the next state; -1 where the match is over or somebody decides.
        shift: [N], how far the seats are turned in the next state.
        reward: [N, P], what each seat gets on the way, where nobody decides; the antes of the next
            hand are part of it.
        tables: [V, D] tables, as they stand at the decisions, for each table that is the state.
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
        """The nodes at which somebody decides, in their order."""
        return np.flatnonzero(self.buyer >= 0)

    @cached_property
    def seats(self) -> np.ndarray:
        """[N, P], where each seat sits in the next state."""
        num_players = self.reward.shape[1]
        return (np.arange(num_players) + self.shift[:, None]) % num_players

    def arrive(self, values: np.ndarray) -> np.ndarray:
        """Returns what the nodes at which nobody decides are worth, [N, P].

        Args:
            values: [S, P], what the states are worth.
        """
        goes_on = self.following >= 0
        worth = self.reward.copy()
        worth[goes_on] += values[self.following[goes_on, None], self.seats[goes_on]]
        return worth

    def best(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lets each seat choose what is best for itself; if both are equal it declines.

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

    def play(self, values: np.ndarray, buys: np.ndarray) -> np.ndarray:
        """Returns what the nodes are worth when their seats buy so often, [N, P]."""
        worth = self.arrive(values)
        for node in self.decisions:
            declined, bought = worth[self.declined[node]], worth[self.bought[node]]
            worth[node] = buys[node] * bought + (1.0 - buys[node]) * declined
        return worth

    def respond(self, values: np.ndarray, buys: np.ndarray) -> np.ndarray:
        """Returns what the outcomes are worth to a seat that responds alone, for each, [O, P].

        Args:
            values: [S, P], what states are worth to a seat that responds alone.
            buys: [N], what the other seats do.
        """
        worth = self.arrive(values)
        for node in self.decisions:
            seat = self.buyer[node]
            declined, bought = worth[self.declined[node]], worth[self.bought[node]]
            worth[node] = buys[node] * bought + (1.0 - buys[node]) * declined
            worth[node, seat] = max(declined[seat], bought[seat])
        return worth[self.roots]

    def arrivals(self, ends: np.ndarray, buys: np.ndarray) -> np.ndarray:
        """Returns how likely each node is when the outcomes are so likely [O], [N]."""
        come = np.zeros(len(self.buyer))
        np.add.at(come, self.roots, ends)
        for node in self.decisions[::-1]:
            come[self.declined[node]] += come[node] * (1.0 - buys[node])
            come[self.bought[node]] += come[node] * buys[node]
        return come


@dataclass(frozen=True)
class State:
    """A table at which a hand is to be dealt; the last seat deals.

    Attributes:
        hand: Number of its hand in `Match.hands`.
        after: What follows each outcome of it.
        tables: [V] tables, the ones that are this state: what tells them apart decides nothing.
            The antes are paid, and some hand has been dealt.
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
        antes: [P] float64, what the seats have paid before the first hand, as a negative number.
        num_tables: The states before equal ones were made one.
    """

    rules: Rules
    num_players: int
    capped: bool
    hands: tuple[Hand, ...]
    states: tuple[State, ...]
    antes: np.ndarray
    num_tables: int

    @property
    def pot(self) -> int:
        """What is in the pot when the first hand has been dealt."""
        return self.rules.number("stake") * self.num_players

    @property
    def information_sets(self) -> tuple[int, ...]:
        """How many each seat of the states has, from the first forehand to the first dealer."""
        counts = np.zeros(self.num_players, dtype=np.int64)
        for state in self.states:
            player = self.hands[state.hand].stage.tree.player
            counts += np.bincount(player, minlength=self.num_players)
            buyers = state.after.buyer[state.after.decisions]
            counts += np.bincount(buyers, minlength=self.num_players)
        return tuple(int(count) for count in counts)

    @property
    def num_nodes(self) -> int:
        """The nodes of all states' hands and of what follows them."""
        return sum(
            self.hands[state.hand].stage.tree.num_nodes + len(state.after.buyer)
            for state in self.states
        )

    @cached_property
    def circles(self) -> tuple[tuple[int, ...], ...]:
        """The states in groups that can come back to themselves, none before what it leads to.

        Within a group, too, a state stands behind those that it leads to, as far as that goes.
        """
        leads = [
            sorted({int(number) for number in state.after.following if number >= 0})
            for state in self.states
        ]
        return _circles(leads)

    def uniform(self) -> MatchStrategy:
        """Returns the strategy that takes every action equally often."""
        hands = []
        for state in self.states:
            sizes = np.diff(self.hands[state.hand].stage.tree.first)
            hands.append(np.repeat(1.0 / sizes, sizes))
        buys = [np.where(state.after.buyer >= 0, 0.5, 0.0) for state in self.states]
        return MatchStrategy(tuple(hands), tuple(buys))

    def check(self, strategy: MatchStrategy) -> None:
        """Refuses a strategy that is not one of this match.

        Raises:
            PolicyError: There are too many or too few states, or a decision to buy is none.
        """
        if not len(strategy.hands) == len(strategy.buys) == len(self.states):
            raise PolicyError(
                f"a strategy for this match has {len(self.states)} states, got "
                f"{len(strategy.hands)} for the hands and {len(strategy.buys)} for buying in"
            )
        for number, (state, buys) in enumerate(zip(self.states, strategy.buys, strict=True)):
            nodes = len(state.after.buyer)
            if buys.shape != (nodes,) or not ((buys >= 0.0) & (buys <= 1.0)).all():
                raise PolicyError(
                    f"buying in after state {number} is {nodes} probabilities, got {buys!r}"
                )


# What strategies earn


@dataclass(frozen=True)
class MatchNashConv(NashConv):
    """How far a strategy of a match is from an equilibrium.

    `improvement` and `values` are by seat, from the first forehand to the first dealer.

    Attributes:
        pot: What the pot begins with.
        state_values: [S, P], what all states are worth under the strategy, once antes are paid.
        state_bests: [S, P], what they are worth to a seat that responds, the others do not.
        beyond_cap: How likely the match is to reach the cap on hands that was left out.
        visits: [S], how many hands are to be expected in each state.
        outcomes: For each state, how likely each outcome of its hand is.
    """

    pot: int
    state_values: np.ndarray
    state_bests: np.ndarray
    beyond_cap: float
    visits: np.ndarray
    outcomes: tuple[np.ndarray, ...]

    @property
    def hands(self) -> float:
        """How many hands are to be expected."""
        return float(self.visits.sum())

    @property
    def share(self) -> float:
        """NashConv as a share of the pot."""
        return self.total / self.pot


def match_values(match: Match, strategy: MatchStrategy) -> np.ndarray:
    """Returns what the states are worth when all play a strategy and antes are paid, [S, P]."""
    match.check(strategy)
    ends = _ends(match, strategy)
    values = np.zeros((len(match.states), match.num_players))

    def worth(number: int) -> np.ndarray:
        after = match.states[number].after
        return ends[number] @ after.play(values, strategy.buys[number])[after.roots]

    for circle in match.circles:
        _settle(match, circle, values, worth)
    return values


def match_nash_conv(match: Match, strategy: MatchStrategy) -> MatchNashConv:
    """Returns what each seat could gain over the whole match, exactly, if the others keep to it.

    Whoever responds does so in all hands and at every buying in; he needs to know no more than the
    state, for what he faces is a decision process whose states these are.
    """
    values = match_values(match, strategy)
    bests = values.copy()
    for circle in match.circles:
        _respond(match, strategy, circle, bests)
    ends = _ends(match, strategy)
    beyond, visits = _length(match, strategy, ends)
    return MatchNashConv(
        improvement=bests[0] - values[0],
        values=values[0] + match.antes,
        pot=match.pot,
        state_values=values,
        state_bests=bests,
        beyond_cap=beyond,
        visits=visits,
        outcomes=tuple(ends),
    )


def _respond(
    match: Match, strategy: MatchStrategy, circle: tuple[int, ...], bests: np.ndarray
) -> None:
    """Fills in what a group of states is worth to a seat that responds (policy iteration).

    In turn the best response to what the states are worth is found, and what they are worth under
    it, which does not need the trees but only how often they end how.
    """
    seats = range(match.num_players)
    while True:
        ends, change = {}, 0.0
        for number in circle:
            state, played = match.states[number], strategy.hands[number]
            hand = match.hands[state.hand]
            tree = hand.paying(state.after.respond(bests, strategy.buys[number]))
            answers = [best_response(tree, played, seat, hand.stage.tell) for seat in seats]
            ends[number] = np.array([hand.ends(answer.strategy) for answer in answers])
            found = np.array([answer.value for answer in answers])
            change = max(change, float(np.abs(found - bests[number]).max()))
            bests[number] = found
        if _alone(match, circle) or change <= SETTLED * match.pot:
            return

        def worth(number: int, ends: dict[int, np.ndarray] = ends) -> np.ndarray:
            worth = match.states[number].after.respond(bests, strategy.buys[number])
            return (ends[number] * worth.T).sum(axis=1)

        _settle(match, circle, bests, worth)


def _ends(match: Match, strategy: MatchStrategy) -> list[np.ndarray]:
    """How likely the outcomes of each state's hand are."""
    return [
        match.hands[state.hand].ends(played)
        for state, played in zip(match.states, strategy.hands, strict=True)
    ]


def _settle(
    match: Match,
    circle: tuple[int, ...],
    values: np.ndarray,
    worth: Callable[[int], np.ndarray],
) -> None:
    """Fills in what the states of a group are worth, until it stands still."""
    while True:
        change = 0.0
        for number in circle:
            found = worth(number)
            change = max(change, float(np.abs(found - values[number]).max()))
            values[number] = found
        if _alone(match, circle) or change <= SETTLED * match.pot:
            return


def _alone(match: Match, circle: tuple[int, ...]) -> bool:
    """Whether a group is a single state that does not lead to itself."""
    return len(circle) == 1 and circle[0] not in match.states[circle[0]].after.following


def _length(
    match: Match, strategy: MatchStrategy, ends: list[np.ndarray]
) -> tuple[float, np.ndarray]:
    """How likely a match is to reach `max_deals` hands, and how many each state is to deal, [S]."""
    begin, end, chance = [], [], []
    for number, state in enumerate(match.states):
        come = state.after.arrivals(ends[number], strategy.buys[number])
        goes_on = np.flatnonzero(state.after.following >= 0)
        begin.append(np.full(len(goes_on), number))
        end.append(state.after.following[goes_on])
        chance.append(come[goes_on])
    steps = tuple(np.concatenate(column) for column in (begin, end, chance))
    playing, visits = np.zeros(len(match.states)), np.zeros(len(match.states))
    playing[0] = 1.0
    for _ in range(match.rules.number("max_deals")):
        visits += playing
        playing = np.bincount(steps[1], playing[steps[0]] * steps[2], len(playing))
        if playing.sum() < np.finfo(np.float64).tiny:
            break
    return (0.0 if match.capped else float(playing.sum())), visits


# Exploring


@kernel
def end_hands(tables, rules, outs):
    """Deals a hand at each table and ends it at once: these seats are out, or cards are re-dealt.

    For what follows, that is all that the cards and the play have decided.
    """
    for number in range(tables.shape[0]):
        table = tables[number]
        deal(table, rules[0])
        table["reward"][:] = 0.0  # the antes were paid on the way to this state
        if outs[number] < 0:
            table["redeals"] += 1
            deal_again(table, rules[0], BY_QUESTION)
        else:
            go_out(table, rules[0], np.uint32(outs[number]))


def build_match(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    cards: Sequence[str] | None = None,
    capped: bool | None = None,
    merged: bool = True,
    memory_limit: int = MEMORY_LIMIT,
    state_limit: int = STATE_LIMIT,
) -> Match:
    """Finds all states of a match and grows the trees of their hands.

    Args:
        num_players: P.
        rules: A preset, switches or resolved rules; the episode is always a match of one pot.
        cards: See `build_stage`.
        capped: Whether the cap on hands is part of the game, which makes a state of each number of
            hands dealt; None leaves it out where the states are finitely many without it.
        merged: Whether states that nothing tells apart in the end are made one.
        memory_limit: Most bytes that the tree of one hand may take.
        state_limit: Most states, before equal ones are made one.

    Raises:
        RulesError: Impossible rules or number of players.
        KilleError: A match of several pots; infinitely many states, or more than `state_limit`; or
            a tree that would not fit into `memory_limit`.
    """
    game = load_game("byteskille")
    resolved = game.spec.resolve(rules)
    if resolved["episode"] != "match":
        resolved = game.spec.resolve({**resolved.as_dict(), "episode": "match"})
    if resolved.number("pots") != 1:
        raise KilleError(
            f"pots is {resolved['pots']}; a match is solved for one pot. Nothing but the dealer "
            "goes over from one pot to the next: set pots to 1"
        )
    grows = resolved["ante"] == "deal"
    if capped is False and grows:
        raise KilleError(
            "with ante 'deal' every hand in which nobody goes out makes the pot grow, so that "
            "without the cap there are infinitely many states; leave capped out, and set max_deals "
            "to as many hands as are to be solved for"
        )
    explorer = _Explorer(
        game, num_players, resolved, cards, bool(grows if capped is None else capped), memory_limit
    )
    explorer.explore(state_limit)
    return explorer.finish(merged)


class _Explorer:
    """Plays every hand to every end, from every table at which one is dealt."""

    def __init__(
        self,
        game: Game,
        num_players: int,
        rules: Rules,
        cards: Sequence[str] | None,
        capped: bool,
        memory_limit: int,
    ) -> None:
        self.game, self.rules, self.cards, self.capped = game, rules, cards, capped
        self.memory_limit = memory_limit
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        self.num_players = batch.num_players
        batch.reset(dealer=self.num_players - 1, deal=False)
        self.start = np.array(batch.tables)
        self.start["deck"], _ = game.spec.stack(PLAIN)
        self.start["stacked"] = self.num_players
        endless = {**rules.as_dict(), "max_deals": ENDLESS}
        self.played = rules if capped else game.spec.resolve(endless)
        self.hands: list[Hand] = []
        self.hand_numbers: dict[tuple[int, bool], int] = {}
        self.numbers: dict[bytes, int] = {}
        self.tables: list[np.ndarray] = []
        self.dealt: list[np.ndarray] = []
        self.antes: list[np.ndarray] = []
        self.found: list[tuple[int, After]] = []

    def explore(self, state_limit: int) -> None:
        """Visits all tables, the first one first."""
        self._number(self.start)
        while len(self.found) < len(self.tables):
            if len(self.tables) > state_limit:
                counted = ""
                if self.capped:
                    most = self.rules["max_deals"]
                    counted = (
                        f" The cap is part of the game; with max_deals below {most} it has fewer."
                    )
                raise KilleError(
                    f"the match has more than {state_limit} states.{counted} Fewer seats, another "
                    "reentry and fraga 'off' have fewer, too; state_limit allows more"
                )
            table = self.tables[len(self.found)]
            hand = self._hand(table)
            self.found.append((hand, self._follow(table, self.hands[hand].outcomes)))

    def _number(self, table: np.ndarray) -> int:
        """Returns the number of a table at which a hand is dealt; its dealer is the last seat."""
        fresh, last = self.start.copy(), self.num_players - 1
        again = table["redeal"][0] == BY_QUESTION
        shift = last - int(table["next_dealer"][0])
        for name in ("in_pot", "declined", "first_buyers", "prepaid"):
            fresh[name] = self._turned(int(table[name][0]), shift)
        entries = table["entries"][:, : self.num_players]
        fresh["entries"][:, : self.num_players] = np.roll(entries, shift, axis=1)
        for name in ("pot", "first_done", "second_done", "new_pot", "redeal"):
            fresh[name] = table[name]
        fresh["redeals"] = table["redeals"] if again else 0
        fresh["deals"] = table["deals"] if self.capped else 0
        # Not the whole record: between its fields there are bytes that mean nothing.
        key = b"".join(fresh[name].tobytes() for name in TOLD)
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
        """Returns the number of the hand that a table deals."""
        in_pot, most = int(table["in_pot"][0]), self.rules.number("max_redeals")
        exhausted = self.rules["fraga"] == "forced" and int(table["redeals"][0]) >= most
        key = in_pot, exhausted
        if key not in self.hand_numbers:
            self.hand_numbers[key] = len(self.hands)
            stage = build_stage(
                self.num_players,
                {**self.rules.as_dict(), "episode": "deal", "max_deals": ENDLESS},
                seats=members(in_pot),
                granted=most if exhausted else 0,
                cards=self.cards,
                memory_limit=self.memory_limit,
                outs=True,
            )
            self.hands.append(_with_outcomes(stage, members(in_pot)))
        return self.hand_numbers[key]

    def _follow(self, table: np.ndarray, outcomes: tuple[int, ...]) -> After:
        """Plays all that can follow a hand."""
        ended = np.concatenate([table] * len(outcomes))
        with announce_compilation("matches", package_root(end_hands)):
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
        """Adds the node of a table, behind all that it leads to, and returns its number."""
        reward = table["reward"][0, : self.num_players].copy()
        if table["phase"][0] == BUYIN:
            declined, bought = (
                self._reach(self._applied(table, action), nodes, asking)
                for action in (DECLINE, BUY)
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

    def finish(self, merged: bool) -> Match:
        """Makes one of the tables that nothing tells apart."""
        classes = _bisimilar(self.found) if merged else np.arange(len(self.found))
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
            num_tables=len(self.tables),
        )


def _with_outcomes(stage: Stage, seats: Sequence[int]) -> Hand:
    """Returns a stage with the outcomes that can come of it."""
    outs = stage.outs
    assert outs is not None  # asked for
    possible = np.flatnonzero(outs.any(axis=0))
    outcomes, results = [int(out) for out in possible], outs[:, possible]
    if stage.redealt.any():
        outcomes.append(AGAIN)
        results = np.column_stack([results, stage.redealt])
    return Hand(stage, tuple(seats), tuple(outcomes), np.ascontiguousarray(results))


def _bisimilar(found: Sequence[tuple[int, After]]) -> np.ndarray:
    """Returns the class of each table, numbered in the order of their first members."""
    classes = np.array([hand for hand, _ in found])
    while True:
        signs: dict[tuple[Any, ...], int] = {}
        finer = np.empty_like(classes)
        for number, (hand, after) in enumerate(found):
            following = np.where(after.following >= 0, classes[after.following], -1)
            arrays = (after.roots, after.buyer, after.declined, after.bought, after.shift)
            told = (following, after.reward, *arrays)
            sign = (int(classes[number]), hand, *(array.tobytes() for array in told))
            finer[number] = signs.setdefault(sign, len(signs))
        if finer.max() == classes.max():
            return classes
        classes = finer


def _circles(leads: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected components (Tarjan, SIAM J. Comput. 1972), the last ones first."""
    entered, lowest, finished = [-1] * len(leads), [0] * len(leads), [0] * len(leads)
    waiting: list[int] = []
    inside = [False] * len(leads)
    circles = []
    entries = ends = 0
    for root in range(len(leads)):
        if entered[root] >= 0:
            continue
        path = [(root, 0)]
        while path:
            number, done = path.pop()
            if done == 0:
                entered[number] = lowest[number] = entries
                entries += 1
                waiting.append(number)
                inside[number] = True
            else:
                lowest[number] = min(lowest[number], lowest[leads[number][done - 1]])
            for place in range(done, len(leads[number])):
                following = leads[number][place]
                if entered[following] < 0:
                    path += [(number, place + 1), (following, 0)]
                    break
                if inside[following]:
                    lowest[number] = min(lowest[number], entered[following])
            else:
                finished[number] = ends
                ends += 1
                if lowest[number] == entered[number]:
                    circle = waiting[waiting.index(number) :]
                    del waiting[-len(circle) :]
                    for member in circle:
                        inside[member] = False
                    circles.append(tuple(sorted(circle, key=finished.__getitem__)))
    return tuple(circles)
