"""Solves a single deal or a whole pot: what `kille solve` does, from Python."""

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.tabular import (
    load_tabular,
    load_tabular_match,
    save_tabular,
    save_tabular_match,
)
from kille_env.core.spec import Rules
from kille_env.errors import RulesError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_training.solving.byteskille.deal_solver import DealSolver
from kille_training.solving.byteskille.deals import TreeTooLargeError, build_deal, build_stage
from kille_training.solving.byteskille.match_build import build_match
from kille_training.solving.byteskille.match_policies import match_policy_of, match_strategy_of
from kille_training.solving.byteskille.match_solver import MatchProgress, solve_match
from kille_training.solving.byteskille.match_text import match_text
from kille_training.solving.byteskille.match_values import match_nash_conv
from kille_training.solving.byteskille.policies import nash_conv, policy_of, strategy_of
from kille_training.solving.byteskille.solution import (
    ITERATIONS,
    METHOD,
    DealProgress,
    FirstHand,
    Folder,
    Solution,
    Solved,
    SolveError,
    SolveSettings,
)
from kille_training.solving.byteskille.text import strategy_text
from kille_training.solving.trees.cfr import VARIANTS

MEMORY = 4.0
"""GiB that a tree may take by default."""

Observer = Callable[[DealProgress | MatchProgress], None]
"""Called after each measurement of a deal's hand, or each group of a match's states."""


def solve(
    game: str = "byteskille",
    num_players: int = 2,
    *,
    rules: Rules | str | Mapping[str, Any] | None = None,
    match: bool = False,
    target: float | None = None,
    iterations: int | None = None,
    method: str = METHOD,
    memory: float = MEMORY,
    out: str | Path | None = None,
    observer: Observer | None = None,
) -> Solution:
    """Solves a single deal, or a whole pot: finds an equilibrium and measures it exactly.

    With 2 seats nobody can beat the strategy. With more, no seat alone gains by leaving it.

        solution = solve("byteskille", 3, rules={"gok_call": "own_turn"})
        print(solution.nash_conv, solution.value)
        print(solution.text)

    Args:
        game: "byteskille", the only game of which there is an exact tree.
        num_players: Seats; 2 to 4 fit into memory, 2 or 3 in a match.
        rules: A preset, or switches, or resolved rules.
        match: Whether a whole pot is solved instead of a single deal.
        target: NashConv at which it is solved, in units per deal or match; the default is 1e-9,
            with 4 seats 1e-7, of a match 1e-4 of its pot.
        iterations: At most this many in each hand of a deal; the default is 100,000.
        method: "cfr", "cfr+", "dcfr" (discounted CFR) or "pcfr+" (predictive CFR+).
        memory: GiB that a tree may take.
        out: Folder in which the solution is kept, with checkpoints: an interrupted solution resumes
            there, a finished one is read. None keeps nothing.
        observer: Called with how far it has come; `describe()` of its argument is a line of text.

    Raises:
        SolveError: An argument does not work, or the folder holds something else.
        RulesError: The rules are impossible.
        KilleError: The match has too many states, or a file in the folder is broken.
    """
    settings = _settings(game, num_players, rules, match, target, iterations, method)
    solves = _solve_match if settings.rules["episode"] == "match" else _solve_deal
    if not memory > 0:
        raise SolveError("memory", f"expected a positive number of GiB, got {memory}")
    try:
        if out is not None:
            return solves(Folder(Path(out)), settings, int(memory * 2**30), observer)
        with tempfile.TemporaryDirectory() as place:
            folder = Folder(Path(place) / default_name(settings))
            return solves(folder, settings, int(memory * 2**30), observer)
    except TreeTooLargeError as error:
        raise SolveError("memory", str(error)) from None


def default_name(settings: SolveSettings) -> str:
    """Returns the name of a solution, which is also that of its policy and of its folder."""
    match = "-match" if settings.rules["episode"] == "match" else ""
    return f"solved-{settings.game}-{settings.num_players}{match}"


def first_hand_of(solution: Solution) -> FirstHand:
    """Returns the first hand of a solution; its tree is grown again if the solution was read."""
    if solution.first_hand is not None:
        return solution.first_hand
    seats, rules = solution.settings.num_players, solution.settings.resolve()
    if rules["episode"] == "match":
        match = build_match(seats, rules, memory_limit=sys.maxsize)
        stage = match.hands[match.states[0].hand].stage
        return FirstHand(match_strategy_of(solution.policy, match).hands[0], stage)
    stage = build_stage(seats, rules, memory_limit=sys.maxsize)
    return FirstHand(strategy_of(solution.policy, stage), stage)


def _settings(
    game: str,
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None,
    match: bool,
    target: float | None,
    iterations: int | None,
    method: str,
) -> SolveSettings:
    """Checks the arguments of `solve`."""
    episode = rules["episode"] if isinstance(rules, Rules) else None
    if isinstance(rules, Mapping):
        episode = rules.get("episode")
        if match and episode not in (None, "match"):
            raise SolveError("match", f"does not go with the rule episode={episode}")
    resolved = spec(game).resolve(rules, episode="match" if match else episode or "deal")
    if iterations is not None and resolved["episode"] == "match":
        raise SolveError("iterations", "is for the hands of a deal; a match ends at its target")
    try:
        seats = spec(game).check_players(num_players)
    except RulesError:
        found = spec(game)
        raise SolveError(
            "num_players",
            f"{game} is played by {found.min_players} to {found.max_players}, got {num_players}",
        ) from None
    return SolveSettings.of(
        seats, resolved, target, method=method,
        iterations=ITERATIONS if iterations is None else iterations,
    )  # fmt: skip


def _solve_deal(
    folder: Folder, settings: SolveSettings, memory_limit: int, observer: Observer | None
) -> Solution:
    """Solves a deal into a folder, or reads what is there."""
    seats, rules = settings.num_players, settings.resolve()
    if (found := _finished(folder, settings)) is not None:
        policy = load_tabular(folder.policy, settings.game, seats, rules)
        return _solution(folder, settings, found, policy)
    deal = build_deal(seats, rules, memory_limit=memory_limit)
    folder.begin(settings)
    solver = DealSolver(folder, settings, deal, observer)
    policy = policy_of(
        solver.solve(),
        deal,
        folder.path.name,
        method=settings.method,
        target=settings.target,
        iterations=solver.iterations,
    )
    # The written policy is measured: it sees a little less than the strategy knows.
    save_tabular(policy, folder.policy)
    policy = load_tabular(folder.policy, settings.game, seats, rules)
    measured = nash_conv(policy, deal)
    write_whole(folder.text, strategy_text(policy, deal, measured).encode())
    solved = Solved(
        nash_conv=measured.total,
        improvement=measured.improvement.tolist(),
        value=measured.values.tolist(),
        information_sets=np.sum([s.information_sets for s in deal.stages], axis=0).tolist(),
        nodes=sum(stage.tree.num_nodes for stage in deal.stages),
        deals=deal.stages[0].num_deals,
        iterations=solver.iterations,
        seconds=round(solver.seconds, 2),
    )
    folder.write(solved)
    first = FirstHand(strategy_of(policy, deal.stages[0]), deal.stages[0])
    return _solution(folder, settings, solved, policy, first)


def _solve_match(
    folder: Folder, settings: SolveSettings, memory_limit: int, observer: Observer | None
) -> Solution:
    """Solves a match into a folder, or reads what is there."""
    seats, rules = settings.num_players, settings.resolve()
    if (found := _finished(folder, settings)) is not None:
        policy = load_tabular_match(folder.policy, settings.game, seats, rules)
        return _solution(folder, settings, found, policy)
    match = build_match(seats, rules, memory_limit=memory_limit)
    folder.begin(settings)
    solution = solve_match(
        match,
        target=settings.target / match.pot,
        variant=VARIANTS[settings.method],
        checkpoint=folder.match,
        progress=observer,
    )
    policy = match_policy_of(
        solution.strategy, match, folder.path.name, method=settings.method, target=settings.target
    )
    # The written policy is measured, for the same reason.
    save_tabular_match(policy, folder.policy)
    policy = load_tabular_match(folder.policy, settings.game, seats, rules)
    strategy = match_strategy_of(policy, match)
    measured = match_nash_conv(match, strategy)
    write_whole(folder.text, match_text(match, strategy, measured).encode())
    stage = match.hands[match.states[0].hand].stage
    solved = Solved(
        nash_conv=measured.total,
        improvement=measured.improvement.tolist(),
        value=measured.values.tolist(),
        information_sets=[int(number) for number in match.information_sets],
        nodes=match.num_nodes,
        deals=stage.num_deals,
        iterations=solution.iterations,
        seconds=round(solution.seconds, 2),
    )
    folder.write(solved)
    return _solution(folder, settings, solved, policy, FirstHand(strategy.hands[0], stage))


def _finished(folder: Folder, settings: SolveSettings) -> Solved | None:
    """Returns the results that a folder of these settings holds, None if there are none."""
    if not folder.path.exists():
        return None
    folder.begin(settings)
    return folder.read()


def _solution(
    folder: Folder,
    settings: SolveSettings,
    solved: Solved,
    policy: Any,
    first_hand: FirstHand | None = None,
) -> Solution:
    return Solution(
        **asdict(solved),
        policy=policy,
        text=folder.text.read_text(encoding="utf-8"),
        settings=settings,
        progress=tuple(folder.read_progress()),
        first_hand=first_hand,
    )
