"""`kille export-tree`: the exact tree of a deal for OpenSpiel and Gambit."""

from pathlib import Path
from typing import Any

import click

from kille_training.cli import console


@click.command(epilog="Example: kille export-tree byteskille deal.efg --rules fraga=off")
@console.game_argument
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--players", "num_players", type=int, default=2, show_default=True,
    help="Seats; 2 to 4 fit into memory.",
)  # fmt: skip
@console.rules_option
@click.option(
    "--memory", type=float, default=4.0, show_default=True, help="GiB that the tree may take."
)  # fmt: skip
@console.json_option
def export_tree(
    game: str,
    file: Path,
    num_players: int,
    rules: dict[str, Any],
    memory: float,
    as_json: bool,
) -> None:
    """Write the exact tree of a single deal of GAME to FILE, in Gambit's .efg format.

    Where a question can be granted, the tree is that of the first hand; the hands that follow are
    solved, and dealing again pays what they are worth.
    """
    from kille_training.solving.byteskille.export import export_efg

    found = export_efg(game, num_players, file, rules=rules, memory=memory)
    tree = found.efg.tree
    result = {
        "path": str(found.path),
        "nodes": tree.num_nodes,
        "information_sets": list(found.deal.first_stage.information_sets),
        "continuation": found.continuation.tolist(),
    }
    sets = " + ".join(f"{number:,}" for number in result["information_sets"])
    lines = [f"{tree.num_nodes:,} nodes and {sets} information sets are in {found.path}"]
    if found.later:
        units = ", ".join(f"{each:.6f}" for each in found.continuation)
        lines.append(f"Where the cards are dealt again, the seats get {units} units.")
    console.report(result, lines, as_json)
