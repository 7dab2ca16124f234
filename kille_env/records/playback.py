"""Replaying records on the compiled kernels, and describing them as text."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np

from kille_env.core.arguments import one_of
from kille_env.core.batch import Batch
from kille_env.core.floats import OBSERVATION, reading_of
from kille_env.core.single import ONE_TABLE
from kille_env.core.spec import Rules
from kille_env.core.start import begin
from kille_env.core.table import OVER
from kille_env.errors import CardError, IllegalActionError
from kille_env.records.notation import check_record, check_result, join, recorded_chance, refuse
from kille_env.records.recorder import returns
from kille_env.words.text import counted, printable


@dataclass(frozen=True)
class Step:
    """A decision of a replayed match.

    Attributes:
        deal: Number of the deal, from 0.
        seat: The seat that decides.
        phase: The game's name for the kind of decision.
        legal: Texts of the legal actions.
        action: Text of the action that was taken; None where the record stops.
        chosen: Its number; None likewise.
        observation: What the seat sees, as an environment with the option `observation` of `replay`
            shows it: an array [F], or a mapping of the features and the mask.
        mask: [A] int8, 1 for each legal action.
    """

    deal: int
    seat: int
    phase: str
    legal: list[str]
    action: str | None
    chosen: int | None = field(repr=False)
    observation: Any = field(repr=False, compare=False)
    mask: np.ndarray = field(repr=False, compare=False)


@dataclass(frozen=True)
class Difference:
    """A value in a record that its replay does not confirm.

    Attributes:
        deal: Number of the deal, None for the whole match.
        key: "returns", "truncated" or the key in the deal's result.
        recorded: The value in the record.
        replayed: The value in the replay; None also if it does not get that far.
    """

    deal: int | None
    key: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        where = "" if self.deal is None else f"deal {self.deal}: "
        texts = [json.dumps(value, ensure_ascii=False) for value in (self.recorded, self.replayed)]
        recorded, replayed = map(printable, texts)
        return f"{where}{self.key!r} is recorded as {recorded}, but the replay gives {replayed}"


@dataclass(repr=False)
class Replay:
    """A match that was played again.

    Attributes:
        record: The record.
        rules: Its rules, resolved.
        steps: The decisions; one more, without an action, if the record stops within a deal.
        results: Results of the finished deals.
        returns: [P] net units of the match by seat; None if the record stops before its end.
        truncated: Whether a cap ended the match, as far as it was played.
        differences: Where the record's results, returns or `truncated` differ from the replay.
    """

    record: Mapping[str, Any]
    rules: Rules
    steps: list[Step] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    returns: list[float] | None = None
    truncated: bool = False
    differences: list[Difference] = field(default_factory=list)

    def __str__(self) -> str:
        taken = sum(step.action is not None for step in self.steps)
        ended = "not finished" if self.returns is None else f"returns {self.returns}"
        return "\n".join(
            [
                f"{self.rules.game}, {self.record['num_players']} seats: "
                f"{counted(len(self.results), 'deal', 'deals')}, "
                f"{counted(taken, 'decision', 'decisions')}, {ended}",
                *(map(str, self.differences) if self.differences else ["nothing differs"]),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the match in words, with the table as it stands at the end."""
        tables: list[Batch] = []
        told = describe(self.record, look=lambda batch, action: tables.append(batch))[1]
        first, words = (
            "".join(f"<p>{escape(line)}</p>" for line in lines)
            for lines in (str(self).splitlines(), told)
        )
        picture = tables[-1].picture()._repr_html_()
        return f"{first}{picture}<details><summary>In words</summary>{words}</details>"


Look = Callable[[Batch, int | None], None]


def replay(
    record: Mapping[str, Any], look: Look | None = None, *, observation: str = "box"
) -> Replay:
    """Play a record again on the compiled kernels.

    Every step has the observation and the mask of the seat that decided, so that a policy of yours
    can be asked there.

    Example:
        >>> import kille_env
        >>> env = kille_env.make("byteskille", 3)
        >>> env.reset(seed=1)
        >>> env.step(env.action_mask().argmax())
        >>> print(kille_env.replay(env.record()))
        byteskille, 3 seats: 0 deals, 1 decision, not finished
        nothing differs
        >>> step = kille_env.replay(env.record(), observation="dict").steps[0]
        >>> step.action, step.observation["action_mask"][step.chosen]
        ('stand', np.int8(1))

    Args:
        record: The record; it may stop anywhere.
        look: Called with the batch, one table, before the first deal and after every deal and every
            action, and with the number of the action that comes next; None where none does.
        observation: What steps show, as in the environments: "box", "float", "seats" or "dict".

    Returns:
        The decisions, the results and the differences.

    Raises:
        RecordError: It breaks the notation, or an action or a deal is left over or missing.
        CardError: A deck is impossible or ends too early.
        IllegalActionError: An action is not legal, or another seat is to act.
        RulesError: There is no such kind of observation.
    """
    return _Replayer(record, look, observation).run()


class _Replayer:
    """One table at which a record is played again."""

    def __init__(self, record: Mapping[str, Any], look: Look | None, observation: str) -> None:
        game, rules = check_record(record)
        self.kind = one_of("observation", observation, OBSERVATION)
        self.reading = reading_of(observation, game.spec, record["num_players"])
        self.record, self.look = record, look
        self.where = getattr(record, "source", "")
        begin(game, ONE_TABLE)
        self.batch = Batch(game, 1, record["num_players"], rules, 0, restart=False)
        self.table = self.batch.tables[0]
        self.out = Replay(record, rules)

    def run(self) -> Replay:
        batch, out = self.batch, self.out
        start = {**(self.record.get("start") or {}), **recorded_chance(self.record)}
        batch.reset(dealer=self.record["first_dealer"], start=start, deal=False)
        if self.look:
            self.look(batch, None)
        deals = self.record["deals"]
        for number, deal in enumerate(deals):
            where = join(self.where, f"deal {number}")
            self._play(number, deal, where)
            # A record may stop in its last deal only.
            if batch.seat[0] >= 0 and number + 1 < len(deals):
                step = out.steps[-1]
                refuse(
                    join(where, f"step {len(deal['actions'])}"),
                    f"the actions stop, but seat {step.seat} is to decide; "
                    f"expected one of {', '.join(step.legal)} before the next deal",
                )
        out.truncated = bool(self.table["truncated"])
        if self.table["phase"] == OVER:
            out.returns = returns(batch, 0)
        self._compare_match()
        return out

    def _play(self, number: int, deal: Mapping[str, Any], where: str) -> None:
        batch, out = self.batch, self.out
        if self.table["phase"] == OVER:
            refuse(where, f"the match is over after deal {number - 1}; expected no further deal")
        self._move(lambda: batch.deal(deal["deck"]), deal, where)
        for step, (seat, text) in enumerate(deal["actions"]):
            here = join(where, f"step {step}")
            if batch.seat[0] < 0:
                refuse(
                    here, f"[{seat}, {text!r}] is left over: the deal has ended; expected no action"
                )
            decided = self._step(number, text)
            wrong = "" if text in decided.legal else f"{text!r} is not legal for seat {seat}"
            if seat != decided.seat:
                wrong = f"seat {seat} is not to act ({text!r})"
            if wrong:
                expected = f"one of {', '.join(decided.legal)} from seat {decided.seat}"
                raise IllegalActionError(join(here, f"{wrong}; expected {expected}", ": "))
            action = batch.find_action(text)
            out.steps.append(replace(decided, chosen=action))
            if self.look:
                self.look(batch, action)
            self._move(lambda action=action: batch.apply([action]), deal, here)
        if self.look:
            self.look(batch, None)
        if batch.seat[0] >= 0:
            out.steps.append(self._step(number, None))
        else:
            out.results.append(batch.result(0))
        self._compare_deal(number, deal.get("result"))

    def _step(self, deal: int, action: str | None) -> Step:
        batch, phase = self.batch, self.batch.spec.phases[int(self.table["phase"])]
        mask, seen = batch.mask[0].copy(), batch.observation[0].copy()
        seen = seen if self.reading is None else self.reading(seen)
        shown = {"observation": seen, "action_mask": mask} if self.kind == "dict" else seen
        seat, legal = int(batch.seat[0]), batch.legal_texts(0)
        return Step(deal, seat, phase, legal, action, None, shown, mask)

    def _move(self, move: Callable[[], None], deal: Mapping[str, Any], where: str) -> None:
        """Deal or play, and check that no card was drawn beyond the recorded ones."""
        # Past the recorded cards the table would draw random ones, so the replay would not be one.
        move()
        drawn = self.batch.drawn_cards()
        if len(drawn) > len(deal["deck"]):
            cards = f"{len(deal['deck'])} cards; expected at least {len(drawn)}"
            raise CardError(join(where, f"the deck ends after {cards}", ": "))

    def _compare_deal(self, number: int, recorded: Mapping[str, Any] | None) -> None:
        if recorded is None:
            return
        if len(self.out.results) == number:  # the record stops in the middle of this deal
            self._compare(number, "result", dict(recorded), None)
            return
        result = self.out.results[number]
        check_result(recorded, result, join(self.where, f"deal {number}"))
        for key, value in recorded.items():
            self._compare(number, key, value, result[key])

    def _compare_match(self) -> None:
        """Compare the match's own fields; no replay can know chance besides the cards."""
        told = recorded_chance(self.record)
        if self.table["phase"] == OVER:
            drawn = self.batch.game.chance(self.table, self.out.rules)
            for key in drawn:
                if key not in told:
                    refuse(self.where, f"{key!r} is missing: chance decides it in this match")
            for key in told.keys() - drawn.keys():
                self._compare(None, key, told[key], None)
        for key in ("returns", "truncated"):
            if self.record.get(key) is not None:
                self._compare(None, key, self.record[key], getattr(self.out, key))

    def _compare(self, deal: int | None, key: str, recorded: Any, replayed: Any) -> None:
        if not _same(recorded, replayed):
            self.out.differences.append(Difference(deal, key, recorded, replayed))


def _same(a: Any, b: Any) -> bool:
    """Return whether two JSON values are equal; true is not 1, and shares may be rounded."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    # True == 1 in Python, not in JSON.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-9)
    return a == b


def describe(record: Mapping[str, Any], look: Look | None = None) -> tuple[Replay, list[str]]:
    """Replay a record and describe it as text; the lines say nothing about differences."""
    played, moves = narrate(record, record.get("names"), look)
    return played, [line for move in moves for line in move]


def narrate(
    record: Mapping[str, Any], names: Sequence[str] | None = None, look: Look | None = None
) -> tuple[Replay, list[list[str]]]:
    """Replay a record, and return the lines about each deal and each action; see `describe`."""
    game, rules = check_record(record)
    moves: list[list[str]] = []
    before: list[np.record] = []

    def tell(batch: Batch, action: int | None) -> None:
        after = batch.tables[0].copy()
        if before:
            moves.append(game.narrate(before.pop(), after, rules, names))
        before.append(after)
        if look:
            look(batch, action)

    return replay(record, tell), moves
