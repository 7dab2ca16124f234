"""The page of recorded matches: one file to step through, which needs nothing beside it.

Pictures of neighbouring moments share almost everything. So the page holds every thing on the table
once, a picture is a list of numbers, and all of it is compressed.
"""

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from kille_agents.catalog import as_policy
from kille_env.core.spec import GameSpec, Rules
from kille_env.errors import RecordError
from kille_env.pictures.cards import symbols
from kille_env.pictures.frame import frame
from kille_env.pictures.style import style
from kille_env.policy import Player
from kille_env.records import Record, Replay, check_record, describe
from kille_env.registry import load_game
from kille_env.words.text import counted, labels
from kille_env.words.view import View
from kille_training.evaluation.review import Decision, Moment, review
from kille_training.evaluation.worth import is_solved
from kille_training.reports.matches import match_lines
from kille_training.reports.pages import render
from kille_training.reports.palette import css

MOST_PICTURES = 10_000
"""Moments times views that a page may hold."""
MOST_MISTAKES = 12
LEAST_LOSS = 0.0005
"""Units below which a choice counts as costing nothing; a page shows three decimals."""
SHAPES = ("wide", "tall")
ALWAYS_ASKED, SOLUTION = "rule_of_thumb", "byteskille/solved"


class Asked(NamedTuple):
    """Whom a page asks what they would do.

    Attributes:
        names: Their names or paths; None is the rule of thumb, and the solution where there is one.
        trust: Whether model files that can run code may be loaded.
    """

    names: Sequence[str] | None = None
    trust: bool = False

    def at(self, game: str, num_players: int, rules: Rules) -> dict[str, Player]:
        """Returns the players of a table, by name.

        Raises:
            PolicyError: There is no such player, or it does not play there.
        """
        names = self.names
        if names is None:
            names = [ALWAYS_ASKED, *([SOLUTION] if is_solved(num_players, rules) else [])]
        return {name: as_policy(name, game, num_players, rules, trust=self.trust) for name in names}


class Numbered(NamedTuple):
    """A record and the line of its file."""

    line: int
    record: Record


def replay_page(
    matches: Sequence[Numbered],
    *,
    source: str,
    asked: Asked | None = None,
    deals: tuple[int, int] | None = None,
) -> bytes:
    """Returns the page of matches.

    Args:
        matches: The records; they may stop anywhere.
        source: What the page calls the file that they come from.
        asked: Whom to ask what they would do at every decision.
        deals: The first and the last deal of each match to show, from 1; None is all.

    Raises:
        RecordError: A record says something that its replay does not confirm, there is nothing to
            show, or more than fits on a page; the message says what to do.
        KilleError: A record breaks the rules, or a player cannot be asked.
    """
    _check_size(matches, deals)
    page = _Page(asked or Asked(), deals)
    for number, record in matches:
        page.add(number, record)
    if not page.moments:
        raise RecordError("there is nothing to show: no deal of these has been dealt")
    return page.render(source)


def first_deals(matches: Sequence[Numbered], most: int) -> tuple[int, int] | None:
    """Returns the first deals of each match that make at most so many pictures; None if all do."""
    longest = max(len(record["deals"]) for _, record in matches)
    fitting = [last for last in range(1, longest + 1) if _pictures(matches, (1, last)) <= most]
    return None if len(fitting) == longest else (1, max(len(fitting), 1))


def _pictures(matches: Sequence[Numbered], deals: tuple[int, int] | None) -> int:
    first, last = deals or (1, None)
    return sum(
        (1 + len(deal["actions"])) * (record["num_players"] + 1)
        for _, record in matches
        for deal in record["deals"][first - 1 : last]
    )


def _check_size(matches: Sequence[Numbered], deals: tuple[int, int] | None) -> None:
    if (pictures := _pictures(matches, deals)) > MOST_PICTURES:
        raise RecordError(
            f"these matches have {pictures:,} pictures to look at, and a page holds at most "
            f"{MOST_PICTURES:,}; choose a part with --match 1, or with --deals 1-20"
        )


class _Page:
    """What a page holds."""

    def __init__(self, asked: Asked, deals: tuple[int, int] | None) -> None:
        self.moments: list[dict[str, Any]] = []
        self._asked, self._deals = asked, deals
        self._pieces: dict[str, int] = {}
        self._matches: list[dict[str, Any]] = []
        self._starts: list[tuple[int, str]] = []
        self._mistakes: list[dict[str, Any]] = []
        self._words: list[str] = []

    def add(self, line: int, record: Record) -> None:
        """Adds a match."""
        game, rules = check_record(record)
        players = self._asked.at(game.spec.name, record["num_players"], rules)
        found = review(record, players)
        _refuse_differences(found.replay, line)
        self._words += match_lines(record, *describe(record), line)
        shown = [each for each in found.moments if self._shows(each.deal)]
        who = labels(record.get("names"), record["num_players"])
        hopes = [abs(units) for each in shown for units in each.expected or ()]
        self._matches.append(
            {
                "title": _title(line, game.spec, rules, len(who)),
                "names": who,
                "asked": list(players),
                "most": max(hopes, default=0) or 1,
            }
        )
        before = found.begun
        for each in found.moments:
            if self._shows(each.deal):
                self._add_moment(line, each, before, record, rules, who)
            before = each.table

    def _shows(self, deal: int) -> bool:
        return self._deals is None or self._deals[0] <= deal + 1 <= self._deals[1]

    def _add_moment(
        self,
        line: int,
        moment: Moment,
        before: np.record,
        record: Record,
        rules: Rules,
        who: list[str],
    ) -> None:
        game, number = load_game(rules.game), len(self.moments)
        if before["deals"] != moment.table["deals"]:
            self._starts.append((number, f"match {line}, deal {moment.deal + 1}"))
        names = who if record.get("names") else None
        viewers = [*range(len(who)), None]
        frames = [frame(game, before, moment.table, rules, seat, names) for seat in viewers]
        views = [game.view(moment.table, rules, seat, names) for seat in viewers]
        self.moments.append(
            {
                "match": len(self._matches) - 1,
                "views": [self._cut(each) for each in frames],
                "expected": moment.expected,
                "known": _known(views, game.spec),
                "decision": _shown(moment.decision, game.spec),
            }
        )
        if moment.decision:
            hand = ", ".join(_faces(views[-1], moment.decision.seat, game.spec))
            self._judge(moment.decision, who, moment=number, where=self._starts[-1][1], hand=hand)

    def _cut(self, made: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a frame whose pictures are lists of pieces."""
        return {**made, **{shape: [*map(self._number, _pieces(made[shape]))] for shape in SHAPES}}

    def _number(self, piece: str) -> int:
        return self._pieces.setdefault(piece, len(self._pieces))

    def _judge(self, decision: Decision, who: list[str], **about: Any) -> None:
        """Keeps what a decision has cost, where that is known, with what else there is to say."""
        loss = _loss(decision)
        if loss is None or decision.chosen is None:
            return
        best = max(
            decision.choices,
            key=lambda choice: float("-inf") if choice.worth is None else choice.worth,
        )
        self._mistakes.append(
            about
            | {
                "name": who[decision.seat],
                "chosen": decision.choices[decision.chosen].text,
                "best": best.text,
                "loss": loss,
            }
        )

    def render(self, source: str) -> bytes:
        """Returns the page."""
        data = {
            "pieces": list(self._pieces),
            "matches": self._matches,
            "deals": self._starts,
            "moments": self.moments,
        }
        script = _own("web", "table.js") + _own("reports", "replay.js")
        looks = css(), style("both"), _own("web", "table.css"), _own("reports", "replay.css")
        styles = "\n".join(looks)
        worst = sorted(self._mistakes, key=lambda each: -each["loss"])[:MOST_MISTAKES]
        return render(
            "replay.html.j2",
            source=source,
            matches=counted(len(self._matches), "match", "matches"),
            policy=_policy(script, styles),
            script=Markup(script),
            styles=Markup(styles),
            cards=Markup(_symbols(self._pieces)),
            deals=self._deals,
            data=_packed(data),
            judged=_by_name(self._mistakes),
            mistakes=[each for each in worst if each["loss"]],
            words=self._words,
        )


def _refuse_differences(game: Replay, line: int) -> None:
    if game.differences:
        raise RecordError(
            f"match {line} is not what was played: {game.differences[0]}; look at all differences "
            "with kille replay FILE --check, and correct the record"
        )


def _title(line: int, spec: GameSpec, rules: Rules, num_players: int) -> str:
    episode = "single deal" if rules["episode"] == "deal" else "whole match"
    return f"Match {line}: {spec.title}, {num_players} players, {rules['preset']}, {episode}"


def _pieces(picture: str) -> list[str]:
    """Cuts a picture before each thing on the table; its end is always the same."""
    head, *things = picture.removesuffix("</svg>").split("<g data-key=")
    return [head, *(f"<g data-key={thing}" for thing in things)]


def _known(views: Sequence[View], spec: GameSpec) -> list[list[Any]]:
    """Returns who has seen which card: for each seat [card, the other seats that know of it].

    Args:
        views: [P + 1] what each seat sees, then everything.
        spec: The game.
    """
    *by_seat, everything = views
    shown = []
    for seat in range(len(by_seat)):
        known = [Counter(_faces(view, seat, spec)) for view in by_seat]
        cards, so_far = [], Counter[str]()
        for name in _faces(everything, seat, spec):
            so_far[name] += 1
            others = (other for other in range(len(by_seat)) if other != seat)
            cards.append([name, [other for other in others if known[other][name] >= so_far[name]]])
        if cards:
            shown.append([seat, cards])
    return shown


def _faces(view: View, seat: int, spec: GameSpec) -> Iterator[str]:
    """Yields the names of the cards of a seat that a viewer sees."""
    for card in (*view.seats[seat].hand, *view.seats[seat].played):
        if card.face is not None:
            yield spec.pack.name(card.face)


def _shown(decision: Decision | None, spec: GameSpec) -> dict[str, Any] | None:
    """Returns a decision as the page holds it."""
    if decision is None:
        return None
    return {
        "seat": decision.seat,
        "choices": [
            {
                "text": choice.text,
                "meaning": spec.meanings.get(choice.text.partition(" ")[0], ""),
                "shares": [round(share, 4) for share in choice.shares],
                "worth": None if choice.worth is None else round(choice.worth, 6),
            }
            for choice in decision.choices
        ],
        "chosen": decision.chosen,
        "loss": _loss(decision),
    }


def _loss(decision: Decision) -> float | None:
    """Returns what a decision has cost, 0 where a page would show 0."""
    loss = decision.loss
    return loss if loss is None or loss > LEAST_LOSS else 0.0


def _by_name(judged: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns what the decisions of each name have cost in all, the dearest first."""
    found: dict[str, dict[str, Any]] = {}
    for each in judged:
        row = found.setdefault(each["name"], {"name": each["name"], "decisions": 0, "loss": 0.0})
        row["decisions"] += 1
        row["loss"] += each["loss"]
    return sorted(found.values(), key=lambda row: (-row["loss"], row["name"]))


def _symbols(pieces: Iterable[str]) -> str:
    """Returns the symbols of the cards that pieces show."""
    used = {code for piece in pieces for code in re.findall(r'href="#card-(\w+)"', piece)}
    return symbols(sorted(used - {"back"}))


def _packed(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _own(room: str, name: str) -> str:
    """Returns a script or a style sheet of a room of this package."""
    return (files("kille_training") / room / "static" / name).read_text(encoding="utf-8")


def _policy(script: str, styles: str) -> str:
    """Returns the page's Content-Security-Policy: its own script and style, and nothing else."""
    ours, looks = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, styles)
    )
    return (
        f"default-src 'none'; script-src 'sha256-{ours}'; style-src 'sha256-{looks}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
