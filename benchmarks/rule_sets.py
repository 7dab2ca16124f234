"""Draw and solve the held-out tables of the rule spaces: `configs/rules/held_out.jsonl`.

    python benchmarks/rule_sets.py

The tables of a space are the first distinct ones that its region "test" draws by `SEED`, in that
order, without dull ones: those at which nobody gains `DULL` against uniform play. Each is solved as
`kille solve` does by default. The file is written after each table; run it again to resume.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

import kille_training as kt
from kille_env.core.rule_space import RuleSpace
from kille_env.core.spec import Rules
from kille_env.files import write_whole
from kille_env.play.policy import resolve
from kille_env.registry import spec
from kille_env.rule_spaces import rule_space, rules_folder
from kille_training.evaluation.exact import exact_rows
from kille_training.evaluation.held_out import FILE
from kille_training.progress import ignore
from kille_training.solving.grow import build_deal

REGION, SEED = "test", 2026
DULL = 0.05
"""NashConv of uniform play, in units, below which a table is dull."""
COUNTS = {
    "krypkille-scores": {2: 38, 3: 14},
    "krypkille-all": {2: 22, 3: 6},
    "kungsholmskille": {2: 8},
    "femkortskille": {2: 8, 3: 3},
    "knack": {2: 6},
    "byteskille": {2: 18, 3: 7},
}
"""Tables of each space by number of seats: 100 with two, 30 with three."""
DIGITS = 6


def switches_of(rules: Rules) -> dict[str, Any]:
    """Return the preset of rules, and the switches that differ from it."""
    preset = str(rules["preset"])
    usual = spec(rules.game).resolve(preset, episode=rules["episode"])
    own = {name: value for name, value in rules.values.items() if usual[name] != value}
    return {"preset": preset, **own}


def drawn(space: RuleSpace, seats: int) -> Iterator[Rules]:
    """Yield distinct rules of the region in the order of the draw, each once."""
    pool, seen = len(space.rules(REGION)), set[Rules]()
    for rules in space.draw(50 * pool, SEED + seats, REGION):
        if rules not in seen:
            seen.add(rules)
            yield rules


def solved(space: RuleSpace, rules: Rules, seats: int) -> dict[str, Any] | None:
    """Solve a table and measure the solution, uniform play and the rule of thumb; None if dull."""
    deal = build_deal(seats, rules)

    def measured(policy: Any, play: str = "sampled") -> float:
        (row,) = exact_rows([policy], seats, rules, (play,), deal)
        return round(row.nash_conv, DIGITS)

    def player(name: str) -> Any:
        return resolve(name, rules.game, seats, rules)

    if (even := measured(player("uniform"))) < DULL:
        return None
    solution = kt.solve(rules.game, seats, rules=rules, observer=ignore)
    return {
        "set": f"{space.name}/{REGION}",
        "game": rules.game,
        "num_players": seats,
        "rules": switches_of(rules),
        "value": [round(value, DIGITS) + 0.0 for value in solution.value],
        "nash_conv": round(solution.nash_conv, DIGITS),
        "uniform": even,
        "rule_of_thumb": measured(player("rule_of_thumb")),
        "greedy": measured(solution.policy, "greedy"),
        "information_sets": sum(solution.information_sets),
    }


def main() -> None:
    """Draw and solve all tables that the file lacks."""
    path = rules_folder() / FILE
    known = path.read_text().splitlines() if path.exists() else []
    keys = ("set", "game", "num_players", "rules")
    done = {json.dumps([row[key] for key in keys]): row for row in map(json.loads, known)}
    rows = dict[str, dict[str, Any]]()
    for name, counts in COUNTS.items():
        space = rule_space(name)
        for seats, count in counts.items():
            found = 0
            for rules in drawn(space, seats):
                if found == count:
                    break
                about = [f"{name}/{REGION}", space.game, seats, switches_of(rules)]
                key, began = json.dumps(about), time.monotonic()
                row = done.get(key) or solved(space, rules, seats)
                if row is not None:
                    rows[key] = row
                    found += 1
                if key not in done:
                    took = f"{time.monotonic() - began:.1f} s"
                    print(*about, took, "dull" if row is None else row["greedy"], flush=True)
                    write(rows | done)
            if found < count:
                raise SystemExit(f"{name} has only {found} tables with {seats} seats")
    write(rows)


def write(rows: dict[str, dict[str, Any]]) -> None:
    """Write the file."""
    lines = (json.dumps(row) + "\n" for row in rows.values())
    write_whole(rules_folder() / FILE, "".join(lines).encode())


if __name__ == "__main__":
    main()
