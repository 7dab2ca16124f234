"""Makes the table of docs/libraries.md from the results in docs/data.

    python docs/libraries.py            write it
    python docs/libraries.py --check    exit with 1 if it is stale

The results are what `benchmarks/libraries.py` has written; to publish others, copy its file from
`runs/` to `docs/data/`.
"""

import json
import statistics
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from blocks import filled, table, write

DOCS = Path(__file__).parent
PAGE = DOCS / "libraries.md"
RESULTS = DOCS / "data" / "libraries.jsonl"
FORMS = {
    "agilerl_ppo": ("every seat, `Collector`", "yes"),
    "jax_ppo": ("every seat, the batch in a scan", "yes"),
    "ppo": ("every seat, `collect`", "yes"),
    "rllib_ppo": ("every seat, `SelfPlayRunner`", "yes"),
    "sb3_dqn": ("one seat, live opponents", "no: an illegal action loses"),
    "sb3_maskable_ppo": ("every seat, `SeatStreamBuffer`", "yes"),
    "sb3_ppo": ("one seat, live opponents", "no: an illegal action loses"),
    "sb3_qrdqn": ("one seat, live opponents", "no: an illegal action loses"),
    "tianshou_dqn": ("every seat, `SeatCollector`", "yes"),
    "tianshou_ppo": ("every seat, `SeatCollector`", "yes"),
    "torchrl_ppo": ("one seat, live opponents, `SeatEnv`", "yes"),
}
"""How a recipe enters the environment, and who keeps its actions legal."""

Line = dict[str, Any]


def libraries_table(lines: list[Line]) -> str:
    """Returns what every recipe reached, by number of seats."""
    head = ("seats", "recipe", "library", "form", "masks", "decisions/s", "of the ceiling",
            "sampled", "greedy", "seconds", "seeds")  # fmt: skip
    measured = [line for line in lines if line["seed"]]
    measured.sort(key=_run)
    return table(head, [_row(list(runs)) for _, runs in groupby(measured, _run)])


def _run(line: Line) -> tuple[int, str]:
    return line["num_players"], line["recipe"]


def _row(runs: list[Line]) -> tuple[str, ...]:
    first = runs[0]
    library, version = next(iter(first["versions"].items()))
    speed = statistics.median(run["decisions"] / run["seconds"] for run in runs)
    free = statistics.median(1 - run["inside"] / run["seconds"] for run in runs)
    return (
        str(first["num_players"]),
        f"[{first['recipe']}](../training/recipes/{first['recipe']}.py)",
        f"{library} {version}",
        *FORMS[first["recipe"]],
        f"{speed:,.0f}",
        f"{free:.0%}",
        *(_middle([run[play] for run in runs]) for play in ("sampled", "greedy")),
        f"{statistics.median(run['seconds'] for run in runs):.0f}",
        str(len(runs)),
    )


def _middle(numbers: list[float]) -> str:
    low, middle, high = min(numbers), statistics.median(numbers), max(numbers)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def built() -> dict[Path, str]:
    """Returns what the page should hold."""
    lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return {PAGE: filled(PAGE, {"libraries": lambda: libraries_table(lines)})}


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv))
