"""Review recorded matches decision by decision: preferred actions of policies, and regrets.

The page is one self-contained file with all cards open, drawn by the script of the web table. Its
moments are compressed, because consecutive ones are nearly equal.
"""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from kille_agents.catalog import as_policy, players_of
from kille_agents.tabular import TabularPolicy
from kille_env.core.batch import Batch
from kille_env.core.spec import GameSpec, Rules
from kille_env.errors import RecordError
from kille_env.pictures.cards import symbols
from kille_env.pictures.frame import frame
from kille_env.pictures.style import style
from kille_env.play.policy import Policy
from kille_env.play.seating import SeatedPolicies
from kille_env.records import Record, Replay, check_record, replay
from kille_env.registry import load_game
from kille_env.words.text import labels, listed, printable
from kille_env.words.view import View
from kille_training.evaluation.worth import is_solved, worth
from kille_training.labels import episode_noun
from kille_training.names import FIRST_NAMES, company
from kille_training.pages.page import css, render

MOST_MOMENTS = 10_000  # maximum number of moments on a page
MOST_MISTAKES = 12
LEAST_LOSS = 0.0005  # losses below this, in units, count as 0; a page shows three decimals
_PATH = re.compile(r"[\w./\\:-]*[/\\_:.][\w./\\:-]*")
"""Pattern of a policy's name or path, as opposed to a person's name."""
ALWAYS_ASKED, SOLUTION = "rule_of_thumb", "byteskille/solved"


class ComparedPolicies(NamedTuple):
    """Policies that a page compares with the recorded actions."""

    # names or paths; None is the rule of thumb, and the solution if there is one. The first
    # solution among them values the choices
    names: Sequence[str] | None = None
    trust: bool = False  # whether to load model files that can run code

    def at(self, game: str, num_players: int, rules: Rules) -> dict[str, Policy]:
        """Return the policies of a table, by name."""
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
    compared: ComparedPolicies | None = None,
    back: str = "",
) -> bytes:
    """Return the page of matches."""
    moments = sum(1 + len(deal["actions"]) for _, record in matches for deal in record["deals"])
    if moments > MOST_MOMENTS:
        raise RecordError(
            f"these matches have {moments:,} moments, and a page holds at most "
            f"{MOST_MOMENTS:,}; choose one with --match 1"
        )
    page = _Page(compared or ComparedPolicies())
    for number, record in matches:
        page.add(number, record)
    if not page.moments:
        raise RecordError("there is nothing to show: no deal of these matches has been dealt")
    return page.render(source, back)


class Moment(NamedTuple):
    """A table between two moves."""

    before: np.record  # table before the last move
    table: np.record
    # decision, JSON values; None after the last one of a deal. `seat`; `choices`, each with its
    # `text`, the probabilities of the policies (`shares`, in their order) and its mean `worth`; the
    # number of the `chosen` one, None where the record stops; and its `loss`, the units below the
    # best one's worth, None if unknown
    decision: dict[str, Any] | None

    @property
    def deal(self) -> int:
        """Number of the deal, from 0."""
        return int(self.table["deals"]) - 1


def review(
    record: Record, players: Mapping[str, Policy], policy: Policy | None = None
) -> tuple[Replay, list[Moment]]:
    """Replay a record and compare policies with it at every decision.

    Each policy sees the observation of the seat to act.
    """
    reviewer = _Reviewer(record, players, policy)
    return replay(record, look=reviewer.look), reviewer.moments


class _Reviewer:
    """Collects the moments of a match during a replay."""

    def __init__(
        self, record: Record, players: Mapping[str, Policy], policy: Policy | None
    ) -> None:
        self.moments = list[Moment]()
        self._policy, (self._names, _) = policy, _seats(record)
        self._players, self._asked = players, list[SeatedPolicies]()
        self._before: np.record | None = None

    def look(self, batch: Batch, action: int | None) -> None:
        """Add a moment; see `kille_env.records.replay`."""
        table = batch.tables[0].copy()
        if self._before is None:  # the batch stays the same; the record supplies its actions
            seats = np.zeros(batch.num_players, np.int64)
            self._asked = [
                SeatedPolicies(batch, [player], seats, step=lambda _: None)
                for player in self._players.values()
            ]
        else:
            decision = self._decide(batch, action) if batch.seat[0] >= 0 else None
            self.moments.append(Moment(self._before, table, decision))
        self._before = table

    def _decide(self, batch: Batch, action: int | None) -> dict[str, Any]:
        legal = np.flatnonzero(batch.mask[0]).tolist()
        shares = [self._ask(players) for players in self._asked]
        units = worth(batch, policy=self._policy)
        chosen, loss = None if action is None else legal.index(action), None
        if chosen is not None:
            if units is not None and (loss := float(units.max() - units[chosen])) <= LEAST_LOSS:
                loss = 0.0
            for players in self._asked:
                players.step(np.array([action]))
        return {
            "seat": int(batch.seat[0]),
            "choices": [
                {
                    "text": self._text(batch, choice),
                    "shares": [round(float(share[choice]), 4) for share in shares],
                    "worth": None if units is None else round(float(units[number]), 6),
                }
                for number, choice in enumerate(legal)
            ],
            "chosen": chosen,
            "loss": loss,
        }

    def _text(self, batch: Batch, action: int) -> str:
        """Return the label of a choice's button."""
        told = batch.game.choice(batch.tables[0], batch.rules, action, self._names)
        return told.partition(":")[0]

    @staticmethod
    def _ask(players: SeatedPolicies) -> np.ndarray:
        rows, _, keys, _ = players.due()
        return players.ask(0, rows, keys)[0]


class _Page:
    """The content of a page."""

    def __init__(self, compared: ComparedPolicies) -> None:
        self.moments: list[dict[str, Any]] = []
        self._compared = compared
        self._players: dict[Any, tuple[dict[str, Policy], TabularPolicy | None]] = {}
        self._cards: dict[str, str] = {}
        self._matches: list[dict[str, Any]] = []
        self._starts: list[tuple[int, str]] = []
        self._mistakes: list[dict[str, Any]] = []

    def add(self, line: int, record: Record) -> None:
        """Add a match."""
        game, rules = check_record(record)
        players, policy = self._seated(record["num_players"], rules)
        played, moments = review(record, players, policy)
        _refuse_differences(played, line)
        who, bots = _seats(record)
        pack = game.spec.pack
        both = zip(pack.words or pack.names, pack.names, strict=True)
        names = [word if word == name else f"{word} ({name})" for word, name in both]
        self._cards |= zip(pack.codes, names, strict=True)
        title = _title(line, rules, who, bots)
        self._matches.append(
            {"game": game.spec.title, "title": title, "names": who, "asked": list(players)}
        )
        for each in moments:
            self._add_moment(line, each, rules, who)

    def _seated(
        self, num_players: int, rules: Rules
    ) -> tuple[dict[str, Policy], TabularPolicy | None]:
        """Return the policies to compare with at a table, and the solution among them."""
        key = (num_players, rules)
        if key not in self._players:
            players, policy = self._compared.at(rules.game, num_players, rules), None
            if not is_solved(num_players, rules):  # the suite's own is known by itself
                solved = (each for each in players.values() if isinstance(each, TabularPolicy))
                policy = next(solved, None)
            self._players[key] = players, policy
        return self._players[key]

    def _add_moment(self, line: int, moment: Moment, rules: Rules, who: list[str]) -> None:
        game, number, decision = load_game(rules.game), len(self.moments), moment.decision
        if moment.before["deals"] != moment.table["deals"]:
            self._starts.append((number, _where(line, moment.deal, rules)))
        shown = frame(game, moment.before, moment.table, rules, None, who)
        if rules["episode"] == "deal":  # drop the record's own number, 1
            shown["title"] = shown["title"].removeprefix("deal 1").removeprefix(" · ")
        match = len(self._matches) - 1
        self.moments.append({"match": match, "frame": shown, "decision": decision})
        if decision is None or decision["loss"] is None:
            return
        view, seat, choices = (
            game.view(moment.table, rules, None, who), decision["seat"], decision["choices"]
        )  # fmt: skip
        self._mistakes.append(
            {
                "moment": number,
                "where": self._starts[-1][1],
                "hand": ", ".join(_faces(view, seat, game.spec)),
                "name": who[seat],
                "chosen": choices[decision["chosen"]]["text"],
                "best": max(choices, key=lambda choice: choice["worth"])["text"],
                "loss": decision["loss"],
            }
        )

    def render(self, source: str, back: str) -> bytes:
        """Return the page."""
        data = {
            "cards": self._cards,
            "matches": self._matches,
            "deals": self._starts,
            "moments": self.moments,
        }
        script = _own("table/static/table.js") + _own("evaluation/replay.js")
        looks = css(), style("both"), _own("table/static/table.css"), _own("evaluation/replay.css")
        styles = "\n".join(looks)
        worst = sorted(self._mistakes, key=lambda each: -each["loss"])[:MOST_MISTAKES]
        return render(
            "evaluation/replay.html.j2",
            source=source,
            back=back,
            game=listed(list(dict.fromkeys(match["game"] for match in self._matches))),
            matches=self._matches[0]["title"],
            policy=_policy(script, styles),
            script=Markup(script),
            styles=Markup(styles),
            cards=Markup(symbols(_shown_cards(self.moments))),
            data=_packed(data),
            judged=_by_name(self._mistakes),
            mistakes=[each for each in worst if each["loss"]],
        )


def _refuse_differences(game: Replay, line: int) -> None:
    if game.differences:
        raise RecordError(
            f"match {line} is not what was played: {game.differences[0]}; look at all differences "
            "with kille replay FILE --check, and correct the record"
        )


def _title(line: int, rules: Rules, who: list[str], bots: list[str]) -> str:
    players = company(who, bots) if any(bots) else f"{len(who)} players"
    return f"{episode_noun(rules['episode'])} {line} · {players} · {rules['preset']}"


def _where(line: int, deal: int, rules: Rules) -> str:
    """Return the place of a deal: "match 2, deal 3", or "deal 2" for a single one."""
    return f"match {line}, deal {deal + 1}" if rules["episode"] == "match" else f"deal {line}"


def _seats(record: Record) -> tuple[list[str], list[str]]:
    """Return the names of the seats, first names for policies, and the policies, "" for people."""
    seats, known = record["num_players"], players_of(record["game"])
    names, bots = list(FIRST_NAMES[:seats]), [""] * seats
    for seat, name in enumerate(map(printable, record.get("names") or ())):
        if name in known or _PATH.fullmatch(name):
            bots[seat] = name
        else:  # as `kille play` writes it: "Bertil (search)"
            names[seat], _, player = name.partition(" (")
            bots[seat] = player.removesuffix(")")
    if len(set(names)) < seats:
        return labels(record.get("names"), seats), [""] * seats
    return names, bots


def _faces(view: View, seat: int, spec: GameSpec) -> Iterator[str]:
    """Yield the names of a seat's cards, in the hand and played."""
    for card in (*view.seats[seat].hand, *view.seats[seat].played):
        if card.face is not None:
            yield spec.pack.word(card.face)


def _by_name(judged: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the number and total cost of each name's decisions, the largest cost first."""
    found: dict[str, dict[str, Any]] = {}
    for each in judged:
        row = found.setdefault(each["name"], {"name": each["name"], "decisions": 0, "loss": 0.0})
        row["decisions"] += 1
        row["loss"] += each["loss"]
    return sorted(found.values(), key=lambda row: (-row["loss"], row["name"]))


def _shown_cards(moments: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the codes of the cards in the moments."""
    used: set[str | None] = set()
    for view in (moment["frame"] for moment in moments):
        used |= {code for seat in view["seats"] for _, code, *_ in seat["cards"]}
        used |= {code for *_, code in view["piles"]}
        used |= {code for _, _, code, *_ in view["strip"]}
    return sorted(code for code in used if code is not None)


def _packed(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _own(name: str) -> str:
    """Return a script or a style sheet of this package."""
    return (files("kille_training") / name).read_text(encoding="utf-8")


def _policy(script: str, styles: str) -> str:
    """Return the page's Content-Security-Policy: its own script and style, and nothing else."""
    ours, looks = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, styles)
    )
    return (
        f"default-src 'none'; script-src 'sha256-{ours}'; style-src 'sha256-{looks}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
