"""The games in text, for language models: prompts, how an answer is read, and one seat of a table.

A prompt is plain text: the rules once (`rules_prompt`), then for each decision what the seat sees
and its legal actions, numbered from 1 (`decision_prompt`). An answer names an action by its last
line "Answer: ...", or is nothing but the action (`read_answer`); any other is asked for again
(`ask_again`). Nothing is guessed. `TextSeat` plays one seat like this.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.errors import shortened
from kille_env.play.options import SeatOptions, illegal_reward
from kille_env.play.seats import SeatTables
from kille_env.registry import Table, describe_rules

__all__ = [
    "TextSeat",
    "Turn",
    "ask_again",
    "decision_prompt",
    "illegal_reward",
    "read_answer",
    "rules_prompt",
]

TRIES = 2
"""Answers to one decision, the first included, before an unreadable one ends the episode."""

HOW_TO_ANSWER = (
    "At each of your turns you are told what you see and which actions are legal, numbered from 1. "
    "Think if you like; then end with a line that holds the number or the exact text of one of "
    "these actions, such as:\nAnswer: 1"
)

_AROUND = " \t\r\n*_`\"'."  # Markdown, quotes and a full stop around an answer
_ANSWER = "answer:"


def rules_prompt(
    game: str, rules: Rules | Mapping[str, Any] | str | None = None, num_players: int | None = None
) -> str:
    """Return the rules of a game as they hold at a table, and how to answer.

    Args:
        game: The game.
        rules: Name of a preset, mapping of switches, or resolved rules; None is the default.
        num_players: P, seats of the table; None is the game's default.
    """
    return f"{describe_rules(game, rules, num_players)}\n\n{HOW_TO_ANSWER}"


def decision_prompt(batch: Batch, table: int = 0, seat: int | None = None) -> str:
    """Return a seat's view of a table and its legal actions, numbered from 1.

    Args:
        batch: The tables.
        table: Index of the table.
        seat: The seat that looks; None is the seat to act. A seat that is not to act, as far as it
            knows, gets no actions; the prompt does not show that another seat is asked in secret.
    """
    seat = int(batch.seat[table]) if seat is None else seat
    view = batch.describe(table, seat)
    mask = batch.legal_actions(seat)[table]
    if not mask.any():
        return f"{view}\n\nYou have nothing to decide now."
    texts = [batch.action_text(action, table) for action in np.flatnonzero(mask).tolist()]
    return f"{view}\n\nYour legal actions:\n{numbered(texts)}"


def numbered(texts: Sequence[str]) -> str:
    """Return legal actions as a list that is numbered from 1."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def read_answer(answer: str, legal: Sequence[str]) -> int | None:
    """Return the legal action that an answer names.

    The last line "Answer: ..." counts, or else the whole answer. It holds a number, the exact text
    of an action, or both as in the prompt ("2. swap"); case, quotes and Markdown around it do not
    matter.

    Args:
        answer: The model's answer.
        legal: Texts of the legal actions, `Batch.legal_texts`.

    Returns:
        An index into `legal`; None if no action is named exactly.
    """
    names = {}
    for index, text in enumerate(legal):
        names[str(index + 1)] = names[_bare(f"{index + 1}. {text}")] = index
    names |= {_bare(text): index for index, text in enumerate(legal)}
    declared = _declared(answer)
    return names.get(_bare(answer if declared is None else declared))


def ask_again(answer: str, legal: Sequence[str]) -> str:
    """Return the reply to an answer that names no legal action: what is wrong, and what is legal.

    Args:
        answer: The model's answer, for which `read_answer` returns None.
        legal: Texts of the legal actions.
    """
    declared = _declared(answer)
    wrong = "has no line" if declared is None else f"says {shortened(declared)}, not an action, in"
    return (
        f'Your answer {wrong} "Answer: ...". Choose one of your legal actions:\n'
        f"{numbered(legal)}\nAnswer with one line only, such as:\nAnswer: 1"
    )


def _declared(answer: str) -> str | None:
    """Return the text after the last "Answer:" at the beginning of a line."""
    lines = [bare for line in answer.splitlines() if (bare := _bare(line)).startswith(_ANSWER)]
    return _bare(lines[-1].removeprefix(_ANSWER)) if lines else None


def _bare(text: str) -> str:
    return text.strip(_AROUND).casefold()


class Turn(NamedTuple):
    """A seat's turn after a reset or an answer.

    Attributes:
        prompt: The decision, the reason why an answer was refused, or the end of the match.
        legal: Texts of the legal actions; empty after the end.
        reward: Units that the seat has earned since its last turn.
        done: Whether the match is over.
    """

    prompt: str
    legal: tuple[str, ...]
    reward: float
    done: bool


class TextSeat:
    """One seat of a table in text; players inside play the others.

    An answer that names no legal action is asked for again, `tries` times in all for a decision.
    Then the match ends with `illegal_reward` for the seat, less than any legal action can bring.

    Attributes:
        tables: The one table.
        tries: Answers to one decision before an unreadable one ends the match.
    """

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        tries: int = TRIES,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Set up the table.

        Args:
            game: The game.
            num_players: P, seats of the table; None is the game's default.
            tries: Answers to one decision before an unreadable one ends the match.
            **options: See `SeatOptions`; `illegal` is always "lose".

        Raises:
            KilleError: See `SeatTables`.
        """
        self.tries = arguments.whole("tries", tries, 1)
        self.tables = SeatTables(game, 1, num_players, **{**options, "illegal": "lose"})
        self._failed = 0

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        return self.tables.table

    @property
    def rules_prompt(self) -> str:
        """The rules of the match and how to answer: the system prompt."""
        batch = self.tables.batch
        return rules_prompt(batch.spec.name, batch.rules, batch.num_players)

    @property
    def forfeited(self) -> bool:
        """Whether unreadable answers have ended the match."""
        return bool(self.tables.forfeited[0])

    def begin(self, seed: int | None = None) -> Turn:
        """Begin a match and play to the seat's first decision.

        Args:
            seed: Seed of this and the following matches; None continues with the next one.

        Raises:
            RulesError: The seed is impossible.
        """
        self.tables.begin(None if seed is None else arguments.seed(seed))
        self._failed = 0
        return self._turn(0.0)

    def answer(self, text: str) -> Turn:
        """Play the action that an answer names, then the others up to the seat's next decision.

        Raises:
            KilleError: The match is over, or none has begun.
        """
        batch = self.tables.batch
        legal = [] if self.tables.over[0] else batch.legal_texts()
        index = read_answer(text, legal)
        if legal and index is None and self._failed + 1 < self.tries:
            self._failed += 1
            return Turn(ask_again(text, legal), tuple(legal), 0.0, False)
        self.tables.step([-1 if index is None else batch.find_action(legal[index])])
        self._failed = 0
        return self._turn(float(self.tables.reward[0]))

    def _turn(self, reward: float) -> Turn:
        batch = self.tables.batch
        if not self.tables.over[0]:
            return Turn(decision_prompt(batch), tuple(batch.legal_texts()), reward, False)
        if self.forfeited:
            return Turn("The match ends: your answer names no legal action.", (), reward, True)
        view = batch.describe(0, int(self.tables.own[0]))
        earned = np.round(self.tables.earned[0], 2)
        return Turn(f"{view}\n\nYour result: {earned:+g}.", (), reward, True)
