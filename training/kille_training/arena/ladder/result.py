"""What a ladder has come to: ratings, places, tests, and who waits."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from kille_env.core.text import counted
from kille_env.errors import ConfigError
from kille_training.arena.ladder.challenges import Challenge, challenges
from kille_training.arena.ladder.ladder import round_draw, table_scores
from kille_training.arena.ladder.pairing import PLACEMENT
from kille_training.arena.ladder.settings import LadderFolder, LadderSettings
from kille_training.arena.ladder.submissions import Refusal
from kille_training.arena.samples import Sample, samples
from kille_training.arena.settings import MatchmakingSettings
from kille_training.arena.store import KeptEntrant, Store, StoreError
from kille_training.arena.work import Block
from kille_training.labels import places_of
from kille_training.statistics.grouping import Grouping, group
from kille_training.statistics.intervals import CONFIDENCE, Intervals
from kille_training.statistics.plackett_luce import ELO, Ratings, fit
from kille_training.statistics.skill import Beliefs
from kille_training.statistics.tally import Tally

Table = tuple[tuple[str, float], ...]
"""The players of a table, with what each earned."""


@dataclass(frozen=True)
class Rung:
    """A line of the ladder.

    Attributes:
        place: 1 for the highest rating; a player that has not played or is out has none.
        name: The player.
        rating: In Elo points around the mean of all; None before it has played.
        low: Lower end of the 95% interval of the rating; None where there is none.
        high: Upper end.
        best: The best place that it may truly have, all pairs tested together.
        worst: The worst one.
        skill: What is believed of its skill for sure, see `statistics.skill`.
        observations: Deals that it has played, each counted for every table.
        new: Whether it still meets opponents from all over the field.
        out: Why it is out; None if it is not.
    """

    place: int | None
    name: str
    rating: float | None
    low: float | None
    high: float | None
    best: int | None
    worst: int | None
    skill: float
    observations: int
    new: bool
    out: str | None

    def places(self) -> str:
        """Returns the places that the results leave open, see `labels.places_of`."""
        return places_of(self.place, self.best, self.worst, self.out)


@dataclass(frozen=True, repr=False)
class LadderResult:
    """A ladder as it stands.

    Attributes:
        folder: Where it lies.
        settings: Its settings.
        entrants: All players, by number.
        tally: What was played; None if nothing was.
        beliefs: What is believed of their skill.
        rounds: Rounds that have been played.
        tests: All tests, in the order in which they were asked for.
        waiting: Names of the files of submissions that wait.
        refused: Submissions that were refused, the last one first.
        last: The tables of the last round: who sat there, and what each earned, units per deal
            beyond the table's mean, the most first.
        made_with: Versions that began the ladder.
    """

    folder: LadderFolder
    settings: LadderSettings
    entrants: tuple[KeptEntrant, ...]
    tally: Tally | None
    beliefs: Beliefs
    rounds: int
    tests: tuple[Challenge, ...]
    waiting: tuple[str, ...]
    refused: tuple[Refusal, ...]
    last: tuple[Table, ...]
    made_with: dict[str, Any]

    @classmethod
    def of(cls, folder: LadderFolder, store: Store | None = None) -> "LadderResult":
        """Reads a ladder.

        Args:
            folder: Where it lies.
            store: Its results, where they are open; otherwise they are opened for reading.

        Raises:
            KilleError: There is no ladder, or its results cannot be read.
        """
        settings = folder.ladder_settings()
        if store is None:
            if not folder.results.is_file():
                return cls._read(folder, settings, None)
            with Store(folder.results, readonly=True) as opened:
                return cls._read(folder, settings, opened)
        return cls._read(folder, settings, store)

    @classmethod
    def _read(
        cls, folder: LadderFolder, settings: LadderSettings, store: Store | None
    ) -> "LadderResult":
        if store is None:
            meta, tally, entrants = {}, None, ()
        else:  # the entrants last: another process may let more enter meanwhile
            meta, tally = store.meta(), store.tallies().get(settings.num_players)
            entrants = tuple(store.entrants())
        kept = meta.get("beliefs", {"rounds": 0, "mean": [], "deviation": []})
        beliefs = Beliefs(np.array(kept["mean"], float), np.array(kept["deviation"], float))
        return cls(
            folder,
            settings,
            entrants,
            None if tally is None else tally.grown(len(entrants)),
            beliefs.grown(len(entrants)),
            kept["rounds"],
            () if store is None else tuple(challenges(store)),
            tuple(path.name for path in folder.submissions.waiting()),
            tuple(folder.submissions.refused()),
            () if store is None else _last_tables(store, settings, entrants),
            meta.get("made_with", {}),
        )

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of all players."""
        return fit(self.played)

    @cached_property
    def grouping(self) -> Grouping:
        """Which players can be told apart by their ratings."""
        return group(self.ratings.strength, _gaps(self.ratings, self.played))

    @property
    def played(self) -> Tally:
        """What was played.

        Raises:
            ConfigError: Nothing was.
        """
        if self.tally is None:
            raise ConfigError(f"nothing has been played on the ladder {self.folder.path} yet")
        return self.tally

    @cached_property
    def rungs(self) -> list[Rung]:
        """The players, the highest rating first, those that are out last."""
        if self.tally is None:
            return [self._rung(each, None) for each in self.entrants]
        rungs = [self._rung(each, self.tally) for each in self.entrants]
        rungs.sort(key=lambda rung: (rung.out is not None, -_number(rung.rating), rung.name))
        return [
            replace(rung, place=place) if rung.out is None and rung.rating is not None else rung
            for place, rung in enumerate(rungs, start=1)
        ]

    def samples(self, *, trust: bool = False) -> Iterator[Sample]:
        """Yields lineups in which each two players meet, played again; see `samples.samples`.

        Args:
            trust: Whether model files that can run code may be loaded.
        """
        if self.tally is None:
            return
        known = {each.name: each for each in self.entrants}
        settings = self.settings.tournament(known, matchmaking=MatchmakingSettings("swiss"))
        there = [each.number for each in self.entrants if each.out is None]
        with Store(self.folder.results, readonly=True) as store:
            yield from samples(store, settings, self.settings.num_players, there, trust=trust)

    @property
    def remarks(self) -> list[str]:
        """What stands below the ratings: why nothing is played, who is out, who was refused."""
        said = []
        seats, there = self.settings.num_players, sum(rung.out is None for rung in self.rungs)
        if there < seats:
            players = counted(there, "player", "players")
            said.append(f"No table can be filled: it has {seats} seats, and the ladder {players}.")
        said += [f"{rung.name} is out: {rung.out}" for rung in self.rungs if rung.out is not None]
        if self.waiting:
            count = counted(len(self.waiting), "submission", "submissions")
            said.append(f"{count} waiting to be taken in.")
        return [*said, *(f"{each.name} was refused: {each.reason}" for each in self.refused[:3])]

    def __repr__(self) -> str:
        """Returns the ladder as text."""
        width = max((len(rung.name) for rung in self.rungs), default=0)
        lines = [f"{self.settings.num_players} seats, {self.rounds:,} rounds: place, rating"]
        for rung in self.rungs:
            rating = "" if rung.rating is None else f"{rung.rating:+.0f}"
            within = "" if rung.low is None else f" ({rung.low:+.0f} to {rung.high:+.0f})"
            lines.append(f"{rung.places():>7}  {rung.name:<{width}}  {rating}{within}")
        answers = (test.answer for test in self.tests if test.answer)
        return "\n".join([*lines, *answers, *self.remarks])

    def as_dict(self) -> dict[str, Any]:
        """Returns the ladder as JSON can hold it."""
        return {
            "ladder": str(self.folder.path),
            "game": self.settings.game,
            "num_players": self.settings.num_players,
            "rounds": self.rounds,
            "standings": [asdict(rung) for rung in self.rungs],
            "tests": [asdict(test) for test in self.tests],
            "waiting": list(self.waiting),
            "refused": [asdict(refusal) for refusal in self.refused],
        }

    def _rung(self, entrant: KeptEntrant, tally: Tally | None) -> Rung:
        number = entrant.number
        played = 0 if tally is None else int(tally.count[:, number].sum())
        rung = Rung(
            place=None, name=entrant.name, rating=None, low=None, high=None, best=None, worst=None,
            skill=float(self.beliefs.cautious[number]), observations=played,
            new=played < PLACEMENT * self.settings.deals, out=entrant.out,
        )  # fmt: skip
        if not played:
            return rung
        return replace(
            rung,
            rating=_finite(ELO * self.ratings.strength[number]),
            low=_finite(ELO * self.ratings.low[number]),
            high=_finite(ELO * self.ratings.high[number]),
            best=int(self.grouping.best[number]),
            worst=int(self.grouping.worst[number]),
        )


def _last_tables(
    store: Store, settings: LadderSettings, entrants: Sequence[KeptEntrant]
) -> tuple[Table, ...]:
    """Returns the tables of the round that was begun last, as far as it has been played."""
    begun = store.meta().get("round")
    if begun is None:
        return ()
    tables: list[Table] = []
    try:
        panels = store.panels(begun["number"], round_draw(begun))
    except StoreError:  # another process is about to begin the round
        return ()
    for panel in panels:
        block = Block(panel, begun["number"] * settings.deals, settings.deals)
        for members, scores in zip(*table_scores(store.kept(block)), strict=True):
            seated = zip(members.tolist(), scores.tolist(), strict=True)
            there = [(entrants[number].name, earned) for number, earned in seated]
            tables.append(tuple(sorted(there, key=lambda each: (-each[1], each[0]))))
    return tuple(tables)


def _gaps(ratings: Ratings, tally: Tally) -> Intervals:
    """Returns how much stronger the row's player is than the column's, [E, E]."""
    variance = np.diagonal(ratings.covariance)
    known = np.isfinite(ratings.error)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(variance[:, None] + variance - 2 * ratings.covariance)
    error = np.where(known[:, None] & known, error, np.nan)
    freedom = np.full(error.shape, float(tally.count.any(axis=1).sum() - 1))
    mean = ratings.strength[:, None] - ratings.strength
    half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * error
    return Intervals(mean, mean - half, mean + half, error, freedom, tally.met.sum(axis=0))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _number(value: float | None) -> float:
    return -np.inf if value is None else value
