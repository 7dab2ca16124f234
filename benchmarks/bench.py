"""`python benchmarks/bench.py`: how fast everything is on this machine."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from kille_env.files import write_whole
from kille_env.registry import list_games, spec
from kille_training.cli.console import report
from kille_training.cli.main import guarded
from kille_training.cli.options import json_option
from kille_training.results import TextTable
from speed.benches import BENCHES, measured
from speed.rows import Row, Spread, machine

SLOW = ("train", "seats", "cost", "solve")


@click.command(epilog="Example: python benchmarks/bench.py batch aec --players 4")
@click.argument("what", nargs=-1, type=click.Choice([*BENCHES, "all"]))
@click.option("--game", type=click.Choice(list_games()), default=list_games()[0], show_default=True)
@click.option("--players", type=int, help="Seats; the game's default if not given.")
@click.option(
    "--repeats", type=click.IntRange(1), default=5, show_default=True, help="Runs per figure."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for a file per WHAT."
)
@json_option
def bench(
    what: tuple[str, ...],
    game: str,
    players: int | None,
    repeats: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure WHAT; print medians and their spread.

    Without WHAT, everything is measured but `train`, `seats`, `cost` and `solve`:
    they take long.
    """
    names = list(BENCHES) if "all" in what else what or [n for n in BENCHES if n not in SLOW]
    seats = spec(game).check_players(players)
    about = machine()
    rows: list[Row] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr)
        found = list(measured(name, game, seats, repeats))
        rows += found
        if out:
            _write(out / f"{name}.json", about, found)
    measured_on = ", ".join(f"{name} {value}" for name, value in about.items())
    report(_result(about, rows), [_table(rows, game), measured_on], as_json)


def _result(about: dict[str, str], rows: Sequence[Row]) -> dict[str, object]:
    return {"machine": about, "rows": [asdict(row) for row in rows]}


def _write(file: Path, about: dict[str, str], rows: Sequence[Row]) -> None:
    """Writes what `docs/performance.py` makes tables of."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_result(about, rows), indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(file, f"{text}\n".encode())


def _table(rows: Sequence[Row], game: str) -> TextTable:
    cells = [
        (
            row.what,
            f"{row.value:.4g}",
            "" if row.low == row.high else f"{row.low:.3g} to {row.high:.3g}",
            row.unit,
            row.target,
            _times(row.times) if row.times else "",
        )
        for row in rows
    ]
    head = ["what", ">median", ">spread", "unit", "target", ">ours is faster by"]
    compared = any(row.times for row in rows)
    width = len(head) if compared else len(head) - 1
    title = f"Medians of several runs; of {game} where no game is named"
    return TextTable(title, head[:width], [line[:width] for line in cells])


def _times(times: Spread) -> str:
    median, low, high = times
    return f"{median:.3g} ({low:.3g} to {high:.3g})"


if __name__ == "__main__":
    sys.exit(guarded(bench, name="bench"))
