"""The games in text, for language models: prompts, answers, and a player that answers prompts.

A prompt is plain text: the rules once (`rules_prompt`), then for each decision the seat's view and
its legal actions, numbered from 1 (`decision_prompt`). An answer names an action by its last line
"Answer: ...", or is nothing but the action (`read_answer`); any other is asked for again
(`ask_again`). Nothing is guessed. `TextPlayer` does all this around a function.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, shortened
from kille_env.play.decisions import Decisions
from kille_env.play.options import illegal_reward
from kille_env.registry import describe_rules

__all__ = [
    "TextPlayer",
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
            knows, gets no actions; the prompt does not reveal that another seat is asked in secret.
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
    """Return the reply to an answer that names no legal action: the fault and the legal actions.

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


class TextPlayer:
    """A player that answers prompts by a Python function, such as a language model's client.

    The function is given the rules and the decision as one text and returns the answer as a text.
    The prompt is written from a determinization, a table that the seat cannot tell from the real
    one, so it holds no hidden card. Results count on the same answer to the same prompt: put
    `functools.cache` around a function that samples.

    Example:
        >>> import kille_training
        >>> from kille_env.adapters.text import TextPlayer
        >>> first = TextPlayer(lambda prompt: "Answer: 1", name="first")
        >>> found = kille_training.nash_conv(first, "byteskille", 2, rules="wikipedia")
        >>> found.nash_conv > 0
        True

    Attributes:
        name: Its name in results and reports.
        keyless: True, since its answers depend on the prompt and not on the key of a decision.
    """

    keyless = True

    def __init__(
        self,
        function: Callable[[str], str],
        *,
        name: str = "",
        attempts: int = 3,
        parallel: int = 1,
    ) -> None:
        """Take the function; nothing is asked yet.

        Args:
            function: From a prompt to an answer.
            name: Name in results; the default is the function's own.
            attempts: Answers to one decision of which one has to name a legal action.
            parallel: Threads that call the function at the same time.
        """
        self.function, self.attempts, self.parallel = function, attempts, parallel
        self.name = name or str(getattr(function, "__name__", type(function).__name__)).strip("<>")

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return 1 for the action of each answer, [M, A] float64; see `Policy`.

        Raises:
            PolicyError: No answer to a decision names a legal action.
        """
        game, seats = decisions.game, decisions.num_players
        # A determinization, not the table: whatever the text shows, it holds no hidden card.
        drawn = decisions.draw(1)
        asked = [
            (
                f"{_rules(game, decisions.rules_at(row), seats)}\n\n{decision_prompt(drawn, row)}",
                tuple(drawn.legal_texts(row)),
            )
            for row in range(len(decisions))
        ]
        if self.parallel == 1:
            answers = [self._answer(*each) for each in asked]
        else:
            with ThreadPoolExecutor(self.parallel) as threads:
                answers = list(threads.map(self._answer, *zip(*asked, strict=True)))
        probabilities = np.zeros(decisions.mask.shape)
        for row, index in enumerate(answers):
            probabilities[row, np.flatnonzero(decisions.mask[row])[index]] = 1.0
        return probabilities

    def _answer(self, prompt: str, legal: Sequence[str]) -> int:
        """Return the index of the legal action that the function chooses."""
        answer = ""
        for _ in range(self.attempts):
            answer = self.function(prompt)
            if not isinstance(answer, str):
                raise PolicyError(
                    f"{self.name} answered {shortened(answer)}, expected a text such as 'Answer: 1'"
                )
            index = read_answer(answer, legal)
            if index is not None:
                return index
            # With its own answer, so that the model sees what was wrong with it.
            prompt = f"{prompt}\n\n{answer}\n\n{ask_again(answer, legal)}"
        raise PolicyError(
            f"{self.name} named no legal action in {self.attempts} answers, the last one was "
            f"{shortened(answer)}; legal are {', '.join(legal)}"
        )


@lru_cache(maxsize=16)
def _rules(game: str, rules: Rules, num_players: int) -> str:
    return rules_prompt(game, rules, num_players)


def _declared(answer: str) -> str | None:
    """Return the text after the last "Answer:" at the beginning of a line."""
    # Models think aloud, and may name several actions before they decide.
    lines = [bare for line in answer.splitlines() if (bare := _bare(line)).startswith(_ANSWER)]
    return _bare(lines[-1].removeprefix(_ANSWER)) if lines else None


def _bare(text: str) -> str:
    return text.strip(_AROUND).casefold()
