"""A ladder: a tournament that goes on, which players join at any time.

DIR/
  ladder.yaml       the settings
  submissions/      players that wait to enter, see `submissions`
  results.sqlite    entrants, rounds, everything that was earned, and the queue of tests
  tests/1/          the first test, a comparison with results and a page of its own
  players.log       what players printed while they played
  report.html       the page, rewritten as results come

It is played in rounds. Between two of them submissions are taken in; then the tables of the next
round are chosen by what would narrow the ratings most, see `pairing`, and written down before
anything is played. Round r plays the deals from r * D to (r + 1) * D, which no other round plays.
So whatever is interrupted, and in whatever units and processes a round is played, the same tables
earn the same.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from itertools import chain
from typing import Any, Protocol

import numpy as np

from kille_env.errors import ConfigError, KilleError, did_you_mean
from kille_env.registry import spec
from kille_training.arena.draws import Draw, Lineup
from kille_training.arena.entrants import fingerprint, metadata
from kille_training.arena.ladder.challenges import Challenge, Challenges, challenges, plain
from kille_training.arena.ladder.pairing import PLACEMENT, next_tables
from kille_training.arena.ladder.settings import LadderFolder, LadderSettings
from kille_training.arena.ladder.submissions import Refusal, Submission
from kille_training.arena.matchmaking import swiss_draw
from kille_training.arena.settings import MatchmakingSettings
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.tournament import Executor, missing, without, work_units
from kille_training.arena.work import (
    Block,
    Entrant,
    Failure,
    Outcome,
    Panel,
    Result,
    WorkUnit,
    by_place,
)
from kille_training.learning.runs import versions
from kille_training.statistics.plackett_luce import fit
from kille_training.statistics.skill import Beliefs, climb
from kille_training.statistics.tally import NANO

TRIAL_DEALS = 2
"""Deals that a player plays against itself before it may enter."""


class Watcher(Protocol):
    """Is told what happens on a ladder."""

    def entered(self, name: str) -> None:
        """Learns that a player has entered, or asked for a test."""

    def refused(self, refusal: Refusal) -> None:
        """Learns that a submission was refused."""

    def out(self, name: str, reason: str) -> None:
        """Learns that a player is out."""

    def decided(self, challenge: Challenge) -> None:
        """Learns that a test has ended."""

    def played(self, rounds: int) -> None:
        """Learns that a round and a part of each running test have been played.

        Args:
            rounds: Rounds of the ladder by now.
        """


class Ladder:
    """A ladder under way in a folder, which stays whole however the process ends.

    Attributes:
        folder: Where it lies.
        settings: Its settings.
        store: Its results.
        challenges: Its tests.
    """

    def __init__(self, folder: LadderFolder, *, trust: bool = False) -> None:
        """Opens a ladder for playing; only one process at a time can.

        Args:
            folder: Where it lies.
            trust: Whether model files that can run code may be loaded.

        Raises:
            KilleError: There is no ladder, its settings are not those of its results, or another
                process plays it.
        """
        self.folder, self.settings, self._trust = folder, folder.ladder_settings(), trust
        self.store = Store(folder.results, create=True)
        try:
            self._check_same()
            self.challenges = Challenges(folder.tests, self.store, self.settings, trust)
        except BaseException:
            self.store.close()
            raise

    def close(self) -> None:
        """Closes the folder."""
        try:
            self.challenges.close()
            self.store.save_tallies()
        finally:
            self.store.close()

    def __enter__(self) -> "Ladder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def play(
        self,
        executor: Executor,
        watcher: Watcher,
        until: Callable[[], bool],
        wait: Callable[[], bool] = lambda: False,
    ) -> None:
        """Plays rounds and tests, and takes submissions in between.

        Args:
            executor: Where units are played.
            watcher: Told what happens.
            until: Whether that is enough; asked before each round.
            wait: Called when there is nothing to play: waits, and says whether to look again.

        Raises:
            KilleError: The executor cannot go on; what was played until then is kept.
        """
        while True:
            self._put_out_changed(watcher)
            self.take_in(executor, watcher)
            if until():
                return
            panels = self._round()
            if not self._play(executor, watcher, panels) and not panels:
                if not wait():
                    return
                continue
            self._end(panels, watcher)

    @property
    def rounds(self) -> int:
        """Rounds that have been played to the end."""
        return int(self.store.meta()["beliefs"]["rounds"])

    # Submissions

    def take_in(self, executor: Executor, watcher: Watcher) -> None:
        """Takes in the submissions that wait, or refuses them."""
        submissions = self.folder.submissions
        for path in submissions.waiting():
            try:
                submission = submissions.read(path)
                self._enter(submission, executor)
            except ConfigError as error:
                watcher.refused(submissions.refuse(path, error))
                continue
            if submission.against:
                self.challenges.add(submission, path.name)
            submissions.done(path)
            watcher.entered(submission.name)

    def _enter(self, asked: Submission, executor: Executor) -> None:
        """Lets a player enter.

        Raises:
            ConfigError: It cannot play here, or another one has its name.
        """
        known = [each.name for each in self.store.entrants()]
        for name in filter(None, (asked.against, "" if asked.player else asked.name)):
            if name not in known:
                raise ConfigError(f"{name!r} is not on the ladder. {did_you_mean(name, known)}")
        if not asked.player:
            return
        if asked.name not in known:
            self._try(asked.entrant, executor)
        try:
            with redirect_stdout(sys.stderr):  # what its module prints is not our output
                self._check_module(asked)
                about = metadata(asked.player, self.settings.game, {})
                kept = KeptEntrant(
                    0, asked.name, asked.player, asked.play, fingerprint(asked.player), about
                )
            self.store.enter([kept])
        except (Exception, SystemExit) as error:  # whatever a player's own code may raise
            why = str(error) if isinstance(error, KilleError) else repr(error)
            raise ConfigError(f"{asked.name!r} cannot enter: {why}") from error

    def _check_module(self, asked: Submission) -> None:
        """Refuses another version of a module that has been imported: it would play the old one.

        Raises:
            ConfigError: A player of the module is there, which was another one then.
        """
        module, colon, _ = asked.player.partition(":")
        for each in self.store.entrants():
            if colon and each.player.partition(":")[:2] == (module, colon):
                digest = each.fingerprint.rpartition(":")[0]
                if digest != fingerprint(asked.player).rpartition(":")[0]:
                    raise ConfigError(
                        f"the module {module} has changed since {each.name!r} entered; give every "
                        "version a module of its own"
                    )

    def _try(self, entrant: Entrant, executor: Executor) -> None:
        """Lets a player play against itself, where it can do no harm.

        Raises:
            ConfigError: It cannot play at the ladder's tables.
        """
        seats = self.settings.num_players
        draw = Draw(((0,),), np.zeros((1, seats), dtype=np.int64), np.ones(1))
        unit = self._unit((Block(Panel(0, draw), 0, TRIAL_DEALS),), (entrant,))
        for outcome in executor.run(iter([unit])):
            if outcome.failure is not None:
                reason = outcome.failure.reason
                raise ConfigError(f"{entrant.name!r} cannot play at {seats} seats: {reason}")

    def _unit(self, blocks: tuple[Block, ...], entrants: tuple[Entrant, ...]) -> WorkUnit:
        settings = self.settings
        rules = settings.table.resolve().as_dict()
        return WorkUnit(
            settings.game, settings.num_players, rules, settings.seed, blocks, entrants, self._trust
        )

    def _put_out_changed(self, watcher: Watcher) -> None:
        """Puts out whoever is no longer the player that entered."""
        for each in self._present():
            try:
                same = fingerprint(each.player) == each.fingerprint
            except (OSError, ImportError, ValueError):  # its files or its module are gone
                same = False
            if not same:
                reason = f"{each.player} has changed since it entered; put it back and readmit it"
                self._put_out(Failure(each.number, reason, 0, 0), watcher)

    def _put_out(self, failure: Failure, watcher: Watcher) -> None:
        entrant = self.store.entrants()[failure.entrant]
        if entrant.out is None:  # several units may have failed with it at that moment
            self.store.keep(Outcome(self._unit((), ()), failure=failure))
            watcher.out(entrant.name, failure.reason)

    def _present(self) -> list[KeptEntrant]:
        """Returns the players that are not out, by name."""
        there = [each for each in self.store.entrants() if each.out is None]
        return sorted(there, key=lambda each: each.name)

    # Rounds

    def _round(self) -> list[Panel]:
        """Returns the round to be played: the one that was begun, or a new one.

        It is empty while too few players are there to fill a table.
        """
        kept, number = self.store.meta().get("round"), self.rounds
        if kept is None or kept["number"] < number:
            tables = self._pair(number)
            if not tables:
                return []
            kept = {"number": number, "tables": tables}
            self.store.set_meta(round=kept)
        return self.store.panels(number, round_draw(kept))

    def _pair(self, number: int) -> list[Lineup]:
        """Returns the tables of a new round."""
        present, seats, deals = self._present(), self.settings.num_players, self.settings.deals
        if len(present) < seats:
            return []
        numbers = np.array([each.number for each in present])
        strength = np.full(len(present), np.nan)
        covariance, sat = np.full((len(present), len(present)), np.nan), np.zeros(len(present))
        if (tally := self.store.tallies().get(seats)) is not None:
            ratings = fit(tally)
            strength = ratings.strength[numbers]
            covariance = ratings.covariance[np.ix_(numbers, numbers)]
            sat = tally.count.sum(axis=0)[numbers]
        tables = next_tables(
            strength, covariance, sat < PLACEMENT * deals, seats,
            self.settings.tables or -(-len(present) // seats), deals,
            np.random.default_rng([self.settings.seed, number]),
        )  # fmt: skip
        return [tuple(numbers[list(table)].tolist()) for table in tables]

    def _play(self, executor: Executor, watcher: Watcher, panels: list[Panel]) -> bool:
        """Plays what is missing of a round and of a part of each test; was there anything?"""
        anything, more = False, True
        while more:
            more = False
            for outcome in executor.run(chain(self._units(panels), self.challenges.units())):
                anything = more = True
                if self.challenges.keep(outcome):
                    continue
                if outcome.failure is None:
                    self.store.keep(outcome)
                else:
                    self._put_out(outcome.failure, watcher)
        return anything

    def _units(self, panels: list[Panel]) -> Iterator[WorkUnit]:
        """Yields what is missing of a round."""
        if not panels:
            return
        blocks = (
            part
            for panel in panels
            for part in missing(self.store, without(self._block(panel), self._out()))
        )
        known = {each.name: each for each in self.store.entrants()}
        settings = self.settings.tournament(known, matchmaking=MatchmakingSettings("swiss"))
        by_size = {self.settings.num_players: blocks}
        yield from work_units(settings, self.store, by_size, trust=self._trust, absent=self._out)

    def _block(self, panel: Panel) -> Block:
        """Returns a panel of the round that comes after those that have ended, at its deals."""
        deals = self.settings.deals
        return Block(panel, self.rounds * deals, deals)

    def _end(self, panels: list[Panel], watcher: Watcher) -> None:
        """Counts what has been played: the round, if there was one, and a part of each test."""
        before = {each.number for each in challenges(self.store) if not each.going}
        tests = self.challenges.look()
        changed: dict[str, Any] = {"tests": plain(tests)}
        if panels:
            changed["beliefs"] = self._believed(panels)
        self.store.set_meta(**changed)  # both or neither
        for each in tests:
            if not each.going and each.number not in before:
                watcher.decided(each)
        watcher.played(self.rounds)

    def _believed(self, panels: list[Panel]) -> dict[str, Any]:
        """Returns the beliefs about skill after a round, as the store's `meta` has them."""
        kept = self.store.meta()["beliefs"]
        beliefs = Beliefs(np.array(kept["mean"], float), np.array(kept["deviation"], float))
        beliefs = beliefs.grown(len(self.store.entrants()))
        for panel in panels:
            beliefs = climb(beliefs, *table_scores(self.store.kept(self._block(panel))))
        return {
            "rounds": kept["rounds"] + 1,
            "mean": beliefs.mean.tolist(),
            "deviation": beliefs.deviation.tolist(),
        }

    def _out(self) -> set[int]:
        return {each.number for each in self.store.entrants() if each.out is not None}

    def _check_same(self) -> None:
        """Refuses settings of other tables than those of the results; a new ladder takes them."""
        mine, meta = _identity(self.settings), self.store.meta()
        theirs = meta.get("ladder", mine)
        for key, value in mine.items():
            if theirs.get(key) != value:
                raise ConfigError(
                    f"{self.folder.path} holds a ladder whose {key} is {theirs.get(key)!r}, not "
                    f"{value!r}; put it back in {self.folder.config}, or begin another ladder"
                )
        if "ladder" not in meta:
            none = {"rounds": 0, "mean": [], "deviation": []}
            self.store.set_meta(ladder=mine, beliefs=none, tests=[], made_with=versions())


def _identity(settings: LadderSettings) -> dict[str, Any]:
    """What every result of a ladder has in common."""
    return {
        "game": settings.game,
        "game_version": spec(settings.game).version,
        "num_players": settings.num_players,
        "rules": settings.table.resolve().as_dict(),
        "seed": settings.seed,
        "deals": settings.deals,
        "test_deals": settings.test_deals,
    }


def round_draw(begun: Mapping[str, Any]) -> Draw:
    """Returns the draw of a round, as the store's `meta` has it: its tables, in order by lot."""
    return swiss_draw([tuple(table) for table in begun["tables"]], 1)


def table_scores(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Returns what each member of the tables of a panel earned in a block.

    Returns:
        [L, P] numbers of the entrants, ascending, and [L, P] units per deal beyond the table's
        mean, of the tables at which anything has been played.
    """
    seats = result.block.panel.seats
    units = by_place(result.earned).sum(axis=2)
    nano = np.rint(NANO * units).astype(np.int64)  # exact sums, in whatever order
    order = np.argsort(result.members, axis=2)
    members = np.take_along_axis(result.members, order, axis=2)
    played = members[:, :, 0] >= 0
    sums = np.take_along_axis(nano, order, axis=2).sum(axis=0)
    earned = sums / (NANO * seats * np.maximum(played.sum(axis=0), 1)[:, None])
    there = played.any(axis=0)
    return members.max(axis=0)[there], (earned - earned.mean(axis=1, keepdims=True))[there]
