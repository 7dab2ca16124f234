"""Flat Monte Carlo over determinizations that agree with the knowledge of the seat.

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

from numbers import Real
from typing import Any

import numpy as np

from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.search.beliefs import likely_determinizations
from kille_agents.search.rollouts import earnings
from kille_env.core.arguments import MOST
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules, is_whole
from kille_env.errors import PolicyError, did_you_mean, shortened
from kille_env.play.decisions import Decisions
from kille_env.play.policy import ObservationPolicy, answers, at_table, check_probabilities
from kille_env.registry import Table

DUST = 1e-9  # money below which two actions are equal: shares of a stake are no binary fractions
BELIEFS = ("uniform", "policy")


class FlatSearch:
    """Flat Monte Carlo; see the module's text. `kille_env.play.policy.decide` asks it.

    Example:
        >>> import kille_env, kille_training
        >>> from kille_agents import FlatSearch
        >>> rules = kille_env.spec("knack").resolve()
        >>> player = FlatSearch(3, rules, determinizations=4)
        >>> found = kille_training.evaluate(player, "knack", 3, baselines="uniform", deals=2)

    Attributes:
        name: What tables and reports call it.
        what: Its way of playing, in a sentence.
        base: Policy of its own seat in the determinizations, and its fallback.
        opponents: Policy of all other seats there.
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
        self,
        num_players: int,
        rules: Rules,
        *,
        base: ObservationPolicy | None = None,
        opponents: ObservationPolicy | None = None,
        determinizations: int = 32,
        margin: float = 2.0,
        deals: int | None = None,
        beliefs: str = "policy",
        doubt: float = 0.01,
        candidates: int = 8,
        tables: int = 1 << 15,
    ) -> None:
        """Set it up for a table.

        Args:
            num_players: Seats of the table.
            rules: Its rules.
            base: Plays on in the determinizations, and is followed where no other action is better
                for sure; None is the game's rule of thumb.
            opponents: Policy that the other seats are assumed to play; None is the base.
            determinizations: How many each action is tried in.
            margin: Standard errors by which an action has to be better than the base to be played
                instead; 0 takes the action that was better on average.
            deals: Deals of a match that are played on, the present one included; None is the whole
                match. Units on the table at the end of the last one count for nobody.
            beliefs: "uniform": every determinization that agrees with the seat's knowledge is
                equally likely; "policy": as likely as the opponents' earlier actions in the deal
                make it.
            doubt: With "policy", the probability with which others are assumed to act at random.
            candidates: With "policy", determinizations drawn for each that is kept.
            tables: Tables that are played side by side; bounds the memory, changes nothing else.

        Raises:
            PolicyError: A value is impossible; the game has no rule of thumb, and there is no
                `base` either; or a policy was made for another table.
        """
        counts = {"determinizations": determinizations, "deals": deals, "candidates": candidates}
        for name, value in (counts | {"tables": tables}).items():
            if (value is not None or name != "deals") and not (
                is_whole(value) and 1 <= value <= MOST
            ):
                given = shortened(value)
                raise PolicyError(f"{name} is {given}, expected a whole number from 1 to {MOST}")
        if not (_is_number(margin) and margin >= 0.0):
            raise PolicyError(f"margin is {shortened(margin)}, expected a number from 0")
        if not (_is_number(doubt) and 0.0 < doubt <= 1.0):
            given = shortened(doubt)
            raise PolicyError(f"doubt is {given}, expected a number above 0 and at most 1")
        if beliefs not in BELIEFS:
            hint = did_you_mean(beliefs, BELIEFS)
            raise PolicyError(f"beliefs is {shortened(beliefs)}. {hint}")
        self.determinizations, self.deals, self.candidates = determinizations, deals, candidates
        self.margin, self.doubt, self.most_tables = margin, doubt, tables
        self.remembers = beliefs == "policy"
        self.tables = (Table.of(rules.game, num_players, rules),)
        self.num_players, self.rules = self.tables[0].num_players, rules
        base = rule_of_thumb(num_players, rules) if base is None else base
        self.base = self._seated("base", base)
        self.opponents = self.base
        if opponents is not None and opponents is not base:
            self.opponents = self._seated("opponents", opponents)

    def _seated(self, role: str, policy: ObservationPolicy) -> ObservationPolicy:
        if not answers(policy):
            given = shortened(policy)
            raise PolicyError(f"{role} is {given}, expected a policy, see kille_agents.as_policy")
        seated = at_table(policy, self.rules.game, self.num_players, self.rules)
        if not isinstance(seated, ObservationPolicy):
            raise PolicyError(
                f"{role} is a search policy, or needs more than an observation; pass one that has "
                "probabilities(observation, mask)"
            )
        return seated

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the probability of each action, [M, A]; see `kille_env.play.policy.Policy`."""
        made = (self.num_players, self.rules)
        if made != (decisions.num_players, decisions.rules):
            raise PolicyError(
                f"{self.name} was made for {self.rules.game} with {self.num_players} seats, and "
                f"asked at a table of {decisions.game} with {decisions.num_players}, or "
                "with other rules"
            )
        mask = decisions.mask
        probabilities = np.array(self.base.probabilities(decisions.observation, mask), np.float64)
        check_probabilities(self.base.name, probabilities, mask)
        # Where one action is legal there is nothing to search.
        free = np.flatnonzero(mask.sum(axis=1) > 1)
        for part in self._parts(mask[free]):
            rows = free[part]
            probabilities[rows] = self._think(decisions.select(rows), probabilities[rows])
        return probabilities

    def _parts(self, mask: np.ndarray) -> list[np.ndarray]:
        """Split decisions so that no more than `tables` tables are played at once."""
        parts, begin, size = [], 0, 0
        for number, cost in enumerate(self._costs(mask).tolist()):
            if number > begin and size + cost > self.most_tables:
                parts.append(np.arange(begin, number))
                begin, size = number, 0
            size += cost
        return [*parts, np.arange(begin, len(mask))] if len(mask) else []

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        """Return the number of tables that each decision takes, [M]."""
        # The candidates of a decision are drawn at once, and may be more than its actions.
        drawn = self.candidates if self.remembers else 0
        actions = np.maximum(mask.sum(axis=1, dtype=np.int64), drawn)
        return self.determinizations * actions

    def _think(self, decisions: Decisions, probabilities: np.ndarray) -> np.ndarray:
        """Return the probability of each action at decisions with a choice, [m, A]."""
        better, error = _compare(self._values(decisions), probabilities)
        # At a margin of 0, rounding errors alone must not move it away from the base.
        sure = better > np.maximum(self.margin * error, DUST)
        sure &= decisions.mask != 0
        best = np.where(sure, better, -np.inf).argmax(axis=1)
        leaves = sure.any(axis=1)
        chosen = probabilities.copy()
        chosen[leaves] = np.arange(probabilities.shape[1]) == best[leaves, None]
        return chosen

    def _values(self, decisions: Decisions) -> np.ndarray:
        """Return the earnings of each action in each determinization, [m, K, A]; 0 if illegal."""
        number = self.determinizations
        drawn = self._draw(decisions)
        decision, action = np.nonzero(decisions.mask)
        tables = (decision[:, None] * number + np.arange(number)).ravel()
        seats = np.repeat(decisions.seats[decision], number)
        first = np.repeat(action, number)
        policies = self.base, self.opponents
        earned = earnings(drawn, tables, first, seats, policies, self.deals)
        own = earned[np.arange(len(tables)), seats].reshape(len(decision), number)
        values = np.zeros((len(decisions), number, decisions.mask.shape[1]))
        values[decision, :, action] = own
        return values

    def _draw(self, decisions: Decisions) -> Batch:
        """Draw the determinizations of each decision, as likely as the beliefs make them."""
        number = self.determinizations
        if not self.remembers:
            return decisions.draw(number)
        return likely_determinizations(
            decisions, number, self.candidates, self.opponents, self.doubt
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _compare(values: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much actions beat the base, [m, A], and the standard errors of that."""
    base = np.einsum("mka,ma->mk", values, probabilities)
    # The difference in each determinization, not of the means: all actions share the cards, so
    # most of the variance cancels.
    better = values - base[:, :, None]
    number = values.shape[1]
    spread = better.std(axis=1, ddof=1) if number > 1 else np.zeros(probabilities.shape)
    return better.mean(axis=1), spread / np.sqrt(number)
