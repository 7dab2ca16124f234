"""The games in text, for language models: prompts, and how an answer is read.

A prompt is plain text: the rules once (`rules_prompt`), then for each decision what the seat sees
and its legal actions, numbered from 1 (`decision_prompt`). An answer names an action by its last
line "Answer: ...", or is nothing but the action (`read_answer`); any other is asked for again
(`ask_again`). Nothing is guessed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.errors import shortened
from kille_env.play.options import illegal_reward
from kille_env.registry import describe_rules

__all__ = [
    "ask_again",
    "decision_prompt",
    "illegal_reward",
    "read_answer",
    "rules_prompt",
]

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
