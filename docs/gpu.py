"""Makes the tables of docs/gpu.md from what `benchmarks/gpu.py` has measured.

python docs/gpu.py            write them
python docs/gpu.py --check    exit with 1 if they are stale
"""

import json
import sys
from pathlib import Path
from typing import Any

from blocks import filled, table, write

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "gpu.md", DOCS / "data" / "gpu.jsonl"


def rows(part: str) -> list[dict[str, Any]]:
    """Returns what was measured of a part."""
    lines = map(json.loads, DATA.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["part"] == part]


def millions(rate: float) -> str:
    """Returns decisions per second as millions, with three digits."""
    return f"{rate / 1e6:,.{max(0, 3 - len(str(int(rate / 1e6))))}f}"


def steps() -> str:
    """Returns the rates of the games, and of Pgx's, by the number of tables."""
    own, others = rows("steps"), rows("pgx")
    sizes = sorted({row["tables"] for row in own})
    found = {(row["game"], row["tables"]): millions(row["rate"]) for row in own + others}
    games = dict.fromkeys(row["game"] for row in own + others)
    core = {row["game"]: millions(row["core_rate"]) for row in own}
    head = ("M decisions/s", *(f"{size:,}" for size in sizes), "one CPU core, 4,096")
    return table(
        head,
        [
            (game, *(found.get((game, size), "") for size in sizes), core.get(game, ""))
            for game in games
        ],
    )


def train() -> str:
    """Returns what PPO reaches on both."""
    head = ("device", "tables", "seconds", "decisions", "decisions/s", "NashConv, units")
    return table(
        head,
        [
            (
                f"`--device {row['device']}`",
                f"{row['tables']:,}",
                f"{row['seconds']:.0f}",
                f"{row['decisions'] / 1e6:.1f} M",
                f"{row['decisions'] / row['seconds'] / 1e6:.2f} M",
                f"{row['nash_conv']:.4f}",
            )
            for row in sorted(rows("train"), key=lambda row: row["device"])
        ],
    )


def machine() -> str:
    """Returns what a table and the first step take, and what was measured on."""
    row = rows("steps")[0]
    sizes = [each["table_bytes"] for each in rows("steps")]
    cold, warm = ([each[f"{kind}_seconds"] for each in rows("start")] for kind in ("cold", "warm"))
    versions = ", ".join(f"{name} {row[name]}" for name in ("numba", "numba-cuda", "numpy"))
    return (
        f"A table takes {min(sizes):,} to {max(sizes):,} bytes. The first step takes "
        f"{min(cold):.0f} to {max(cold):.0f} s where nothing is compiled, later "
        f"{min(warm):.1f} to {max(warm):.1f} s.\nMeasured on one {row['gpu']}: {versions}, "
        f"pgx {rows('pgx')[0]['pgx']}."
    )


def built() -> dict[Path, str]:
    """Returns what the page should hold."""
    blocks = {"steps": steps, "train": train, "machine": machine}
    return {PAGE: filled(PAGE, blocks)}


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv[1:]))
