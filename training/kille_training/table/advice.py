"""The person's choices, and hints in one sentence.

A hint is the answer of a policy to the person's own observation; it does not change the match.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import TypedDict

import numpy as np

from kille_agents.population.byteskille import solution
from kille_agents.rules_of_thumb import RULES_OF_THUMB, RuleOfThumb, rule_of_thumb
from kille_agents.rules_of_thumb.reasons import reason
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_training.evaluation.worth import worth

_MEASURING = Lock()
"""Lock of the first valuation of a kind of table, which takes much memory for seconds."""


class Choice(TypedDict):
    """A legal action of the person."""

    action: int
    label: str  # label of its button
    text: str  # text in records
    # positions of its cards in the hand, as in the seat's `View`; the first of equals
    cards: list[str]


def choices(batch: Batch, names: Sequence[str]) -> list[Choice]:
    """Return the legal actions of the seat to act, in order."""
    hand = _hand(batch)
    table = batch.tables[0]
    return [
        Choice(
            action=action,
            label=batch.game.choice(table, batch.rules, action, names),
            text=(text := batch.action_text(action, 0)),
            cards=_named(text, hand),
        )
        for action in np.flatnonzero(batch.mask[0]).tolist()
    ]


class Question:
    """A decision of the person, on a thread-safe copy of the table."""

    def __init__(self, batch: Batch, names: Sequence[str]) -> None:
        """Copy the table."""
        self._batch, self._names = batch, names
        self.mask = batch.mask[0].copy()  # [A] int8, 1 for each legal action

    def advise(self) -> str:
        """Return a hint, "Keep my 5: a 5 is enough.", or "" without a rule of thumb."""
        batch = self._batch
        rule = _rule_of_thumb(batch.spec.name, batch.num_players, batch.rules)
        if rule is None or len(choices(batch, self._names)) == 1:
            return ""
        policy = solution(batch.num_players, batch.rules) or rule
        action = int(policy.probabilities(batch.observation, batch.mask)[0].argmax())
        seat = int(batch.seat[0])
        around = [*self._names[seat:], *self._names[:seat]]
        label = batch.game.choice(batch.tables[0], batch.rules, action, self._names)
        why = reason(rule, batch.observation[0], batch.spec.actions[action], around)
        return f"{label.partition(':')[0]}: {why}"

    def cost(self, action: int) -> str:
        """Return the mean cost of an action as a sentence, or "" if it is unknown or 0."""
        with _MEASURING:
            units = worth(self._batch)
        if units is None:
            return ""
        found = choices(self._batch, self._names)
        chosen = next(i for i, choice in enumerate(found) if choice["action"] == action)
        loss = float(units.max() - units[chosen])
        label = found[chosen]["label"]
        return f"“{label}” cost {loss:.2g} chips on average." if loss >= LEAST_LOSS else ""


LEAST_LOSS = 0.005  # chips below which a cost is not mentioned


@lru_cache(maxsize=16)
def _rule_of_thumb(game: str, num_players: int, rules: Rules) -> RuleOfThumb | None:
    return rule_of_thumb(num_players, rules) if game in RULES_OF_THUMB else None


def _hand(batch: Batch) -> dict[str, list[str]]:
    """Return the positions of the cards in the hand of the seat to act, by code."""
    seat = int(batch.seat[0])
    places: dict[str, list[str]] = {}
    if seat >= 0:
        for card in batch.game.view(batch.tables[0], batch.rules, seat).seats[seat].hand:
            if card.face is not None:
                places.setdefault(batch.spec.pack.code(card.face), []).append(card.place)
    return places


def _named(text: str, hand: Mapping[str, list[str]]) -> list[str]:
    """Return the positions of the cards of an action text, distinct for equal cards."""
    codes = [word.removeprefix("*") for word in text.split(" ")[1:]]
    places = {code: iter(hand.get(code, ())) for code in codes}
    return [place for code in codes for place in [next(places[code], None)] if place is not None]
