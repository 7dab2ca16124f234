"""Texts and views of a game's tables, made from the few functions that the game has for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kille_env.core.table import DEAL, OVER
from kille_env.words.manual import describe_rules as manual_of
from kille_env.words.table import text_of
from kille_env.words.text import inside, labels, owner
from kille_env.words.view import Change, View, change_of

if TYPE_CHECKING:
    from kille_env.core.game import Game
    from kille_env.core.spec import Rules


class Texts:
    """The texts and views of a game; `Game` has its methods, too."""

    def __init__(self, game: "Game") -> None:
        """Take the game with its own functions."""
        self._game = game

    def describe(
        self, table: np.record, rules: "Rules", seat: int | None, names: Sequence[str] | None = None
    ) -> str:
        """Return a table as text, as a seat sees it or (None) with every card."""
        who = labels(names, int(table["num_players"]))
        if seat is not None and names is None:
            who[seat] += " (you)"
        pack = self._game.spec.pack
        by_code = any(" " in action for action in self._game.spec.actions)  # actions name cards
        view = self._view(table, rules, seat, who)
        return text_of(view, who, pack.code if by_code else pack.word)

    def narrate(
        self,
        before: np.record,
        after: np.record,
        rules: "Rules",
        names: Sequence[str] | None = None,
        seat: int | None = None,
    ) -> list[str]:
        """Return the events between two tables; by default, the table after them as text."""
        if "narrate" in self._game.definitions:
            who = labels(names, int(after["num_players"]))
            return self._game.definitions["narrate"](before, after, rules, who, seat)
        return self.describe(after, rules, seat, names).splitlines()

    def view(
        self, table: np.record, rules: "Rules", seat: int | None, names: Sequence[str] | None = None
    ) -> View:
        """Return a table as a seat sees it, for texts and pictures."""
        return self._view(table, rules, seat, labels(names, int(table["num_players"])))

    def _view(self, table: np.record, rules: "Rules", seat: int | None, who: list[str]) -> View:
        view: View = self._game.definitions["view"](table, rules, seat, who)
        if table["phase"] == OVER:
            question = "The match is over."
        elif table["phase"] == DEAL:
            question = "Cards are to be dealt."
        elif seat is None:
            question = f"{who[view.turn]}: {view.question}"
        elif seat == view.turn:
            question = view.question
        else:
            question = f"It is {inside(owner(who[view.turn]))} turn."
        return view._replace(question=question)

    def change(
        self,
        before: np.record,
        after: np.record,
        rules: "Rules",
        seat: int | None = None,
        names: Sequence[str] | None = None,
    ) -> Change:
        """Return the moves and call between two tables, and the verdict on a deal that ended.

        The arguments are those of `narrate`; a seat learns no more than it may.
        """
        # Moves are found with all cards open; `change_of` then hides what the seat may not know.
        old, new = (self.view(table, rules, None, names) for table in (before, after))
        seen = new if seat is None else self.view(after, rules, seat, names)
        return change_of(old, new, seen, dealt=bool(before["deals"] != after["deals"]))

    def choice(
        self, table: np.record, rules: "Rules", action: int, names: Sequence[str] | None = None
    ) -> str:
        """Return the text of a button that plays an action; by default the action's text."""
        if "choice" in self._game.definitions:
            who = labels(names, int(table["num_players"]))
            return self._game.definitions["choice"](table, rules, action, who)
        return self._game.action_text(table, action).capitalize()

    def describe_rules(self, rules: "Rules", num_players: int) -> str:
        """Return the rules of a table in plain English, for a newcomer or a language model.

        They come from the `manual.md` of the game's package, or else from its switches.
        """
        return manual_of(self._game.module, self._game.spec, rules, num_players)
