"""Flat Monte Carlo over determinizations that agree with what the seat knows.

At a decision it draws determinizations, plays each legal action in each of them, lets a policy that
does not search (the *base*) play the deal to its end, and compares the mean earnings. All actions
are tried in the same determinizations with the same random numbers, so what is compared is the
actions.

It leaves the base only for an action that is better by more than chance explains: `margin` standard
errors of the difference. So it improves on the base by one step, and plays later decisions no
better than the base does. In a determinization the base sees no hidden card either; but with
uniform beliefs the search also counts determinizations in which others would not have acted as they
have.
"""

from typing import cast

import numpy as np

from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.search.beliefs import likely_determinizations
from kille_agents.search.rollouts import earnings, seated
from kille_agents.search.settings import SearchSettings
from kille_env.core.batch import Batch
from kille_env.core.rollouts import Rollouts
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import (
    KernelPolicy,
    Policy,
    at_table,
    check_probabilities,
    name_of,
    share_a_kernel,
)
from kille_env.registry import Table

DUST = 1e-9
"""Money below which two actions are equal: shares of a stake are no binary fractions."""


class FlatSearch:
    """Flat Monte Carlo; see the module's text. `kille_env.play.policy.decide` asks it.

    Example:
        >>> import kille_env, kille_training
        >>> from kille_agents import FlatSearch, SearchSettings
        >>> rules = kille_env.spec("knack").resolve()
        >>> player = FlatSearch(3, rules, SearchSettings(determinizations=4))
        >>> found = kille_training.evaluate(player, "knack", 3, baselines="uniform", deals=2)

    Attributes:
        name: What tables and reports call it.
        what: What it does, in a sentence for its description.
        settings: Its settings.
        base: Plays its own seat in the determinizations, and is what it falls back on.
        opponents: Plays all other seats there.
        tables: The table where it plays; it is refused at others.
        remembers: Whether it is to be given the history of the tables.
    """

    name = "search"
    what = (
        "tries every action in determinizations that agree with what it knows, in which the rule "
        "of thumb plays on for every seat; does what the rule of thumb does unless another action "
        "earns clearly more"
    )

    def __init__(
        self, num_players: int, rules: Rules, settings: SearchSettings | None = None
    ) -> None:
        """Sets it up for a table.

        Args:
            num_players: Seats of the table.
            rules: Its rules.
            settings: How to search; None is the defaults.

        Raises:
            PolicyError: The game has no rule of thumb, and there is no `base` either; or a policy
                was made for another table.
        """
        self.settings = settings or SearchSettings()
        self.tables = (Table.of(rules.game, num_players, rules),)
        self.num_players, self.rules = self.tables[0].num_players, rules
        base = self.settings.base or rule_of_thumb(num_players, rules)
        opponents = self.settings.opponents
        self.base = self._seated(base)
        self.opponents = self.base if opponents in (None, base) else self._seated(opponents)
        self.remembers = self.settings.beliefs == "policy"

    def _seated(self, policy: Policy) -> Policy:
        return cast(Policy, at_table(policy, self.rules.game, self.num_players, self.rules))

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Returns how likely each action is, [M, A]; see `kille_env.play.policy.Decider`.

        Raises:
            PolicyError: It was made for another table.
        """
        made = (self.num_players, self.rules)
        if made != (decisions.num_players, decisions.rules):
            raise PolicyError(
                f"{self.name} was made for {self.rules.game} with {self.num_players} seats, and "
                f"asked at a table of {decisions.game} with {decisions.num_players}, or "
                "with other rules"
            )
        mask = decisions.mask
        chances = np.array(self.base.probabilities(decisions.observation, mask), np.float64)
        check_probabilities(self.base.name, chances, mask)
        free = np.flatnonzero(mask.sum(axis=1) > 1)
        for part in self._parts(mask[free]):
            rows = free[part]
            chances[rows] = self._think(decisions.take(rows), chances[rows])
        return chances

    def _parts(self, mask: np.ndarray) -> list[np.ndarray]:
        """Splits decisions so that no more than `tables` tables are played at once."""
        parts, begin, size = [], 0, 0
        for number, cost in enumerate(self._costs(mask).tolist()):
            if number > begin and size + cost > self.settings.tables:
                parts.append(np.arange(begin, number))
                begin, size = number, 0
            size += cost
        return [*parts, np.arange(begin, len(mask))] if len(mask) else []

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        """Returns how many tables each decision takes, [M]."""
        drawn = self.settings.candidates if self.remembers else 0
        actions = np.maximum(mask.sum(axis=1, dtype=np.int64), drawn)
        return self.settings.determinizations * actions

    def _think(self, decisions: Decisions, chances: np.ndarray) -> np.ndarray:
        """Returns how likely each action is where there is a choice, [m, A].

        Args:
            decisions: m decisions.
            chances: [m, A] what the base does.
        """
        better, error = _compare(self._values(decisions), chances)
        sure = better > np.maximum(self.settings.margin * error, DUST)
        sure &= decisions.mask != 0
        best = np.where(sure, better, -np.inf).argmax(axis=1)
        leaves = sure.any(axis=1)
        chosen = chances.copy()
        chosen[leaves] = np.arange(chances.shape[1]) == best[leaves, None]
        return chosen

    def _values(self, decisions: Decisions) -> np.ndarray:
        """Returns what each action earns in each determinization, [m, K, A]; 0 if not legal."""
        number = self.settings.determinizations
        drawn = self._draw(decisions)
        decision, action = np.nonzero(decisions.mask)
        tables = (decision[:, None] * number + np.arange(number)).ravel()
        seats = np.repeat(decisions.seats[decision], number)
        first = np.repeat(action, number)
        if rollouts := self._rollouts(drawn):
            earned = rollouts.earnings(drawn.tables, tables, first, seats)
        else:
            players = seated(drawn.take(tables), seats, self.base, self.opponents)
            players.step(first)
            earned = earnings(players, self.settings.deals)
        own = earned[np.arange(len(tables)), seats].reshape(len(decision), number)
        values = np.zeros((len(decisions), number, decisions.mask.shape[1]))
        values[decision, :, action] = own
        return values

    def _draw(self, decisions: Decisions) -> Batch:
        """Draws the determinizations of each decision, as the settings say how likely they are."""
        settings, number = self.settings, self.settings.determinizations
        if settings.beliefs == "uniform":
            return decisions.draw(number)
        return likely_determinizations(
            decisions, number, settings.candidates, self.opponents, settings.doubt
        )

    def _rollouts(self, drawn: Batch) -> Rollouts | None:
        """Returns who plays determinizations on, if both policies are kernels."""
        if not share_a_kernel(self.base, self.opponents):
            return None
        base, opponents = cast(KernelPolicy, self.base), cast(KernelPolicy, self.opponents)
        numbers = np.stack([base.numbers, opponents.numbers])
        names = name_of(base), name_of(opponents)
        return Rollouts(drawn, base.choose, numbers, self.settings.deals, names)


def _compare(values: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns by how much actions beat the base, [m, A], and the standard errors of that.

    Args:
        values: [m, K, A] what each action earned in each determinization.
        chances: [m, A] what the base does.
    """
    base = np.einsum("mka,ma->mk", values, chances)
    better = values - base[:, :, None]
    number = values.shape[1]
    spread = better.std(axis=1, ddof=1) if number > 1 else np.zeros(chances.shape)
    return better.mean(axis=1), spread / np.sqrt(number)
