"""Solves the certified tables, writes their files and the block of docs/solutions.md.

    python docs/certificates/make.py

The files are the same on every machine.
"""

import gzip
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from check import check

import kille_training as kt
from kille_env.registry import Table

sys.path.append(str(Path(__file__).parents[1]))

from blocks import filled, table, write

HERE = Path(__file__).parent
PAGE = HERE.parent / "solutions.md"

TABLES: dict[str, tuple[str, int, Any]] = {
    "byteskille-2": ("byteskille", 2, {"fraga": "off"}),
    "byteskille-wikipedia-2": ("byteskille", 2, "wikipedia"),
    "byteskille-3": ("byteskille", 3, "wikipedia"),
    "krypkille-2": ("krypkille", 2, {"preset": "tiny", "pack": "BL+L4+L8+KI"}),
    "kungsholmskille-2": ("kungsholmskille", 2, {"preset": "tiny", "pack": "BL+L8+KI"}),
    "femkortskille-2": ("femkortskille", 2, {"preset": "tiny", "pack": "BL+L8+KI"}),
    "knack-2": ("knack", 2, {"pack": "QH+KH+AH+JS+QS+KS+AS"}),
}
"""Game, seats and rules of each certified table, by the name of its files."""

TARGET = 1e-6


def certify(name: str) -> None:
    """Solve a table and writes its two files."""
    game, seats, rules = TABLES[name]
    solution = kt.solve(game, seats, rules=rules, target=TARGET, method="pcfr+")
    exported = kt.export_efg(game, seats, HERE / f"{name}.efg", rules=rules)
    exported.write_policy(solution.policy)
    if seats > 2:  # what a seat knows stands at every node
        numbers = list(map(str, range(exported.efg.tree.num_infosets)))
        replace(exported.efg, names=numbers).write(exported.path)
    packed = gzip.compress(exported.path.read_bytes(), mtime=0)
    (HERE / f"{name}.efg.gz").write_bytes(packed)
    exported.path.unlink()


def certificates() -> str:
    """The table of what the files say."""
    head = ("files", "table", "forehand", "second", "third", "could gain", "NashConv")
    rows = []
    for name, (game, seats, rules) in TABLES.items():
        values, best = check(str(HERE / f"{name}.efg.gz"), str(HERE / f"{name}.policy"))
        gains = [most - value for most, value in zip(best, values, strict=True)]
        rows.append(
            (
                f"`{name}`", str(Table.of(game, seats, rules=rules)), *map(number, values),
                *[""] * (3 - seats), ", ".join(map(number, gains)), number(sum(gains)),
            )
        )  # fmt: skip
    return table(head, rows)


def number(value: Any) -> str:
    """Return a fraction as text, with few digits only if it has many."""
    text = str(value)
    return text if len(text) <= 16 else f"{float(value):.9g}"


if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        print(name, file=sys.stderr)
        certify(name)
    sys.exit(write({PAGE: filled(PAGE, {"certificates": certificates}, whole=False)}, check=False))
