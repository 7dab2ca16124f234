"""Solutions: what is solved, what came out, and the folder in which both are kept.

runs/NAME/
  settings.json     what is solved, and how
  progress.csv      NashConv of each hand of a deal while it was solved
  policy.npz        the strategy as a policy, see `kille_agents.tabular`
  strategy.md       the strategy as text
  solution.json     the results; written last

Until then, checkpoints lie beside them: of a deal `hands.npz` with the solved hands, and
`hand-K.npz` for the hand after K granted questions; of a match `match.npz`. `kille solve` adds
pictures.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kille_agents.tabular import TABULAR, TabularMatchPolicy, TabularPolicy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_training.solving.byteskille.deals import Stage
from kille_training.solving.trees.cfr import VARIANTS

MATCH_TARGET = 1e-4
"""NashConv at which a match counts as solved by default, as a share of the pot."""

METHOD, ITERATIONS = "dcfr", 100_000
TARGETS = {2: 1e-9, 3: 1e-9}
"""NashConv by seats at which a deal counts as solved by default."""

TARGET = 1e-7
"""The same for numbers of seats that `TARGETS` does not have: a larger tree takes longer."""


class SolveError(KilleError):
    """An argument of `solve` that does not work.

    Attributes:
        argument: Its name.
        problem: What is wrong with it.
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument, self.problem = argument, problem


@dataclass(frozen=True)
class SolveSettings:
    """What is solved, and how.

    Attributes:
        game: The game.
        game_version: Its version.
        num_players: Seats.
        rules: Every switch with its value.
        target: NashConv at which it is solved, in units per deal or match.
        method: A name of `VARIANTS`.
        iterations: At most this many in each hand of a deal.
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
        """Returns checked settings; a target of None is the default.

        Raises:
            SolveError: There is no tree of this game, or an argument has an impossible value.
        """
        if rules.game != "byteskille":
            raise SolveError(
                "game",
                f"there is no exact tree of {rules.game}, only of byteskille; kille evaluate "
                f"measures what a player of {rules.game} earns",
            )
        game = spec(rules.game)
        if target is None and rules["episode"] == "match":
            target = MATCH_TARGET * rules.number("stake") * num_players
        elif target is None:
            target = TARGETS.get(num_players, TARGET)
        found = cls(game.name, game.version, num_players, rules.as_dict(), target, **how)
        if found.method not in VARIANTS:
            raise SolveError("method", f"expected one of {', '.join(VARIANTS)}, got {found.method}")
        if not 0.0 < found.target < float("inf"):
            raise SolveError("target", f"expected a positive number, got {found.target}")
        if found.iterations < 1:
            raise SolveError("iterations", f"expected at least 1, got {found.iterations}")
        return found

    def resolve(self) -> Rules:
        """Returns the rules."""
        return spec(self.game).resolve(dict(self.rules))


@dataclass(frozen=True)
class Solved:
    """The results of a solution; seats are counted from forehand to the dealer.

    Attributes:
        nash_conv: The sum of `improvement`.
        improvement: [P] what each seat could gain by its best response, units per deal or match.
        value: [P] what each seat earns.
        information_sets: [P] the number of information sets of each seat, in all hands.
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


class FirstHand(NamedTuple):
    """The first hand of a deal or match."""

    strategy: np.ndarray
    stage: Stage


@dataclass(frozen=True)
class Solution(Solved):
    """An equilibrium as far as it was found: the results, the policy and its text.

    Attributes:
        policy: The strategy as a policy for all seats, to be saved, measured and played with.
        text: The strategy for people, in Markdown.
        settings: What was solved, and how.
        progress: NashConv of each hand of a deal while it was solved.
        first_hand: The strategy of the first hand; None if the solution was read from a folder.
    """

    policy: TabularPolicy | TabularMatchPolicy
    text: str
    settings: SolveSettings
    progress: tuple["DealProgress", ...] = ()
    first_hand: FirstHand | None = None

    def as_dict(self) -> dict[str, Any]:
        """Returns the results as JSON can hold them."""
        return {name: getattr(self, name) for name in Solved.__dataclass_fields__}


class DealProgress(NamedTuple):
    """NashConv of a hand of a deal that is being solved; a line of progress.csv.

    Attributes:
        granted: Questions granted before the hand.
        iteration: Iterations so far.
        seconds: Spent so far, on all hands.
        nash_conv: Of the average strategy.
    """

    granted: int
    iteration: int
    seconds: float
    nash_conv: float

    def describe(self) -> str:
        """Returns a line of text."""
        hand = f"hand after {self.granted} questions, " if self.granted else ""
        return (
            f"{hand}{self.iteration:>7,} iterations, {self.seconds:7.1f} s: "
            f"NashConv {self.nash_conv:.2g}"
        )


@dataclass(frozen=True)
class Folder:
    """The folder of a solution."""

    path: Path

    def __post_init__(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise SolveError("out", f"{self.path} is a file; a solution is a folder")

    @property
    def settings(self) -> Path:
        """What is solved."""
        return self.path / "settings.json"

    @property
    def solution(self) -> Path:
        """The results."""
        return self.path / "solution.json"

    @property
    def policy(self) -> Path:
        """The strategy as a policy."""
        return self.path / TABULAR

    @property
    def text(self) -> Path:
        """The strategy for people."""
        return self.path / "strategy.md"

    @property
    def progress(self) -> Path:
        """NashConv of each hand while it was solved."""
        return self.path / "progress.csv"

    @property
    def hands(self) -> Path:
        """The solved hands of a deal."""
        return self.path / "hands.npz"

    def hand(self, granted: int) -> Path:
        """The checkpoint of a hand of a deal."""
        return self.path / f"hand-{granted}.npz"

    @property
    def match(self) -> Path:
        """The checkpoint of a match."""
        return self.path / "match.npz"

    def begin(self, settings: SolveSettings) -> None:
        """Makes the folder, or checks that it holds the same.

        Raises:
            SolveError: It holds something else; the message names every setting that differs.
        """
        mine = json.loads(json.dumps(asdict(settings)))
        if not self.settings.is_file():
            if self.path.is_dir() and any(self.path.iterdir()):
                raise SolveError(
                    "out",
                    f"{self.path} is not the folder of a solution; choose another folder",
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
            raise ConfigError(f"{self.settings} is broken (rules); delete {self.path}")
        pairs += [
            (name, rules.get(name), mine["rules"].get(name))
            for name in sorted((rules.keys() | mine["rules"].keys()) - {"preset"})
        ]
        if wrong := [f"{name} is {a!r}, not {b!r}" for name, a, b in pairs if a != b]:
            raise SolveError(
                "out",
                f"{self.path} holds a solution with other settings ({'; '.join(wrong)}); "
                "delete it, or choose another folder",
            )

    def read(self) -> Solved | None:
        """Returns the results, None before there are any.

        Raises:
            ConfigError: The file is broken.
        """
        if not self.solution.is_file():
            return None
        try:
            found = Solved(**_read_object(self.solution))
            numbers = np.array([found.improvement, found.value, found.information_sets], float)
            rest = [found.nash_conv, found.nodes, found.deals, found.iterations, found.seconds]
            if not np.isfinite(np.append(numbers, np.array(rest, float))).all():
                raise ValueError("a number is not finite")
            return found
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"{self.solution} is broken ({error}); delete it and solve again"
            ) from None

    def read_progress(self) -> list[DealProgress]:
        """Returns the lines of progress.csv, without the last one if it is cut off.

        Raises:
            ConfigError: The file is broken.
        """
        if not self.progress.is_file():
            return []
        try:
            head, *lines = self.progress.read_text(encoding="utf-8").split("\n")
            if head != ",".join(DealProgress._fields):
                raise ValueError("its columns are others")
            return [_progress_of(line) for line in lines[:-1]]
        except ValueError as error:
            raise ConfigError(
                f"{self.progress} is broken ({error}); delete it and solve again"
            ) from None

    def write_progress(self, rows: list[DealProgress]) -> None:
        """Writes progress.csv."""
        lines = [DealProgress._fields, *rows]
        content = "".join(",".join(map(str, line)) + "\n" for line in lines)
        write_whole(self.progress, content.encode())

    def write(self, solved: Solved) -> None:
        """Writes the results and deletes the checkpoints."""
        write_whole(self.solution, (json.dumps(asdict(solved), indent=1) + "\n").encode())
        for file in (self.hands, self.match, *self.path.glob("hand-*.npz")):
            file.unlink(missing_ok=True)


def _progress_of(line: str) -> DealProgress:
    granted, iteration, seconds, nash_conv = line.split(",")
    return DealProgress(int(granted), int(iteration), float(seconds), float(nash_conv))


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is broken ({error}); delete it and solve again") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is broken (not an object); delete it and solve again")
    return content
