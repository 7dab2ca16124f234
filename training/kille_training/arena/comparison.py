"""What a comparison asks, and what it has found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kille_env.registry import Table
from kille_training.labels import BEYOND_MEAN, plural_of
from kille_training.results import Result, TextTable
from kille_training.statistics.sequential import (
    ABOVE,
    BELOW,
    GOING,
    UNDECIDED,
    Hypotheses,
    SequentialTest,
)

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


@dataclass(frozen=True, repr=False)
class Comparison(Result):
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
        remarks: What else is to be said of players, by name.
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
    remarks: Mapping[str, str] = field(default_factory=dict)

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
            "remarks": dict(self.remarks),
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

    def describe(self) -> str:
        """Returns a line of text."""
        return (
            f"{self.played:>11,} {self.many}: {self.mean:+.4f} ({self.interval()})  {self.verdict}"
        )

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

    def parts(self) -> list[str | TextTable]:
        """Returns the table, what is to be said of players, and the answer."""
        moved = [f"{name} is transferred from {home}." for name, home in self.transferred.items()]
        moved += [f"{name} {remark}." for name, remark in self.remarks.items()]
        where = [] if self.table is None else [f"{self.table}."]
        return [*where, *moved, *self.sentences()]


def _distinct(end: float, hypothesis: float) -> str:
    """Returns the end of an interval with so many digits that it differs from a hypothesis."""
    texts = (f"{end:+.{digits}f}" for digits in DIGITS)
    return next((text for text in texts if float(text) != hypothesis), f"{end:+g}")


def _range(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:+g} or {bounds[1]:+g}"
