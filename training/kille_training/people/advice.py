"""What a person can do now, and what players would do in that seat.

Advice is what a player says that is asked at this decision, in this seat: it sees what the seat
sees, and what is random in a search follows from the decision's own key. Asking changes nothing,
so a match with hints is the match without them.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from threading import Lock
from types import MappingProxyType
from typing import TypedDict

import numpy as np

from kille_agents.population.byteskille import solution
from kille_agents.rules_of_thumb import RULES_OF_THUMB, rule_of_thumb
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, did_you_mean
from kille_env.playing import Players
from kille_env.policy import Player, has_memory
from kille_training.evaluation.worth import worth

_MEASURING = Lock()
"""The first measure of a kind of table takes memory for some seconds: one at a time."""
SOLUTION, RULE_OF_THUMB = "byteskille/solved", "rule_of_thumb"


class Choice(TypedDict):
    """A legal action, for somebody who is to choose one.

    Attributes:
        action: Its number.
        text: Its text, "discard L3 KI".
        meaning: What it means, empty if the game does not say.
        cards: Places of the cards in the own hand that the text names, as in the seat's `View`; of
            equal cards the first ones.
    """

    action: int
    text: str
    meaning: str
    cards: list[str]


class Advice(Choice):
    """A legal action, and what is to be said of it.

    Attributes:
        probabilities: How likely advisers take it, by their names.
        worth: Units that it earns on average by the solution, None where that is not known.
    """

    probabilities: dict[str, float]
    worth: float | None


def choices(batch: Batch, table: int = 0) -> list[Choice]:
    """Returns the legal actions of the seat to act, in their order; none where nobody is."""
    meanings = batch.spec.meanings
    hand = _hand(batch, table)
    return [
        Choice(
            action=int(action),
            text=(text := batch.action_text(int(action), table)),
            meaning=meanings.get(text) or meanings.get(text.split(" ")[0], ""),
            cards=_named(text, hand),
        )
        for action in np.flatnonzero(batch.mask[table])
    ]


@lru_cache(maxsize=16)
def advisers_at(game: str, num_players: int, rules: Rules) -> Mapping[str, Player]:
    """Returns players that give advice at once, by name, the best first; none for some games.

    Equal tables have the same ones: they keep nothing of what they are asked.
    """
    made: dict[str, Player] = {}
    if (solved := solution(num_players, rules)) is not None:
        made[SOLUTION] = solved
    if game in RULES_OF_THUMB:
        made[RULE_OF_THUMB] = rule_of_thumb(num_players, rules)
    return MappingProxyType(made)


class Question:
    """A decision of a person, as the table stood when `Sitting.question` returned it.

    It can be answered in another thread while the table goes on.

    Attributes:
        advisers: Names of the players that can be asked.
    """

    def __init__(self, players: Players, advisers: Mapping[str, int]) -> None:
        """Takes over a copy of the table.

        Args:
            players: The players at it, who play nowhere else.
            advisers: Index of each adviser among them, by name.
        """
        self.advisers = tuple(advisers)
        self._players, self._numbers = players, dict(advisers)

    def advise(self, names: Iterable[str] | None = None) -> list[Advice]:
        """Returns the choices with what players would do and what each choice is worth.

        Args:
            names: The advisers to ask; None is all of them. Those that search take their time.

        Raises:
            PolicyError: There is no such adviser, or it returned what is no distribution.
        """
        asked = {name: self._ask(name) for name in (self.advisers if names is None else names)}
        batch = self._players.batch
        found = choices(batch)
        with _MEASURING:
            units = worth(batch)
        known = [None] * len(found) if units is None else units.tolist()
        return [
            Advice(
                **choice,
                probabilities={name: float(p[choice["action"]]) for name, p in asked.items()},
                worth=value,
            )
            for choice, value in zip(found, known, strict=True)
        ]

    def _ask(self, name: str) -> np.ndarray:
        """Returns an adviser's probabilities, [A]."""
        if name not in self._numbers:
            raise PolicyError(f"no adviser is called {name!r}. {did_you_mean(name, self.advisers)}")
        rows, _, keys, _ = self._players.due()
        return self._players.ask(self._numbers[name], rows, keys)[0]


def check_adviser(name: str, player: Player) -> None:
    """Refuses a player that cannot advise.

    Raises:
        PolicyError: It remembers the match, and nobody has asked it since the match began.
    """
    if has_memory(player):
        raise PolicyError(
            f"{name} remembers what it was asked in a match and cannot advise on one decision; "
            "name a player without a memory"
        )


def _hand(batch: Batch, table: int) -> dict[str, list[str]]:
    """Returns where cards lie in the hand of the seat to act: their places, by code."""
    seat = int(batch.seat[table])
    if seat < 0:
        return {}
    places: dict[str, list[str]] = {}
    for card in batch.game.view(batch.tables[table], batch.rules, seat).seats[seat].hand:
        if card.face is not None:
            places.setdefault(batch.spec.pack.code(card.face), []).append(card.place)
    return places


def _named(text: str, hand: Mapping[str, list[str]]) -> list[str]:
    """Returns places of the cards that a text names; cards named twice take different places."""
    codes = [word.removeprefix("*") for word in text.split(" ")[1:]]
    places = {code: iter(hand.get(code, ())) for code in codes}
    return [place for code in codes for place in [next(places[code], None)] if place is not None]
