"""Tables and the picture of docs/benchmark.md, from the results in docs/data/benchmark.

`make benchmark` copies `results.jsonl` of each grid of `kille benchmark` there.
"""

from functools import cache, partial
from pathlib import Path

from blocks import table

from kille_training.learn.benchmark import Benchmark, Results, read_results, rows_of
from kille_training.learn.grid_plots import curves
from kille_training.settings import load

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "benchmark.md", DOCS / "data" / "benchmark"
CONFIGS = DOCS.parent / "configs" / "benchmark"
NOT_RUN = "Not run yet."
TASK = "krypkille-scores"
"""The task of the picture."""


@cache
def results(grid: str) -> Results:
    """Return the published runs of a grid; none if it has not been run."""
    path = DATA / f"{grid}.jsonl"
    return read_results(path) if path.is_file() else Results(())


def scores_table() -> str:
    """Return the final scores at the task of the picture."""
    found = results("rules")
    rows = rows_of(found, TASK)
    return table(("method", "rules", *found.values("budget")), rows) if rows else NOT_RUN


def by_task(grid: str) -> str:
    """Return the final scores of a grid with one budget, a column for each task."""
    found = results(grid)
    tasks = list(dict.fromkeys(line["task"] for line in found.lines))
    cells = {(*row[:2], task): row[2] for task in tasks for row in rows_of(found, task)}
    rows = dict.fromkeys(key[:2] for key in cells)
    body = [(*row, *(cells.get((*row, task), "") for task in tasks)) for row in rows]
    return table(("method", "rules", *tasks), body) if body else NOT_RUN


def done_table() -> str:
    """Return the share of each grid that has been run, and its CPU time."""
    rows = []
    for path in sorted(CONFIGS.glob("*.yaml")):
        runs = [line for line in results(path.stem).lines if "arm" in line]
        planned = sum(item.player is None for item in load(Benchmark, path).items(Path()))
        seconds = sum(run["points"][-1]["seconds"] for run in runs)
        command = f"`kille benchmark {path.stem}`"
        rows.append((command, f"{len(runs)} of {planned}", f"{seconds / 60:.0f}"))
    return table(("command", "runs published", "CPU minutes of learning"), rows)


BLOCKS = {
    PAGE: {
        "scores": scores_table,
        "spaces": partial(by_task, "spaces"),
        "fixed": partial(by_task, "fixed"),
        "done": done_table,
    }
}
FIGURES = (
    {DOCS / "benchmark.svg": lambda: curves(results("rules"), TASK)}
    if results("rules").lines
    else {}
)
