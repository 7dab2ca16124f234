"""Test sequentially whether one player out-earns another.

The first player sits among copies of the second, at every deal from every position. Its earnings
beyond the table's mean are one score per deal; the test is `statistics.sequential`. The settings
and the scores are stored in one file, so a comparison can be resumed.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pydantic

from kille_env.core import arguments
from kille_env.errors import ConfigError, shortened
from kille_env.play.policy import PlayerLike
from kille_env.registry import Table
from kille_training.arena.entrants import Entrant, default_name, entrants_of
from kille_training.arena.play import Identified, Play, Shard, cut, identified
from kille_training.arena.schedule import cohorts_of, round_robin
from kille_training.arena.store import FORMAT, Locked, Strict, check_unchanged
from kille_training.arena.tournament import folder_of, how_to_resume, tidy
from kille_training.evaluation.duplicate import beyond_mean
from kille_training.labels import BEYOND_MEAN, SEED, bounds_of, episode_noun, plural_of, uncut_of
from kille_training.learn.runs import seed_runs
from kille_training.pool import pool_of
from kille_training.pool.jobs import Failed, Pool
from kille_training.progress import Bars, resumable
from kille_training.results import Result, TextTable
from kille_training.settings import versions
from kille_training.statistics.sequential import (
    ABOVE,
    BELOW,
    GOING,
    UNDECIDED,
    Hypotheses,
    SequentialTest,
)
from kille_training.tables import RulesLike, table_of

FILE = "comparison.npz"
MIN_GAIN = {"deal": 0.005, "match": 0.05}
"""Smallest gain to detect by default, in units, by the noun of an episode."""
BATCH_TABLES = 16_384  # tables that are played side by side
FIRST_DEALS = 1_000
GROWTH = 1.25  # deals until the next look, at most, as a multiple of those played so far
DIGITS = range(4, 10)
"""Decimals of the ends of an interval: more where an end is close to a hypothesis."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The result of a comparison.

    Attributes:
        better: The first player.
        worse: The second player; copies of it fill the other seats.
        table: The table.
        hypotheses: The hypotheses: units per deal beyond the table's mean.
        verdict: Verdict of the test, see `statistics.sequential`.
        decided_after: Deals until the verdict; 0 before it.
        played: Deals, or matches, so far.
        mean: Units per deal of the first player, beyond the table's mean.
        low: Lower end of the anytime-valid confidence interval.
        high: Upper end.
        bounds: Lowest and highest score that is not clipped.
        cut: Number of clipped scores.
        transferred: Home tables of transferred players, by name.
        remarks: Remarks on players, by name.
    """

    better: str
    worse: str
    table: Table
    hypotheses: Hypotheses
    verdict: str
    decided_after: int
    played: int
    mean: float
    low: float
    high: float
    bounds: tuple[float, float]
    cut: int
    transferred: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """The noun of an observation: "deal" or "match"."""
        return episode_noun(self.table.rules["episode"])

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        known = self.hypotheses
        return {
            "better": self.better,
            "worse": self.worse,
            **self.table.as_dict(),
            "transferred": dict(self.transferred),
            "remarks": dict(self.remarks),
            "score": BEYOND_MEAN,
            "unit": self.unit,
            "at_most": known.low,
            "at_least": known.high,
            "alpha": known.alpha,
            "beta": known.beta,
            "verdict": self.verdict,
            "decided_after": self.decided_after,
            "played": self.played,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "confidence": known.confidence,
            "least": self.bounds[0],
            "greatest": self.bounds[1],
            "cut": self.cut,
        }

    @property
    def many(self) -> str:
        """The plural of `unit`: "deals" or "matches"."""
        return plural_of(self.unit)

    def describe(self) -> str:
        """Return a line of text."""
        return (
            f"{self.played:>11,} {self.many}: {self.mean:+.4f} ({self.interval()})  {self.verdict}"
        )

    def answer(self) -> str:
        """Return the verdict as a sentence."""
        known = self.hypotheses
        if self.verdict in (GOING, UNDECIDED):
            return (
                f"Not decided after {self.played:,} {self.many}: among copies of {self.worse}, "
                f"{self.better} may earn {known.low:+g} units per {self.unit} or less, or "
                f"{known.high:+g} or more."
            )
        more, value, error = {
            ABOVE: ("more", known.low, known.alpha),
            BELOW: ("less", known.high, known.beta),
        }[self.verdict]
        return (
            f"Among copies of {self.worse}, {self.better} earns {more} than {value:+g} units per "
            f"{self.unit}. Decided after {self.decided_after:,} {self.many}, with a chance of "
            f"error of at most {error:.3g}."
        )

    def interval(self) -> str:
        """Return the interval as text; a rejected hypothesis is never one of its ends."""
        known = self.hypotheses
        low, high = _distinct(self.low, known.low), _distinct(self.high, known.high)
        # The wealth may fall again after the verdict: a rejected hypothesis stays outside.
        above = "above " if self.verdict == ABOVE and self.low == known.low else ""
        below = "below " if self.verdict == BELOW and self.high == known.high else ""
        return f"{above}{low} to {below}{high}"

    def estimate(self) -> str:
        """Return mean and interval as a sentence."""
        known = self.hypotheses
        return (
            f"{self.mean:+.4f} units per {self.unit}, {BEYOND_MEAN}, over "
            f"{self.played:,} {self.many}; "
            f"{100 * known.confidence:.3g}% interval {self.interval()}, valid whenever you stop."
        )

    def sentences(self) -> list[str]:
        """Return it as text."""
        clipped, (low, high) = f"Scores of {self.cut:,} {self.many} were clipped", self.bounds
        cut = [f"{clipped} to {low:+g} or {high:+g} units."] if self.cut else []
        return [self.answer(), self.estimate(), *cut]

    def parts(self) -> list[str | TextTable]:
        """Return the table, remarks on players, and the answer."""
        moved = [f"{name} is transferred from {home}." for name, home in self.transferred.items()]
        moved += [f"{name} {remark}." for name, remark in self.remarks.items()]
        return [f"{self.table}.", *moved, *self.sentences()]


def _distinct(end: float, hypothesis: float) -> str:
    """Return the end of an interval with enough digits to differ from a hypothesis."""
    texts = (f"{end:+.{digits}f}" for digits in DIGITS)
    return next((text for text in texts if float(text) != hypothesis), f"{end:+g}")


def compare(
    better: PlayerLike,
    worse: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    by: float | None = None,
    low: float = 0.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    most: int = 0,
    bounds: tuple[float, float] | None = None,
    rules: RulesLike = None,
    episode: str | None = None,
    seed: int = SEED,
    workers: int = 0,
    time_limit: float = 60.0,
    out: str | Path | None = None,
    transfer: bool = False,
    trust: bool = False,
    observer: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Test sequentially whether one player out-earns another.

    Example:
        >>> import kille_training as kt
        >>> kt.compare("rule_of_thumb", "uniform", "byteskille", 2, by=0.3).verdict
        'above low'

    Args:
        better: The first player: a name, a path or an object, as `play_tournament` takes them.
        worse: The second player; copies of it fill the other seats.
        game: The game; the default is the one that a policy of the two was made for, or byteskille.
        num_players: Seats of the table; the default is what it was made for, or the game's.
        by: Smallest gain above `low` to detect, in units per deal (or match); None is 0.005 for
            deals and 0.05 for matches.
        low: Gain that counts as no improvement, in units per deal.
        alpha: Chance of a wrong "more than low".
        beta: Chance of a wrong "less than low + by".
        most: Maximum number of deals, after which the test ends undecided; 0 for no limit.
        bounds: Lowest and highest score of a deal; None takes the range under the rules, and clips
            extreme scores of matches.
        rules: Preset and switches, as `kille_env.make` takes them; likewise.
        episode: "deal" or "match"; likewise.
        seed: Seed of the deals.
        workers: Processes; 0 is this process.
        time_limit: Seconds that a player may take for one batch of decisions.
        out: Folder of the comparison, which the same call resumes; None keeps nothing on disk.
        transfer: Whether to allow policies made for another table; the result names them.
        trust: Whether to load model files that can run code.
        observer: Called with the result so far after each look; None shows it in terminals and
            notebooks.

    Raises:
        ConfigError: One of the two cannot play, or failed; the message says why.
        KeyboardInterrupt: The message says how to resume.
    """
    given = {"by": 1.0 if by is None else by, "low": low, "alpha": alpha, "beta": beta}
    for name, value in given.items():
        if not isinstance(value, Real):
            raise ConfigError(f"{name} is {shortened(value)}, expected a number")
    low, alpha, beta = (float(given[name]) for name in ("low", "alpha", "beta"))
    seed, most = arguments.whole("seed", seed, 0, 2**63 - 1), arguments.whole("most", most, 0)
    if bounds is not None and np.shape(bounds) != (2,):
        raise ConfigError(f"bounds is {shortened(bounds)}, expected the lowest and highest score")
    if by is not None and not by > 0:
        raise ConfigError(f"by is {by}; expected more than 0: the smallest gain to detect")
    for player in (better, worse):
        if isinstance(player, (str, Path)) and seed_runs(Path(player)):
            raise ConfigError(
                f"{player} holds runs by seed; SeedRuns.compare compares two such folders, and "
                "kt.compare one of the runs in it"
            )
    names = [default_name(player) for player in (better, worse)]
    if names[0] == names[1]:
        if better == worse:
            raise ConfigError(f"{names[0]!r} is compared with itself; name two players")
        names[1] += " (2)"
    table = table_of((better, worse), game, num_players, episode, rules)
    unit = episode_noun(table.rules["episode"])
    implied = bounds_of(table.rules, table.num_players)
    least, greatest = map(float, implied if bounds is None else bounds)
    uncut = uncut_of(table.rules, table.num_players) if bounds is None else None
    by = MIN_GAIN[unit] if by is None else float(by)
    hypotheses = Hypotheses(low, low + by, least, greatest, alpha, beta, most, uncut)
    if most == 1:
        raise ConfigError("most is 1; expected 2 deals or more, or 0 for no limit")
    fields, objects = entrants_of(dict(zip(names, (better, worse), strict=True)))
    entrants = [
        Entrant(number, name, str(fields[name]["player"]))
        for number, name in enumerate(sorted(names))
    ]
    play = Play(
        table, seed, entrants, objects,
        seconds=time_limit, transfer=transfer, trust=trust,
    )  # fmt: skip
    config = {
        "table": table.as_dict(),
        "seed": seed,
        "better": names[0],
        "worse": names[1],
        **{name: value for name, value in asdict(hypotheses).items() if name != "most"},
    }
    config = json.loads(json.dumps(config))
    with (
        resumable(how_to_resume(out)),
        folder_of(out) as folder,
        tidy(folder),
        ExitStack() as stack,
    ):
        scores = stack.enter_context(Scores(folder / FILE, create=True))
        if scores.entrants:
            scores.check_same(config)
        pool = stack.enter_context(pool_of(workers, log=folder / "players.log"))
        known = identified(play, pool, entrants, out is not None)
        for number, reason in known.failed.items():
            raise ConfigError(f"{entrants[number].name} cannot be compared: {reason}")
        scores.begin(config, known)
        bars = stack.enter_context(Bars())
        return _played(scores, hypotheses, play, pool, observer or bars.described)


def _played(
    scores: "Scores",
    hypotheses: Hypotheses,
    play: Play,
    pool: Pool,
    observer: Callable[[Comparison], None],
) -> Comparison:
    """Play until the test decides or reaches its maximum number of deals."""
    test = SequentialTest(hypotheses)
    try:
        for deals in _looks(hypotheses.most):
            _play_to(deals, scores, play, pool)
            scores.write()
            test.feed(scores.scores[test.deals : deals])
            found = scores.comparison(test)
            observer(found)
            if test.verdict != GOING:
                return found
    finally:
        scores.write()
    raise AssertionError("the looks end with the test")


def _play_to(deals: int, scores: "Scores", play: Play, pool: Pool) -> None:
    """Play until a total number of deals."""
    entrants, seats = scores.entrants, play.table.num_players
    (hero,) = (each.number for each in entrants if each.name == scores.config["better"])
    (schedule,) = round_robin(cohorts_of(entrants), seats, copies=True, hero=hero)
    whole = (Shard(0, schedule, first, end - first) for first, end in scores.missing(deals))
    shards = chain.from_iterable(cut(shard, BATCH_TABLES) for shard in whole)
    for shard, result in pool.run(play, shards):
        if isinstance(result, Failed):
            raise ConfigError(f"{entrants[result.whose].name} cannot be compared: {result.reason}")
        members = shard.lineups(play.seed, play.keys).members
        beyond = beyond_mean(_by_place(np.asarray(result["earned"], np.float64)))
        scores.keep(shard.first_deal, beyond[members == hero])


def _by_place(earned: np.ndarray) -> np.ndarray:
    """Return the mean earnings of each place of a lineup over its rotations [D, P, P], [D, P]."""
    place = np.arange(earned.shape[-1])
    turn = place[:, None]
    return earned[:, turn, (place - turn) % len(place)].mean(axis=1)


class _Content(Strict):
    """The file beside the scores; see `Locked`."""

    format: Literal[1]
    config: dict[str, Any]
    made_with: dict[str, str]
    entrants: Annotated[list[Entrant], pydantic.Field(min_length=2, max_length=2)]


class Scores(Locked):
    """The scores of a comparison; see `Locked`."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open a file of scores; see `Locked`."""
        self.scores = np.zeros(0)
        self.remarks: Mapping[str, str] = {}
        super().__init__(path, create=create, readonly=readonly)

    def _load(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        content = _Content.model_validate_json(json.dumps(about))
        self.config, self.made_with = content.config, content.made_with
        self.entrants, self.scores = content.entrants, arrays["scores"]
        if self.scores.ndim != 1 or self.scores.dtype != np.float64:
            raise ValueError(f"its scores are {self.scores.dtype} {self.scores.shape}")

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        content = _Content(
            format=FORMAT, config=self.config, made_with=self.made_with, entrants=self.entrants
        )
        return content.model_dump(), {"scores": self.scores}

    def begin(self, config: dict[str, Any], known: Identified) -> None:
        """Store the settings and the players."""
        check_unchanged(self.entrants, known.entrants)
        self.config, self.made_with = config, self.made_with or versions()
        self.entrants, self.remarks = known.entrants, known.remarks
        self.write()

    def missing(self, deals: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges (begin, end) of unplayed deals among the first `deals`."""
        more = max(0, deals - len(self.scores))
        self.scores = np.append(self.scores, np.full(more, np.nan))
        missing = np.isnan(self.scores[:deals]).astype(np.int8)
        ends = np.flatnonzero(np.diff(missing, prepend=0, append=0)).tolist()
        yield from zip(ends[::2], ends[1::2], strict=True)

    def keep(self, first: int, scores: np.ndarray) -> None:
        """Add the scores of consecutive deals, to be written later."""
        self.scores[first : first + len(scores)] = scores
        self.write_if_due()

    def comparison(self, test: SequentialTest) -> Comparison:
        """Return the result of a test of these scores."""
        return Comparison(
            self.config["better"], self.config["worse"], self.table, test.hypotheses, test.verdict,
            test.decided_after, test.deals, test.mean, *test.interval(), test.bounds, test.cut,
            {each.name: each.transferred for each in self.entrants if each.transferred},
            self.remarks,
        )  # fmt: skip


def _looks(most: int) -> Iterator[int]:
    """Yield the numbers of deals at which the test is evaluated, up to `most` unless it is 0."""
    deals = 0
    while not most or deals < most:
        deals = int(max(deals * GROWTH, deals + FIRST_DEALS))
        yield min(deals, most) if most else deals
