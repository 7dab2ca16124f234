"""What strategies earn in a match, what best responses earn, and NashConv; all exact."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_training.solving.byteskille.matches import Match, MatchStrategy
from kille_training.solving.trees.values import NashConv, best_response

SETTLED = 1e-12
"""Change of a value, as a share of the pot, that counts as none."""


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
