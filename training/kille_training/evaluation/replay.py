"""Recorded matches decision by decision: what players would have done, and what choices cost.

The page is one file to step through, which needs nothing beside it. It lays the table out, all
cards open, with the script of the table that people play at. The moments are compressed: neighbors
share almost everything.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from kille_agents.catalog import as_policy
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
from kille_env.words.text import labels, listed, printable, signed
from kille_env.words.view import View
from kille_training.evaluation.worth import is_solved, worth
from kille_training.labels import episode_noun
from kille_training.pages.page import css, render

MOST_MOMENTS = 10_000
"""Moments that a page may hold."""
MOST_MISTAKES = 12
LEAST_LOSS = 0.0005
"""Units below which a choice counts as costing nothing; a page shows three decimals."""
ALWAYS_ASKED, SOLUTION = "rule_of_thumb", "byteskille/solved"


class Asked(NamedTuple):
    """Whom a page asks what they would do.

    Attributes:
        names: Their names or paths; None is the rule of thumb, and the solution where there is one.
            The first that is a solution of the table says what choices are worth.
        trust: Whether model files that can run code may be loaded.
    """

    names: Sequence[str] | None = None
    trust: bool = False

    def at(self, game: str, num_players: int, rules: Rules) -> dict[str, Policy]:
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
    matches: Sequence[Numbered], *, source: str, asked: Asked | None = None, back: str = ""
) -> bytes:
    """Returns the page of matches.

    Args:
        matches: The records; they may stop anywhere.
        source: What the page calls the file that they come from.
        asked: Whom to ask what they would do at every decision.
        back: Address of the table that the matches were played at, for a link; "" is none.

    Raises:
        RecordError: A record says something that its replay does not confirm, there is nothing to
            show, or more than fits on a page; the message says what to do.
        KilleError: A record breaks the rules, or a player cannot be asked.
    """
    moments = sum(1 + len(deal["actions"]) for _, record in matches for deal in record["deals"])
    if moments > MOST_MOMENTS:
        raise RecordError(
            f"these matches have {moments:,} moments to look at, and a page holds at most "
            f"{MOST_MOMENTS:,}; choose one with --match 1"
        )
    page = _Page(asked or Asked())
    for number, record in matches:
        page.add(number, record)
    if not page.moments:
        raise RecordError("there is nothing to show: no deal of these has been dealt")
    return page.render(source, back)


class Moment(NamedTuple):
    """How the table stands between two moves.

    Attributes:
        before: The table before the last move.
        table: The table.
        decision: What is decided now, JSON values; None after the last decision of a hand. `seat`;
            `choices`, each with its `text`, how likely each player takes it (`shares`, in the order
            in which they were named) and what it is `worth` on average, see `worth`; the number of
            the one that was `chosen`, None where the record stops; and its `loss`, the units by
            which it was worth less than the best one, None where that is not known.
    """

    before: np.record
    table: np.record
    decision: dict[str, Any] | None

    @property
    def deal(self) -> int:
        """Number of the deal, from 0."""
        return int(self.table["deals"]) - 1


def review(
    record: Record, players: Mapping[str, Policy], policy: Policy | None = None
) -> tuple[Replay, list[Moment]]:
    """Plays a record again, and asks players what they would do at every decision.

    A player is asked as if it sat in every seat: it sees what the seat to act sees. One with a
    memory remembers what the seat has seen before in the match.

    Args:
        record: The record; it may stop anywhere.
        players: Who is asked, by name.
        policy: By what everybody plays on says what choices are worth: a solution, such as that of
            `kille_training.solve`, or any policy of a table whose deals have a tree. None is the
            solution of the table that the suite brings, if there is one.

    Returns:
        The match, and its moments: after each deal and each action.

    Raises:
        KilleError: As `replay` does; or a player returned what is no distribution; or there is no
            tree of the table.
    """
    reviewer = _Reviewer(record, players, policy)
    return replay(record, look=reviewer.look), reviewer.moments


class _Reviewer:
    """Looks at every moment of a match."""

    def __init__(
        self, record: Record, players: Mapping[str, Policy], policy: Policy | None
    ) -> None:
        self.moments = list[Moment]()
        self._policy, self._names = policy, _names(record)
        self._players, self._asked = players, list[SeatedPolicies]()
        self._before: np.record | None = None

    def look(self, batch: Batch, action: int | None) -> None:
        """Keeps a moment; see `kille_env.records.replay`."""
        table = batch.tables[0].copy()
        if self._before is None:  # the same batch throughout; what it plays, the record says
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
        """Returns a choice as its button says it."""
        told = batch.game.choice(batch.tables[0], batch.rules, action, self._names)
        return told.partition(":")[0]

    @staticmethod
    def _ask(players: SeatedPolicies) -> np.ndarray:
        rows, _, keys, _ = players.due()
        return players.ask(0, rows, keys)[0]


class _Page:
    """What a page holds."""

    def __init__(self, asked: Asked) -> None:
        self.moments: list[dict[str, Any]] = []
        self._asked = asked
        self._players: dict[Any, tuple[dict[str, Policy], TabularPolicy | None]] = {}
        self._cards: dict[str, str] = {}
        self._matches: list[dict[str, Any]] = []
        self._starts: list[tuple[int, str]] = []
        self._mistakes: list[dict[str, Any]] = []

    def add(self, line: int, record: Record) -> None:
        """Adds a match."""
        game, rules = check_record(record)
        players, policy = self._seated(record["num_players"], rules)
        played, moments = review(record, players, policy)
        _refuse_differences(played, line)
        who = _names(record)
        pack = game.spec.pack
        both = zip(pack.words or pack.names, pack.names, strict=True)
        names = [word if word == name else f"{word} ({name})" for word, name in both]
        self._cards |= zip(pack.codes, names, strict=True)
        title = _title(line, rules, len(who))
        self._matches.append(
            {"game": game.spec.title, "title": title, "names": who, "asked": list(players)}
        )
        for each in moments:
            self._add_moment(line, each, record, rules, who)

    def _seated(
        self, num_players: int, rules: Rules
    ) -> tuple[dict[str, Policy], TabularPolicy | None]:
        """Returns whom to ask at a table, and the solution that says what choices are worth."""
        key = (num_players, rules)
        if key not in self._players:
            players, policy = self._asked.at(rules.game, num_players, rules), None
            if not is_solved(num_players, rules):  # the suite's own is known by itself
                solved = (each for each in players.values() if isinstance(each, TabularPolicy))
                policy = next(solved, None)
            self._players[key] = players, policy
        return self._players[key]

    def _add_moment(
        self, line: int, moment: Moment, record: Record, rules: Rules, who: list[str]
    ) -> None:
        game, number, decision = load_game(rules.game), len(self.moments), moment.decision
        if moment.before["deals"] != moment.table["deals"]:
            self._starts.append((number, _where(line, moment.deal, rules)))
        names = who if record.get("names") else None
        self.moments.append(
            {
                "match": len(self._matches) - 1,
                "frame": frame(game, moment.before, moment.table, rules, None, names),
                "decision": decision,
            }
        )
        if decision is None or decision["loss"] is None:
            return
        view, seat, choices = (
            game.view(moment.table, rules, None, names), decision["seat"], decision["choices"]
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
        """Returns the page."""
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


def _title(line: int, rules: Rules, num_players: int) -> str:
    return f"{episode_noun(rules['episode'])} {line}, {num_players} players, {rules['preset']}"


def _where(line: int, deal: int, rules: Rules) -> str:
    """Returns where a deal is found: "match 2, deal 3", or "deal 2" for a single one."""
    return f"match {line}, deal {deal + 1}" if rules["episode"] == "match" else f"deal {line}"


def _names(record: Record) -> list[str]:
    """Returns the names without what plays there, "Bertil" for "Bertil (search)", if all differ."""
    names = labels(record.get("names"), record["num_players"])
    short = [name.partition(" (")[0] for name in names]
    return short if len(set(short)) == len(short) else names


def _faces(view: View, seat: int, spec: GameSpec) -> Iterator[str]:
    """Yields the names of the cards of a seat, those that it has played among them."""
    for card in (*view.seats[seat].hand, *view.seats[seat].played):
        if card.face is not None:
            yield spec.pack.word(card.face)


def _by_name(judged: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns what the decisions of each name have cost in all, the dearest first."""
    found: dict[str, dict[str, Any]] = {}
    for each in judged:
        row = found.setdefault(each["name"], {"name": each["name"], "decisions": 0, "loss": 0.0})
        row["decisions"] += 1
        row["loss"] += each["loss"]
    return sorted(found.values(), key=lambda row: (-row["loss"], row["name"]))


def _shown_cards(moments: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the codes of the cards that moments show."""
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
    """Returns a script or a style sheet of this package."""
    return (files("kille_training") / name).read_text(encoding="utf-8")


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


# Matches in words


def match_lines(record: Record, game: Replay, told: list[str], number: int) -> list[str]:
    """Returns a match in words: who played, what happened, how it ended.

    Args:
        record: The match.
        game: It replayed.
        told: What `describe` says of it.
        number: Its number, for the first line.
    """
    num_players = record["num_players"]
    who = labels(record.get("names"), num_players)
    rules = f"preset {game.rules['preset']}, episode {game.rules['episode']}"
    unit = episode_noun(game.rules["episode"])
    lines = [f"{unit.capitalize()} {number}: {record['game']}, {num_players} players, {rules}"]
    if record.get("names"):
        lines.append(f"Seats: {', '.join(f'{seat} {name}' for seat, name in enumerate(who))}")
    for text in told:
        if text.startswith("Deal "):
            lines.append("")
        lines.append(text)
    lines.append("")
    if game.returns is None:
        lines.append(_stop(game, who))
    else:
        money = [f"{name} {signed(units)}" for name, units in zip(who, game.returns, strict=True)]
        lines.append(f"End of the {unit}: {', '.join(money)}.")
    lines += [f"The record differs: {difference}" for difference in game.differences]
    return [printable(line) for line in (*lines, "")]


def _stop(game: Replay, who: Sequence[str]) -> str:
    """Says where a record stops that does not go to the end of its match."""
    if game.steps and game.steps[-1].action is None:
        step = game.steps[-1]
        return f"Here the record stops: {who[step.seat]} is to decide ({listed(step.legal, 'or')})."
    return "Here the record stops."
