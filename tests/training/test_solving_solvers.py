"""Values, best responses and solvers, against the literature, OpenSpiel and brute force."""

import itertools
import os
import signal
import threading
from functools import cache, partial

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability
from open_spiel.python.policy import TabularPolicy

from kille_env.errors import KilleError, PolicyError, RulesError
from kille_training.solving.trees.cfr import CFR, VARIANTS
from kille_training.solving.trees.tree import Chance, Decision, Terminal, flatten
from kille_training.solving.trees.values import (
    best_response,
    check_strategy,
    expected_values,
    nash_conv,
    normalised,
    uniform,
)
from reference.small_games import kuhn, leduc, liars_dice

GAMES = {
    "kuhn_poker": kuhn,
    "kuhn_poker(players=3)": lambda: kuhn(3),
    "leduc_poker": leduc,
    "liars_dice(dice_sides=3)": lambda: liars_dice(3),
}


@cache
def flat(name):
    """A small game and, for each information set, OpenSpiel's name and actions.

    The two trees are walked side by side: they must be the same node by node.
    """
    game = GAMES[name]()
    tree = game.nodes
    children = [[] for _ in range(tree.num_nodes)]
    for node in range(1, tree.num_nodes):
        children[tree.parent[node]].append(node)
    names = {}
    payoffs = iter(tree.payoff)
    waiting = [(0, pyspiel.load_game(name).new_initial_state())]
    while waiting:
        node, state = waiting.pop()
        if state.is_terminal():
            assert next(payoffs) == pytest.approx(state.returns())
            continue
        actions = state.legal_actions()
        assert len(children[node]) == len(actions)
        if state.is_chance_node():
            chances = [chance for _, chance in state.chance_outcomes()]
            assert tree.probability[children[node]] == pytest.approx(chances)
        else:
            label = (state.information_state_string(), tuple(actions))
            assert names.setdefault(tree.infoset[node], label) == label
            assert tree.player[tree.infoset[node]] == state.current_player()
        below = zip(children[node], actions, strict=True)
        waiting.extend((kid, state.child(action)) for kid, action in reversed(list(below)))
    assert len(set(names.values())) == tree.num_infosets
    return game.tree, [names[number] for number in range(tree.num_infosets)]


def spiel_policy(name, strategy):
    """Return a strategy as OpenSpiel's table of the same game."""
    tree, names = flat(name)
    policy = TabularPolicy(pyspiel.load_game(name))
    for number, (label, actions) in enumerate(names):
        row = policy.policy_for_key(label)
        row[:] = 0.0
        row[list(actions)] = strategy[tree.first[number] : tree.first[number + 1]]
    return policy


def random_strategy(tree, rng):
    """Return probabilities of all sizes, exact zeros among them."""
    return normalised(tree, np.maximum(rng.random(tree.num_sequences) ** 3 - 0.02, 0.0))


def parlour_game(num_players, rng):
    """Everybody sees a bit of their own and what was done just before; the first player acts twice.

    The payoffs are drawn at random and do not sum to 0.
    """
    payoff = rng.normal(size=(2,) * (2 * num_players + 1) + (num_players,))
    chances = rng.dirichlet(np.ones(2**num_players))

    def expand(state):
        bits, moves = state
        if bits is None:
            deals = list(itertools.product((0, 1), repeat=num_players))
            return Chance(chances, [(deal, ()) for deal in deals])
        if len(moves) > num_players:
            return Terminal(payoff[bits + moves])
        seat = len(moves) % num_players
        own = moves[:1] if len(moves) == num_players else None
        return Decision(
            seat, (bits[seat], moves[-1:], own), [(bits, (*moves, action)) for action in (0, 1)]
        )

    return flatten((None, ()), expand, num_players).tree


@pytest.mark.parametrize("name", GAMES)
def test_values_and_nash_conv_are_those_of_openspiel(name):
    tree, _ = flat(name)
    rng = np.random.default_rng(5)
    for _ in range(3):
        strategy = random_strategy(tree, rng)
        found = nash_conv(tree, strategy)
        wanted = exploitability.nash_conv(
            pyspiel.load_game(name), spiel_policy(name, strategy), return_only_nash_conv=False
        )
        assert found.total == pytest.approx(wanted.nash_conv, abs=1e-12)
        assert found.improvement == pytest.approx(wanted.player_improvements, abs=1e-12)
        assert found.values == pytest.approx(expected_values(tree, strategy), abs=1e-12)
        assert found.largest == found.improvement.max()


@pytest.mark.parametrize("num_players", [1, 2, 3, 4])
def test_a_best_response_is_the_best_of_all_pure_strategies(num_players):
    rng = np.random.default_rng(num_players)
    tree = parlour_game(num_players, rng)
    for player in range(num_players):
        strategy = random_strategy(tree, rng)
        answer = best_response(tree, strategy, player)
        others = tree.player.repeat(2) != player
        assert answer.strategy[others] == pytest.approx(strategy[others])
        assert set(answer.strategy[~others]) == {0.0, 1.0}
        assert expected_values(tree, answer.strategy)[player] == pytest.approx(answer.value)
        assert expected_values(tree, strategy)[player] == pytest.approx(answer.on_policy)
        own = np.flatnonzero(tree.player == player)
        best = -np.inf
        for choices in itertools.product((0, 1), repeat=len(own)):
            pure = strategy.copy()
            pure[tree.first[own]] = np.equal(choices, 0)
            pure[tree.first[own] + 1] = np.equal(choices, 1)
            best = max(best, expected_values(tree, pure)[player])
        assert answer.value == pytest.approx(best)


@pytest.mark.compiled
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("make", "value"),
    [
        (kuhn, 1 / 18),
        (lambda: kuhn(3), -1 / 48),  # throughout the published family
        (leduc, 0.0856064),
        (lambda: liars_dice(4), -1 / 16),
    ],
    ids=["kuhn", "kuhn of three", "leduc", "liars_dice"],
)
def test_every_variant_finds_the_value_of_the_second_player(make, value, variant):
    within = 1e-3 if variant == "cfr" else 1e-4
    found = CFR(make().tree, variant).run(100_000, until=within)
    assert found.total <= within
    assert found.values[1] == pytest.approx(value, abs=within)


@pytest.mark.parametrize("name", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"])
@pytest.mark.parametrize(
    ("variant", "theirs"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)]
)
def test_the_average_is_that_of_openspiel_after_the_same_iterations(name, variant, theirs):
    tree, names = flat(name)
    reference = theirs(pyspiel.load_game(name))
    for _ in range(12):
        reference.evaluate_and_update_policy()
    table = reference.tabular_average_policy().policy_table()
    solver = CFR(tree, variant)
    assert solver.run(12) is None
    wanted = [dict(table[label])[action] for label, actions in names for action in actions]
    assert solver.average == pytest.approx(wanted, abs=1e-9)


def test_discounts_are_those_of_the_paper():
    """Brown and Sandholm, AAAI 2019, with alpha 3/2, beta 0 and gamma 2."""
    wanted = [[t**1.5 / (t**1.5 + 1), 0.5, t**2] for t in (5, 6, 7)]
    np.testing.assert_allclose(VARIANTS["dcfr"].schedule(4, 3), wanted, rtol=1e-15)


def test_the_last_regrets_are_the_forecast():
    """Farina, Kroer and Sandholm, AAAI 2021, for one player with one choice, in plain NumPy."""
    pays = np.array([3.0, 2.9, 0.0])

    def expand(state):
        return Decision(0, "", [0, 1, 2]) if state is None else Terminal([pays[state]])

    solver = CFR(flatten(None, expand, 1).tree, "pcfr+")
    regret, plays, total = np.zeros(3), np.full(3, 1 / 3), np.zeros(3)
    for turn in range(1, 5):
        total += turn**2 * plays
        gain = pays - plays @ pays
        regret = np.maximum(regret + gain, 0.0)
        plays = np.maximum(regret + gain, 0.0)
        plays /= plays.sum()
        solver.run(1)
        np.testing.assert_allclose(solver.current, plays, rtol=1e-12)
        np.testing.assert_allclose(solver.average, total / total.sum(), rtol=1e-12)


@pytest.mark.compiled
def test_ctrl_c_leaves_a_whole_number_of_iterations():
    tree = leduc().tree
    solver = CFR(tree)
    solver.run(1)
    # What runs in the background has been told to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            solver.run(10**9)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    again = CFR(tree)
    again.run(solver.iteration)
    assert solver.iteration > 1
    assert (again.average == solver.average).all()
    assert (again.current == solver.current).all()


def test_progress_is_reported_and_ends_a_run():
    tree = kuhn().tree
    seen = []
    last = CFR(tree).run(50, progress=lambda *report: seen.append(report))
    checks = [*range(1, 11), 12, 14, 16, 18, 20, 23, 26, 29, 32, 36, 40, 45, 50]
    assert [at for at, _ in seen] == checks
    assert last is seen[-1][1]
    solver = CFR(tree)
    solver.run(21)  # wherever it goes on, it is measured at the same iterations
    solver.run(29, progress=lambda at, found: checks.remove(at))
    assert checks[-1] == 20
    solver = CFR(tree)
    solver.run(1000, until=0.1)
    assert solver.iteration < 100


def test_a_strategy_that_is_none_is_refused_by_name():
    tree = kuhn().tree
    for wrong in (np.zeros(7), np.full((24, 1), 0.5)):
        with pytest.raises(PolicyError, match=r"has shape \(.*\), expected \(24,\)"):
            nash_conv(tree, wrong)
    for value in (np.nan, np.inf, -0.5, 0.7):
        strategy = uniform(tree)
        strategy[4] = value
        for measure in (nash_conv, expected_values, partial(best_response, player=0)):
            with pytest.raises(PolicyError, match=r"set 2 of player 0 has the .*0.5\]; expected"):
                measure(tree, strategy)


def test_a_strategy_of_single_precision_is_taken_as_meant():
    tree = leduc().tree
    strategy = random_strategy(tree, np.random.default_rng(1))
    single = strategy.astype(np.float32)
    sums = np.add.reduceat(check_strategy(tree, single), tree.first[:-1])
    np.testing.assert_allclose(sums, 1.0, rtol=0, atol=1e-15)
    rough = nash_conv(tree, single)
    assert rough.total == pytest.approx(nash_conv(tree, strategy).total, abs=1e-5)


def test_chance_alone_and_a_player_who_never_acts():
    def expand(state):
        return Terminal([1, 2, -3]) if state else Chance([0.5, 0.5], ["heads", "tails"])

    tree = flatten("", expand, 3).tree
    solver = CFR(tree)
    solver.run(3)
    assert nash_conv(tree, solver.average).values.tolist() == [1.0, 2.0, -3.0]


def test_a_solver_of_another_method_is_refused():
    with pytest.raises(KilleError, match=r"no method 'crf'. Did you mean 'cfr'"):
        CFR(kuhn().tree, "crf")
    for wrong in (-1, 1.5, float("inf"), None):
        with pytest.raises(RulesError, match="iterations is"):
            CFR(kuhn().tree).run(wrong)


def test_a_game_without_perfect_recall_is_refused():
    def forgets(history):
        if len(history) == 2:
            return Terminal([0.0])
        return Decision(0, len(history), [history + "a", history + "b"])

    with pytest.raises(KilleError, match="information set 1 forgets"):
        flatten("", forgets, 1)

    def grows(history):
        if len(history) == 2:
            return Terminal([0.0, 0.0])
        if not history:
            return Decision(0, "", ["a", "b"])
        return Decision(
            1, "blind", [history + last for last in ("abc" if history == "b" else "ab")]
        )

    with pytest.raises(KilleError, match="3 actions at one state and 2 at another"):
        flatten("", grows, 2)
