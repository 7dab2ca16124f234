"""Solve a single deal or a whole pot, as `kille solve` does."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kille_agents.tabular import TABULAR, load_tabular, save_tabular
from kille_env.core.spec import Rules
from kille_env.files import write_whole
from kille_training.progress import Bars
from kille_training.solving.byteskille.match_solving import (
    MatchProgress,
    greedy_match,
    match_nash_conv,
    match_policy_of,
    match_strategy_of,
    solve_match,
)
from kille_training.solving.byteskille.matches import MatchStrategy, build_match
from kille_training.solving.deal_solver import solve_deal
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import (
    greedy_of,
    nash_conv_of,
    policy_of,
    strategies_of,
)
from kille_training.solving.size import MEMORY_LIMIT
from kille_training.solving.solution import (
    TEXT,
    DealProgress,
    Folder,
    Found,
    Solution,
    Solved,
    SolveError,
    SolveSettings,
    default_name,
    settings_of,
)
from kille_training.solving.stages import Stage
from kille_training.solving.text import deal_text, match_text
from kille_training.solving.truth import named

Observer = Callable[[DealProgress | MatchProgress], None]
"""Callback after each measurement of a hand of a deal, or each group of states of a match."""


def solve(
    game: str = "byteskille",
    num_players: int | None = None,
    *,
    rules: Rules | str | Mapping[str, Any] | None = None,
    episode: str | None = None,
    target: float | None = None,
    iterations: int | None = None,
    method: str | None = None,
    memory: float = MEMORY_LIMIT / 2**30,
    out: str | Path | None = None,
    observer: Observer | None = None,
) -> Solution:
    """Compute an equilibrium of a single deal or a whole pot, and measure it exactly.

    With 2 seats the strategy is unbeatable. With more, no single seat gains by deviating. If its
    greedy version has no larger NashConv, that is the solution.

    Example:
        >>> import kille_training as kt
        >>> solution = kt.solve("byteskille", 2, rules={"fraga": "off"})
        >>> solution.nash_conv < 1e-8
        True

    Args:
        game: The game, or a table of the truth set. For the five-card games and Knack, only small
            tables fit into memory: their presets `tiny` and `small`.
        num_players: Seats; for Byteskille 2 to 4, with 16 GiB of `memory` 5, in a match 2 or 3.
            None is the game's default.
        rules: A preset, switches, or resolved rules.
        episode: "deal", or "match", a whole pot of Byteskille; None is that of `rules`, or "deal".
        target: Target NashConv, in units per deal or match; the default is 1e-9, with 4 seats 1e-7,
            for a match 1e-4 of its pot, for other games 1e-4 with 2 seats and 2e-3 with more.
        iterations: Maximum number in each hand of a deal; the default is 100,000.
        method: "cfr", "cfr+", "dcfr" (discounted CFR) or "pcfr+" (predictive CFR+); None is "dcfr"
            for Byteskille and "pcfr+" for other games.
        memory: Memory limit of a tree in GiB.
        out: Folder of the solution, with checkpoints of a deal. An interrupted solution resumes; a
            finished one is read, or refined if `target` is smaller or `iterations` larger. None
            stores nothing.
        observer: Callback with the progress; `describe()` of its argument is a line of text. None
            shows it in terminals and notebooks.

    Raises:
        SolveError: An argument is invalid, or the folder holds something else.
        RulesError: The rules are impossible.
        KilleError: The tree of the table does not fit into memory, the match has too many states,
            or a file in the folder is damaged.
    """
    if not isinstance(memory, (int, float)) or not memory > 0:
        raise SolveError("memory", f"expected a positive number of GiB, got {memory!r}")
    limit = int(memory * 2**30)
    game, num_players, rules = named(game, num_players, rules)
    settings = settings_of(game, num_players, rules, episode, target, iterations, method, limit)
    with ExitStack() as stack:
        if observer is None:
            observer = stack.enter_context(Bars()).described
        if out is not None:
            return _solve(Folder(Path(out)), settings, limit, observer)
        place = stack.enter_context(tempfile.TemporaryDirectory())
        folder = Folder(Path(place) / default_name(settings.table), checkpoints=False)
        return _solve(folder, settings, limit, observer)


class _Kind(NamedTuple):
    """A kind of game to solve: a deal with `trees` of type `DealStages`, or a `Match`."""

    build: Callable[..., Any]
    solve: Callable[[Any, SolveSettings, Folder, Observer | None], Found]
    policy_of: Callable[..., Any]
    strategy_of: Callable[[Any, Any], Any]
    greedy: Callable[[Any, Any], Any]
    nash_conv: Callable[[Any, Any], Any]
    text: Callable[[Any, Any, Any], str]


KINDS = {
    "deal": _Kind(
        build=build_deal,
        solve=solve_deal,
        policy_of=policy_of,
        strategy_of=strategies_of,
        greedy=greedy_of,
        nash_conv=nash_conv_of,
        text=deal_text,
    ),
    "match": _Kind(
        build=build_match,
        solve=lambda match, settings, _, observer: solve_match(
            match, target=settings.target / match.pot, progress=observer
        ),
        policy_of=match_policy_of,
        strategy_of=match_strategy_of,
        greedy=greedy_match,
        nash_conv=match_nash_conv,
        text=match_text,
    ),
}
"""Kinds of games to solve, by the rule `episode`."""


def _solve(
    folder: Folder, settings: SolveSettings, memory_limit: int, observer: Observer | None
) -> Solution:
    """Solve a deal or a match into a folder, or read a stored solution."""
    seats, rules, file = settings.num_players, settings.resolve(), folder.path / TABULAR
    if folder.path.exists():
        folder.check(settings)
        if folder.holds(settings) and (found := folder.read()) is not None:
            policy = load_tabular(file)
            return _solution(folder, settings, *found, policy)
    kind = KINDS[settings.rules["episode"]]
    trees = kind.build(seats, rules, memory_limit=memory_limit)
    folder.begin(settings)
    strategy, iterations, seconds, progress = kind.solve(trees, settings, folder, observer)
    made = {"method": settings.method, "target": settings.target}
    if rules["episode"] == "deal":
        made["iterations"] = iterations
    # Measure the stored policy: it sees observations, slightly less than information states.
    save_tabular(kind.policy_of(strategy, trees, folder.path.name, **made), file)
    policy = load_tabular(file)
    strategy = kind.strategy_of(policy, trees)
    measured = kind.nash_conv(strategy, trees)
    pure = kind.greedy(strategy, trees)
    if (without_mixing := kind.nash_conv(pure, trees)).total <= measured.total:
        save_tabular(kind.policy_of(pure, trees, folder.path.name, **made), file)
        policy = load_tabular(file)
        strategy, measured = pure, without_mixing
    write_whole(folder.path / TEXT, kind.text(strategy, trees, measured).encode())
    solved = Solved(
        nash_conv=measured.total,
        improvement=measured.improvement.tolist(),
        value=measured.values.tolist(),
        information_sets=list(trees.information_sets),
        nodes=trees.num_nodes,
        deals=trees.first_stage.num_deals,
        iterations=iterations,
        seconds=round(seconds, 2),
    )
    folder.write(solved, progress)
    hands: Any = strategy.hands if isinstance(strategy, MatchStrategy) else strategy
    first_hand = hands[0], trees.first_stage
    return _solution(folder, settings, solved, progress, policy, first_hand)


def _solution(
    folder: Folder,
    settings: SolveSettings,
    solved: Solved,
    progress: tuple[DealProgress, ...],
    policy: Any,
    first_hand: tuple[np.ndarray, Stage] | None = None,
) -> Solution:
    return Solution(
        **asdict(solved),
        policy=policy,
        text=(folder.path / TEXT).read_text(encoding="utf-8"),
        settings=settings,
        progress=progress,
        first_hand=first_hand,
    )
