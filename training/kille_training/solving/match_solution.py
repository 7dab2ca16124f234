"""Solving a whole pot into a folder: the strategy as a player and in words, and what came out."""

from collections.abc import Callable

import numpy as np

from kille_agents.match_table import load_match_table, save_match_table
from kille_agents.network import write_whole
from kille_training.plots import position_names
from kille_training.solving.cfr import VARIANTS
from kille_training.solving.deals import MEMORY_LIMIT
from kille_training.solving.match_policies import match_strategy_of, match_table_of
from kille_training.solving.match_solver import MatchProgress, solve_match
from kille_training.solving.matches import (
    Match,
    MatchNashConv,
    MatchStrategy,
    build_match,
    match_nash_conv,
)
from kille_training.solving.solution import Folder, Solved, SolveSettings
from kille_training.solving.tell import hand_text, rules_told


def solve_match_folder(
    folder: Folder,
    settings: SolveSettings,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[MatchProgress], None] | None = None,
) -> Solved:
    """Solves a match into a folder, or reads what came out. Interrupted, it begins again.

    Args:
        folder: The folder.
        settings: What is to be solved; `iterations` does not count here.
        memory_limit: Bytes that the tree of a hand may take.
        progress: See `solve_match`.

    Raises:
        ConfigError: The folder holds something else, or what is broken.
        KilleError: The match or the tree of a hand is too large; nothing has been written then.
    """
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
        progress=progress,
    )
    # States that are told apart by nothing are one in the match; a player may still see them.
    table = match_table_of(
        solution.strategy, match, folder.path.name, method=settings.method, target=settings.target
    )
    save_match_table(table, folder.policy)
    read = load_match_table(folder.policy, settings.game, seats, rules)
    strategy = match_strategy_of(read, match)
    measured = match_nash_conv(match, strategy)
    text = _text(match, strategy, measured)
    write_whole(folder.path / "strategy.md", text.encode())
    solved = Solved(
        nash_conv=measured.total,
        improvement=measured.improvement.tolist(),
        value=measured.values.tolist(),
        information_sets=[int(number) for number in match.information_sets],
        nodes=match.num_nodes,
        deals=match.hands[match.states[0].hand].stage.num_deals,
        iterations=solution.iterations,
        seconds=round(solution.seconds, 2),
    )
    folder.write(solved)
    return solved


def _text(match: Match, strategy: MatchStrategy, measured: MatchNashConv) -> str:
    """The first hand of the match in words, and what the match is worth."""
    stage = match.hands[match.states[0].hand].stage
    lines = [
        f"# Byteskille, a whole pot with {match.num_players} seats",
        "",
        f"Rules: {rules_told(match.rules)}.",
        "",
        f"NashConv {measured.total:.2g} units, {measured.share:.2g} of the first pot: so much all "
        "seats together could still gain in the match, each by its best response.",
        "",
        f"{len(match.states):,} states at which a hand is dealt; {measured.hands:.1f} hands are to "
        "be expected.",
        "",
        "| seat | earns | could gain |",
        "|---|---|---|",
    ]
    for name, value, gain in zip(
        position_names(match.num_players), measured.values, measured.improvement, strict=True
    ):
        lines.append(f"| {name} | {value:+.6f} | {gain:.1g} |")
    lines += ["", "What follows is the first hand of the match.", ""]
    return "\n".join([*lines, *hand_text(np.asarray(strategy.hands[0]), stage)]) + "\n"
