"""A table on the server: who sits there, what happens, and what each browser has been shown.

Everything here belongs to the event loop but the sitting's own work, which is done in threads: one
change at a time, and one player's thinking beside it. So a slow player makes nobody wait but those
at its own table, who can still take back a decision or leave.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import anyio
import numpy as np
from anyio.to_thread import run_sync

from kille_env.core.game import Game
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.policy import Player
from kille_env.records import Record
from kille_env.words.text import counted, listed
from kille_env.words.view import Change
from kille_training.people.advice import Advice, Choice, choices
from kille_training.people.names import names_at
from kille_training.people.sitting import Sitting
from kille_training.web.limits import MATCHES, MOMENTS, THREADS, Refusal
from kille_training.web.orders import Order
from kille_training.web.sessions import Session

SECRET_BITS = 53
"""Size of seeds that nobody may guess: who knows the seed knows the cards. To try them all would
take a core hundreds of years; pages can say them exactly."""
_threads = anyio.CapacityLimiter(THREADS)
_log = logging.getLogger(__name__)


class Moment(NamedTuple):
    """A deal or an action.

    Attributes:
        before, after: The table before and after it; `before` is None where there is no way from
            there, as after a decision that was taken back.
        seen: Seats that can tell that something has happened. In a secret phase the others cannot,
            and nothing that they are sent may let them know.
    """

    before: np.record | None
    after: np.record
    seen: frozenset[int]


class Lineup(NamedTuple):
    """Who plays at a table besides the people.

    Attributes:
        by_seat: [P] the players; None is a seat for people.
        about: [P] who the players are, as their cards say; "" for people.
        advisers: Who gives hints, by name.
    """

    by_seat: Sequence[Player | None]
    about: Sequence[str]
    advisers: Mapping[str, Player]


class Shown(NamedTuple):
    """A moment as one browser has been shown it.

    Attributes:
        version: Its number in that browser.
        view: The seat from which it is seen.
        before, after: As in `Moment`.
    """

    version: int
    view: int
    before: np.record | None
    after: np.record


class Place:
    """A browser at a table.

    Attributes:
        seats: The seats that its people hold.
        view: The seat through which it sees the table, None if it sees no cards.
        version: Grows with everything that it is shown, and with nothing else.
        decided: The version after its last decision, or after that was taken back.
        shown: What it has been shown last, the oldest first.
        news: One event per open stream, set when there may be something to send.
        held: The seats whose cards it has seen in this match.
    """

    def __init__(self) -> None:
        self.seats: set[int] = set()
        self.view: int | None = None
        self.version = self.decided = 0
        self.shown: deque[Shown] = deque(maxlen=MOMENTS)
        self.news: set[asyncio.Event] = set()
        self.held: set[int] = set()

    def show(self, moment: Moment) -> None:
        """Shows a moment, if the seat that it sees through can tell it."""
        if self.view in moment.seen:
            self._add(moment.before, moment.after)

    def look(self, seat: int | None, after: np.record | None) -> None:
        """Looks at the table through a seat from now on; None sees nothing."""
        self.view = seat
        if seat is not None and after is not None:
            self._add(None, after)

    def _add(self, before: np.record | None, after: np.record) -> None:
        self.version += 1
        assert self.view is not None
        self.held.add(self.view)
        self.shown.append(Shown(self.version, self.view, before, after))


class Table:
    """People and players at a table of the server.

    Attributes:
        name: Its name in addresses.
        order: What was ordered.
        maker: Who has made it.
        lineup: Who plays besides the people.
        people: The seats for people.
        sitters: Who sits in the seats for people.
        places: Every browser that has the table open, or has held a seat.
        sitting: The match, None before the first one.
        asked: The seat to act, -1 where nobody is.
        choices: What the person to act may do.
        over: Whether no match is being played.
        undoable: Whether the last decision can be taken back.
        match: How many matches have begun.
        failed: Why a player could not go on, "" if none has failed.
        gone: Why the table is no more, "" while it stands.
        used: When somebody has last done anything, in seconds of the event loop's clock.
    """

    def __init__(
        self, name: str, order: Order, lineup: Lineup, maker: Session | None = None
    ) -> None:
        self.name, self.order, self.lineup, self.maker = name, order, lineup, maker
        self.game = order.game
        self.people = [seat for seat, player in enumerate(lineup.by_seat) if player is None]
        self.sitters: dict[int, Session] = {}
        self.places: dict[Session, Place] = {}
        self.sitting: Sitting | None = None
        self.choices: list[Choice] = []
        self.over, self.undoable, self.failed, self.gone = True, False, "", ""
        self.match, self.asked, self._archived = 0, -1, 0
        self.used = asyncio.get_running_loop().time()
        self.seed = secrets.randbits(SECRET_BITS) if order.seed is None else order.seed
        self._records: deque[Record] = deque(maxlen=MATCHES)
        self._earned = np.zeros(order.num_players)
        self._last: np.record | None = None
        self._changes = asyncio.Lock()
        self._player: asyncio.Task[None] | None = None
        self._advising = False

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.order.rules

    @property
    def alone(self) -> bool:
        """Whether the table has one seat for people: then its seed is no secret from anybody."""
        return len(self.people) == 1

    @property
    def free(self) -> list[int]:
        """Seats for people in which nobody sits."""
        return [seat for seat in self.people if seat not in self.sitters]

    @property
    def names(self) -> list[str]:
        """What everybody is called, [P]."""
        people = {seat: f"Seat {seat}" for seat in self.people}
        taken: set[str] = set()
        for seat, session in sorted(self.sitters.items()):
            name = session.name or f"Guest {seat}"
            people[seat] = name if name not in taken else f"{name} {seat}"
            taken.add(people[seat])
        return names_at(self.order.num_players, people)

    @property
    def finished(self) -> int:
        """How many matches have been played to the end."""
        return self._archived + len(self._latest())

    def is_here(self, seat: int) -> bool:
        """Returns whether a player sits in a seat, or a person who has the table open."""
        session = self.sitters.get(seat)
        return seat not in self.people or (session is not None and bool(self.place(session).news))

    def place(self, session: Session) -> Place:
        """Returns a browser's place, an empty one for a browser that has none."""
        return self.places.get(session) or Place()

    def keep_place(self, session: Session) -> Place:
        """Returns a browser's place, from now on one that lasts."""
        return self.places.setdefault(session, Place())

    def clear_place(self, session: Session) -> None:
        """Forgets a browser that has left and has never been shown anything."""
        place = self.place(session)
        if not (place.news or place.seats or place.version):
            self.places.pop(session, None)

    def records(self, *, unfinished: bool = False) -> list[Record]:
        """Returns the newest matches that were played to the end.

        Args:
            unfinished: Whether to add the one that is being played, which shows every card.
        """
        latest = self._latest()
        if unfinished and self.sitting is not None:
            latest = self.sitting.records(unfinished=True)
        return [*self._records, *latest][-MATCHES:]

    def balance(self, seat: int) -> float:
        """Returns the units that a seat has won or lost in all matches played to the end."""
        latest = sum(record["returns"][seat] for record in self._latest())
        return float(self._earned[seat] + latest)

    def _latest(self) -> list[Record]:
        return [] if self.sitting is None else self.sitting.records()

    # What people do.

    async def sit(self, session: Session, seats: Sequence[int]) -> None:
        """Gives seats to a browser; the match begins when everybody is there.

        Raises:
            Refusal: A seat is not free, or its cards must stay hidden from this browser.
        """
        self._check_standing()
        for seat in seats:
            self._check_seat(self.place(session), seat)
        place = self.keep_place(session)
        for seat in seats:
            self.sitters[seat] = session
            place.seats.add(seat)
        if seats and (place.view is None or place.view not in place.seats):
            place.look(seats[0], None if self.sitting is None else self._last)
        if self.sitting is not None:
            for seat, name in enumerate(self.names):  # one new name may change others
                if seat not in self.free:
                    self.sitting.rename(seat, name)
        self._touch()
        if not self.match and not self.free:
            self._begin()

    def leave(self, session: Session) -> None:
        """Frees the seats of a browser; the match waits until somebody takes them."""
        place = self.place(session)
        for seat in place.seats:
            del self.sitters[seat]
        place.seats.clear()
        place.shown.clear()
        place.look(None, None)
        self._touch()

    async def act(self, session: Session, version: int, action: int) -> None:
        """Plays an action for the seat of a browser that is to act.

        Raises:
            Refusal: The page is stale, or it is somebody else's turn.
            IllegalActionError: The action is not legal; nothing has been played.
        """
        self._check_going()
        async with self._changes:
            self._check_version(session, version)
            sitting = self._check_going()
            if sitting.seat not in self.place(session).seats:
                raise Refusal("it is not your turn; wait until you are asked")
            await self._change(lambda: sitting.act(sitting.seat, action))
            self.place(session).decided = self.place(session).version
        self._wake()

    async def undo(self, session: Session, version: int) -> None:
        """Takes back the last decision of the person, where only one person plays, in practice.

        What players have done since that decision makes no page stale: it is taken back too.

        Raises:
            Refusal: The page does not show the last decision, the table is not for practice, or
                somebody else sits there too.
        """
        self._check_version(session, version, since=self.place(session).decided)
        self._check_practice(session)
        async with self._changes:
            self._check_version(session, version, since=self.place(session).decided)
            sitting, place = self._check_begun(), self.place(session)
            mine = [seat for seat in place.seats if sitting.can_undo(seat)]
            if not mine:
                raise Refusal("there is nothing to take back in this match")
            await self._change(lambda: sitting.undo(mine[0]), again=True)
            place.decided = place.version
            self.failed = ""
        self._wake()

    async def again(self, session: Session, version: int) -> None:
        """Begins another match.

        Raises:
            Refusal: A match is being played, or somebody is missing.
        """
        self._check_version(session, version)
        self._check_seated(session)
        if not (self.over or self.failed):
            raise Refusal("this match is still being played; another one begins after its end")
        if self.free:
            free = counted(len(self.free), "seat is", "seats are")
            raise Refusal(f"{free} free; wait for somebody to sit down")
        self._begin()

    async def hint(self, session: Session, version: int) -> list[Advice]:
        """Returns what other players would do where a person is to act.

        Raises:
            Refusal: The table has no hints, or it is somebody else's turn.
        """
        self._check_version(session, version)
        if not self.order.hints:
            self._check_practice(session)
        sitting = self._check_going()
        if sitting.seat not in self.place(session).seats:
            raise Refusal("hints are for your own decisions; wait until you are asked")
        if self._advising:
            raise Refusal("a hint is being worked out; wait for it")
        self._advising = True
        try:
            async with self._changes:
                self._check_version(session, version)
                question = sitting.question(sitting.seat)
            return await in_thread(question.advise)
        finally:
            self._advising = False

    def close(self, why: str) -> None:
        """Ends the table, and tells everybody who has it open why."""
        self.gone = why
        if self._player is not None:
            self._player.cancel()
        self.tell()

    # What may be done.

    def _check_standing(self) -> None:
        if self.gone:
            raise Refusal(self.gone, 404)

    def _check_seat(self, place: Place, seat: int) -> None:
        if seat not in self.people:
            raise Refusal(f"seat {seat} is not for people; free are {self._free_seats()}")
        if seat in self.sitters:
            raise Refusal(f"somebody else has taken seat {seat}; free are {self._free_seats()}")
        if not self.over and place.held - {seat}:
            raise Refusal(
                f"you have seen the cards of seat {min(place.held - {seat})} in this match; take "
                "that seat again, or another one when the match is over"
            )

    def _free_seats(self) -> str:
        return listed([f"seat {seat}" for seat in self.free]) or "none now"

    def _check_begun(self) -> Sitting:
        self._check_standing()
        if self.sitting is None:
            raise Refusal("the match has not begun; wait until everybody is there")
        return self.sitting

    def _check_going(self) -> Sitting:
        if self.failed:
            raise Refusal(self.failed)
        sitting = self._check_begun()
        if self.over:
            raise Refusal("the match is over; begin another one")
        return sitting

    def _check_seated(self, session: Session) -> None:
        if not self.place(session).seats:
            raise Refusal("you have no seat at this table; sit down first", 403)

    def _check_version(self, session: Session, version: int, since: int | None = None) -> None:
        self._check_standing()
        self._check_seated(session)
        newest = self.place(session).version
        if not (newest if since is None else since) <= version <= newest:
            raise Refusal(
                "the table has moved on since this page was drawn; nothing was played. Look again "
                "and choose"
            )

    def _check_practice(self, session: Session) -> None:
        self._check_seated(session)
        if not self.order.practice:
            raise Refusal("this table is not for practice; make one that is")
        if set(self.sitters.values()) != {session}:
            raise Refusal("several people play here, so nothing is taken back")

    # How it goes on.

    def _begin(self) -> None:
        """Begins a match, which may take long where a game is played for the first time."""
        if self.sitting is not None:
            for record in self._latest():
                self._records.append(record)
                self._earned += record["returns"]
            self._archived += len(self._latest())
            # Everybody has the last match's record, which names its seed.
            self.seed = self.seed + 1 if self.alone else secrets.randbits(SECRET_BITS)
            self.sitting = None
        self.failed, self.over, self.choices = "", False, []
        self.match += 1
        for place in self.places.values():
            place.held.clear()
        self._touch()
        if self._player is not None:
            self._player.cancel()  # it may still think about what was taken back
        self._player = asyncio.create_task(self._open())

    async def _open(self) -> None:
        order, lineup, names, seed = self.order, self.lineup, self.names, self.seed

        def sit_down() -> Sitting:
            return Sitting(
                order.game, order.rules, lineup.by_seat,
                names=names, seed=seed, advisers=lineup.advisers,
            )  # fmt: skip

        try:
            async with self._changes:
                self.sitting = sitting = await in_thread(sit_down)
                await self._change(sitting.begin)
        except Exception as error:
            self._fail(error)
        else:
            await self._play()

    async def _change(self, do: Callable[[], Any], *, again: bool = False) -> None:
        """Does something that changes the sitting, in a thread, and shows what has happened.

        Args:
            do: Does it.
            again: Whether to show the table anew rather than how it came there.
        """
        sitting = self._check_begun()
        moments: list[Moment] = []
        failures: list[Exception] = []

        def watch(before: np.record, after: np.record) -> None:
            seen = _seen(sitting.batch.game, self.rules, before, after, self.people)
            actor = {int(before["seat"])} & set(self.people)
            moments.append(Moment(before, after, seen | actor))

        def change() -> list[Choice]:
            do()
            try:
                # That a player is asked in secret must not show: its answer is part of this change.
                while sitting.asks_in_secret and not sitting.waits:
                    sitting.play()
            except Exception as error:  # a player may be anybody's code
                failures.append(error)
            return choices(sitting.batch) if sitting.waits else []

        sitting.watch = watch
        found = await in_thread(change)
        if again:
            everybody = frozenset(self.people)
            moments = [Moment(None, sitting.batch.tables[0].copy(), everybody)]
        self.choices, self.over, self.asked = found, sitting.over, sitting.seat
        self.undoable = any(sitting.can_undo(seat) for seat in self.people)
        self._show(moments)
        for failure in failures:
            self._fail(failure)

    def _show(self, moments: Sequence[Moment]) -> None:
        self._last = moments[-1].after if moments else self._last
        for place in self.places.values():
            for moment in moments:
                place.show(moment)
            if self.asked in place.seats and self.asked != place.view:
                place.look(self.asked, self._last)
        self._touch()

    def _wake(self) -> None:
        """Lets the players play until a person is asked."""
        if self._player is None or self._player.done():
            self._player = asyncio.create_task(self._play())

    async def _play(self) -> None:
        sitting = self._check_begun()
        try:
            while True:
                async with self._changes:
                    if sitting.over or sitting.waits or self.failed:
                        return
                    think = sitting.thinker()
                thought = await in_thread(think)
                async with self._changes:
                    await self._change(lambda thought=thought: sitting.play(thought))
        except Exception as error:  # a player may be anybody's code
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Ends the match because a player could not go on."""
        _log.error("a player failed at table %s", self.name, exc_info=error)
        kind = "" if isinstance(error, KilleError) else f"{type(error).__name__}: "
        self.failed = f"a player could not go on, so the match ends here ({kind}{error})"
        self.choices = []
        self._touch()

    def _touch(self) -> None:
        self.used = asyncio.get_running_loop().time()
        self.tell()

    def tell(self) -> None:
        """Lets all open pages look for news."""
        for place in self.places.values():
            for news in place.news:
                news.set()


async def in_thread(do: Callable[[], Any]) -> Any:
    """Returns what `do` returns, run in a thread that is not waited for when the server ends."""
    return await run_sync(do, limiter=_threads, abandon_on_cancel=True)


def _seen(
    game: Game, rules: Rules, before: np.record, after: np.record, seats: Sequence[int]
) -> frozenset[int]:
    """Returns the seats that can tell one table from the other, or hear of what lies between."""
    return frozenset(
        seat
        for seat in seats
        if game.view(before, rules, seat) != game.view(after, rules, seat)
        or game.change(before, after, rules, seat) != Change()
        or game.narrate(before, after, rules, None, seat)
    )
