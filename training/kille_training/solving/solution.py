"""Solutions: settings, results, and their folder.

runs/NAME/
  settings.json     the settings
  policy.npz        the strategy as a policy, see `kille_agents.tabular`
  strategy.md       the strategy as text
  hand-K.npz        a checkpoint of the hand after K granted questions, of a deal
  solution.json     the results, and NashConv while it was solved; written last
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kille_agents.tabular import TabularMatchPolicy, TabularPolicy
from kille_env.core.spec import Rules, is_whole
from kille_env.errors import ConfigError, KilleError, RulesError, shortened
from kille_env.files import make_folder, read_json, write_whole
from kille_env.registry import Table, spec
from kille_training.labels import episode_noun, position_names
from kille_training.results import Result, TextTable
from kille_training.solving.size import MATCH_GAME, MEMORY_LIMIT, check_deal
from kille_training.solving.stages import Stage
from kille_training.solving.trees.cfr import VARIANTS

MATCH_TARGET = 1e-4  # default target NashConv of a match, as a share of the pot

SETTINGS, TEXT, SOLUTION = "settings.json", "strategy.md", "solution.json"

MIXED_TARGETS = 1e-4, 2e-3
"""Default target NashConv of a deal of games other than Byteskille, with two seats and more."""

METHOD, MIXED_METHOD, ITERATIONS = "dcfr", "pcfr+", 100_000
"""Default methods of Byteskille and of other games, which have mixed solutions."""


class SolveError(KilleError):
    """Raised for an invalid argument of `solve`."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument, self.problem = argument, problem


@dataclass(frozen=True)
class SolveSettings:
    """Settings of a solution."""

    game: str
    game_version: int
    num_players: int
    rules: Mapping[str, Any]  # every switch with its value
    target: float
    method: str  # name of `VARIANTS`
    iterations: int  # maximum number in each hand of a deal

    def resolve(self) -> Rules:
        """Return the rules."""
        return spec(self.game).resolve(dict(self.rules))

    @property
    def table(self) -> Table:
        """The table to solve."""
        return Table(self.game, self.num_players, self.resolve(), self.game_version)


def default_name(table: Table) -> str:
    """Return the default name of a solution: game, seats, and non-default rules."""
    known, rules = spec(table.game), table.rules
    preset = str(rules["preset"])
    words = ["solved", table.game, str(table.num_players)]
    words += [preset] * (preset != known.presets[0])
    words += ["match"] * (rules["episode"] == "match")
    words += [
        f"{switch.name}={rules[switch.name]}"
        for switch in known.switches
        if rules[switch.name] != switch.value_for(preset)
    ]
    return "-".join(words)


def settings_of(
    game: str,
    num_players: int | None = None,
    rules: Rules | str | Mapping[str, Any] | None = None,
    episode: str | None = None,
    target: float | None = None,
    iterations: int | None = None,
    method: str | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> SolveSettings:
    """Return checked settings; arguments as in `solve`."""
    found = spec(game)
    resolved = found.resolve(rules, episode=episode)
    if iterations is not None and resolved["episode"] == "match":
        raise SolveError("iterations", "is for the hands of a deal; a match ends at its target")
    try:
        seats = found.check_players(num_players)
    except RulesError:
        raise SolveError(
            "num_players",
            f"{game} is played by {found.min_players} to {found.max_players}, got {num_players}",
        ) from None
    if game != MATCH_GAME and resolved["episode"] == "match":
        raise SolveError(
            "episode", f"only {MATCH_GAME} is solved as a whole pot; solve a single deal"
        )
    check_deal(seats, found.resolve(resolved, episode="deal"), memory_limit)
    if target is None:
        target = 1e-9 if seats <= 3 else 1e-7  # a larger tree takes more time
        if game != MATCH_GAME:
            target = MIXED_TARGETS[seats > 2]
        if resolved["episode"] == "match":
            target = MATCH_TARGET * resolved.number("stake") * seats
    iterations = ITERATIONS if iterations is None else iterations
    if method is None:
        method = METHOD if game == MATCH_GAME else MIXED_METHOD
    if method not in VARIANTS:
        raise SolveError("method", f"expected one of {', '.join(VARIANTS)}, got {method}")
    if not isinstance(target, (int, float)) or not 0.0 < target < float("inf"):
        raise SolveError("target", f"expected a positive number, got {shortened(target)}")
    if not is_whole(iterations) or iterations < 1:
        raise SolveError("iterations", f"expected at least 1, got {shortened(iterations)}")
    return SolveSettings(
        game, found.version, seats, resolved.as_dict(), target, method, int(iterations)
    )


@dataclass(frozen=True)
class Solved:
    """The results of a solution; seats are counted from forehand to the dealer.

    Attributes:
        nash_conv: The sum of `improvement`.
        improvement: [P] gain of each seat's best response, units per deal or match.
        value: [P] earnings of each seat.
        information_sets: [P] the number of information sets of each seat, in all hands.
        nodes: Number of nodes of all hands' trees.
        deals: Number of distinct ways to deal the cards of a hand.
        iterations: Iterations in all hands.
        seconds: Time of iterating and measuring.
    """

    nash_conv: float
    improvement: list[float]
    value: list[float]
    information_sets: list[int]
    nodes: int
    deals: int
    iterations: int
    seconds: float


class Found(NamedTuple):
    """Results of a solver, for one strategy of all hands."""

    strategy: Any  # for a deal one [S] per stage, for a match a `MatchStrategy`
    iterations: int
    seconds: float
    progress: tuple["DealProgress", ...] = ()  # NashConv of each hand of a deal during solving


@dataclass(frozen=True, repr=False)
class Solution(Solved, Result):
    """An approximate equilibrium: the results, the policy and its text.

    Attributes:
        policy: The strategy as a policy for all seats.
        text: The strategy as readable Markdown.
        settings: The settings.
        progress: NashConv of each hand of a deal during solving.
        first_hand: The strategy [S] and the tree of the first hand; None if the solution was read
            from a folder.
    """

    policy: TabularPolicy | TabularMatchPolicy
    text: str
    settings: SolveSettings
    progress: tuple["DealProgress", ...] = ()
    first_hand: tuple[np.ndarray, Stage] | None = None

    @property
    def table(self) -> Table:
        """The solved table."""
        return self.settings.table

    def as_dict(self) -> dict[str, Any]:
        """Return the table and the results as JSON values."""
        results = {name: getattr(self, name) for name in Solved.__dataclass_fields__}
        return {**self.table.as_dict(), **results}

    def parts(self) -> list[str | TextTable]:
        """Return the table, the value and possible gain of each seat, and solver statistics."""
        unit = episode_noun(str(self.settings.rules["episode"]))
        names = [f">{name}" for name in position_names(len(self.value))]
        gains = (f"{max(gain, 0.0):.3g}" for gain in self.improvement)
        rows = [
            ("earns", *(f"{value:+.5f}" for value in self.value)),
            ("could gain", *gains),
        ]
        sets = " + ".join(f"{number:,}" for number in self.information_sets)
        short = self.nash_conv > self.settings.target
        missed = f", above its target {self.settings.target:g}" if short else ""
        return [
            f"{self.table}, solved by {self.settings.method}",
            TextTable(f"Units per {unit}, exactly", ["each seat", *names], rows),
            f"NashConv {self.nash_conv:.3g} units per {unit}{missed}",
            f"{self.deals:,} ways to deal, {self.nodes:,} nodes, {sets} information sets; "
            f"{self.iterations:,} iterations in {self.seconds:.1f} s",
        ]


class DealProgress(NamedTuple):
    """NashConv of a hand of a deal during solving."""

    granted: int
    iteration: int  # iterations so far
    seconds: float  # time so far, for all hands
    nash_conv: float  # NashConv of the average strategy

    def describe(self) -> str:
        """Return a line of text."""
        hand = f"hand after {self.granted} questions, " if self.granted else ""
        return (
            f"{hand}{self.iteration:>7,} iterations, {self.seconds:7.1f} s: "
            f"NashConv {self.nash_conv:.2g}"
        )


@dataclass(frozen=True)
class Folder:
    """The folder of a solution, with checkpoints of a deal."""

    path: Path
    checkpoints: bool = True

    def __post_init__(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise SolveError("out", f"{self.path} is a file; a solution is a folder")

    def hand(self, granted: int) -> Path:
        """Return the checkpoint of a hand of a deal."""
        return self.path / f"hand-{granted}.npz"

    def begin(self, settings: SolveSettings) -> None:
        """Make the folder; remove results of a wider target."""
        self.check(settings)
        make_folder(self.path)
        if not self.holds(settings):
            (self.path / SOLUTION).unlink(missing_ok=True)
        content = json.dumps(asdict(settings), indent=1) + "\n"
        write_whole(self.path / SETTINGS, content.encode())

    def holds(self, settings: SolveSettings) -> bool:
        """Return whether the stored solution meets settings accepted by `check`."""
        file = self.path / SETTINGS
        if not file.is_file():
            return False
        theirs = _read_object(file)
        target, iterations = theirs["target"], theirs["iterations"]
        return settings.target >= target and settings.iterations <= iterations

    def check(self, settings: SolveSettings) -> None:
        """Check that the folder is new or can be resumed with these settings."""
        file = self.path / SETTINGS
        if not file.is_file():
            if self.path.is_dir() and any(self.path.iterdir()):
                raise SolveError(
                    "out", f"{self.path} is not the folder of a solution; choose another one"
                )
            return
        mine = _switches(_plain(settings))
        try:
            theirs = _switches(_read_object(file))
            for name in ("target", "iterations"):  # may change, see `holds`
                if not isinstance(theirs.pop(name), int | float):
                    raise TypeError(f"its {name} is not a number")
                del mine[name]
        except (KeyError, TypeError) as error:
            raise _broken(file, error) from None
        wrong = [
            f"{name} is {theirs.get(name)!r}, not {mine.get(name)!r}"
            for name in sorted(theirs.keys() | mine.keys())
            if theirs.get(name) != mine.get(name)
        ]
        if wrong:
            raise SolveError(
                "out",
                f"{self.path} holds a solution with other settings ({'; '.join(wrong)}); "
                "delete it, or choose another folder",
            )

    def read(self) -> tuple[Solved, tuple[DealProgress, ...]] | None:
        """Return the results and their progress, or None without results."""
        file = self.path / SOLUTION
        if not file.is_file():
            return None
        found = _read_object(file)
        try:
            progress = tuple(DealProgress(*row) for row in found.pop("progress"))
            solved = Solved(**found)
            by_seat = [solved.improvement, solved.value, solved.information_sets]
            rest = [solved.nash_conv, solved.nodes, solved.deals, solved.iterations, solved.seconds]
            for numbers in (by_seat, rest, progress):
                if not np.isfinite(np.array(numbers, float)).all():
                    raise ValueError("a number is not finite")
            return solved, progress
        except (KeyError, TypeError, ValueError) as error:
            raise _broken(file, error) from None

    def write(self, solved: Solved, progress: Sequence[DealProgress]) -> None:
        """Write the results."""
        content = json.dumps({**asdict(solved), "progress": progress}, indent=1) + "\n"
        write_whole(self.path / SOLUTION, content.encode())


def _plain(settings: SolveSettings) -> dict[str, Any]:
    """Return settings as JSON values."""
    return json.loads(json.dumps(asdict(settings)))


def _switches(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings merged with the rules, without the preset's name."""
    found = {**settings, **settings["rules"]}
    return {name: value for name, value in found.items() if name not in ("rules", "preset")}


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except KilleError as error:
        raise _broken(path, error) from None
    if not isinstance(content, dict):
        raise _broken(path, "not an object")
    return content


def _broken(path: Path, why: object) -> ConfigError:
    return ConfigError(f"{path} is damaged ({why}); delete it and solve again")
