"""One run of the benchmark: a method learns at a table, and is measured on the way.

A run is a file `METHOD/TABLE/SEED.jsonl` in the grid's folder: its settings, then one line per
checkpoint. The file is replaced as a whole after each checkpoint. A finished run is never repeated;
one that was interrupted begins again, because it takes minutes. Beside the file, the folder
`METHOD/TABLE/SEED` holds the policy at the end.

Only the method's own work counts as its budget: measuring stops the clock, and each process makes
an update of the method at the table before its first run of both.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from kille_agents.greedy import PLAYS
from kille_agents.population import population
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.play.policy import Player, resolve
from kille_env.registry import Table, spec
from kille_training.benchmark.grid import RunSettings
from kille_training.benchmark.tables import measured_exactly, table_named
from kille_training.evaluation.duplicate import Estimate, payoff
from kille_training.evaluation.exact import exact_rows
from kille_training.learn.best_response import best_response
from kille_training.learn.method import Learner, method_named, save_policy, settings_of

DEALS_SEED = 314_159
"""Seed of the deals that players are measured over, which no method learns from."""
DIGITS = 6
"""Decimals of results in the files."""


def path_of(folder: Path, run: RunSettings) -> Path:
    """Returns the file of a run."""
    name = "player" if run.seed is None else str(run.seed)
    return folder / run.method.replace("/", "_") / run.table / f"{name}.jsonl"


def is_finished(folder: Path, run: RunSettings) -> bool:
    """Returns whether a run has been done.

    Raises:
        ConfigError: The folder holds the same run with other settings.
    """
    path = path_of(folder, run)
    if not path.is_file():
        return False
    header, *points = read_run(path)
    if header["run"] != _header(run)["run"]:
        raise ConfigError(
            f"{path} is a run with other settings; remove it, or choose another folder with --out"
        )
    return bool(points) and points[-1]["share"] == 1


def read_run(path: Path) -> list[dict[str, Any]]:
    """Returns the lines of a run: its settings, then its checkpoints.

    Raises:
        ConfigError: The file is broken.
    """
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise ConfigError(f"{path} cannot be read: {error}. Delete it, and run again") from None


def do_run(folder: Path, run: RunSettings) -> Path:
    """Does a run from its beginning; returns its file."""
    path, table = path_of(folder, run), table_named(run.table)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [_header(run)]
    for point in _points(run, table, path.with_suffix("")):
        lines.append(point)
        text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)
        write_whole(path, text.encode())
    return path


def _header(run: RunSettings) -> dict[str, Any]:
    version = spec(table_named(run.table).game).version
    return {"game_version": version, "run": json.loads(json.dumps(asdict(run)))}


def _points(run: RunSettings, table: Table, policy: Path) -> Iterator[dict[str, Any]]:
    """Yields what is found at each checkpoint, and saves the policy at the end."""
    if run.seed is None:
        player = resolve(run.method, table.game, table.num_players, table.rules)
        yield {"share": 1.0} | _measured(player, run.table) | _played(player, table, run)
        return
    shares = list(run.checkpoints)
    for share, seconds, wall, learner in _learn(run, run.seed, table):
        done = share >= 1.0
        while shares and share >= shares[0]:
            reached = shares.pop(0)  # an update may pass several
            if not shares or share < shares[0]:
                player = learner.policy(run.method)
                found = _measured(player, run.table)
                if done:
                    found |= _played(player, table, run)
                    save_policy(player, policy)
                spent = {"seconds": round(seconds, 3), "wall_seconds": round(wall, 3)}
                yield {"share": reached, "decisions": learner.decisions, **spent, **found}


def _learn(
    run: RunSettings, seed: int, table: Table
) -> Iterator[tuple[float, float, float, Learner]]:
    """Yields the share of the budget, processor and wall seconds, and the learner."""
    _warm_up(run.method, run.table)
    used = wall = 0.0
    decisions = 0
    began, began_wall = time.process_time(), time.perf_counter()

    def spent() -> float:
        """Returns the share of the budget that is used; the method may ask at any time."""
        now = used + time.process_time() - began
        shares = (now / run.seconds if run.seconds else 0.0, decisions / (run.decisions or 1e30))
        return min(1.0, max(shares))

    learner = begin(run.method, table, seed, run.settings)
    while True:
        learner.update(lambda: 1.0 - spent())
        decisions = learner.decisions
        share = spent()
        used += time.process_time() - began
        wall += time.perf_counter() - began_wall
        yield share, used, wall, learner
        if share >= 1.0:
            return
        began, began_wall = time.process_time(), time.perf_counter()


def begin(method: str, table: Table, seed: int, settings: Mapping[str, Any]) -> Learner:
    """Returns a learner before its first update."""
    return method_named(method).Learner(table, seed, settings_of(method, settings))


@cache
def _warm_up(method: str, table: str) -> None:
    """Makes an update that counts for no run.

    What a method imports, compiles or builds once in a process is there afterwards.
    """
    begin(method, table_named(table), 0, {}).update(lambda: 1.0)


def _measured(player: Player, name: str) -> dict[str, Any]:
    """Returns NashConv in stakes by way to play, where it can be computed exactly."""
    found: dict[str, Any] = {}
    if measured_exactly(name):
        table = table_named(name)
        for row in exact_rows(player, table.num_players, table.rules, PLAYS):
            numbers = {
                "nash_conv": round(row.stakes, DIGITS),
                "gain": [round(gain / row.stake, DIGITS) for gain in row.improvement],
                "value": [round(value, DIGITS) for value in row.value],
            }
            plays = PLAYS if row.play not in PLAYS else (row.play,)
            found |= dict.fromkeys(plays, numbers)
    return found


def _played(player: Player, table: Table, run: RunSettings) -> dict[str, Any]:
    """Returns units per deal against others, and what a best response learns to gain."""
    found: dict[str, Any] = {}
    if run.deals:
        against = ("rule_of_thumb", *population(table.game, "held_out"))
        found["units"] = {name: _units(player, name, table, run.deals) for name in against}
    if run.response and not measured_exactly(run.table):
        response = best_response(
            player, table.game, table.num_players,
            rules=table.rules, decisions=run.response, seeds=1, deals=run.deals,
        )  # fmt: skip
        found["response"] = {
            "total": _rounded(response.total),
            "gain": [_rounded(gain) for gain in response.gains],
        }
    return found


def _units(player: Player, against: str, table: Table, deals: int) -> list[float]:
    """Returns mean, low and high of what a player earns, in units per deal."""
    seats, rules = table.num_players, table.rules
    opponent = resolve(against, table.game, seats, rules)
    return _rounded(payoff(player, opponent, seats, rules, deals=deals, seed=DEALS_SEED).estimate)


def _rounded(found: Estimate) -> list[float]:
    """Returns mean, low and high."""
    return [round(value, DIGITS) for value in (found.mean, found.low, found.high)]
