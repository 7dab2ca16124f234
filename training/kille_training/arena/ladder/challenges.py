"""The tests of a ladder: is a new player better than an old one?

A test is a comparison as `kille compare` plays it: the new player among copies of the old one,
every deal from all positions, judged by a sequential test. It has a folder of its own, with deals
that nothing else plays, so it says nothing of the ratings, and the ratings nothing of it.

Several run at a time, in the order in which they were asked for. Each plays a part of some deals
beside every round of the ladder, and the verdict is looked for after whole parts only. So it is the
same wherever the ladder was interrupted: what is known of a test follows from how many of its deals
count, and from its results.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core.keys import derive
from kille_env.errors import KilleError
from kille_training.arena.compare import BY, Comparison, Question, bounds_of, retrace, uncut_of
from kille_training.arena.ladder.settings import LadderSettings
from kille_training.arena.ladder.submissions import Submission
from kille_training.arena.settings import MatchmakingSettings, TournamentSettings
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder, Tournament, missing, work_units
from kille_training.arena.work import Block, Outcome, WorkUnit
from kille_training.labels import unit_of
from kille_training.statistics.sequential import GOING, Hypotheses, SequentialTest

FAILED = "failed"
"""The verdict of a test in which one of the two could not go on."""
_TESTS = 0x74657374
"""Number of the stream of tests below the seed of a ladder."""


@dataclass(frozen=True)
class Challenge:
    """A test, and what is known of it.

    Attributes:
        number: Its number, from 1.
        new: Name of the player that is tested.
        old: Name of the player whose copies fill the other seats.
        by: Units per deal above `low` that are worth finding.
        low: Units per deal that are not enough.
        alpha: Chance of a wrong "more than low".
        beta: Chance of a wrong "less than low + by".
        most: Deals after which it ends undecided; 0 is never.
        source: File of the submission that asked for it.
        verdict: See `statistics.sequential`, or `FAILED`.
        deals: Deals, or matches, that count.
        decided_after: Deals after which the verdict was reached; 0 while there is none.
        mean: Units per deal of the new player, beyond the table's mean; None before it has played.
        least: Lower end of the interval that belongs to the verdict and holds at all times.
        greatest: Upper end.
        answer: What it says, as a sentence.
    """

    number: int
    new: str
    old: str
    by: float
    low: float
    alpha: float
    beta: float
    most: int
    source: str
    verdict: str = GOING
    deals: int = 0
    decided_after: int = 0
    mean: float | None = None
    least: float | None = None
    greatest: float | None = None
    answer: str = ""

    @property
    def going(self) -> bool:
        """Whether it has not ended."""
        return self.verdict == GOING

    def question(self, settings: LadderSettings) -> Question:
        """Returns what it asks, as `kille compare` has it.

        Args:
            settings: The ladder's.
        """
        rules, seats = settings.table.resolve(), settings.num_players
        hypotheses = Hypotheses(
            self.low, self.low + self.by, *bounds_of(rules, seats), self.alpha, self.beta,
            self.most, uncut_of(rules, seats),
        )  # fmt: skip
        return Question(self.new, self.old, seats, unit_of(settings.episode), hypotheses)

    def found(self, comparison: Comparison) -> "Challenge":
        """Returns it with what has been found."""
        return replace(
            self,
            verdict=comparison.verdict,
            deals=comparison.played,
            decided_after=comparison.decided_after,
            mean=comparison.mean,
            least=comparison.low,
            greatest=comparison.high,
            answer=comparison.answer(),
        )

    def failed(self, reason: str) -> "Challenge":
        """Returns it as one that cannot be played to the end."""
        said = f"{self.new} cannot be tested against {self.old}: {reason}"
        return replace(self, verdict=FAILED, answer=said)


def plain(tests: Sequence[Challenge]) -> list[dict[str, Any]]:
    """Returns tests as the store's `meta` has them."""
    return [asdict(each) for each in tests]


def challenges(store: Store) -> list[Challenge]:
    """Returns all tests of a ladder, in the order in which they were asked for."""
    return [Challenge(**kept) for kept in store.meta().get("tests", [])]


class Challenges:
    """The tests of a ladder that is being played."""

    def __init__(self, folder: Path, store: Store, settings: LadderSettings, trust: bool) -> None:
        """Reads the queue, and opens no test yet.

        Args:
            folder: Where the folders of the tests are.
            store: The ladder's.
            settings: The ladder's.
            trust: Whether model files that can run code may be loaded.
        """
        self._folder, self._store, self._settings, self._trust = folder, store, settings, trust
        self._open: dict[int, _Running] = {}
        self._failed: dict[int, Challenge] = {}

    @property
    def going(self) -> bool:
        """Whether any test has not ended."""
        return any(each.going for each in challenges(self._store))

    def close(self) -> None:
        """Closes the tests that are open."""
        for each in self._open.values():
            each.close()
        self._open = {}

    def add(self, asked: Submission, source: str) -> None:
        """Adds a test to the queue, unless this submission has added it already."""
        queue = challenges(self._store)
        if any(each.source == source for each in queue):
            return
        new = Challenge(
            1 + len(queue), asked.name, asked.against, asked.by or BY[self._settings.episode],
            asked.low, asked.alpha, asked.beta, asked.most, source,
        )  # fmt: skip
        self._store.set_meta(tests=plain([*queue, new]))

    def units(self) -> Iterator[WorkUnit]:
        """Yields what is missing of the next part of each running test."""
        for each in self._running():
            yield from each.units()

    def keep(self, outcome: Outcome) -> bool:
        """Keeps the outcome of a unit; returns whether it was one of a test."""
        for each in self._open.values():
            if each.seed == outcome.unit.seed:
                each.keep(outcome)
                return True
        return False

    def look(self) -> list[Challenge]:
        """Looks for verdicts, and returns the whole queue; tests that have ended are closed."""
        known = self._failed | {number: each.look() for number, each in self._open.items()}
        for each in known.values():
            if not each.going and each.number in self._open:
                self._open.pop(each.number).close()
        self._failed = {}
        return [known.get(each.number, each) for each in challenges(self._store)]

    def _running(self) -> list["_Running"]:
        """Returns the first tests of the queue that have not ended; opens those that are not."""
        queue = challenges(self._store)
        going = [each for each in queue if each.going and each.number not in self._failed]
        for each in going[: self._settings.tests_at_once]:
            if each.number in self._open:
                continue
            folder = Folder(self._folder / str(each.number))
            asked = each.question(self._settings)
            try:
                running = _Running(each, asked, folder, self._tournament(each), self._trust)
            except KilleError as error:  # a player has changed, or its files are gone
                self._failed[each.number] = each.failed(str(error))
            else:
                self._open[each.number] = running
        return list(self._open.values())

    def _tournament(self, each: Challenge) -> TournamentSettings:
        """Returns the settings of a test: a gauntlet of the new player among copies of the old."""
        known: Mapping[str, Any] = {entrant.name: entrant for entrant in self._store.entrants()}
        deals = self._settings.test_deals
        return self._settings.tournament(
            {name: known[name] for name in (each.new, each.old)},
            name=f"test {each.number}",
            seed=int(derive(derive(np.uint64(self._settings.seed), _TESTS), each.number) >> 1),
            matchmaking=MatchmakingSettings("gauntlet", "copies", deals=deals, hero=each.new),
        )


class _Running:
    """A test that is being played.

    Attributes:
        seed: Seed of its deals, which no other test has.
    """

    def __init__(
        self,
        challenge: Challenge,
        question: Question,
        folder: Folder,
        settings: TournamentSettings,
        trust: bool,
    ) -> None:
        self._challenge, self._settings, self._trust = challenge, settings, trust
        self.seed, self._deals = settings.seed, settings.matchmaking.deals
        self._tournament = Tournament(folder, settings, trust=trust)
        question.write(folder)
        self._store = self._tournament.store
        ((block,),) = self._tournament.blocks().values()
        self._panel = block.panel
        (self._new,) = (e.number for e in self._store.entrants() if e.name == challenge.new)
        self._question = question
        self._test = SequentialTest(question.hypotheses)
        self._feed(challenge.deals)

    def close(self) -> None:
        self._tournament.close()

    def units(self) -> Iterator[WorkUnit]:
        """Yields what is missing of the next part."""
        if any(entrant.out is not None for entrant in self._store.entrants()):
            return iter(())
        block = Block(self._panel, self._test.deals, self._part())
        blocks = {self._panel.seats: missing(self._store, block)}
        return work_units(self._settings, self._store, blocks, trust=self._trust)

    def keep(self, outcome: Outcome) -> None:
        self._store.keep(outcome)

    def look(self) -> Challenge:
        """Feeds the test the next part, if it is whole, and returns what is known."""
        for entrant in self._store.entrants():
            if entrant.out is not None:
                return self._challenge.failed(f"{entrant.name} is out: {entrant.out}")
        test = self._test
        self._feed(test.deals + self._part())
        found = Comparison.of(self._question, test)
        if test.verdict != GOING:  # as its own page has it, with deals up to the look that decided
            found = retrace(self._store, self._question)[-1]
        return self._challenge.found(found)

    def _feed(self, deals: int) -> None:
        """Feeds the test the next deals up to a number of them, if all of them are there."""
        first = self._test.deals
        scores = np.concatenate(list(self._store.scores(self._panel.number, 0, self._new, first)))
        if len(scores) >= deals - first:
            self._test.feed(scores[: deals - first])

    def _part(self) -> int:
        """Returns how many deals the next part has: fewer where the test is to end."""
        most = self._challenge.most or self._test.deals + self._deals
        return min(self._deals, most - self._test.deals)
