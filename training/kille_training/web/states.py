"""What a browser is told of a table: what the seats of its own people may know, and nothing else.

Everything that leaves the server about a match that is being played leaves it here.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import anyio
import numpy as np
from anyio.to_thread import run_sync

from kille_env.pictures.frame import frame
from kille_env.registry import load_game
from kille_env.words.text import second_person
from kille_env.words.view import View
from kille_training.people.names import YOU
from kille_training.web.limits import DRAWERS, FRAMES, RESULTS
from kille_training.web.sessions import Session
from kille_training.web.tables import Place, Shown, Table

_drawers = anyio.CapacityLimiter(DRAWERS)


class State(NamedTuple):
    """What a browser is told now.

    Attributes:
        said: The state without its frames, as the page reads it.
        shown: What it has not been shown yet, to be drawn.
        kept: What the server knows that it has been shown, these among them, the oldest first.
        more: Whether there is more after that.
    """

    said: dict[str, Any]
    shown: list[Shown]
    kept: list[Shown]
    more: bool


def state_of(table: Table, session: Session, since: int | None) -> State:
    """Returns what a browser is told of a table.

    Args:
        table: The table.
        session: The browser.
        since: The last version that it has; None if it has nothing.
    """
    place = table.place(session)
    shown, more = _missed(place.shown, since)
    current = not more
    return State(
        {
            "id": table.name,
            "title": title_of(table),
            "version": shown[-1].version if more else place.version,
            "you": sorted(place.seats),
            "view": place.view,
            "seats": _seats(table, session),
            **(_to_do(table, session) if current else _NOTHING_TO_DO),
            "over": table.over and current,
            "waiting": len(table.free),
            "failed": table.failed if current else "",
            "practice": table.order.practice,
            "hints": table.order.hints or table.order.practice,
            "match": table.match,
            "seed": table.seed if table.alone and place.seats else None,
            "records": len(table.records()) if current else 0,
            "results": _results(table) if current else [],
            "balance": _balance(table, place) if current else None,
        },
        shown,
        list(place.shown),
        more,
    )


async def draw(table: Table, state: State) -> dict[str, Any]:
    """Returns a state with its frames, as a page reads it."""
    names, you = table.names, len(state.said["you"]) == 1
    frames = await run_sync(lambda: _frames(table, state, names, you), limiter=_drawers)
    return {**state.said, "frames": frames}


def title_of(table: Table) -> str:
    """Returns what a table is called: "Byteskille, 4 players"."""
    return f"{load_game(table.game).spec.title}, {table.order.num_players} players"


_NOTHING_TO_DO: dict[str, Any] = {
    "to_act": -1, "choices": [], "question": "", "can_undo": False,
}  # fmt: skip


def _to_do(table: Table, session: Session) -> dict[str, Any]:
    """Returns what the people in front of a browser can do now."""
    place, sitting = table.place(session), table.sitting
    if sitting is None:
        return _NOTHING_TO_DO
    mine = not table.over and not table.failed and table.asked in place.seats
    alone = table.order.practice and set(table.sitters.values()) == {session}
    return {
        "to_act": table.asked if mine else -1,
        "choices": table.choices if mine else [],
        "question": _question(table, place),
        "can_undo": alone and table.undoable,
    }


def _missed(shown: Sequence[Shown], since: int | None) -> tuple[list[Shown], bool]:
    """Returns what a browser has to be shown, and whether there is more.

    Who has missed more than is kept, or nothing at all, begins with how the table stands.
    """
    if not shown or since == shown[-1].version:
        return [], False
    if since is None or not shown[0].version - 1 <= since < shown[-1].version:
        return [shown[-1]._replace(before=None)], False
    missed = [one for one in shown if one.version > since]
    return missed[:FRAMES], len(missed) > FRAMES


def _frames(table: Table, state: State, names: Sequence[str], you: bool) -> list[dict[str, Any]]:
    """Returns frames; where one person sits at the browser, they speak to that person.

    A frame that shows the table anew, as it stands, tells all that has happened in its deal.
    """
    game = load_game(table.game)
    frames: list[dict[str, Any]] = []
    for one in state.shown:
        called = [YOU if you and seat == one.view else name for seat, name in enumerate(names)]
        drawn = frame(game, one.before, one.after, table.rules, one.view, called)
        lines = drawn["lines"]
        if one.before is None:
            kept = [seen for seen in state.kept if seen.version <= one.version]
            for before, after in _story(kept, one.view):
                lines += game.narrate(before, after, table.rules, called, one.view)
        text = [second_person(line, YOU) for line in drawn["text"].splitlines()]
        frames.append(
            {
                **drawn,
                "version": one.version,
                "view": one.view,
                "anew": one.before is None,
                "lines": [second_person(line, YOU) for line in lines],
                "question": second_person(drawn["question"], YOU),
                "text": "\n".join(text),
            }
        )
    return frames


def _story(kept: Sequence[Shown], view: int) -> list[tuple[np.record, np.record]]:
    """Returns the tables before and after each step of the deal, as far as a seat has seen them.

    What has been taken back is no part of it. It begins later where the server knows no more.
    """
    story: list[tuple[np.record, np.record]] = []
    for one in kept:
        if one.view == view and one.before is not None:
            story.append((one.before, one.after))
        elif one.view == view:  # seen anew: what once began here has been taken back
            undone = [i for i, (before, _) in enumerate(story) if _same(before, one.after)]
            story = story[: undone[-1]] if undone else story
    deals = [i for i, (before, after) in enumerate(story) if before["deals"] != after["deals"]]
    return story[deals[-1] :] if deals else story


def _same(one: np.record, other: np.record) -> bool:
    names = one.dtype.names or ()
    return all(np.array_equal(one[name], other[name]) for name in names)


def _question(table: Table, place: Place) -> str:
    if not place.shown:
        return ""
    names, last = table.names, place.shown[-1]
    if len(place.seats) == 1:
        names[last.view] = YOU
    return second_person(_view(table, last, names).question, YOU)


def _view(table: Table, shown: Shown, names: Sequence[str] | None = None) -> View:
    return load_game(table.game).view(shown.after, table.rules, shown.view, names)


def _seats(table: Table, session: Session) -> list[dict[str, Any]]:
    """Returns who sits where. Who thinks is what the browser's own view says, not the table."""
    place = table.place(session)
    turn = _view(table, place.shown[-1]).turn if place.shown else -1
    return [
        {
            "name": name,
            "about": table.lineup.about[seat],
            "person": seat in table.people,
            "taken": seat not in table.free,
            "you": seat in place.seats,
            "here": table.is_here(seat),
            "thinking": seat == turn and not table.over and not table.failed,
        }
        for seat, name in enumerate(table.names)
    ]


def _balance(table: Table, place: Place) -> float | None:
    """Returns what the browser's first seat has won or lost; None before the first result."""
    return table.balance(min(place.seats)) if place.seats and table.finished else None


def _results(table: Table) -> list[dict[str, Any]]:
    records = table.records()
    return [
        {
            "match": number,
            "seed": record["seed"],
            "names": record["names"],
            "returns": record["returns"],
            "truncated": record["truncated"],
        }
        for number, record in list(enumerate(records, start=table.finished - len(records) + 1))[
            -RESULTS:
        ]
    ]
