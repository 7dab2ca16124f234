"""Workloads of libraries, and the process of one: `python -m speed.libraries NAME`.

A process writes lines of JSON: first the versions and workloads of its library, then for every
number that it reads the seconds per piece of that workload. Output of libraries goes to standard
error.
"""

import contextlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, TextIO

import numpy as np

from speed.rows import random_actions

SECONDS = 0.3  # minimum seconds of one measurement

BATCH, LOOP, AEC = "batch", "loop", "aec"
CFR, CFR_PLUS, NASH_CONV = "cfr", "cfr+", "nash_conv"
DECISIONS = 1000  # minimum decisions of a turn with one table
clock = time.process_time  # CPU seconds: workloads use one core, and waiting for it does not count

Play = Callable[[], tuple[int, float]]
"""Function that does some work and returns the number of pieces and their `clock` seconds."""


class Work(NamedTuple):
    """A workload of a library."""

    kind: str
    what: str
    includes: str
    prepare: Callable[[], Play]


def measured(play: Play, least: float = SECONDS) -> float:
    """Return the seconds per piece of work, over at least this many seconds of it."""
    pieces, inside = 0, 0.0
    while inside < least:
        done, spent = play()
        pieces += done
        inside += spent
    return inside / pieces


def clocked(work: Callable[[], Any], pieces: int = 0) -> Play:
    """Return a timed workload."""

    def play() -> tuple[int, float]:
        start = clock()
        done = work()
        return pieces or done, clock() - start

    return play


def matches(match: Callable[[], int]) -> Play:
    """Return a workload of matches, at least `DECISIONS` decisions in all."""

    def play() -> int:
        decisions = 0
        while decisions < DECISIONS:
            decisions += match()
        return decisions

    return clocked(play)


def chooser() -> Callable[[Sequence[int] | np.ndarray], int]:
    """Return a function that draws a random legal action of a table."""
    draw = random.Random(0).random
    return lambda legal: int(legal[int(draw() * len(legal))])


def warm(play: Play) -> Play:
    """Return the same, compiled."""
    play()
    return play


# This suite


def kille_batch() -> Play:
    """Many tables of Byteskille."""
    import kille_env

    batch = kille_env.make_batch("byteskille", 4096, 2, seed=0, episode="deal")
    batch.reset()
    rng = np.random.default_rng(0)

    def play() -> tuple[int, float]:
        actions = random_actions(batch.mask, rng)
        start = clock()
        batch.step(actions)
        return batch.num_tables, clock() - start

    return warm(play)


def kille_loop() -> Play:
    """One table."""
    import kille_env

    batch = kille_env.make_batch("byteskille", 1, 2, seed=0, episode="deal")
    batch.reset()
    choose, actions = chooser(), np.zeros(1, dtype=np.int64)

    def play() -> None:
        for _ in range(DECISIONS):
            actions[0] = choose(np.flatnonzero(batch.mask[0]))
            batch.step(actions)

    return warm(clocked(play, DECISIONS))


def kille_aec() -> Play:
    """One table through PettingZoo."""
    import kille_env

    env = kille_env.make("byteskille", num_players=2, episode="deal")
    return warm(turns(env, lambda seen, info: info["action_mask"]))


def turns(env: Any, mask: Callable[[Any, dict[str, Any]], np.ndarray]) -> Play:
    """Return random play of PettingZoo: `last`, choose, `step`; `reset` is not measured."""
    env.reset(seed=0)
    choose = chooser()

    def play() -> tuple[int, float]:
        env.reset()
        decisions, start = 0, clock()
        while True:
            seen, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                return decisions, clock() - start
            env.step(choose(np.flatnonzero(mask(seen, info))))
            decisions += 1

    return play


def expand(state: Any) -> Any:
    """Return a state of OpenSpiel as a node, with the next states."""
    from kille_training.solving.trees.tree import Chance, Decision, Terminal

    if state.is_terminal():
        return Terminal(state.returns())
    if state.is_chance_node():
        actions, chances = zip(*state.chance_outcomes(), strict=True)
        return Chance(chances, [state.child(action) for action in actions])
    actions = tuple(state.legal_actions())
    known = (state.information_state_string(), actions)
    return Decision(state.current_player(), known, [state.child(action) for action in actions])


@cache
def kille_leduc() -> Any:
    """Return OpenSpiel's Leduc poker as a tree of this suite."""
    import pyspiel

    from kille_training.solving.trees.tree import flatten

    game = pyspiel.load_game("leduc_poker")
    return flatten(game.new_initial_state(), expand, 2).tree


def kille_iterate(method: str) -> Play:
    """Regret minimization."""
    from kille_training.solving.trees.cfr import CFR as Solver

    solver = Solver(kille_leduc(), method)
    return warm(clocked(lambda: solver.run(1000), 1000))


def kille_nash_conv() -> Play:
    """NashConv of uniform play."""
    from kille_training.solving.trees.values import nash_conv, uniform

    tree = kille_leduc()
    return warm(clocked(lambda: [nash_conv(tree, uniform(tree)) for _ in range(20)], 20))


# Others


def pgx_batch(name: str, tables: int = 4096, clock: Callable[[], float] = clock) -> Play:
    """Pgx: games written in JAX, compiled by XLA."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), tables))
    key = jax.random.PRNGKey(1)

    @jax.jit
    def choose(key: Any, mask: Any) -> Any:
        key, choice, cards = jax.random.split(key, 3)
        actions = jnp.argmax(mask * jax.random.uniform(choice, mask.shape), axis=1)
        return key, actions, jax.random.split(cards, tables)

    def play() -> tuple[int, float]:
        nonlocal state, key
        key, actions, cards = jax.block_until_ready(choose(key, state.legal_action_mask))
        start = clock()
        state = jax.block_until_ready(step(state, actions, cards))
        return tables, clock() - start

    return warm(play)


def envpool_batch(name: str, tables: int) -> Play:
    """EnvPool: environments in C++ behind one step of a whole batch."""
    import envpool

    env = envpool.make_gymnasium(name, num_envs=tables, num_threads=1, seed=0)
    _, info = env.reset()
    mask, over, rng = info["legal_action_mask"], np.zeros(tables, bool), np.random.default_rng(0)

    def play() -> tuple[int, float]:
        nonlocal mask, over
        actions = random_actions(mask, rng).astype(np.int32)
        decisions = tables - int(over.sum())  # a table that is over starts again instead
        start = clock()
        _, _, terminated, truncated, info = env.step(actions)
        spent = clock() - start
        mask, over = info["legal_action_mask"], terminated | truncated
        return decisions, spent

    return play


def spiel_rollouts() -> Play:
    """One simulation of a search of OpenSpiel: so many rollouts from its root, all in C++."""
    import pyspiel

    def decisions(state: Any) -> float:
        """Return the mean number of decisions of random play from a state."""
        if state.is_terminal():
            return 0.0
        if state.is_chance_node():
            return sum(part * decisions(state.child(a)) for a, part in state.chance_outcomes())
        legal = state.legal_actions()
        return 1.0 + sum(decisions(state.child(action)) for action in legal) / len(legal)

    rollouts, game = 20_000, pyspiel.load_game("leduc_poker")
    root = game.new_initial_state()
    while root.is_chance_node():
        root.apply_action(root.legal_actions()[0])
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 10, False, 0, False)
    return clocked(lambda: bot.mcts_search(root), round(rollouts * decisions(root)))


def spiel_loop() -> Play:
    """OpenSpiel's states, driven from Python."""
    import pyspiel

    game, choose = pyspiel.load_game("leduc_poker"), chooser()

    def match() -> int:
        decisions, state = 0, game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                state.observation_tensor()
                decisions += 1
            state.apply_action(choose(legal))
        return decisions

    return matches(match)


def spiel_environment() -> Play:
    """OpenSpiel's environment in Python."""
    from open_spiel.python import rl_environment

    env, choose = rl_environment.Environment("leduc_poker"), chooser()

    def match() -> int:
        decisions, step = 0, env.reset()
        while not step.last():
            seen = step.observations
            step = env.step([choose(seen["legal_actions"][seen["current_player"]])])
            decisions += 1
        return decisions

    return matches(match)


def spiel_iterate(solver: str) -> Play:
    """OpenSpiel's solvers in C++."""
    import pyspiel

    made = getattr(pyspiel, solver)(pyspiel.load_game("leduc_poker"))
    return clocked(lambda: [made.evaluate_and_update_policy() for _ in range(10)], 10)


def spiel_nash_conv() -> Play:
    """OpenSpiel's NashConv of uniform play."""
    import pyspiel

    game = pyspiel.load_game("leduc_poker")
    policy = pyspiel.UniformRandomPolicy(game)
    return clocked(lambda: pyspiel.nash_conv(game, policy), 1)


def rlcard_loop() -> Play:
    """RLCard: card games in Python."""
    import rlcard

    env, choose = rlcard.make("leduc-holdem", config={"seed": 0}), chooser()

    def match() -> int:
        decisions, (state, _) = 0, env.reset()
        while not env.is_over():
            state, _ = env.step(choose(list(state["legal_actions"])))
            decisions += 1
        return decisions

    return matches(match)


def pettingzoo_aec() -> Play:
    """PettingZoo's own classic games."""
    from pettingzoo.classic import leduc_holdem_v4

    return turns(leduc_holdem_v4.env(), lambda seen, info: seen["action_mask"])


TURN = "`last`, choice, `step`; not `reset`"
SEATS = "both seats' observations, mask, rewards, restart"
BOTH = "both best responses"
STEP = "observation, mask, rewards, restart"
SOLVES = "both players' updates; not growing the tree"
WORKS: dict[str, tuple[Work, ...]] = {
    "tables": (
        Work(BATCH, "byteskille, 4,096 tables", STEP, kille_batch),
        Work(LOOP, "byteskille, batch of 1", f"choice, {STEP}", kille_loop),
        Work(AEC, "byteskille, AEC", TURN, kille_aec),
    ),
    "trees": (
        Work(CFR, "Leduc, CFR", SOLVES, partial(kille_iterate, "cfr")),
        Work(CFR_PLUS, "Leduc, CFR+", SOLVES, partial(kille_iterate, "cfr+")),
        Work(NASH_CONV, "Leduc, NashConv", f"{BOTH}; not growing the tree", kille_nash_conv),
    ),
    "Pgx": (
        Work(BATCH, "Kuhn, 4,096 tables", STEP, partial(pgx_batch, "kuhn_poker")),
        Work(BATCH, "Leduc, 4,096 tables", STEP, partial(pgx_batch, "leduc_holdem")),
    ),
    "EnvPool": (
        Work(BATCH, "Kuhn, 4,096 tables", SEATS, partial(envpool_batch, "KuhnPoker-v1", 4096)),
        Work(BATCH, "Leduc, 4,096 tables", SEATS, partial(envpool_batch, "LeducHoldem-v1", 4096)),
        Work(BATCH, "Leduc, 64 tables", SEATS, partial(envpool_batch, "LeducHoldem-v1", 64)),
    ),
    "OpenSpiel": (
        Work(BATCH, "Leduc, rollouts in C++", "choice, chance, new games; no observation",
             spiel_rollouts),
        Work(LOOP, "Leduc, `State`", "choice, chance, observation, new games", spiel_loop),
        Work(LOOP, "Leduc, `rl_environment`", "choice, `step` with both seats' views",
             spiel_environment),
        Work(CFR, "Leduc, CFR in C++", SOLVES, partial(spiel_iterate, "CFRSolver")),
        Work(CFR_PLUS, "Leduc, CFR+ in C++", SOLVES, partial(spiel_iterate, "CFRPlusSolver")),
        Work(NASH_CONV, "Leduc, NashConv in C++", f"{BOTH}, with the walk over the game",
             spiel_nash_conv),
    ),
    "RLCard": (
        Work(LOOP, "Leduc, `Env`", "choice, `step` with observation, new games", rlcard_loop),
    ),
    "PettingZoo": (Work(AEC, "Leduc, AEC", TURN, pettingzoo_aec),),
}  # fmt: skip
"""Workloads of each library, this suite first: the reference of ratios."""
NEEDS = {
    "tables": ("kille-env",),
    "trees": ("kille-env", "open_spiel"),
    "Pgx": ("pgx",),
    "EnvPool": ("envpool",),
    "OpenSpiel": ("open_spiel",),
    "RLCard": ("rlcard",),
    "PettingZoo": ("pettingzoo", "rlcard"),
}
"""Required distributions, the one with the reported version first."""


def serve(name: str, requests: TextIO, answers: TextIO) -> None:
    """Answer requests for measurements until the input ends."""

    def answer(value: object) -> None:
        print(json.dumps(value), file=answers, flush=True)

    try:
        versions = [version(needed) for needed in NEEDS[name]]
    except PackageNotFoundError as error:
        answer({"missing": str(error)})
        return
    answer({"version": versions[0]})
    ready: dict[int, Play] = {}
    for line in requests:
        number = int(line)
        if number not in ready:
            ready[number] = WORKS[name][number].prepare()
        answer(measured(ready[number]))


if __name__ == "__main__":
    with contextlib.suppress(AttributeError):  # not every system has it
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.argv[1], sys.stdin, own)
