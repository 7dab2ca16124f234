"""One seat of a table that reads and answers in text; players inside play the others.

What an answer costs that cannot be read, or names no legal action, is decided here for all
environments in text: the seat is told so and answers again, `TRIES` times in all for a decision.
Then the episode ends with `illegal_reward` for the seat, which is less than any legal action can
bring (`kille_env.adapters.options.illegal_reward`).
"""

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np

from kille_env.adapters.options import SeatOptions
from kille_env.adapters.seat_tables import SeatTables
from kille_env.core import arguments
from kille_env.prompts import decision_prompt, numbered, read_answer, rules_prompt
from kille_env.registry import Table

TRIES = 2
"""Answers to one decision, the first included, before an unreadable one ends the episode."""


class Turn(NamedTuple):
    """What a seat is told after a reset or an answer.

    Attributes:
        prompt: What it sees and may do, or why its answer was not taken, or how the match ended.
        legal: Texts of its legal actions; empty after the end.
        reward: Units that it has earned since its last turn.
        done: Whether the match is over.
    """

    prompt: str
    legal: tuple[str, ...]
    reward: float
    done: bool


def unreadable(legal: Sequence[str]) -> str:
    """Returns what is said to an answer that names no legal action, or several."""
    return f"Your answer does not name exactly one legal action. Choose one:\n{numbered(legal)}"


class TextSeat:
    """A seat in text.

    Attributes:
        tables: The one table.
        rules_prompt: The rules of the match, and how to answer; the first thing to be told.
        forfeited: Whether unreadable answers have ended the match.
    """

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        tries: int = TRIES,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Sets up the table.

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
        """The game, seats and rules that are played now."""
        return self.tables.table

    @property
    def rules_prompt(self) -> str:
        """What the seat has to know before the first turn."""
        batch = self.tables.batch
        return rules_prompt(batch.spec.name, batch.rules, batch.num_players)

    @property
    def forfeited(self) -> bool:
        """Whether unreadable answers have ended the match."""
        return bool(self.tables.forfeited[0])

    def begin(self, seed: int | None = None) -> Turn:
        """Begins a match and plays to the seat's first decision.

        Args:
            seed: Seed of this and the following matches; None goes on to the next one.

        Raises:
            RulesError: The seed is impossible.
        """
        self.tables.begin(None if seed is None else arguments.seed(seed))
        self._failed = 0
        return self._turn(0.0)

    def answer(self, text: str) -> Turn:
        """Plays the action that an answer names, then the others up to the seat's next decision.

        Raises:
            KilleError: The match is over, or none has begun.
        """
        batch = self.tables.batch
        legal = [] if self.tables.over[0] else batch.legal_texts()
        index = read_answer(text, legal, batch.spec.pack)
        if legal and index is None and self._failed + 1 < self.tries:
            self._failed += 1
            return Turn(unreadable(legal), tuple(legal), 0.0, False)
        action = -1 if index is None else batch.find_action(legal[index])
        self.tables.step([action])
        self._failed = 0
        return self._turn(float(self.tables.reward[0]))

    def _turn(self, reward: float) -> Turn:
        if self.tables.over[0]:
            return Turn(self._ending(), (), reward, True)
        batch = self.tables.batch
        return Turn(decision_prompt(batch), tuple(batch.legal_texts()), reward, False)

    def _ending(self) -> str:
        batch, seat = self.tables.batch, int(self.tables.own[0])
        if self.forfeited:
            return "The match ends here: your answer does not name exactly one legal action."
        earned = np.round(self.tables.earned[0], 2)
        return f"{batch.describe(0, seat)}\n\nYour result: {earned:+g}."
