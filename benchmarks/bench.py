"""Speed on this machine: `python benchmarks/bench.py [NAME ...]`.

Every figure is the median of several runs in one process, with its spread. Speeds of a shared
machine vary between runs, so compare ratios within one table rather than two tables.
"""

import argparse
import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from kille_env.files import write_whole
from kille_env.registry import list_games, spec
from markdown_tables import table
from speed.rows import Row, machine

BENCHES = {
    **dict.fromkeys(("batch", "games", "rules", "one", "shares"), "playing"),
    **dict.fromkeys(("aec", "gym", "start"), "playing"),
    **dict.fromkeys(("seats", "cost", "solve"), "learning"),
    "tournament": "tournament",
    "peers": "peers",
    "web": "web",
}
"""Benchmarks, and their modules of `speed`, imported on use."""
SLOW = ("seats", "cost", "solve", "tournament", "web")


def measured(name: str, game: str, players: int, repeats: int) -> list[Row]:
    """Return the rows of one of `BENCHES`."""
    print(f"measuring {name} ...", file=sys.stderr)
    module = importlib.import_module(f"speed.{BENCHES[name]}")
    return list(getattr(module, f"bench_{name}")(game, players, repeats))


def shown(rows: list[Row]) -> str:
    """Return rows as a table."""
    cells = [
        (
            row.what,
            f"{row.value:.4g}",
            f"{row.low:.3g} to {row.high:.3g}",
            row.unit,
            "{:.3g} ({:.3g} to {:.3g})".format(*row.times) if row.times else "",
        )
        for row in rows
    ]
    return table(("what", "median", "spread", "unit", "ours is faster by"), cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(BENCHES)}; all but the slow ones")
    parser.add_argument("--game", default=list_games()[0], choices=list_games())
    parser.add_argument("--players", type=int, help="seats; the game's default if not given")
    parser.add_argument("--repeats", type=int, default=5, help="runs per figure")
    parser.add_argument("--out", type=Path, help="folder for a file per name, as docs/data/bench")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHES):
        parser.error(f"nothing measures {unknown.pop()!r}; there are {', '.join(BENCHES)}")
    seats, about = spec(options.game).check_players(options.players), machine()
    for name in options.names or [name for name in BENCHES if name not in SLOW]:
        rows = measured(name, options.game, seats, options.repeats)
        print(shown(rows), "\n", flush=True)
        if options.out:
            found = {"machine": about, "rows": [asdict(row) for row in rows]}
            text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
            options.out.mkdir(parents=True, exist_ok=True)
            write_whole(options.out / f"{name}.json", f"{text}\n".encode())
    print(", ".join(f"{name} {value}" for name, value in about.items()))


if __name__ == "__main__":
    main()
