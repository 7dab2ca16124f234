"""The table behind a page: the match, the frames shown of it, and the person's question.

Everything runs in the event loop except changes of the match, one at a time in a thread, and the
players' thinking, so that the page stays responsive. Frames contain only information of the
person's seat; a phase that is secret from it sends nothing at all.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from kille_agents.catalog import players_of
from kille_env.core.spec import GameSpec, Rules, is_whole
from kille_env.errors import KilleError, did_you_mean, shortened
from kille_env.files import read_json, write_whole
from kille_env.pictures.frame import frame
from kille_env.play.policy import Policy
from kille_env.records import Record, parse_record
from kille_env.registry import list_games, load_game, spec
from kille_env.words.view import Change
from kille_training.names import company
from kille_training.table.advice import choices
from kille_training.table.lineup import one_per_seat, players_named
from kille_training.table.sitting import Sitting

MOST_FRAMES = 2000  # maximum number of frames kept for reopened pages
MOST_MATCHES = 200  # maximum number of kept records, the newest
SEED_BITS = 53
_log = logging.getLogger(__name__)


class Refusal(KilleError):
    """A refused request, with its HTTP status; 409 for a late one or one out of turn."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Order:
    """Settings of a table: opponents from the person's left, the first match's seed."""

    game: str
    opponents: tuple[str, ...]
    rules: Rules
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return the order in the format of `read_order`."""
        return {
            "game": self.game,
            "players": len(self.opponents) + 1,
            "opponents": list(self.opponents),
            "rules": self.rules.as_dict(),
            "seed": self.seed,
        }


def read_order(said: Mapping[str, Any], *, files: bool = False) -> Order:
    """Parse an order from a message of a page; with `files`, opponents may be paths, too."""
    game = said.get("game")
    if game not in list_games():
        what = f"there is no game {shortened(game, 40)}"
        raise Refusal(f"{what}. {did_you_mean(game, list_games())}", 400)
    facts: GameSpec = spec(str(game))
    players, known = facts.check_players(said.get("players")), players_of(facts.name)
    named, rules = said.get("opponents", ["rule_of_thumb"]), said.get("rules", {})
    if not isinstance(named, list) or not isinstance(rules, dict):
        raise Refusal("opponents are a list of names, and rules an object of switches", 400)
    for name in named:
        if not files and name not in known:
            what = f"there is no player {shortened(name, 40)} for {facts.name} on this page"
            raise Refusal(f"{what}. {did_you_mean(name, known)}", 400)
    by_seat = one_per_seat(named, players - 1)
    seed = said.get("seed")
    if seed is None:
        seed = secrets.randbits(SEED_BITS)
    if not is_whole(seed) or not 0 <= seed < 2**SEED_BITS:
        raise Refusal(f"seed is {shortened(seed, 40)}, expected a whole number", 400)
    return Order(facts.name, tuple(by_seat), facts.resolve(rules), int(seed))


def players_for(order: Order) -> list[Policy]:
    """Return the players of an order, [P - 1]; repeated names share one object."""
    seats = len(order.opponents) + 1
    return players_named(order.opponents, order.game, seats, order.rules)


class Table:
    """A person and players at a table."""

    def __init__(self, order: Order, opponents: list[Policy], keep: Path | None = None) -> None:
        """Set the table; `open` begins. The match is stored in the file `keep`, if given."""
        self.order, self.game = order, load_game(order.game)
        # numbered frames of this match, with the person's information only
        self.frames: list[dict[str, Any]] = []
        # Numbers of the match (a page restarts when it grows), of the last frame that the page has
        # shown, and of the last frame.
        self.epoch = self.seen = self._number = 0
        self.asked: dict[str, Any] | None = None  # what the person decides; None while others act
        self.failed = ""  # error of a player that ended the match, "" if there is none
        # one event per open stream, set when there may be something to send
        self.news: set[asyncio.Event] = set()
        self._keep, self._opponents = keep, opponents
        self._sitting: Sitting | None = None
        self._older: list[Record] = []
        self._changes = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._player: asyncio.Task[None] | None = None
        self._costs: list[str] = []
        self._measured = self.over = self._out = self._first = False
        self._results: dict[str, Any] | None = None

    def records(self, *, unfinished: bool = False) -> list[Record]:
        """Return the newest matches; an unfinished one shows every card."""
        latest = [] if self._sitting is None else self._sitting.records(unfinished=unfinished)
        return [*self._older, *latest][-MOST_MATCHES:]

    def open(self, kept: list[Record] | None = None) -> None:
        """Begin, or resume stored matches, the last one possibly unfinished."""
        self._start(self._open(kept or []))

    def close(self) -> None:
        """Stop the table's tasks, and store nothing from now on."""
        self._keep = None
        for task in self._tasks:
            task.cancel()

    # Actions of the person

    async def act(self, version: int, action: int) -> None:
        """Play an action of the person, or raise if it is stale, late or illegal."""
        async with self._changes:
            sitting = self._going()
            self._check(version)
            if self.asked is None:
                raise Refusal("it is not your turn; wait until you are asked")
            sitting.batch.check_legal([action])
            question = sitting.question()
            self.seen, self.asked = self._number, None

            def play() -> None:
                if self._measured:
                    self._costs += filter(None, [question.cost(action)])
                sitting.act(action)

            await self._change(play)
        self._wake()

    async def again(self) -> None:
        """Begin another match."""
        async with self._changes:
            sitting = self._begun()
            if not sitting.over:
                raise Refusal("this match is still being played")
            self._clear()
            await self._change(sitting.begin)
        self._wake()

    def see(self, version: int) -> None:
        """Note that the page has shown a deal's end."""
        self.seen = max(self.seen, min(version, self._number))

    # State for the page

    def state(self, since: tuple[int, int] | None) -> dict[str, Any]:
        """Return the state for the person, with the frames after `since` (epoch and number)."""
        fresh = since is None or since[0] != self.epoch or since[1] > self._number
        frames = self._from_the_deal() if fresh else [
            one for one in self.frames if since is not None and one["number"] > since[1]
        ]  # fmt: skip
        earlier = self.frames[: -len(frames) or None] if fresh else []
        sitting = self._sitting
        names = [] if sitting is None else sitting.names
        return {
            "epoch": self.epoch,
            "version": self._number,
            "seen": self.seen,
            "fresh": fresh,
            "frames": frames,
            "earlier": [[one["lines"], one["verdict"]] for one in earlier],
            "company": f"With you: {company(names[1:], self.order.opponents)}." if names else "",
            "first": self._first,
            "names": names,
            "you": 0 if sitting is None else sitting.person,
            "asked": self.asked,
            "over": self.over,
            "out": self._out,
            "failed": self.failed,
            "preparing": not self.frames and not self.failed,
            "results": self._results,
        }

    @property
    def standing(self) -> str:
        """The state as text before the title, as in "your turn in"; "" after the match."""
        ends = [one["number"] for one in self.frames if one["verdict"]]
        if ends and ends[-1] > self.seen and (ends[-1] < self._number or not self.asked):
            return "a deal has ended in"
        if self.over:
            return ""
        if self._out:
            return "you are out of the match in"
        return "your turn in" if self.asked else "the table of"

    def _from_the_deal(self) -> list[dict[str, Any]]:
        """Return the frames from the start of the last shown deal."""
        starts = [i for i, one in enumerate(self.frames)
                  if one["dealt"] and one["number"] <= max(self.seen, 1)]  # fmt: skip
        return self.frames[starts[-1] if starts else 0 :]

    def _is_out(self) -> bool:
        if self._sitting is None or self._sitting.over:
            return False
        batch = self._sitting.batch
        person = self._sitting.person
        return self.game.view(batch.tables[0], batch.rules, person).seats[person].retired

    def _sums(self) -> dict[str, Any]:
        """Return each seat's gain in the last match and in all matches, the winner first."""
        sitting = self._begun()
        records = self.records()
        sums = np.sum([record["returns"] for record in records], axis=0).tolist()
        total = dict(zip(sitting.names, sums, strict=True))
        text, won = sitting.outcome()
        rows = [[name, amount, total[name]] for name, amount in won]
        cut = bool(records[-1]["truncated"])
        return {"text": text, "rows": rows, "matches": len(records), "cut": cut}

    # Continuation

    def _wake(self) -> None:
        """Start the players' task, unless it runs: two at once would corrupt the table."""
        if self._player is None or self._player.done():
            self._player = self._start(self._play())

    def _start(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _open(self, kept: list[Record]) -> None:
        order = self.order
        by_seat: list[Policy | None] = [None, *self._opponents]
        try:
            self._older = [record for record in kept if record["returns"] is not None]
            seed = order.seed  # or that of the last match, which tells how many there have been
            if kept and is_whole(kept[-1]["seed"]):
                seed = kept[-1]["seed"] + (kept[-1]["returns"] is not None)
            self._sitting = sitting = await in_thread(
                lambda: Sitting(order.game, order.rules, by_seat, seed=seed)
            )
            left = [record for record in kept if record["returns"] is None]
            self._clear()
            async with self._changes:
                if left:
                    await self._change(lambda: sitting.resume(left[-1]), seen=True)
                else:
                    await self._change(sitting.begin)
                warm = sitting.question() if sitting.waits else None
            self._wake()
            # The first cost compiles for seconds, during which the person plays.
            while warm is None and not self.failed and not self.over:
                await asyncio.sleep(0.5)
                async with self._changes:
                    warm = sitting.question() if sitting.waits else None
            if warm is not None:
                await in_thread(lambda: warm.cost(int(np.flatnonzero(warm.mask)[0])))
                self._measured = True
        except Exception as error:  # a player may be anybody's code
            self._fail(error)

    def _clear(self) -> None:
        self.frames, self._costs = [], []
        self.failed, self.seen, self._number = "", 0, 0
        self.epoch += 1

    async def _change(self, do: Callable[[], Any], *, seen: bool = False) -> None:
        """Change the match in a thread and add its frames; `seen` if the page has shown them."""
        sitting = self._begun()
        person, names, rules = sitting.person, sitting.names, self.order.rules
        made: list[dict[str, Any]] = []
        failures: list[Exception] = []

        def watch(before: np.record, after: np.record) -> None:
            if self._can_tell(before, after, person):
                made.append(frame(self.game, before, after, rules, person, names))

        def change() -> dict[str, Any] | None:
            do()
            try:
                # A secret question to a player must stay hidden: its answer belongs to this change.
                while sitting.asks_in_secret and not sitting.waits:
                    sitting.play()
            except Exception as error:  # a player may be anybody's code
                failures.append(error)
            return _question(sitting) if sitting.waits else None

        sitting.watch = watch
        question = await in_thread(change)
        for one in made:
            self._number += 1
            self.frames.append({**one, "number": self._number})
            if one["verdict"]:
                self.frames[-1]["verdict"] = " ".join([one["verdict"], *self._costs[-1:]])
                self._costs = []
        if len(self.frames) > MOST_FRAMES:
            del self.frames[: -len(self._from_the_deal())]
        if seen:
            self.seen = self._number
        for failure in failures:
            self._fail(failure)
        if sitting.waits or sitting.over:
            await in_thread(self._save)
        # Pages see the state between changes only, and after it is on disk: otherwise a restarted
        # server would have lost it.
        self.asked, self.over = question, sitting.over
        self._first = not sitting.decided and not self.records()
        self._out, self._results = self._is_out(), self._sums() if sitting.over else None
        self.tell()

    def _can_tell(self, before: np.record, after: np.record, seat: int) -> bool:
        """Return whether a seat notices a change between two tables."""
        game, rules = self.game, self.order.rules
        return (
            int(before["seat"]) == seat
            or game.view(before, rules, seat) != game.view(after, rules, seat)
            or game.change(before, after, rules, seat) != Change()
            or bool(game.narrate(before, after, rules, None, seat))
        )

    async def _play(self) -> None:
        """Play the players' actions until the person is to act."""
        sitting = self._begun()
        try:
            while not (sitting.over or sitting.waits or self.failed):
                action = await in_thread(sitting.think)
                async with self._changes:
                    await self._change(lambda action=action: sitting.play(action))
        except Exception as error:  # a player may be anybody's code
            self._fail(error)

    def _save(self) -> None:
        """Write the matches, including the unfinished one, for a restarted server."""
        keep = self._keep
        if keep is not None:
            matches = [dict(record) for record in self.records(unfinished=True)]
            text = json.dumps({"order": self.order.as_dict(), "matches": matches})
            write_whole(keep, text.encode())

    def _fail(self, error: Exception) -> None:
        _log.error("a player failed", exc_info=error)
        kind = "" if isinstance(error, KilleError) else f"{type(error).__name__}: "
        self.failed = f"The match ends here: a player could not go on ({kind}{error})"
        self.asked = None
        self.tell()

    def _begun(self) -> Sitting:
        if self._sitting is None:
            raise Refusal("the match has not begun yet; wait a moment")
        return self._sitting

    def _going(self) -> Sitting:
        if self.failed:
            raise Refusal(self.failed)
        if self.over:
            raise Refusal("the match is over; begin another one")
        return self._begun()

    def _check(self, version: int) -> None:
        if version != self._number:
            raise Refusal("the table has moved on; nothing was played. Look again and choose")

    def tell(self) -> None:
        """Wake the streams of all open pages."""
        for event in self.news:
            event.set()


def kept_table(keep: Path) -> tuple[Order, list[Record]] | None:
    """Return the stored table with its matches; None if there is none."""
    try:
        said = read_json(keep)
        order = read_order(said["order"], files=True)
        return order, [parse_record(json.dumps(record)) for record in said["matches"]]
    except (KilleError, OSError, KeyError, TypeError):
        return None


def _question(sitting: Sitting) -> dict[str, Any]:
    """Return the person's question, choices and hint."""
    batch, names = sitting.batch, sitting.names
    table, question = batch.tables[0], sitting.question()
    return {
        "question": batch.game.view(table, batch.rules, sitting.person, names).question,
        "choices": choices(batch, names),
        "hint": question.advise(),
    }


async def in_thread(do: Callable[[], Any]) -> Any:
    """Return the result of `do`, run in a daemon thread."""
    # Threads of asyncio or anyio are no daemons: the end of a server would wait for the compiler.
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(outcome: Callable[[Any], None], value: Any) -> None:
        if not future.cancelled():
            outcome(value)

    def run() -> None:
        try:
            outcome = settle, future.set_result, do()
        except BaseException as error:
            outcome = settle, future.set_exception, error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(*outcome)

    Thread(target=run, daemon=True).start()
    return await future
