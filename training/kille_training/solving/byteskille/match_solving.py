"""Solve matches, measure strategies of matches exactly, and convert them to policies and back.

States are solved group by group (`Match.components`), the last ones first, each hand by iterated
best responses (`pure_first`). The hands of a group lead to one another - nobody goes out and the
deal passes on, or a question is granted - so the group is repeated until its values converge.
Buying in is solved by backward induction.
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
from kille_env.play.policy import ObservationPolicy, Policy, as_decider
from kille_env.registry import spec
from kille_training.solving.byteskille.matches import STATE, Match, MatchStrategy, State
from kille_training.solving.policies import as_strategy, ask
from kille_training.solving.solution import METHOD, Found
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import (
    NashConv,
    answer_in_turns,
    best_response,
    greedy,
    infoset_reach,
    uniform,
)

MARGIN = 10.0
"""Precision of the hands relative to the match, and of each pass relative to the one before."""

MOST_ROUNDS, MOST_PASSES = 1000, 6
"""Maximum repetitions of a group of states, and passes over the match."""

SETTLED = 1e-13  # convergence threshold of values, as a share of the pot
FIRST_UNTIL = 1e-3  # target NashConv of the first regret minimization in `pure_first`
MOST_ITERATIONS = 5000  # maximum iterations of regret minimization in `pure_first`

KEPT = [name for name in STATE if name not in ("in_pot", "new_pot", "redeal")]
"""Fields of a table that describe the match."""

# Measuring


def match_nash_conv(strategy: MatchStrategy, match: Match) -> NashConv:
    """Return each seat's exact gain by a best response over the whole match.

    Seats are counted from the first forehand to the first dealer. A best response covers all hands
    and all buying in; it solves a Markov decision process over the states.
    """
    ends = _ends(strategy, match)
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
    return NashConv(bests[0] - values[0], values[0] + match.antes)


def _ends(strategy: MatchStrategy, match: Match) -> list[np.ndarray]:
    """Return the probability of each outcome of each state's hand, [O]."""
    return [
        match.hands[state.hand].ends(played)
        for state, played in zip(match.states, strategy.hands, strict=True)
    ]


def _respond(
    match: Match, strategy: MatchStrategy, group: tuple[int, ...], bests: np.ndarray
) -> None:
    """Fill in the value of each seat's best response in a group of states by policy iteration."""
    # Policy evaluation needs no trees, only the probabilities of the outcomes.
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
    """Update the values of a group's states; return whether they have converged."""
    before = values[list(group)]
    for number in group:
        values[number] = worth(number)
    if len(group) == 1 and group[0] not in match.states[group[0]].after.following:
        return True
    return bool(np.abs(values[list(group)] - before).max() <= SETTLED * match.pot)


def match_length(strategy: MatchStrategy, match: Match) -> tuple[float, float]:
    """Return the expected number of hands, and the probability of reaching the omitted cap."""
    begin, end, chance = [], [], []
    for number, (state, ends) in enumerate(zip(match.states, _ends(strategy, match), strict=True)):
        reach = state.after.arrivals(ends, strategy.buys[number])
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
    return float(visits.sum()), 0.0 if match.capped else float(playing.sum())


# Solving


@dataclass(frozen=True)
class MatchProgress:
    """Progress of the solver."""

    solved: int  # solved states of this pass
    states: int
    rounds: int  # solved hands so far, in all states together
    seconds: float
    # NashConv of the whole match, after each pass; None in between
    nash_conv: NashConv | None = None

    def describe(self) -> str:
        """Return a line of text."""
        found = f", NashConv {self.nash_conv.total:.2g} units" if self.nash_conv else ""
        return (
            f"{self.solved:>6,} of {self.states:,} states, {self.rounds:,} hands solved, "
            f"{self.seconds:.1f} s{found}"
        )


def solve_match(
    match: Match,
    *,
    target: float = 1e-4,
    progress: Callable[[MatchProgress], None] | None = None,
) -> Found:
    """Solve a match by iterated best responses in each state."""
    began, solver = time.perf_counter(), _MatchSolver(match)

    def report(solved: int, found: NashConv | None = None) -> None:
        if progress is not None:
            spent = time.perf_counter() - began
            progress(MatchProgress(solved, len(match.states), solver.rounds, spent, found))

    tolerance = target * match.pot / MARGIN
    for _ in range(MOST_PASSES):
        solved = 0
        for group in match.components:
            solver.solve_group(group, tolerance)
            solved += len(group)
            report(solved)
        found = match_nash_conv(solver.strategy, match)
        report(solved, found)
        if found.total / match.pot <= target:
            break
        tolerance /= MARGIN
    return Found(solver.strategy, solver.rounds, time.perf_counter() - began)


class _MatchSolver:
    """The state of the solver of a match."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.played: list[np.ndarray | None] = [None] * len(match.states)
        self.buys = [np.zeros(len(state.after.buyer)) for state in match.states]
        # Until a state has been solved, its value is an equal share of the pot.
        self.values = np.zeros((len(match.states), match.num_players))
        for number, state in enumerate(match.states):
            seats = list(match.hands[state.hand].seats)
            self.values[number, seats] = state.tables["pot"][0] / len(seats)
        self.rounds = 0

    @property
    def strategy(self) -> MatchStrategy:
        """The strategy, after all states have been visited."""
        return MatchStrategy(tuple(s for s in self.played if s is not None), tuple(self.buys))

    def solve_group(self, group: tuple[int, ...], tolerance: float) -> None:
        """Repeat a group until its values converge."""
        for _ in range(MOST_ROUNDS):
            before = self.values[list(group)]
            for number in group:
                self._solve_state(number, tolerance)
            if np.abs(self.values[list(group)] - before).max() <= SETTLED * self.match.pot:
                break

    def _solve_state(self, number: int, tolerance: float) -> None:
        """Find strategy and value of a state's hand, given its continuation values."""
        state = self.match.states[number]
        hand = self.match.hands[state.hand]
        worth, self.buys[number] = state.after.best(self.values)
        tree, begin = hand.paying(worth), self._begin(number)
        strategy, found = pure_first(tree, begin, SETTLED * self.match.pot, tolerance)
        self.rounds += strategy is not begin
        self.played[number], self.values[number] = strategy, found.values

    def _begin(self, number: int) -> np.ndarray:
        """Return the initial strategy of a state: its own, or that of the next state's hand."""
        state = self.match.states[number]
        following = state.after.following[state.after.following >= 0].tolist()
        for other in (number, *following):
            played = self.played[other]
            if played is not None and self.match.states[other].hand == state.hand:
                return played
        return uniform(self.match.hands[state.hand].tree)


def pure_first(
    tree: SequenceGame, begin: np.ndarray, exact: float, target: float
) -> tuple[np.ndarray, NashConv]:
    """Find an equilibrium, a pure one if there is one nearby.

    Best responses are iterated. If they cycle, they restart from the result of regret minimization
    and from its greedy version, with ten times the precision each time.
    """
    strategy, found = answer_in_turns(tree, begin, exact)
    solver, until = CFR(tree, METHOD) if found.total > exact else None, FIRST_UNTIL
    while solver is not None and found.total > exact and solver.iteration < MOST_ITERATIONS:
        solver.run(MOST_ITERATIONS - solver.iteration, until=until)
        for tried in (solver.average, greedy(tree, solver.average)):
            answered, measured = answer_in_turns(tree, tried, exact)
            if measured.total < found.total:
                strategy, found = answered, measured
        if until < target:
            break
        until *= 0.1
    return strategy, found


# Policies


def match_strategy_of(policy: Policy, match: Match) -> MatchStrategy:
    """Return a policy's strategy in all seats of a match.

    If the cap on hands is omitted, the policy sees the counters of the first hand. For merged
    states it sees one of their tables.
    """
    policy = as_decider(policy)
    if not isinstance(policy, ObservationPolicy):
        raise PolicyError(
            f"{policy.name} is recurrent or searches; only policies of the observation alone are "
            "measured exactly in matches"
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
    """Return the greedy version of a strategy; ties are bought."""
    hands = [
        greedy(match.hands[state.hand].stage.tree, chosen)
        for state, chosen in zip(match.states, strategy.hands, strict=True)
    ]
    return MatchStrategy(tuple(hands), tuple((buys >= 0.5) * 1.0 for buys in strategy.buys))


def match_policy_of(
    strategy: MatchStrategy, match: Match, name: str = "match", **made: object
) -> TabularMatchPolicy:
    """Return a strategy of a match as a tabular policy.

    An observation may stand for several information sets of a hand. The policy then plays their
    mean, weighted by reach. NashConv of `match_strategy_of` the policy measures the loss.
    """
    game = spec(match.rules.game)
    metadata = Metadata(game.name, game.version, match.num_players, match.rules.as_dict(), made)
    # States do not count redeals because of the cards, but observations do.
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
    """Record the strategy of an observation, or raise for a second one."""
    if known.setdefault(row.tobytes(), what) != what:
        raise KilleError(
            "two states of the match with different strategies have the same observation: the "
            "observation lacks something"
        )


def _rows(known: dict[bytes, float], wide: int) -> np.ndarray:
    return np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, wide)


def _seen(match: Match, state: State) -> np.ndarray:
    """Return the observations of the information sets of a state's hand, [I, F]."""
    stage = match.hands[state.hand].stage
    tables = stage.positions.copy()
    for name in KEPT:
        tables[name] = state.tables[name][:1]
    return match.observe(tables, stage.tree.player)
