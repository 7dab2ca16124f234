"""The table of docs/rule_spaces.md, from the published held-out tables."""

from pathlib import Path
from statistics import median

from blocks import table

from kille_env.rule_spaces import list_rule_spaces
from kille_training.evaluation.held_out import HeldOutTable, held_out

PAGE = Path(__file__).parent / "rule_spaces.md"


def sets() -> str:
    """Return the figures of each set by number of seats."""
    rows = []
    for name in list_rule_spaces():
        tables = held_out(f"{name}/test")
        for seats in sorted({each.table.num_players for each in tables}):
            rows.append(_line(name, seats, [t for t in tables if t.table.num_players == seats]))
    head = ("space", "seats", "tables", "information sets", "uniform", "rule of thumb")
    return table((*head, "solution", "mixing is worth", "at most"), rows)


def _line(name: str, seats: int, tables: list[HeldOutTable]) -> tuple[str, ...]:
    sets = [each.information_sets for each in tables]
    size = " to ".join(dict.fromkeys(f"{number:,}" for number in (min(sets), max(sets))))
    mid = [median(getattr(each, by) for each in tables) for by in ("uniform", "rule_of_thumb")]
    largest = max(each.nash_conv for each in tables)
    mixing = [each.greedy for each in tables]
    return (
        f"[`{name}`](../configs/rules/{name}.yaml)", str(seats), str(len(tables)), size,
        *(f"{value:.2f}" for value in mid), f"{largest:.0e}", f"{median(mixing):.3f}",
        f"{max(mixing):.2f}",
    )  # fmt: skip


BLOCKS = {PAGE: {"sets": sets}}
