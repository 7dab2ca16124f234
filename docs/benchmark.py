"""Tables and the picture of docs/benchmark.md, from the results in docs/data/benchmark.

`make benchmark` copies `results.jsonl` of each grid of `kille benchmark` there.
"""

from collections import Counter
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import fmean

from blocks import table

from kille_env import rule_space
from kille_training.evaluation.held_out import held_out
from kille_training.learn.benchmark import (
    ITSELF,
    MAIN,
    Benchmark,
    Line,
    Results,
    read_results,
    score_of,
)
from kille_training.learn.grid_plots import curves
from kille_training.settings import load

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "benchmark.md", DOCS / "data" / "benchmark"
CONFIGS = DOCS.parent / "configs" / "benchmark"
NOT_RUN = "Not run yet."
SEATS, WORST = 2, 5
TASK = "krypkille-scores"
"""The task of the picture."""
BY_TASK = ("spaces", "fixed")
"""The grids of which the page has a row per task."""


@cache
def results(grid: str) -> Results:
    """Return the published runs of a grid; none if it has not been run."""
    path = DATA / f"{grid}.jsonl"
    return read_results(path) if path.is_file() else Results(())


def scores_table(budget: str) -> str:
    """Return the final scores at the task of the picture with a budget, a column for each arm."""
    found = results("rules")
    methods, arms = found.values("method"), found.values("arm")
    cells = [[_cell(found.runs(TASK, name, arm, budget)) for arm in arms] for name in methods]
    return table(
        ("method", *arms), [(name, *row) for name, row in zip(methods, cells, strict=True)]
    )


def references() -> str:
    """Return the scores of players that do not learn over the space, in a sentence."""
    players = results("rules").players(TASK)
    return "Beside them " + ", ".join(f"`{x['method']}` {_cell([x], 3)}" for x in players) + "."


def _cell(runs: list[Line], digits: int = 2) -> str:
    """Return "0.52 (0.49 to 0.56)", the interval only of several seeds."""
    if not runs:
        return ""
    found = score_of(runs)
    ends = f" ({found.low:.{digits}f} to {found.high:.{digits}f})" if len(runs) > 1 else ""
    return f"{found.value:.{digits}f}{ends}"


def worst_table() -> str:
    """Return the held-out tables where the best method ends furthest from an equilibrium."""
    found, budget = results("rules"), results("rules").values("budget")[0]
    runs = {name: found.runs(TASK, name, MAIN, budget) for name in found.values("method")}
    best = min((name for name in runs if runs[name]), key=lambda name: score_of(runs[name]).value)
    known = [each for each in held_out(f"{TASK}/test") if each.table.num_players == SEATS]
    shares = [fmean(run["tables"][str(at + 1)] for run in runs[best]) for at in range(len(known))]
    rows = []
    for share, each in sorted(zip(shares, known, strict=True), key=lambda x: -x[0])[:WORST]:
        rules, usual = each.table.rules, rule_space(TASK).base
        own = [f"{name}={rules[name]}" for name in rule_space(TASK).vary]
        own = [f"`{x}`" for x in own if x not in {f"{name}={usual[name]}" for name in usual.values}]
        rows.append((f"{share:.2f}", f"{each.uniform:.1f}", f"{each.greedy:.2f}", ", ".join(own)))
    near, far = (sum(share < x for share in shares) for x in (0.1, 0.5))
    said = (
        f"`{best}`, told: {near} of {len(shares)} tables below 0.1, {len(shares) - far} above 0.5."
    )
    head = ("share", "NashConv of uniform play, points", "mixing is worth", "rules")
    return f"{said} The worst:\n\n{table(head, rows)}"


def by_task(grid: str, budget: str) -> str:
    """Return the final scores of a grid with a budget: a row per task and arm, by method."""
    found = results(grid)
    methods = found.values("method")
    tasks, arms = dict.fromkeys(line["task"] for line in found.lines), found.values("arm")
    body = [
        (f"{task}, {arm}" if arms[1:] else task, *(
            _cell(found.runs(task, x, arm, budget)) for x in methods
        ))
        for task in tasks
        for arm in arms
    ]  # fmt: skip
    return table(("task", *methods), body) if body else NOT_RUN


def ranks() -> str:
    """Return the methods that are most often first and last, in a sentence."""
    first, last = Counter[str](), Counter[str]()
    for grid in ("rules", *BY_TASK):
        found = results(grid)
        tasks = dict.fromkeys(line["task"] for line in found.lines)
        for task, arm, budget in product(tasks, found.values("arm"), found.values("budget")):
            runs = {name: found.runs(task, name, arm, budget) for name in found.values("method")}
            scores = {name: float(score_of(some).value) for name, some in runs.items() if some}
            if not scores:
                continue
            first[min(scores, key=scores.__getitem__)] += 1
            last[max(scores, key=scores.__getitem__)] += 1
    if min(len(first), len(last)) < 2:
        return NOT_RUN
    of = f"of {first.total()} comparisons (a task, an arm and a budget)"
    (one, often), (other, also) = first.most_common(2)
    (worst, most), (next_worst, more) = last.most_common(2)
    return (
        f"With these settings and budgets, `{one}` or `{other}` is first in {often + also} {of}, "
        f"`{worst}` or `{next_worst}` last in {most + more}."
    )


def done_table() -> str:
    """Return the share of each grid that has been run, and its CPU time."""
    rows = []
    for path in sorted(CONFIGS.glob("*.yaml")):
        runs = [line for line in results(path.stem).lines if "arm" in line]
        items = load(Benchmark, path).items(Path())
        planned = sum(x.player is None and ITSELF not in x.folder.parts for x in items)
        seconds = sum(run["points"][-1]["seconds"] for run in runs)
        command = f"`kille benchmark {path.stem}`"
        rows.append((command, f"{len(runs)} of {planned}", f"{seconds / 60:.0f}"))
    return table(("command", "runs published", "CPU minutes of learning"), rows)


BLOCKS = {
    PAGE: {
        "decisions": partial(scores_table, "decisions"),
        "seconds": partial(scores_table, "seconds"),
        "references": references,
        "worst": worst_table,
        "ranks": ranks,
        **{
            f"{grid} {budget}": partial(by_task, grid, budget)
            for grid in BY_TASK
            for budget in ("decisions", "seconds")
        },
        "done": done_table,
    }
}
FIGURES = {DOCS / "benchmark.svg": lambda: curves(results("rules"), TASK)}
