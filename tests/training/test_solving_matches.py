"""Whole pots of Byteskille against the environment and against brute force."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import kille_env
from kille_agents.catalog import load_policy
from kille_agents.greedy import with_action_selection
from kille_agents.metadata import Metadata
from kille_agents.tabular import TabularMatchPolicy, load_tabular, save_tabular
from kille_agents.tabular.matches import hand_columns, standing_columns
from kille_env.core.batch import Batch
from kille_env.errors import KilleError, PolicyError
from kille_env.play.policy import Policy, UniformPolicy
from kille_env.registry import load_game, spec
from kille_training import nash_conv
from kille_training.solving.byteskille import matches
from kille_training.solving.byteskille.match_solving import (
    MatchProgress,
    greedy_match,
    match_length,
    match_nash_conv,
    match_policy_of,
    match_strategy_of,
    solve_match,
)
from kille_training.solving.byteskille.matches import Match, MatchStrategy, build_match
from kille_training.solving.trees.values import NashConv

pytestmark = pytest.mark.compiled

SMALL = ["BL", "L4", "L4", "L9", "VH", "SV", "HU", "GO", "KI"]
TINY = ["BL", "L9", "SV", "GO", "KI"]

# What the brute force is run for: everything that can follow a hand is in one of them.
BRUTE = {
    "questions": (2, TINY, {"max_redeals": 1}),
    "challenges": (
        2,
        ["BL", "L9", "HU", "KI"],
        {"fraga": "off", "reentry": "wiki3", "reentry_one_left": True},
    ),
    "antes": (2, TINY[:4], {"fraga": "off", "ante": "deal", "max_deals": 4, "stake": 4}),
    "eliminations": (3, ["BL", "L4", "L4", "SV", "KI"], {"fraga": "off", "reentry": "none"}),
    "antes of those who are left": (
        3,
        ["BL", "L4", "L4", "SV", "KI"],
        {"fraga": "off", "reentry": "none", "ante": "deal", "max_deals": 2, "stake": 6},
    ),
}


class Whim:
    """A player that does anything, but always the same when it sees the same."""

    name = "whim"

    def __init__(self, num_players: int, rules: object) -> None:
        card = Metadata("byteskille", 0, num_players, {})
        capped = isinstance(rules, dict) and rules.get("ante") == "deal"
        self.standing = standing_columns(card, capped)
        self.seen = np.union1d(self.standing, hand_columns(card))

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        chances = np.zeros(mask.shape)
        for row, (seen, legal) in enumerate(zip(observation, mask, strict=True)):
            buying = seen[4] != 0  # the cards say nothing about it
            told = seen[self.standing] if buying else seen[self.seen]
            digest = hashlib.sha256(told.tobytes()).digest()
            wishes = np.frombuffer(digest, dtype=np.uint8)[: len(legal)] + 1.0
            chances[row] = wishes * legal
        return chances / chances.sum(axis=1, keepdims=True)


# Brute force


class Brute:
    """A match as nested lists, every hand played at the environment, card by card."""

    def __init__(self, num_players: int, rules: object, cards: list[str], policy: Whim) -> None:
        self.policy, self.cards = policy, cards
        self.capped = isinstance(rules, dict) and rules.get("ante") == "deal"
        played = spec("byteskille").resolve(rules, episode="match")
        batch = Batch(load_game("byteskille"), 1, num_players, played, seed=1, restart=False)
        batch.reset(dealer=num_players - 1, deal=False)
        self.num_players = num_players
        self.states: dict[tuple, list] = {}
        self.start = self.key(batch.tables[0])
        self.waiting = [(self.start, batch)]
        decks = [list(deck) for deck in permutations(cards)]
        while self.waiting:
            key, batch = self.waiting.pop()
            if key not in self.states:
                dealt = batch.take([0] * len(decks))
                dealt.deal(decks)
                self.states[key] = self.nodes(dealt, np.array(batch.tables["reward"][0]))
        self.sums = {key: self.sum_up(hands) for key, hands in self.states.items()}

    def key(self, table: np.void) -> tuple:
        names = ("in_pot", "next_dealer", "pot", "declined", "first_buyers", "prepaid", "new_pot")
        names += ("first_done", "second_done", "redeal")
        key = tuple(int(table[name]) for name in names) + tuple(map(int, table["entries"]))
        key += (int(table["redeals"]) if table["redeal"] else 0,)
        return key + ((int(table["deals"]),) if self.capped else ())

    def nodes(self, batch: Batch, before: np.ndarray) -> list[tuple]:
        """Play every action at every table of a batch until its hand is over."""
        got = (batch.tables["reward"] - before)[:, : self.num_players]
        nodes: list[tuple] = []
        for row in range(batch.num_tables):
            key = None
            if batch.at_chance[row] and not batch.over[row]:
                key = self.key(batch.tables[row])
                if key not in self.states:
                    self.waiting.append((key, batch.take([row])))
            nodes.append(("end", key, got[row].copy()))
        acting = np.flatnonzero(~(batch.over | batch.at_chance))
        if not len(acting):
            return nodes
        batch = batch.take(acting)
        rows, actions = np.nonzero(batch.mask)
        chances = self.policy.probabilities(batch.observation, batch.mask)
        known = batch.information_state()
        following = batch.take(rows)
        following.apply(actions)
        children = self.nodes(following, before)
        for row, number in enumerate(acting):
            below = [
                (float(chances[row, actions[i]]), children[i]) for i in np.flatnonzero(rows == row)
            ]
            nodes[number] = ("act", int(batch.seat[row]), known[row].tobytes(), below)
        return nodes

    def sum_up(self, hands: list) -> tuple[np.ndarray, dict]:
        """What a state pays on the way, and how likely the next states are."""
        paid, following = np.zeros(self.num_players), {}
        waiting = [(1.0 / len(hands), hand) for hand in hands]
        while waiting:
            weight, node = waiting.pop()
            if node[0] == "act":
                waiting += [(weight * chance, child) for chance, child in node[3]]
            else:
                paid += weight * node[2]
                if node[1]:
                    following[node[1]] = following.get(node[1], 0.0) + weight
        return paid, following

    def groups(self, hands: list, seat: int) -> dict[bytes, list]:
        """The nodes of a seat's information sets, and how likely the others lead there."""
        groups: dict[bytes, list] = {}
        waiting = [(1.0, hand) for hand in hands]
        while waiting:
            weight, node = waiting.pop()
            if node[0] == "act":
                mine = node[1] == seat
                if mine:
                    groups.setdefault(node[2], []).append((weight, node))
                waiting += [(weight if mine else weight * chance, kid) for chance, kid in node[3]]
        return groups

    def respond(self, hands: list, groups: dict[bytes, list], seat: int, values: dict) -> float:
        """What the best response earns in a state, given what it earns in the others."""
        choices: dict[bytes, int] = {}

        def worth(node: tuple) -> float:
            if node[0] == "end":
                return node[2][seat] + (values[node[1]][seat] if node[1] else 0.0)
            if node[1] != seat:
                return sum(chance * worth(child) for chance, child in node[3])
            if node[2] not in choices:
                totals = [
                    sum(weight * worth(same[3][i][1]) for weight, same in groups[node[2]])
                    for i in range(len(node[3]))
                ]
                choices[node[2]] = int(np.argmax(totals))
            return worth(node[3][choices[node[2]]][1])

        return sum(map(worth, hands)) / len(hands)

    def solve(self, step: Callable[[tuple, dict], np.ndarray]) -> np.ndarray:
        values = {key: np.zeros(self.num_players) for key in self.states}
        change = 1.0
        while change > 1e-11:
            change = 0.0
            for key in reversed(list(self.states)):
                found = step(key, values)
                change = max(change, np.abs(found - values[key]).max())
                values[key] = found
        return values[self.start]

    def values(self) -> np.ndarray:
        def step(key: tuple, values: dict) -> np.ndarray:
            paid, following = self.sums[key]
            return paid + sum(chance * values[then] for then, chance in following.items())

        return self.solve(step)

    def bests(self) -> np.ndarray:
        seats = range(self.num_players)
        groups = {key: [self.groups(h, seat) for seat in seats] for key, h in self.states.items()}
        return self.solve(
            lambda key, values: np.array(
                [self.respond(self.states[key], groups[key][seat], seat, values) for seat in seats]
            )
        )


def apart(found: list) -> np.ndarray:
    """Merge no states; for `matches.bisimilar`."""
    return np.arange(len(found))


def measured(policy: Policy, match: Match) -> NashConv:
    return match_nash_conv(match_strategy_of(policy, match), match)


def uniform_play(match: Match) -> MatchStrategy:
    return match_strategy_of(UniformPolicy(), match)


@pytest.mark.parametrize("name", BRUTE)
def test_values_and_best_responses_are_those_of_brute_force(name: str, monkeypatch) -> None:
    num_players, cards, rules = BRUTE[name]
    policy = Whim(num_players, rules)
    brute = Brute(num_players, rules, cards, policy)
    monkeypatch.setattr(matches, "bisimilar", apart)
    match = build_match(num_players, rules, cards=cards)
    found = measured(policy, match)
    np.testing.assert_allclose(found.values, brute.values(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.values + found.improvement, brute.bests(), rtol=0, atol=1e-9)
    assert (found.improvement > 1e-3).all()


# Solving


Solved = tuple[Match, MatchStrategy]


@pytest.fixture(scope="module")
def two() -> Solved:
    match = build_match(2)
    return match, solve_match(match, target=1e-5).strategy


@pytest.fixture(scope="module")
def three() -> Solved:
    match = build_match(3, {"reentry": "svensk", "max_redeals": 1}, cards=SMALL)
    return match, solve_match(match, target=1e-4).strategy


def test_a_solved_match_is_as_good_as_it_says(two: Solved, three: Solved) -> None:
    for (match, strategy), target in ((two, 1e-5), (three, 1e-4)):
        found = match_nash_conv(strategy, match)
        assert match.pot == 2 * match.num_players
        assert found.total <= target * match.pot
        assert (found.improvement > -1e-12).all()
        assert found.values.sum() == pytest.approx(0.0, abs=1e-12)
        assert match_nash_conv(uniform_play(match), match).total > 100 * target * match.pot
        hands, beyond = match_length(strategy, match)
        assert 1.0 < hands < 10.0
        assert 0.0 < beyond < 1e-100
        assert found.values[0] > 0.04 or match.num_players > 2  # forehand of two is ahead


def test_states_that_are_made_one_are_worth_the_same(three: Solved, monkeypatch) -> None:
    match, strategy = three
    table = match_policy_of(strategy, match)
    monkeypatch.setattr(matches, "bisimilar", apart)
    whole = build_match(3, match.rules, cards=SMALL)
    assert len(match.states) < len(whole.states) / 2
    merged, each = measured(table, match), measured(table, whole)
    np.testing.assert_allclose(merged.values, each.values, rtol=0, atol=1e-11)
    np.testing.assert_allclose(merged.improvement, each.improvement, rtol=0, atol=1e-11)


def test_states_of_different_pots_are_not_made_one(monkeypatch) -> None:
    # Two are left after two hands: who went out in the second one has paid one ante more.
    rules = {"fraga": "off", "reentry": "none", "ante": "deal", "max_deals": 4, "stake": 6}
    match = build_match(3, rules, cards=["BL", "L4", "L4", "SV", "KI"])
    monkeypatch.setattr(matches, "bisimilar", apart)
    assert len(build_match(3, rules, cards=["BL", "L4", "L4", "SV", "KI"]).states) == len(
        match.states
    )


def test_seats_buy_only_what_is_worth_more(three: Solved) -> None:
    match, _ = three
    values = np.zeros((len(match.states), 3))
    after = next(s.after for s in match.states if len(s.after.decisions))
    free = replace(after, reward=np.zeros_like(after.reward))
    node = after.decisions[0]
    buyer, bought = after.buyer[node], after.bought[node]
    assert not free.best(values)[1].any()  # equally good: declines
    free.reward[bought, buyer] = 1e-9
    worth, buys = free.best(values)
    assert buys[node] == 1.0
    assert worth[after.roots == node, buyer] == pytest.approx(1e-9)
    np.testing.assert_array_equal(free.play(values, buys)[free.roots], worth)
    responding = free.play(values, np.zeros_like(buys), respond=True)
    np.testing.assert_array_equal(responding[free.roots], worth)


def test_progress_is_reported() -> None:
    match = build_match(2, {"max_redeals": 1})
    told: list[MatchProgress] = []
    solution = solve_match(match, target=1e-3, progress=told.append)
    assert told[-1].nash_conv is not None
    assert told[-1].nash_conv.total == match_nash_conv(solution.strategy, match).total
    assert [one.solved for one in told] == sorted(one.solved for one in told)
    assert told[-1].solved == told[-1].states == len(match.states)


# Tables


def test_a_saved_table_plays_the_same(three: Solved, tmp_path: Path) -> None:
    match, strategy = three
    table = match_policy_of(strategy, match, seconds=1.5)
    path = save_tabular(table, tmp_path / "match")
    loaded = load_tabular(path)
    assert loaded.metadata == table.metadata
    first, second = (match_strategy_of(player, match) for player in (table, loaded))
    for one, other in zip(first.hands + first.buys, second.hands + second.buys, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(PolicyError, match="seats"):
        load_policy(path, "byteskille", 2, match.rules)
    bad = tmp_path / "bad.npz"
    bad.write_bytes(path.read_bytes()[:100])
    with pytest.raises(PolicyError, match="is no tabular policy"):
        load_tabular(bad)


def test_a_table_says_that_it_does_not_know_a_situation(three: Solved) -> None:
    match, strategy = three
    table = match_policy_of(strategy, match)
    batch = kille_env.make_batch("byteskille", num_tables=50, num_players=3, rules="wikipedia")
    batch.reset(seed=1)
    with pytest.raises(PolicyError, match="cannot occur"):
        table.probabilities(batch.observation, batch.mask)


def test_a_table_of_wrong_arrays_is_refused(three: Solved) -> None:
    match, strategy = three
    table = match_policy_of(strategy, match)
    for wrong in ({"buys": np.zeros(1)}, {"played": table.arrays["played"] - 1.0}):
        with pytest.raises(PolicyError, match="the tabular policy match"):
            TabularMatchPolicy(table.metadata, table.capped, {**table.arrays, **wrong})


# What is refused


def test_a_match_is_measured_by_one_call(two: Solved) -> None:
    match, strategy = two
    player = match_policy_of(strategy, match)
    for policy, play in ((player, "sampled"), (player, "greedy"), (UniformPolicy(), "sampled")):
        found = nash_conv(policy, "byteskille", 2, episode="match", play=play)
        asked = with_action_selection(policy, play)
        assert found.nash_conv == measured(asked, match).total
        assert found.table.rules == match.rules
        assert "Units per match" in str(found)
    assert found.nash_conv > 1.0


def test_the_greedy_version_of_a_solved_match_has_no_way_to_improve(two: Solved) -> None:
    match, strategy = two
    assert match_nash_conv(greedy_match(strategy, match), match).total < 1e-11


def test_players_that_remember_are_not_measured_in_matches() -> None:
    player = load_policy("search", "byteskille", 2, spec("byteskille").resolve(episode="match"))
    with pytest.raises(PolicyError, match="is recurrent or searches"):
        nash_conv(player, "byteskille", 2, episode="match")
    with pytest.raises(KilleError, match="whole matches have exact trees in byteskille only"):
        nash_conv("uniform", "knack", 2, episode="match")


def test_what_cannot_be_solved_is_refused(monkeypatch) -> None:
    with pytest.raises(KilleError, match="pots"):
        build_match(2, {"pots": 2})
    with pytest.raises(KilleError, match=r"a higher limit .* allows it"):
        build_match(4, memory_limit=2**20)
    monkeypatch.setattr(matches, "STATE_LIMIT", 5)
    with pytest.raises(KilleError, match=r"more than 5 states.*max_deals"):
        build_match(2, {"ante": "deal"})
