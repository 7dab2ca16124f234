"""Does one player earn more than another? Played until a sequential test knows.

The first player sits among copies of the second, at every deal from every position. Its earnings
beyond the table's mean are one score per deal; the test is `statistics.sequential`. Results are
kept as those of a tournament, so a comparison can be resumed; the question is kept beside them, in
comparison.yaml, and `kille report` answers it anew from the results.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.policy import PlayerLike
from kille_env.registry import Table
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder, Tournament, executor_of
from kille_training.labels import BEYOND_MEAN, plural_of
from kille_training.statistics.sequential import (
    ABOVE,
    BELOW,
    FIRST,
    GOING,
    UNDECIDED,
    Hypotheses,
    SequentialTest,
)

BY = {"deal": 0.005, "match": 0.05}
"""Units that are told apart by default, by the kind of episode."""
FIRST_DEALS = 1_000
GROWTH = 1.25
"""Deals until the next look, at most, as a multiple of those played so far."""
STEP = 1.1
"""Deals from station to station of a comparison that is retraced, as a multiple."""
DIGITS = range(4, 10)
"""Decimals of the ends of an interval: more where an end is close to a hypothesis."""


@dataclass(frozen=True)
class Question:
    """What a comparison asks.

    Attributes:
        better: The player that is asked about.
        worse: The player whose copies fill the other seats.
        num_players: Seats of the table.
        unit: What an observation is: "deal" or "match".
        hypotheses: What is to be distinguished: units per deal beyond the table's mean.
    """

    better: str
    worse: str
    num_players: int
    unit: str
    hypotheses: Hypotheses

    @staticmethod
    def file(folder: Folder) -> Path:
        """Returns where the question of a folder is kept."""
        return folder.path / "comparison.yaml"

    @classmethod
    def read(cls, folder: Folder) -> "Question | None":
        """Reads the question of a folder; None if it holds no comparison.

        Raises:
            ConfigError: The file is not one that `write` has written.
        """
        path = cls.file(folder)
        if not path.is_file():
            return None
        try:
            fields = yaml.safe_load(path.read_text())
            known = fields.pop("hypotheses")
            if known["uncut"] is not None:
                known["uncut"] = tuple(known["uncut"])
            return cls(**fields, hypotheses=Hypotheses(**known))
        except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(
                f"{path} holds no question ({error}); remove it and run kille compare again"
            ) from None

    def check_same(self, folder: Folder) -> None:
        """Refuses a folder that holds the comparison of other players.

        Raises:
            ConfigError: The message says which.
        """
        kept = self.read(folder)
        if kept is not None and (kept.better, kept.worse) != (self.better, self.worse):
            raise ConfigError(
                f"{folder.path} holds the comparison of {kept.better!r} with {kept.worse!r}, not "
                f"of {self.better!r} with {self.worse!r}; choose another name for this one"
            )

    def write(self, folder: Folder) -> None:
        """Keeps the question in a folder."""
        text = yaml.safe_dump(asdict(self), sort_keys=False, allow_unicode=True)
        write_whole(self.file(folder), text.encode())


@dataclass(frozen=True, repr=False)
class Comparison:
    """What a comparison has found.

    Attributes:
        question: What was asked.
        verdict: The test's, see `statistics.sequential`.
        decided_after: Deals after which the verdict was reached, 0 while there is none.
        played: Deals, or matches, that have been played.
        mean: Units per deal of the first player, beyond the table's mean.
        low: Lower end of the interval that belongs to the verdict and holds at all times.
        high: Upper end.
        bounds: Lowest and highest score that counts as it is.
        cut: Scores beyond, which count as less.
        table: The table; None where only the results are known.
        transferred: By the name of each player that was made for another table, that table.
    """

    question: Question
    verdict: str
    decided_after: int
    played: int
    mean: float
    low: float
    high: float
    bounds: tuple[float, float]
    cut: int
    table: Table | None = None
    transferred: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Question, test: SequentialTest) -> "Comparison":
        """Returns what a test says to a question."""
        return cls(
            question,
            test.verdict,
            test.decided_after,
            test.deals,
            test.mean,
            *test.interval(),
            test.bounds,
            test.cut,
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns it as JSON can hold it."""
        asked = self.question
        known = asked.hypotheses
        return {
            "better": asked.better,
            "worse": asked.worse,
            "num_players": asked.num_players,
            **({} if self.table is None else self.table.as_dict()),
            "transferred": dict(self.transferred),
            "score": BEYOND_MEAN,
            "unit": asked.unit,
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
        """What is counted: "deals" or "matches"."""
        return plural_of(self.question.unit)

    def answer(self) -> str:
        """Returns the verdict as a sentence."""
        asked, known = self.question, self.question.hypotheses
        if self.verdict in (GOING, UNDECIDED):
            return (
                f"Not decided after {self.played:,} {self.many}: among copies of {asked.worse}, "
                f"{asked.better} may earn {known.low:+g} units per {asked.unit} or less, or "
                f"{known.high:+g} or more."
            )
        more, value, error = {
            ABOVE: ("more", known.low, known.alpha),
            BELOW: ("less", known.high, known.beta),
        }[self.verdict]
        return (
            f"Among copies of {asked.worse}, {asked.better} earns {more} than {value:+g} units per "
            f"{asked.unit}. Decided after {self.decided_after:,} {self.many}, with a chance of "
            f"error of at most {error:.3g}."
        )

    def interval(self) -> str:
        """Returns the interval as text; a rejected hypothesis is never one of its ends."""
        known = self.question.hypotheses
        low, high = _distinct(self.low, known.low), _distinct(self.high, known.high)
        # After the verdict the bets may fall again; what they have ruled out stays open.
        above = "above " if self.verdict == ABOVE and self.low == known.low else ""
        below = "below " if self.verdict == BELOW and self.high == known.high else ""
        return f"{above}{low} to {below}{high}"

    def estimate(self) -> str:
        """Returns mean and interval as a sentence."""
        known = self.question.hypotheses
        return (
            f"{self.mean:+.4f} units per {self.question.unit}, {BEYOND_MEAN}, over "
            f"{self.played:,} {self.many}; "
            f"{100 * known.confidence:.3g}% interval {self.interval()}, valid whenever you stop."
        )

    def sentences(self) -> list[str]:
        """Returns it as text."""
        cut = [f"{self.cut:,} {self.many} moved more and count as {_range(self.bounds)} units."]
        return [self.answer(), self.estimate(), *(cut if self.cut else [])]

    def __str__(self) -> str:
        """Returns it as text, with the table."""
        moved = [f"{name} is transferred from {home}." for name, home in self.transferred.items()]
        where = [] if self.table is None else [f"{self.table}."]
        return "\n".join([*where, *moved, *self.sentences()])

    __repr__ = __str__


def _distinct(end: float, hypothesis: float) -> str:
    """Returns the end of an interval with so many digits that it differs from a hypothesis."""
    texts = (f"{end:+.{digits}f}" for digits in DIGITS)
    return next((text for text in texts if float(text) != hypothesis), f"{end:+g}")


def _range(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:+g} or {bounds[1]:+g}"


def play_comparison(
    folder: Folder,
    settings: TournamentSettings,
    question: Question,
    looked: Callable[[Comparison], None],
    *,
    trust: bool,
    objects: Mapping[str, PlayerLike],
) -> Comparison:
    """Plays until the test knows, or has had its deals.

    Args:
        folder: Where it lies, or is to lie.
        settings: A gauntlet of the one against copies of the other; its deals do not matter.
        question: What is asked.
        looked: Called with what has been found after each look.
        trust: Whether model files that can run code may be loaded.
        objects: Players that are Python objects, by what the settings call the player.

    Raises:
        ConfigError: One of the two failed, or the folder holds something else; the message says
            what.
    """
    if question.hypotheses.most == 1:
        raise ConfigError("most is 1; expected 2 deals or more, or 0 for no limit")
    question.check_same(folder)
    test = SequentialTest(question.hypotheses)
    with executor_of(settings, folder, objects=objects) as executor:
        for deals in _looks(question.hypotheses.most):
            matchmaking = replace(settings.matchmaking, deals=deals)
            tournament = Tournament(
                folder, replace(settings, matchmaking=matchmaking), trust=trust, objects=objects
            )
            try:
                question.write(folder)
                tournament.play(executor)
                out = [each for each in tournament.store.entrants() if each.out is not None]
                if out:
                    raise ConfigError(f"{out[0].name} cannot be compared: {out[0].out}")
                _feed(test, tournament.store, question.better, deals)
            finally:
                tournament.close()
            found = Comparison.of(question, test)
            looked(found)
            if test.verdict != GOING:
                return found
    raise AssertionError("the looks end with the test")


def retrace(store: Store, question: Question) -> list[Comparison]:
    """Returns what a comparison had found on its way, from what is kept; the last is the answer.

    There are more stations than looks, and none behind the look that brought the verdict. Without
    any scores the list is empty. Players that were transferred are not kept.
    """
    table, made = None, store.meta().get("tables")
    if made is not None:
        about = {"num_players": question.num_players, "version": made["game_version"]}
        table = Table.read({"game": made["game"], "rules": made["rules"], **about})
    test, path, before = SequentialTest(question.hypotheses), [], float(FIRST)
    for deals in _looks(question.hypotheses.most):
        steps = 1 + math.ceil(math.log(deals / before, STEP)) if deals > before else 2
        for station in np.geomspace(min(before, deals), deals, steps)[1:].round().astype(int):
            _feed(test, store, question.better, int(station))
            if test.deals and (not path or test.deals > path[-1].played):
                path.append(replace(Comparison.of(question, test), table=table))
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


def _feed(test: SequentialTest, store: Store, better: str, deals: int) -> None:
    """Feeds a test until it has had so many deals, or all that have been played."""
    first = next(store.results(), None)
    if first is None:
        return
    (number,) = (each.number for each in store.entrants() if each.name == better)
    for scores in store.scores(first.block.panel.number, 0, number, test.deals):
        test.feed(scores[: deals - test.deals])
        if test.deals >= deals:
            return
