"""OpenSpiel: games and solvers in C++, with Python around them."""

from functools import partial
from typing import Any

import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.policy import UniformRandomPolicy

from speed.choices import chooser
from speed.peers.work import (
    BATCH,
    CFR,
    CFR_PLUS,
    LOOP,
    NASH_CONV,
    Play,
    Work,
    clocked,
)

DISTRIBUTION = "open_spiel"
ROLLOUTS = 20_000


def _decisions(state: Any) -> float:
    """Returns how many decisions random play takes from a state, on average."""
    if state.is_terminal():
        return 0.0
    if state.is_chance_node():
        return sum(part * _decisions(state.child(a)) for a, part in state.chance_outcomes())
    legal = state.legal_actions()
    return 1.0 + sum(_decisions(state.child(action)) for action in legal) / len(legal)


def _rollouts() -> Play:
    """One simulation of a search is so many rollouts from its root, all of them in C++."""
    game = pyspiel.load_game("leduc_poker")
    root = game.new_initial_state()
    while root.is_chance_node():
        root.apply_action(root.legal_actions()[0])
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 10, False, 0, False)
    decisions = round(ROLLOUTS * _decisions(root))

    def play() -> int:
        bot.mcts_search(root)
        return decisions

    return clocked(play)


def _loop() -> Play:
    game, choose = pyspiel.load_game("leduc_poker"), chooser()

    def play() -> int:
        decisions = 0
        while decisions < 1000:
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                if not state.is_chance_node():
                    state.observation_tensor()
                    decisions += 1
                state.apply_action(choose(legal))
        return decisions

    return clocked(play)


def _environment() -> Play:
    env, choose = rl_environment.Environment("leduc_poker"), chooser()

    def play() -> int:
        decisions = 0
        while decisions < 1000:
            step = env.reset()
            while not step.last():
                seen = step.observations
                step = env.step([choose(seen["legal_actions"][seen["current_player"]])])
                decisions += 1
        return decisions

    return clocked(play)


def _iterate(solver: Any, count: int) -> Play:
    made = solver(pyspiel.load_game("leduc_poker"))

    def play() -> int:
        for _ in range(count):
            made.evaluate_and_update_policy()
        return count

    return clocked(play)


def _nash_conv() -> Play:
    game = pyspiel.load_game("leduc_poker")
    policy = pyspiel.UniformRandomPolicy(game)
    return clocked(lambda: bool(pyspiel.nash_conv(game, policy)))


def _nash_conv_in_python() -> Play:
    game = pyspiel.load_game("leduc_poker")
    policy = UniformRandomPolicy(game)
    return clocked(lambda: bool(exploitability.nash_conv(game, policy)))


SOLVES = "both players' updates; not growing the tree"
BOTH = "both best responses, with the walk over the game"
WORKS = (
    Work(BATCH, "Leduc, rollouts in C++", "choice, chance, new games; no observation", _rollouts),
    Work(LOOP, "Leduc, `State`", "choice, chance, observation, new games", _loop),
    Work(LOOP, "Leduc, `rl_environment`", "choice, `step` with both seats' views", _environment),
    Work(CFR, "Leduc, CFR in C++", SOLVES, partial(_iterate, pyspiel.CFRSolver, 10)),
    Work(CFR, "Leduc, CFR in Python", SOLVES, partial(_iterate, cfr.CFRSolver, 1)),
    Work(CFR_PLUS, "Leduc, CFR+ in C++", SOLVES, partial(_iterate, pyspiel.CFRPlusSolver, 10)),
    Work(CFR_PLUS, "Leduc, CFR+ in Python", SOLVES, partial(_iterate, cfr.CFRPlusSolver, 1)),
    Work(NASH_CONV, "Leduc, NashConv in C++", BOTH, _nash_conv),
    Work(NASH_CONV, "Leduc, NashConv in Python", BOTH, _nash_conv_in_python),
)
