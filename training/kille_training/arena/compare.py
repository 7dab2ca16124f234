"""Does one player earn more than another? Played until a sequential test knows.

The first player sits among copies of the second, at every deal from every position. Its earnings
beyond the table's mean are one score per deal; the test is `statistics.sequential`. The scores and
the question are kept in one file, so a comparison can be resumed, and its page answers the question
anew from the scores.
"""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, TypeAdapter

from kille_env.errors import ConfigError
from kille_env.play.policy import PlayerLike
from kille_env.registry import Table
from kille_training.arena.comparison import Comparison, Question
from kille_training.arena.entrants import Entrant, entrants_of, label_of
from kille_training.arena.play import Identified, Play, identified
from kille_training.arena.schedule import Pairing, draws
from kille_training.arena.settings import MatchmakingSettings, TournamentSettings
from kille_training.arena.shards import Shard, by_place, cut
from kille_training.arena.store import Locked, Strict, check_unchanged
from kille_training.arena.tournament import (
    folder_of,
    how_to_resume,
    settings_of,
    tidy,
)
from kille_training.evaluation.duplicate import beyond_mean
from kille_training.labels import SEED, bounds_of, uncut_of, unit_of
from kille_training.learn.runs import seed_runs
from kille_training.pool.jobs import Failed, Here, Pool
from kille_training.pool.processes import Processes
from kille_training.progress import Bars, resumable
from kille_training.settings import versions
from kille_training.statistics.sequential import FIRST, GOING, Hypotheses, SequentialTest
from kille_training.tables import RulesLike, table_of

BY = {"deal": 0.005, "match": 0.05}
"""Units that are told apart by default, by the kind of episode."""
BATCH_TABLES = 16_384
"""Tables that are played side by side."""
FIRST_DEALS = 1_000
GROWTH = 1.25
"""Deals until the next look, at most, as a multiple of those played so far."""
STEP = 1.1
"""Deals from station to station of a comparison that is retraced, as a multiple."""


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
    looked: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Plays until it is known whether a player earns more than another, or less than that and `by`.

    Example:
        >>> import kille_training as kt
        >>> kt.compare("rule_of_thumb", "uniform", "byteskille", 2, by=0.3).verdict
        'above low'

    Args:
        better: The player that is asked about; see `play_tournament` for what a player is.
        worse: The player whose copies fill the other seats.
        game: The game; the default is the one that a policy of the two was made for, or byteskille.
        num_players: Seats of the table; the default is what it was made for, or the game's.
        by: Units per deal (or match) above `low` that are to be told from it; None is 0.005 for
            deals and 0.05 for matches.
        low: Units per deal that are not enough.
        alpha: Chance of a wrong "more than low".
        beta: Chance of a wrong "less than low + by".
        most: Deals after which it ends undecided; 0 is never.
        bounds: Lowest and highest score of a deal; None takes what the rules imply, and cuts what
            is far beyond several deals from matches.
        rules: Preset and switches, as `kille_env.make` takes them; likewise.
        episode: "deal" or "match"; likewise.
        seed: Seed of the deals.
        workers: Processes; 0 is this process.
        time_limit: Seconds that a player may take for one batch of decisions.
        out: Folder of the comparison, which the same call resumes; None keeps nothing on disk.
        transfer: Whether a policy that was made for another table may play at this one; the result
            says so.
        trust: Whether model files that can run code may be loaded.
        looked: Called with what has been found after each look; None shows it in terminals and
            notebooks.

    Raises:
        ConfigError: One of the two cannot play, or failed; the message says why.
        KeyboardInterrupt: The message says how to resume.
    """
    if by is not None and not by > 0:
        raise ConfigError(f"by is {by}; expected more than 0: the units that are to be told apart")
    for player in (better, worse):
        if isinstance(player, (str, Path)) and seed_runs(Path(player)):
            raise ConfigError(
                f"{player} holds runs by seed; kt.compare_seeds compares two such folders, and "
                "kt.compare one of the runs in it"
            )
    names = [label_of(player) for player in (better, worse)]
    if names[0] == names[1]:
        if better == worse:
            raise ConfigError(f"{names[0]!r} is compared with itself; name two players")
        names[1] += " (2)"
    table = table_of((better, worse), game, num_players, episode, rules)
    unit = unit_of(table.rules["episode"])
    least, greatest = bounds or bounds_of(table.rules, table.num_players)
    uncut = None if bounds else uncut_of(table.rules, table.num_players)
    by = BY[unit] if by is None else by
    hypotheses = Hypotheses(low, low + by, least, greatest, alpha, beta, most, uncut)
    question = Question(names[0], names[1], table.num_players, unit, hypotheses)
    if most == 1:
        raise ConfigError("most is 1; expected 2 deals or more, or 0 for no limit")
    fields, objects = entrants_of(dict(zip(names, (better, worse), strict=True)))
    entrants = [
        Entrant(number, name, str(fields[name]["player"]))
        for number, name in enumerate(sorted(names))
    ]
    play = Play(
        table.game, table.rules, seed, entrants, objects,
        seconds=time_limit, transfer=transfer, trust=trust,
    )  # fmt: skip
    with (
        resumable(how_to_resume(out)),
        folder_of(out) as folder,
        tidy(folder),
        ExitStack() as stack,
    ):
        scores = stack.enter_context(Scores(folder.comparison, create=True))
        if scores.entrants:
            scores.check_same(question, table, seed)
        pool = Processes(workers, log=folder.log) if workers else Here()
        stack.enter_context(pool)
        known = identified(play, pool, entrants, [table.num_players], out is not None)
        for number, reason in known.failed.items():
            raise ConfigError(f"{entrants[number].name} cannot be compared: {reason}")
        scores.begin(question, table, seed, known)
        bars = stack.enter_context(Bars())
        return _played(scores, play, pool, looked or bars.described)


def _played(
    scores: "Scores", play: Play, pool: Pool, looked: Callable[[Comparison], None]
) -> Comparison:
    """Play until the test knows, or has had its deals."""
    question = scores.question
    test = SequentialTest(question.hypotheses)
    try:
        for deals in _looks(question.hypotheses.most):
            _play_to(deals, scores, play, pool)
            scores.write()
            test.feed(scores.scores[test.deals : deals])
            found = scores.comparison(test)
            looked(found)
            if test.verdict != GOING:
                return found
    finally:
        scores.write()
    raise AssertionError("the looks end with the test")


def _play_to(deals: int, scores: "Scores", play: Play, pool: Pool) -> None:
    """Play so many deals, those that have been played among them."""
    entrants, seats = scores.entrants, scores.question.num_players
    (hero,) = (each.number for each in entrants if each.name == scores.question.better)
    (draw,) = draws(Pairing("gauntlet", "copies", hero), [[0, 1]], seats)
    whole = (Shard(0, draw, first, end - first) for first, end in scores.missing(deals))
    for shard, result in pool.run(play, cut(whole, BATCH_TABLES)):
        if isinstance(result, Failed):
            raise ConfigError(f"{entrants[result.whose].name} cannot be compared: {result.reason}")
        members = shard.members(play.seed, play.keys)[:, 0]
        units = by_place(np.asarray(result["earned"], dtype=np.float64)[:, 0]).mean(axis=1)
        beyond = beyond_mean(units)
        there = members == hero
        found = np.where(there, beyond, 0.0).sum(axis=1) / there.sum(axis=1)
        scores.keep(shard.first_deal, found)


class _Content(Strict):
    """What the file holds beside the scores."""

    kind: Literal["comparison"]
    format: Literal[1]
    question: dict[str, Any]
    table: dict[str, Any]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    made_with: dict[str, str]
    entrants: Annotated[list[Entrant], Field(min_length=2, max_length=2)]


class Scores(Locked):
    """The scores of a comparison.

    Attributes:
        question: What is asked.
        table: The table.
        seed: Seed of the deals.
        made_with: Versions that made the first scores.
        entrants: The two players.
        scores: [N] score of each deal; NaN where it has not been played.
        remarks: What is to be said of the players, by name; not kept.
    """

    question: Question
    table: Table

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open a file of scores; see `Locked`."""
        self.entrants: list[Entrant] = []
        self.scores = np.zeros(0)
        self.remarks: dict[str, str] = {}
        super().__init__(path, create=create, readonly=readonly)

    def _load(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        content = _Content.model_validate_json(json.dumps(about))
        self.question = TypeAdapter(Question).validate_python(content.question)
        self.table, self.seed = Table.read(content.table), content.seed
        self.made_with = content.made_with
        self.entrants = content.entrants
        names = sorted((self.question.better, self.question.worse))
        if [(each.number, each.name) for each in self.entrants] != list(enumerate(names)):
            raise ValueError(f"its question is about {names}")
        values, codes = arrays["values"], arrays["codes"]
        if (values.ndim, codes.ndim, values.dtype.kind, codes.dtype.kind) != (1, 1, "f", "u"):
            raise ValueError(f"its scores are {values.dtype} {values.shape} and {codes.dtype}")
        if not np.isfinite(values).all() or codes.max(initial=0) > len(values):
            raise ValueError("its scores are no numbers")
        self.scores = np.append(np.nan, values)[codes]

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        played = np.isfinite(self.scores)
        values, places = np.unique(self.scores[played], return_inverse=True)
        codes = np.zeros(len(self.scores), dtype=np.min_scalar_type(len(values)))
        codes[played] = 1 + places
        about = {
            "kind": "comparison",
            "format": 1,
            "question": asdict(self.question),
            "table": self.table.as_dict(),
            "seed": self.seed,
            "made_with": self.made_with,
            "entrants": list(map(asdict, self.entrants)),
        }
        return about, {"values": values, "codes": codes}

    def settings(self) -> TournamentSettings:
        """Return the settings of a tournament of the same lineups."""
        sides = {each.name: {"player": each.player, "play": each.play} for each in self.entrants}
        return TournamentSettings(
            seed=self.seed,
            table=settings_of(self.table, (self.table.num_players,)),
            entrants=sides,
            matchmaking=MatchmakingSettings("gauntlet", "copies", hero=self.question.better),
        )

    def check_same(self, question: Question, table: Table, seed: int) -> None:
        """Refuse another comparison than the one that is kept.

        Raises:
            ConfigError: The message says what differs.
        """
        mine, theirs = (
            (question.better, question.worse),
            (self.question.better, self.question.worse),
        )
        if mine != theirs:
            raise ConfigError(
                f"{self.path.parent} holds the comparison of {theirs[0]!r} with {theirs[1]!r}, not "
                f"of {mine[0]!r} with {mine[1]!r}; choose another name for this one"
            )
        found = table.differences(self.table)
        if seed != self.seed:
            found.append(f"seed {self.seed} instead of {seed}")
        if found:
            raise ConfigError(
                f"{self.path.parent} holds a comparison at another table: {'; '.join(found)}; "
                "choose another name for this one, or remove that folder"
            )

    def begin(self, question: Question, table: Table, seed: int, known: Identified) -> None:
        """Ask a question, and write it.

        Raises:
            StoreError: A player is another one than before.
        """
        check_unchanged(self.entrants, known.entrants)
        if not self.entrants:
            self.table, self.seed, self.made_with = table, seed, versions()
        self.question, self.entrants, self.remarks = question, known.entrants, known.remarks
        self.write()

    def missing(self, deals: int) -> Iterator[tuple[int, int]]:
        """Yield the deals of the first so many that have not been played, from and to."""
        more = max(0, deals - len(self.scores))
        self.scores = np.append(self.scores, np.full(more, np.nan))
        missing = np.isnan(self.scores[:deals]).astype(np.int8)
        ends = np.flatnonzero(np.diff(missing, prepend=0, append=0)).tolist()
        yield from zip(ends[::2], ends[1::2], strict=True)

    def keep(self, first: int, scores: np.ndarray) -> None:
        """Take the scores of consecutive deals; they are written later."""
        self.scores[first : first + len(scores)] = scores
        self.write_if_due()

    def comparison(self, test: SequentialTest) -> Comparison:
        """Return what a test of these scores says."""
        homes = {each.name: home for each in self.entrants for home in each.transferred.values()}
        found = Comparison.of(self.question, test)
        return replace(found, table=self.table, transferred=homes, remarks=self.remarks)


def retrace(kept: Scores, question: Question | None = None) -> list[Comparison]:
    """Return what a comparison had found on its way, from what is kept; the last is the answer.

    There are more stations than looks, and none behind the look that brought the verdict. Without
    any scores the list is empty.

    Args:
        kept: The scores.
        question: Another question to them; None is the one that was asked.
    """
    question = question or kept.question
    missing = np.flatnonzero(np.isnan(kept.scores))
    scores = kept.scores[: missing[0]] if len(missing) else kept.scores
    test, path, before = SequentialTest(question.hypotheses), list[Comparison](), float(FIRST)
    for deals in _looks(question.hypotheses.most):
        steps = 1 + math.ceil(math.log(deals / before, STEP)) if deals > before else 2
        for station in np.geomspace(min(before, deals), deals, steps)[1:].round().astype(int):
            test.feed(scores[test.deals : int(station)])
            if test.deals and (not path or test.deals > path[-1].played):
                path.append(replace(kept.comparison(test), question=question))
        if test.deals < deals or test.verdict != GOING:
            break
        before = float(deals)
    return path


def _looks(most: int) -> Iterator[int]:
    """Yields after how many deals the test looks; `most` is the last, if it is not 0."""
    deals = 0
    while not most or deals < most:
        deals = int(max(deals * GROWTH, deals + FIRST_DEALS))
        yield min(deals, most) if most else deals
