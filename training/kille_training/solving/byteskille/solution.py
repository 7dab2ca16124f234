"""Solving a deal into a folder: interrupted and gone on with, and what the folder holds at the end.

runs/NAME/
  settings.json     what is solved, and how
  progress.csv      NashConv of each hand while it was solved
  policy.npz        the strategy as a player, see `kille_agents.tabular`
  strategy.md       the strategy for people
  swaps.svg         when it swaps, by card and position
  convergence.svg   NashConv over the iterations
  solution.json     what came out; it is written last

Until then `hands.npz` holds the hands that are solved, and `hand-K.npz` how far the one after K
granted questions has come. A whole pot (`match_solution`) has no progress, no convergence and
nothing to go on with.
"""

import io
import json
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.tabular import TABULAR, TabularPolicy, load_tabular, save_tabular
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_training.learning.metrics import Table
from kille_training.solving.byteskille.deals import MEMORY_LIMIT, DealStages, Stage, build_deal
from kille_training.solving.byteskille.policies import nash_conv, strategy_of, table_of
from kille_training.solving.trees.cfr import CFR, VARIANTS
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import NashConv
from kille_training.solving.trees.values import nash_conv as nash_conv_of_tree

MATCH_TARGET = 1e-4
"""NashConv at which a whole pot counts as solved, as a share of the pot."""

METHOD, ITERATIONS = "dcfr", 100_000
TARGETS = {2: 1e-9, 3: 1e-9}
"""NashConv by seats at which a deal counts as solved, unless told otherwise."""

TARGET = 1e-7
"""The same for tables that `TARGETS` does not name: a larger tree takes longer."""

SAVE_SECONDS = 20.0
"""How often a hand that is being solved is saved."""

PROGRESS = ("granted", "iteration", "seconds", "nash_conv")
"""Columns of progress.csv; `granted` is how many questions were granted before the hand."""

Progress = Callable[[int, int, float, float], None]
"""Is told the columns of progress.csv after each measurement."""


@dataclass(frozen=True)
class SolveSettings:
    """What is solved, and how.

    Attributes:
        game: The game.
        game_version: Its version.
        num_players: Seats.
        rules: Every switch with its value.
        target: NashConv at which it is solved, in units a deal or a match.
        method: A name of `VARIANTS`.
        iterations: At most so many in each hand.
    """

    game: str
    game_version: int
    num_players: int
    rules: Mapping[str, Any]
    target: float
    method: str = METHOD
    iterations: int = ITERATIONS

    @classmethod
    def of(
        cls, num_players: int, rules: Rules, target: float | None = None, **how: Any
    ) -> "SolveSettings":
        """Returns settings for a table, which is checked; a target of None is the usual one.

        Raises:
            KilleError: It is no table of which there is a tree, or cannot be solved so.
        """
        if rules.game != "byteskille":
            raise KilleError(
                f"there is no exact tree of {rules.game}; kille solve knows byteskille. What a "
                f"player of {rules.game} earns, kille evaluate measures"
            )
        game = spec(rules.game)
        if target is None and rules["episode"] == "match":
            target = MATCH_TARGET * rules.number("stake") * num_players
        elif target is None:
            target = TARGETS.get(num_players, TARGET)
        found = cls(game.name, game.version, num_players, rules.as_dict(), target, **how)
        if found.method not in VARIANTS:
            raise KilleError(f"method is {found.method!r}, expected one of {', '.join(VARIANTS)}")
        if not 0.0 < found.target < float("inf"):
            raise KilleError(f"target is {found.target!r}, expected a positive number")
        if found.iterations < 1:
            raise KilleError(f"iterations is {found.iterations!r}, expected at least 1")
        return found

    def resolve(self) -> Rules:
        """Returns the rules."""
        return spec(self.game).resolve(dict(self.rules))


@dataclass(frozen=True)
class Solved:
    """What the folder of a solution says; seats are counted from forehand, the dealer is the last.

    Attributes:
        nash_conv: The sum of `improvement`.
        improvement: [P] what each seat could gain by its best response, units a deal.
        value: [P] what each seat earns.
        information_sets: [P] how many each seat has, in all hands of the deal.
        nodes: Of all hands' trees.
        deals: Ways to deal the cards of a hand that differ.
        iterations: Of all hands.
        seconds: Spent on iterating and measuring.
    """

    nash_conv: float
    improvement: list[float]
    value: list[float]
    information_sets: list[int]
    nodes: int
    deals: int
    iterations: int
    seconds: float


@dataclass(frozen=True)
class Folder:
    """The folder of a solution."""

    path: Path

    def __post_init__(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise ConfigError(f"{self.path} is a file; a solution is a folder")

    @property
    def settings(self) -> Path:
        """What is solved."""
        return self.path / "settings.json"

    @property
    def solution(self) -> Path:
        """What came out."""
        return self.path / "solution.json"

    @property
    def policy(self) -> Path:
        """The strategy as a player."""
        return self.path / TABULAR

    @property
    def progress(self) -> Table:
        """NashConv of each hand while it was solved."""
        return Table(self.path / "progress.csv", PROGRESS)

    @property
    def hands(self) -> Path:
        """The hands that are solved."""
        return self.path / "hands.npz"

    def hand(self, granted: int) -> Path:
        """How far a hand has come."""
        return self.path / f"hand-{granted}.npz"

    @property
    def match(self) -> Path:
        """How far a match has come."""
        return self.path / "match.npz"

    def begin(self, settings: SolveSettings) -> None:
        """Makes the folder, or checks that it holds the same.

        Raises:
            ConfigError: It holds something else; the message names every setting that differs.
        """
        mine = json.loads(json.dumps(asdict(settings)))
        if not self.settings.is_file():
            if self.path.is_dir() and any(self.path.iterdir()):
                raise ConfigError(
                    f"{self.path} holds something else than a solution; "
                    "choose another place with --out"
                )
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self.settings, (json.dumps(mine, indent=1) + "\n").encode())
            return
        theirs = _read_object(self.settings)
        pairs = [
            (name, theirs.get(name), mine.get(name))
            for name in sorted((theirs.keys() | mine.keys()) - {"rules"})
        ]
        rules = theirs.get("rules")
        if not isinstance(rules, dict):
            raise ConfigError(f"{self.settings} is broken (rules); remove {self.path}")
        pairs += [
            (name, rules.get(name), mine["rules"].get(name))
            for name in sorted((rules.keys() | mine["rules"].keys()) - {"preset"})
        ]
        if wrong := [f"{name} is {a!r}, not {b!r}" for name, a, b in pairs if a != b]:
            raise ConfigError(
                f"{self.path} holds a solution of other settings ({'; '.join(wrong)}); "
                "remove it, or choose another place with --out"
            )

    def read(self) -> Solved | None:
        """Returns what came out, None before there is anything.

        Raises:
            ConfigError: The file is broken.
        """
        if not self.solution.is_file():
            return None
        try:
            found = Solved(**_read_object(self.solution))
            told = np.array([found.improvement, found.value, found.information_sets], dtype=float)
            told = np.append(told, [found.nash_conv, found.nodes, found.deals, found.iterations])
            if not np.isfinite([*told, found.seconds]).all():
                raise ValueError("a number is not finite")
            return found
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"{self.solution} is broken ({error}); delete it and solve again"
            ) from None

    def write(self, solved: Solved) -> None:
        """Writes what came out and clears away what led there."""
        write_whole(self.solution, (json.dumps(asdict(solved), indent=1) + "\n").encode())
        for file in (self.hands, self.match, *self.path.glob("hand-*.npz")):
            file.unlink(missing_ok=True)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is broken ({error}); delete it and solve again") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is broken (no object); delete it and solve again")
    return content


def solve_deal(
    folder: Folder,
    settings: SolveSettings,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> Solved:
    """Solves a deal into a folder, or goes on where that was interrupted, or reads what came out.

    The hands are solved from the last one backwards. Each is solved so well that all of them
    together keep to the target: whoever deviates in every hand gains no more than the sum of what
    each hand would let him gain. A hand for which the strategy of the next one is good enough takes
    it over; from one question to the next hardly anything changes.

    Args:
        folder: The folder.
        settings: What is to be solved.
        memory_limit: Bytes that a tree may take.
        progress: See `Progress`.

    Raises:
        ConfigError: The folder holds something else, or what is broken.
        KilleError: The tree is too large; nothing has been written then.
    """
    if folder.path.exists():
        folder.begin(settings)
        if (found := folder.read()) is not None:
            return found
    deal = build_deal(settings.num_players, settings.resolve(), memory_limit=memory_limit)
    folder.begin(settings)
    work = _Work(folder, settings, deal, progress)
    strategies, _ = deal.backwards(work.solve)
    table = table_of(
        strategies,
        deal,
        folder.path.name,
        method=settings.method,
        target=settings.target,
        iterations=work.iterations,
    )
    # What is measured is what was written: a table sees a little less than the strategy knows.
    save_tabular(table, folder.policy)
    read = load_tabular(folder.policy, settings.game, settings.num_players, settings.resolve())
    measured = nash_conv(read, deal)
    _write_for_people(folder, settings, deal, read, measured)
    solved = Solved(
        nash_conv=measured.total,
        improvement=measured.improvement.tolist(),
        value=measured.values.tolist(),
        information_sets=np.sum([s.information_sets for s in deal.stages], axis=0).tolist(),
        nodes=sum(stage.tree.num_nodes for stage in deal.stages),
        deals=deal.stages[0].num_deals,
        iterations=work.iterations,
        seconds=round(work.seconds, 2),
    )
    folder.write(solved)
    return solved


class _Work:
    """Solves one hand after the other and remembers how far it has come."""

    def __init__(
        self,
        folder: Folder,
        settings: SolveSettings,
        deal: DealStages,
        progress: Progress | None,
    ) -> None:
        self.folder, self.settings, self.progress = folder, settings, progress
        self.target = settings.target / len(deal.stages)
        self.solved = self._read_hands(deal)
        self.last: tuple[Stage, np.ndarray] | None = None
        rows = folder.progress.read()
        self.seconds = max((float(row["seconds"]) for row in rows), default=0.0)
        self.iterations = 0

    def solve(self, stage: Stage, tree: FlatTree) -> np.ndarray:
        """Returns the strategy of a hand, given what it leads to."""
        strategy = self._find(stage, tree)
        self.last = stage, strategy
        return strategy

    def _find(self, stage: Stage, tree: FlatTree) -> np.ndarray:
        if stage.granted in self.solved:
            strategy, iterations = self.solved[stage.granted]
            self.iterations += iterations
            return strategy
        if self.last is not None:
            before, strategy = self.last
            same = np.array_equal(before.tree.infoset, stage.tree.infoset)
            if same and nash_conv_of_tree(tree, strategy).total <= self.target:
                return strategy
        solver = self._solver(stage, tree)
        self._iterate(solver, stage)
        self.iterations += solver.iteration
        self.solved[stage.granted] = solver.average, solver.iteration
        self._write_hands()
        self.folder.hand(stage.granted).unlink(missing_ok=True)
        return solver.average

    def _solver(self, stage: Stage, tree: FlatTree) -> CFR:
        """Returns the solver of a hand where it was left."""
        saved = self.folder.hand(stage.granted)
        if saved.is_file():
            solver = CFR.load(saved, tree)
        else:
            solver = CFR(tree, VARIANTS[self.settings.method])
        kept = [
            row
            for row in self.folder.progress.read()
            if int(row["granted"]) != stage.granted or int(row["iteration"]) <= solver.iteration
        ]
        _write_rows(self.folder.progress, kept)
        return solver

    def _iterate(self, solver: CFR, stage: Stage) -> None:
        """Iterates until the hand is solved; saves now and then, and when it is interrupted.

        It is measured at the same iterations however often it is interrupted, for where it ends
        depends on that.
        """
        path = self.folder.hand(stage.granted)
        checked, found = 0, float("inf")
        for row in self.folder.progress.read():
            if int(row["granted"]) == stage.granted:
                checked, found = int(row["iteration"]), float(row["nash_conv"])
        saved = time.monotonic()
        try:
            while checked < self.settings.iterations and found > self.target:
                began = time.monotonic()
                checked = min(_next_check(checked), self.settings.iterations)
                try:
                    solver.run(checked - solver.iteration)
                    found = nash_conv_of_tree(solver.tree, solver.average).total
                finally:
                    self.seconds += time.monotonic() - began
                self._note(stage, checked, found)
                if time.monotonic() - saved > SAVE_SECONDS:
                    solver.save(path)
                    saved = time.monotonic()
        except KeyboardInterrupt:
            solver.save(path)
            raise

    def _note(self, stage: Stage, iteration: int, found: float) -> None:
        values = (stage.granted, iteration, round(self.seconds, 3), found)
        self.folder.progress.add(dict(zip(PROGRESS, values, strict=True)))
        if self.progress is not None:
            self.progress(*values)

    def _write_hands(self) -> None:
        content = io.BytesIO()
        arrays: dict[str, Any] = {}
        for granted, (strategy, iterations) in self.solved.items():
            arrays[f"strategy-{granted}"] = strategy
            arrays[f"iterations-{granted}"] = np.array(iterations)
        np.savez(content, **arrays)
        write_whole(self.folder.hands, content.getvalue())

    def _read_hands(self, deal: DealStages) -> dict[int, tuple[np.ndarray, int]]:
        path = self.folder.hands
        if not path.is_file():
            return {}
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                found = {
                    int(name.partition("-")[2]): (
                        file[name],
                        int(file[name.replace("strategy", "iterations")]),
                    )
                    for name in file.files
                    if name.startswith("strategy-")
                }
            for granted, (strategy, _) in found.items():
                tree = deal.stages[granted].tree
                if strategy.shape != (tree.num_sequences,) or strategy.dtype != np.float64:
                    raise ValueError(f"the strategy after {granted} questions is of another tree")
        except (
            OSError,
            EOFError,
            ValueError,
            KeyError,
            IndexError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise ConfigError(f"{path} is broken ({error}); delete it and solve again") from None
        return found


def _next_check(iteration: int) -> int:
    """Returns the next of the iterations at which a hand is measured, each a tenth further."""
    check = 0
    while check <= iteration:
        check += 1 + check // 10
    return check


def _write_rows(table: Table, rows: list[dict[str, str]]) -> None:
    """Writes a table again with these lines."""
    lines = [
        ",".join(table.columns),
        *(",".join(row[name] for name in table.columns) for row in rows),
    ]
    write_whole(table.path, ("\n".join(lines) + "\n").encode())


def _write_for_people(
    folder: Folder,
    settings: SolveSettings,
    deal: DealStages,
    table: TabularPolicy,
    measured: NashConv,
) -> None:
    """Writes the pictures and the strategy in words."""
    from kille_training.reports.plots import convergence, swap_heat_map  # slow to import
    from kille_training.solving.byteskille.text import strategy_text, swaps_of

    text, first = strategy_text(table, deal, measured), deal.stages[0]
    hands = len(deal.stages)
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for row in folder.progress.read():
        granted = int(row["granted"])
        name = f"after {granted} questions" if hands > 1 else "NashConv"
        iterations, found = curves.setdefault(name, ([], []))
        iterations.append(int(row["iteration"]))
        found.append(float(row["nash_conv"]))
    for name, content in (
        ("strategy.md", text),
        ("swaps.svg", swap_heat_map(swaps_of(strategy_of(table, first), first))),
        ("convergence.svg", convergence(curves, settings.target / hands)),
    ):
        write_whole(folder.path / name, content.encode())
