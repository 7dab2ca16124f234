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

import numpy as np

from kille_agents.search.rollouts import earnings, seated
from kille_agents.search.search import DUST, Search
from kille_agents.search.settings import SearchSettings
from kille_env.play.decisions import Decisions


class FlatSearch(Search[SearchSettings]):
    """Flat Monte Carlo; see the module's text.

    Example:
        >>> import kille_env, kille_training
        >>> from kille_agents import FlatSearch, SearchSettings
        >>> rules = kille_env.spec("knack").resolve()
        >>> player = FlatSearch(3, rules, SearchSettings(determinizations=4))
        >>> found = kille_training.evaluate(player, "knack", 3, baselines="uniform", deals=2)
    """

    name = "search"
    what = (
        "tries every action in determinizations that agree with what it knows, in which the rule "
        "of thumb plays on for every seat; does what the rule of thumb does unless another action "
        "earns clearly more"
    )
    kind = SearchSettings

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        drawn = self.settings.candidates if self.remembers else 0
        actions = np.maximum(mask.sum(axis=1, dtype=np.int64), drawn)
        return self.settings.determinizations * actions

    def _think(self, decisions: Decisions, chances: np.ndarray) -> np.ndarray:
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
