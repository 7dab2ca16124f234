"""Draw and solve the held-out tables of the rule spaces: `configs/rules/held_out.jsonl`.

    python benchmarks/rule_sets.py

The tables of a space are the first that its region "test" draws by `SEED`, in that order, without

- dull ones, at which nobody gains `DULL` against uniform play,
- those that are the same game as an earlier one, because switches in which they differ do nothing,
- those that are the same game as training rules that differ in one switch.

Each is solved to NashConv of 1e-4 with two seats and 2e-3 with more, the defaults of `kille solve`
except for Byteskille, where some tables take many minutes to 1e-9. The file is written after each
table; run it again to resume.
"""

import json
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

import kille_training as kt
from kille_env.core.rule_space import TRAIN, RuleSpace
from kille_env.core.spec import Rules
from kille_env.files import write_whole
from kille_env.play.policy import resolve
from kille_env.registry import spec
from kille_env.rule_spaces import rule_space, rules_folder
from kille_training.evaluation.exact import exact_rows
from kille_training.evaluation.held_out import FILE
from kille_training.progress import ignore
from kille_training.solving.grow import build_deal, build_deals, shape_of
from kille_training.solving.size import count_ends
from kille_training.solving.solution import MIXED_TARGETS
from kille_training.solving.stages import DealStages

REGION, SEED = "test", 2026
DULL = 0.05  # NashConv of uniform play, in units, below which a table is dull
COUNTS = {
    "krypkille-scores": {2: 40, 3: 19},
    "krypkille-all": {2: 22, 3: 4},
    "kungsholmskille": {2: 8},
    "femkortskille": {2: 6},
    "knack": {2: 4},
    "byteskille": {2: 20, 3: 7},
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


def digest(deal: DealStages) -> str:
    """Return a digest of a game: its tree, actions and payoffs."""
    found = sha256()
    for stage in (deal.first_stage, deal.stages[-1]):
        tree = stage.tree
        paid = tree.payoff[tree.ends[:, -1]].round(9) + 0.0
        last = np.ascontiguousarray(tree.ends[:, :-1])
        for array in (tree.player, tree.first, tree.before, tree.chance, last, paid, stage.masks):
            found.update(array.tobytes())
    return found.hexdigest()


def beside(space: RuleSpace, rules: Rules, seats: int) -> Iterator[Rules]:
    """Yield training rules that differ in one switch, with trees of about the same size."""
    size = count_ends(seats, rules)
    for switch, values in space.vary.items():
        for value in values:
            other = spec(rules.game).resolve({**rules.values, switch: value})
            if space.region_of(other) == TRAIN and count_ends(seats, other) < 4 * size:
                yield other


def digests(seats: int, rules: Sequence[Rules]) -> set[str]:
    """Return the digests of the games of rules; see `digest`."""
    groups = dict[Rules, list[Rules]]()
    for one in rules:
        groups.setdefault(shape_of(one), []).append(one)
    return {digest(deal) for group in groups.values() for deal in build_deals(seats, group)}


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
    target = MIXED_TARGETS[seats > 2]
    solution = kt.solve(rules.game, seats, rules=rules, target=target, observer=ignore)
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
            found, games = 0, set[str]()
            for rules in drawn(space, seats):
                if found == count:
                    break
                about = [f"{name}/{REGION}", space.game, seats, switches_of(rules)]
                key, began = json.dumps(about), time.monotonic()
                row, game = done.get(key), digest(build_deal(seats, rules))
                if row is None and game not in games | digests(
                    seats, list(beside(space, rules, seats))
                ):
                    row = solved(space, rules, seats)
                if row is not None:
                    games.add(game)
                    rows[key] = row
                    found += 1
                if key not in done:
                    took = f"{time.monotonic() - began:.1f} s"
                    print(*about, took, "left out" if row is None else row["greedy"], flush=True)
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
