"""Speed of steps against another checkout: `python benchmarks/steps.py --before CHECKOUT`.

Each checkout measures itself (`bench.py games`) in its own processes with its own cache of kernels.
The two alternate, so that slow minutes of the machine affect both. Ratios compare figures of the
same turn; the first turn compiles and does not count.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from markdown_tables import table

HERE = Path(__file__).parents[1]


def rates(checkout: Path, cache: Path) -> dict[str, float]:
    """Return million decisions per second of a checkout, measured now."""
    rooms = os.pathsep.join(str(checkout / room) for room in (".", "agents", "training"))
    environment = os.environ | {"PYTHONPATH": rooms, "KILLE_CACHE_DIR": str(cache)}
    words = ["games", "--repeats", "1", "--out", str(cache)]
    command = [sys.executable, str(checkout / "benchmarks" / "bench.py"), *words]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    rows = json.loads((cache / "games.json").read_text(encoding="utf-8"))["rows"]
    return {row["what"]: row["value"] for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="folder of the other checkout")
    parser.add_argument("--turns", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkouts = {"before": options.before.resolve(), "now": HERE}
        turns = [
            {name: rates(path, Path(folder) / name) for name, path in checkouts.items()}
            for _ in range(1 + options.turns)
        ][1:]
    before, now = (pd.DataFrame([turn[name] for turn in turns]) for name in checkouts)
    ratio = now / before
    shown = zip(
        before.median(), now.median(), ratio.median(), ratio.min(), ratio.max(), strict=True
    )
    rows = [
        (what, f"{then:.2f}", f"{rate:.2f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}")
        for what, (then, rate, middle, low, high) in zip(now.columns, shown, strict=True)
    ]
    print(table(("M decisions/s of", "before", "now", "faster by", "spread"), rows))


if __name__ == "__main__":
    main()
