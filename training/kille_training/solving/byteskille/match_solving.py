"""Strategies of matches: solved, measured exactly, and turned into policies and back.

States are solved group by group (`Match.components`), the last ones first. Within a group the hands
lead to one another - nobody goes out and the deal passes on, or a question is granted - so the
group is repeated until every strategy holds against what the others have come to be worth. From one
question to the next, what follows a hand hardly changes: so a state takes over the strategy of the
following state that deals the same hand, and is left alone where that is good enough. Otherwise
regret minimisation goes on from it.

Buying in is decided by backward induction, for each seat what is best for itself.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular import TabularMatchPolicy
from kille_agents.tabular.matches import hand_columns, standing_columns
from kille_env.errors import KilleError, PolicyError
from kille_env.games.byteskille.rules import Action
from kille_env.play.policy import Policy, has_memory, searches
from kille_env.registry import spec
from kille_training.solving.byteskille.matches import STATE, Hand, Match, MatchStrategy, State
from kille_training.solving.policies import as_strategy, ask
from kille_training.solving.solution import METHOD, Found
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.sequences import payable_form
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import (
    NashConv,
    best_response,
    greedy,
    infoset_reach,
    nash_conv,
    uniform,
)

FIRST_CHECK = 32  # iterations before a hand's strategy is measured first
BETWEEN_CHECKS = 1.25  # growth of the iterations from one measurement to the next
MARGIN = 0.5  # how much better than needed a hand is solved, so that it lasts when values change
SHARPER = 0.25  # how much better the hands are solved when the match as a whole is not good enough
MOST_ITERATIONS = 5000
"""Iterations in one visit to a state; if they are not enough, the next visit continues."""

MOST_ROUNDS = 200
"""Times that a group of states is repeated, and that the match is."""

SETTLED = 1e-12
"""Change of a value, as a share of the pot, that counts as none."""

KEPT = [name for name in STATE if name not in ("in_pot", "new_pot", "redeal")]
"""What a table knows of the match while a hand is played."""

# Measuring


@dataclass(frozen=True)
class MatchNashConv(NashConv):
    """How far a strategy of a match is from an equilibrium.

    `improvement` and `values` are by seat, from the first forehand to the first dealer.

    Attributes:
        pot: The pot at the start.
        state_values: [S, P], what the states are worth under the strategy, antes paid.
        beyond_cap: How likely the match is to reach the cap on hands that was left out.
        visits: [S], the expected number of hands in each state.
        outcomes: For each state, how likely each outcome of its hand is.
    """

    pot: int
    state_values: np.ndarray
    beyond_cap: float
    visits: np.ndarray
    outcomes: tuple[np.ndarray, ...]

    @property
    def hands(self) -> float:
        """The expected number of hands."""
        return float(self.visits.sum())

    @property
    def share(self) -> float:
        """NashConv as a share of the pot."""
        return self.total / self.pot


def match_nash_conv(strategy: MatchStrategy, match: Match) -> MatchNashConv:
    """Returns what each seat could gain over the whole match, exactly, if the others keep to it.

    A best response covers all hands and all buying in. It needs to know no more than the state, for
    it faces a Markov decision process with these states.
    """
    ends = [
        match.hands[state.hand].ends(played)
        for state, played in zip(match.states, strategy.hands, strict=True)
    ]
    values = np.zeros((len(match.states), match.num_players))

    def worth(number: int) -> np.ndarray:
        after = match.states[number].after
        return ends[number] @ after.play(values, strategy.buys[number])[after.roots]

    for group in match.components:
        while not _settled(match, group, values, worth):
            pass
    bests = values.copy()
    for group in match.components:
        _respond(match, strategy, group, bests)
    beyond, visits = _length(match, strategy, ends)
    return MatchNashConv(
        improvement=bests[0] - values[0],
        values=values[0] + match.antes,
        pot=match.pot,
        state_values=values,
        beyond_cap=beyond,
        visits=visits,
        outcomes=tuple(ends),
    )


def _respond(
    match: Match, strategy: MatchStrategy, group: tuple[int, ...], bests: np.ndarray
) -> None:
    """Fills in what a group of states is worth to each seat if it alone responds.

    This is policy iteration: find the best response to what the states are worth, then what they
    are worth under it. The second step does not need the trees, only the outcomes' probabilities.
    """
    ends: dict[int, np.ndarray] = {}

    def outcomes(number: int) -> np.ndarray:
        after = match.states[number].after
        return after.play(bests, strategy.buys[number], respond=True)[after.roots]

    def respond(number: int) -> np.ndarray:
        hand, played = match.hands[match.states[number].hand], strategy.hands[number]
        tree = hand.paying(outcomes(number))
        answers = [best_response(tree, played, seat) for seat in range(match.num_players)]
        ends[number] = np.array([hand.ends(answer.strategy) for answer in answers])
        return np.array([answer.value for answer in answers])

    def keep_to_it(number: int) -> np.ndarray:
        return (ends[number] * outcomes(number).T).sum(axis=1)

    while not _settled(match, group, bests, respond):
        while not _settled(match, group, bests, keep_to_it):
            pass


def _settled(
    match: Match,
    group: tuple[int, ...],
    values: np.ndarray,
    worth: Callable[[int], np.ndarray],
) -> bool:
    """Updates what the states of a group are worth; returns whether another time is no use."""
    before = values[list(group)]
    for number in group:
        values[number] = worth(number)
    if len(group) == 1 and group[0] not in match.states[group[0]].after.following:
        return True
    return bool(np.abs(values[list(group)] - before).max() <= SETTLED * match.pot)


def _length(
    match: Match, strategy: MatchStrategy, ends: list[np.ndarray]
) -> tuple[float, np.ndarray]:
    """Returns how likely a match is to reach `max_deals` hands, and each state's visits, [S]."""
    begin, end, chance = [], [], []
    for number, state in enumerate(match.states):
        reach = state.after.arrivals(ends[number], strategy.buys[number])
        continues = np.flatnonzero(state.after.following >= 0)
        begin.append(np.full(len(continues), number))
        end.append(state.after.following[continues])
        chance.append(reach[continues])
    steps = tuple(np.concatenate(column) for column in (begin, end, chance))
    playing, visits = np.zeros(len(match.states)), np.zeros(len(match.states))
    playing[0] = 1.0
    for _ in range(match.rules.number("max_deals")):
        visits += playing
        playing = np.bincount(steps[1], playing[steps[0]] * steps[2], len(playing))
        if playing.sum() < np.finfo(np.float64).tiny:
            break
    return (0.0 if match.capped else float(playing.sum())), visits


# Solving


@dataclass(frozen=True)
class MatchProgress:
    """How far the solver has come.

    Attributes:
        solved: States of this pass that are solved.
        states: All of them.
        iterations: Of the method, in all states together.
        seconds: Since the start, those before an interruption included.
        nash_conv: Of the whole match, after each pass; None in between.
    """

    solved: int
    states: int
    iterations: int
    seconds: float
    nash_conv: MatchNashConv | None = None

    def describe(self) -> str:
        """Returns a line of text."""
        found = f", NashConv {self.nash_conv.total:.2g} units" if self.nash_conv else ""
        return (
            f"{self.solved:>6,} of {self.states:,} states, {self.iterations:,} iterations, "
            f"{self.seconds:.1f} s{found}"
        )


def solve_match(
    match: Match,
    *,
    target: float = 1e-4,
    method: str = METHOD,
    progress: Callable[[MatchProgress], None] | None = None,
) -> Found:
    """Solves a match.

    Args:
        match: The match.
        target: NashConv at which it is solved, as a share of the pot.
        method: A name of `VARIANTS`; the default needs the fewest iterations here.
        progress: Called after each group of states, and with NashConv after each pass.
    """
    return _MatchSolver(match, target, method, progress).solve()


class _HandSolver(CFR):
    """CFR over one hand, for one state after another."""

    def __init__(self, hand: Hand, method: str) -> None:
        self.payable = payable_form(hand.stage.tree)
        super().__init__(hand.stage.tree, method, self.payable.form)

    def begin(self, tree: FlatTree, part: np.ndarray | None) -> None:
        """Takes over the payoffs of a tree and a state's regrets; the average begins anew."""
        self.payable.pay(tree.payoff)
        nothing = np.zeros(tree.num_sequences)
        regret, current = (nothing, uniform(tree)) if part is None else part[1:]
        self.restore(0, {"regret": regret, "current": current, "average": nothing})


class _MatchSolver:
    """How far a match is solved.

    Attributes:
        parts: For each state [3, S] the strategy in its hand, the regrets and the strategy of the
            next iteration; None for a state that has not been visited. They are replaced, but never
            changed, and several states can share one.
        buys: For each state how likely each node's seat buys.
        values: [states, P], what each state is worth.
        iterations: Of the method, in all states together.
    """

    def __init__(
        self,
        match: Match,
        target: float,
        method: str,
        progress: Callable[[MatchProgress], None] | None,
    ) -> None:
        self.match, self.target, self.method, self.progress = match, target, method, progress
        self.solvers: dict[int, _HandSolver] = {}
        self.parts: list[np.ndarray | None] = [None] * len(match.states)
        self.buys = [np.zeros(len(state.after.buyer)) for state in match.states]
        # Until a state has been solved, its value is an equal share of the pot.
        self.values = np.zeros((len(match.states), match.num_players))
        for number, state in enumerate(match.states):
            seats = list(match.hands[state.hand].seats)
            self.values[number, seats] = state.tables["pot"][0] / len(seats)
        self.iterations, self.began = 0, time.perf_counter()

    def solve(self) -> Found:
        """Repeats passes through the match until it is good enough."""
        tolerance, passes = 0.1 * self.target * self.match.pot, 0
        while True:
            solved = 0
            for group in self.match.components:
                self._solve_group(group, tolerance)
                solved += len(group)
                self._report(solved)
            hands = tuple(part[0] for part in self.parts if part is not None)  # all of them
            strategy = MatchStrategy(hands, tuple(self.buys))
            found = match_nash_conv(strategy, self.match)
            self._report(solved, found)
            passes += 1
            if found.share <= self.target or passes == MOST_ROUNDS:
                return Found(strategy, self.iterations, time.perf_counter() - self.began)
            tolerance *= SHARPER

    def _report(self, solved: int, found: MatchNashConv | None = None) -> None:
        if self.progress is not None:
            states, seconds = len(self.match.states), time.perf_counter() - self.began
            self.progress(MatchProgress(solved, states, self.iterations, seconds, found))

    def _solve_group(self, group: tuple[int, ...], tolerance: float) -> None:
        """Repeats a group until all its strategies hold and its values no longer change."""
        values = self.values
        for _ in range(MOST_ROUNDS):
            change = 0.0
            for number in group:
                before = values[number].copy()
                values[number] = self._solve_state(number, tolerance)
                change = max(change, float(np.abs(values[number] - before).max()))
            if change <= 0.1 * tolerance:
                break

    def _solve_state(self, number: int, tolerance: float) -> np.ndarray:
        """Solves a hand, if its strategy is not good enough for what follows; returns its value."""
        state = self.match.states[number]
        hand = self.match.hands[state.hand]
        worth, self.buys[number] = state.after.best(self.values)
        tree = hand.paying(worth)
        part = self._part(number)
        if part is not None:
            self.parts[number] = part
            found = nash_conv(tree, part[0])
            if found.total <= tolerance:
                return found.values
        if state.hand not in self.solvers:
            self.solvers[state.hand] = _HandSolver(hand, self.method)
        solver = self.solvers[state.hand]
        solver.begin(tree, part)
        check = FIRST_CHECK
        while True:
            solver.run(check - solver.iteration)
            average = solver.average
            found = nash_conv(tree, average)
            if found.total <= MARGIN * tolerance or check >= MOST_ITERATIONS:
                break
            check = min(MOST_ITERATIONS, int(check * BETWEEN_CHECKS))
        self.iterations += solver.iteration
        learnt = solver.state()
        self.parts[number] = np.stack([average, learnt["regret"], learnt["current"]])
        return found.values

    def _part(self, number: int) -> np.ndarray | None:
        """Returns what a state begins with: its own, or that of a following state's same hand."""
        if self.parts[number] is not None:
            return self.parts[number]
        state = self.match.states[number]
        for following in state.after.following[state.after.following >= 0]:
            part = self.parts[following]
            if part is not None and self.match.states[following].hand == state.hand:
                return part
        return None


# Policies


def match_strategy_of(policy: Policy, match: Match) -> MatchStrategy:
    """Returns what a policy does in all seats of a match.

    Where the cap on hands is left out, the policy sees the counters of the first hand. For merged
    states it is asked about one of their tables.

    Raises:
        PolicyError: It returns what is not a distribution over the legal actions; or it looks ahead
            or remembers, so that what it does does not follow from what it sees.
    """
    if has_memory(policy) or searches(policy):
        raise PolicyError(
            f"{policy.name} remembers or looks ahead; only policies that answer by what they see "
            "alone are measured exactly in matches"
        )
    hands, buys, names = [], [], spec("byteskille").actions
    for state in match.states:
        stage = match.hands[state.hand].stage
        answers = ask(policy, _seen(match, state), stage.masks, names, stage.describe)
        hands.append(as_strategy(answers, stage.masks, stage.tree))
        buys.append(np.zeros(len(state.after.buyer)))
        nodes, tables = state.after.decisions, state.after.tables[0]
        if len(nodes):
            masks = np.zeros((len(nodes), stage.masks.shape[1]), dtype=np.int8)
            masks[:, [Action.DECLINE, Action.BUY]] = 1
            seen = match.observe(tables, state.after.buyer[nodes])
            answers = ask(policy, seen, masks, names, lambda row: f"buying in, decision {row}.")
            buys[-1][nodes] = answers[:, Action.BUY]
    return MatchStrategy(tuple(hands), tuple(buys))


def greedy_match(strategy: MatchStrategy, match: Match) -> MatchStrategy:
    """Returns the greedy version of a strategy; if equal, it buys."""
    hands = [
        greedy(match.hands[state.hand].stage.tree, chosen)
        for state, chosen in zip(match.states, strategy.hands, strict=True)
    ]
    return MatchStrategy(tuple(hands), tuple((buys >= 0.5) * 1.0 for buys in strategy.buys))


def match_policy_of(
    strategy: MatchStrategy, match: Match, name: str = "match", **made: object
) -> TabularMatchPolicy:
    """Returns a strategy of a match as a policy that can be saved and played.

    A policy sees the observation, which forgets some of what the information state knows. Where one
    observation stands for several information sets of a hand, the policy plays their mean, weighted
    with how often play by the strategy comes there. NashConv of `match_strategy_of` the policy says
    how much that costs.

    Args:
        strategy: The strategy.
        match: The match.
        name: The policy's name.
        **made: How it was made, for people.

    Raises:
        KilleError: Two states with different strategies have the same observation.
    """
    game = spec(match.rules.game)
    metadata = Metadata(game.name, game.version, match.num_players, match.rules.as_dict(), made)
    # Hands that are thrown in are not counted in the states, but they are in what is observed.
    counts = match.capped and not any(hand.stage.thrown_in for hand in match.hands)
    seen_columns, standing = hand_columns(metadata), standing_columns(metadata, counts)
    rows, masks, hands, numbers = [], [], [], []
    for number, hand in enumerate(match.hands):
        state = next(state for state in match.states if state.hand == number)
        seen = _seen(match, state)[:, seen_columns]
        unique, first, row = np.unique(seen, axis=0, return_index=True, return_inverse=True)
        rows.append(unique)
        masks.append(hand.stage.masks[first])
        hands.append(np.full(len(unique), number, dtype=np.int32))
        numbers.append(row.ravel())

    blocks: dict[bytes, int] = {}
    begins, played, length = [], [], 0
    for state, chosen in zip(match.states, strategy.hands, strict=True):
        hand = match.hands[state.hand]
        weight = infoset_reach(hand.stage.tree, chosen) + np.finfo(np.float64).tiny
        summed = np.zeros(masks[state.hand].shape)
        np.add.at(summed, numbers[state.hand], hand.stage.by_action(chosen) * weight[:, None])
        packed = (summed / summed.sum(axis=1, keepdims=True))[masks[state.hand] != 0]
        key = packed.tobytes()
        if key not in blocks:
            blocks[key] = length
            played.append(packed)
            length += len(packed)
        begins.append(blocks[key])

    standings, buys = {}, {}
    for number, state in enumerate(match.states):
        seats, nodes = match.hands[state.hand].seats, state.after.decisions
        tables = np.repeat(state.tables, len(seats))
        for row in match.observe(tables, np.tile(seats, len(state.tables)))[:, standing]:
            _note(standings, row, number)
        for tables in state.after.tables:
            seen = match.observe(tables, state.after.buyer[nodes])
            for node, row in zip(nodes, seen[:, standing], strict=True):
                _note(buys, row, float(strategy.buys[number][node]))
    arrays = {
        "hand_rows": np.concatenate(rows),
        "masks": np.concatenate(masks),
        "hands": np.concatenate(hands),
        "state_hands": np.array([state.hand for state in match.states], dtype=np.int32),
        "standings": _rows(standings, len(standing)),
        "states": np.array(list(standings.values()), dtype=np.int32),
        "begins": np.array(begins, dtype=np.int64),
        "played": np.concatenate(played),
        "buy_rows": _rows(buys, len(standing)),
        "buys": np.array(list(buys.values()), dtype=np.float64),
    }
    return TabularMatchPolicy(metadata, counts, arrays, name)


def _note(known: dict[bytes, float], row: np.ndarray, what: float) -> None:
    """Notes the meaning of a row."""
    if known.setdefault(row.tobytes(), what) != what:
        raise KilleError(
            "two states of the match with different strategies have the same observation: the "
            "observation lacks something"
        )


def _rows(known: dict[bytes, float], wide: int) -> np.ndarray:
    return np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, wide)


def _seen(match: Match, state: State) -> np.ndarray:
    """Returns the observations of the information sets of a state's hand, [I, F]."""
    stage = match.hands[state.hand].stage
    tables = stage.positions.copy()
    for name in KEPT:
        tables[name] = state.tables[name][:1]
    return match.observe(tables, stage.tree.player)
