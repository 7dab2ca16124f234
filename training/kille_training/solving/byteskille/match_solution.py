"""Solving a whole pot into a folder: the strategy as a player and in words, and what came out.

The folder holds what that of a deal does (`solution`), but no measurements on the way. strategy.md
has the states and who buys in, and like swaps.svg the first hand of the match.
"""

from collections.abc import Callable

from kille_agents.tabular import load_tabular_match, save_tabular_match
from kille_env.files import write_whole
from kille_training.solving.byteskille.deals import MEMORY_LIMIT
from kille_training.solving.byteskille.match_policies import match_strategy_of, match_table_of
from kille_training.solving.byteskille.match_solver import MatchProgress, solve_match
from kille_training.solving.byteskille.match_text import match_text
from kille_training.solving.byteskille.matches import build_match, match_nash_conv
from kille_training.solving.byteskille.solution import Folder, Solved, SolveSettings
from kille_training.solving.byteskille.text import swaps_of
from kille_training.solving.trees.cfr import VARIANTS


def solve_match_folder(
    folder: Folder,
    settings: SolveSettings,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[MatchProgress], None] | None = None,
) -> Solved:
    """Solves a match into a folder, or goes on where that was interrupted, or reads what came out.

    Args:
        folder: The folder.
        settings: What is to be solved; `iterations` does not count here.
        memory_limit: Bytes that the tree of a hand may take.
        progress: See `solve_match`.

    Raises:
        ConfigError: The folder holds something else, or what is broken.
        KilleError: The match or the tree of a hand is too large; nothing has been written then.
    """
    from kille_training.reports.plots import swap_heat_map  # slow to import

    if folder.path.exists():
        folder.begin(settings)
        if (found := folder.read()) is not None:
            return found
    rules, seats = settings.resolve(), settings.num_players
    match = build_match(seats, rules, memory_limit=memory_limit)
    folder.begin(settings)
    solution = solve_match(
        match,
        target=settings.target / match.pot,
        variant=VARIANTS[settings.method],
        keep=folder.match,
        progress=progress,
    )
    # States that are told apart by nothing are one in the match; a player may still see them.
    table = match_table_of(
        solution.strategy, match, folder.path.name, method=settings.method, target=settings.target
    )
    save_tabular_match(table, folder.policy)
    read = load_tabular_match(folder.policy, settings.game, seats, rules)
    strategy = match_strategy_of(read, match)
    measured = match_nash_conv(match, strategy)
    first = match.hands[match.states[0].hand].stage
    for name, content in (
        ("strategy.md", match_text(match, strategy, measured)),
        ("swaps.svg", swap_heat_map(swaps_of(strategy.hands[0], first))),
    ):
        write_whole(folder.path / name, content.encode())
    solved = Solved(
        nash_conv=measured.total,
        improvement=measured.improvement.tolist(),
        value=measured.values.tolist(),
        information_sets=[int(number) for number in match.information_sets],
        nodes=match.num_nodes,
        deals=first.num_deals,
        iterations=solution.iterations,
        seconds=round(solution.seconds, 2),
    )
    folder.write(solved)
    return solved
