"""A player who looks ahead: flat Monte Carlo over worlds that agree with what he knows.

At a decision he draws worlds, plays each legal action in each of them, lets the deal be played on
by a player who does not search (the *base*), and compares what he earns in the mean. All actions
are tried in the same worlds with the same luck, so that what is compared is the actions.

He leaves what the base would do only for what is better by more than luck explains: `margin`
standard errors of the difference. So he improves on the base by one step, and knows no better than
it what comes later. In each world he sees every card only through what the base does, which does
not; but he does weigh worlds in which others would not have acted as they have, unless `beliefs`
are "policy".
"""

from typing import Any

import numpy as np

from kille_agents.search.beliefs import BELIEFS, likely_worlds
from kille_agents.search.rollouts import earnings
from kille_env.core.batch import Batch
from kille_env.core.determinization import Determinizer
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, did_you_mean
from kille_env.policy import Policy, check_probabilities

DUST = 1e-9
"""Money below which two actions are equal: shares of a stake are no binary fractions."""


class Looker:
    """What players have in common who look ahead by playing worlds on.

    Attributes:
        name: What tables and reports call him.
        base: Plays his own seat in the worlds, and is what he falls back on.
        opponents: Plays all other seats there.
        remembers: Whether he is to be told the history of the tables.
    """

    def __init__(
        self,
        game: str,
        num_players: int,
        rules: Rules,
        *,
        base: Policy | None,
        opponents: Policy | None,
        worlds: int,
        deals: int | None,
        beliefs: str,
        doubt: float,
        candidates: int,
        tables: int,
        name: str,
    ) -> None:
        """Takes what every such player can be told; see `SearchPlayer`."""
        if rules.game != game:
            raise PolicyError(f"the rules are of {rules.game}, the game is {game}")
        if beliefs not in BELIEFS:
            raise PolicyError(f"beliefs are {beliefs!r}. {did_you_mean(beliefs, BELIEFS)}")
        numbers = {"worlds": worlds, "deals": deals, "candidates": candidates, "tables": tables}
        for what, number in numbers.items():
            if number is not None and (not isinstance(number, int) or number < 1):
                raise PolicyError(f"{what} is {number!r}, expected a whole number from 1")
        if not 0.0 < doubt <= 1.0:
            raise PolicyError(f"doubt is {doubt!r}, expected a number above 0 and at most 1")
        if base is None:
            from kille_agents.catalog import rule_of_thumb  # which knows this player, too

            base = rule_of_thumb(num_players, rules)
        self.name, self.game, self.num_players, self.rules = name, game, num_players, rules
        self.base, self.opponents = base, base if opponents is None else opponents
        self.worlds, self.deals, self.tables = worlds, deals, tables
        self.beliefs, self.doubt, self.candidates = beliefs, doubt, candidates
        self.remembers = beliefs == "policy"

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Refuses: an observation says too little to search.

        Raises:
            PolicyError: Always.
        """
        raise PolicyError(
            f"{self.name} looks ahead: he is asked with `decide`, which gives him worlds, and can "
            "not be used where a player is asked for probabilities of observations alone"
        )

    def search(self, worlds: Determinizer) -> np.ndarray:
        """Returns how likely each action is, [M, A]; see `Searcher`.

        Raises:
            PolicyError: He was made for another table.
        """
        made = (self.game, self.num_players, self.rules)
        if made != (worlds.game, worlds.num_players, worlds.rules):
            raise PolicyError(
                f"{self.name} was made for {self.game} with {self.num_players} seats, and asked "
                f"at a table of {worlds.game} with {worlds.num_players} or with other rules"
            )
        chances = np.array(self.base.probabilities(worlds.observation, worlds.mask), np.float64)
        check_probabilities(self.base.name, chances, worlds.mask)
        free = np.flatnonzero(worlds.mask.sum(axis=1) > 1)
        for part in self._parts(worlds.mask[free]):
            rows = free[part]
            chances[rows] = self._think(worlds.take(rows), chances[rows])
        return chances

    def _parts(self, mask: np.ndarray) -> list[np.ndarray]:
        """Splits decisions so that no more than `tables` worlds are played at once."""
        parts, begin, size = [], 0, 0
        for number, cost in enumerate(self._costs(mask).tolist()):
            if number > begin and size + cost > self.tables:
                parts.append(np.arange(begin, number))
                begin, size = number, 0
            size += cost
        return [*parts, np.arange(begin, len(mask))] if len(mask) else []

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        """Returns how many tables each decision takes, [M]."""
        raise NotImplementedError

    def _think(self, worlds: Determinizer, chances: np.ndarray) -> np.ndarray:
        """Returns how likely each action is where there is a choice, [m, A].

        Args:
            worlds: m decisions.
            chances: [m, A] what the base would do.
        """
        raise NotImplementedError

    def _draw(self, worlds: Determinizer) -> Batch:
        """Draws `worlds` worlds a decision, as the player believes in them."""
        if self.beliefs == "uniform":
            return worlds.draw(self.worlds)
        return likely_worlds(worlds, self.worlds, self.candidates, self.opponents, self.doubt)


class SearchPlayer(Looker):
    """Flat Monte Carlo; see the module's text."""

    about = (
        "looks ahead: plays each action in worlds that agree with what he knows, and on from there "
        "as the rule of thumb would"
    )

    def __init__(
        self,
        game: str,
        num_players: int,
        rules: Rules,
        *,
        base: Policy | None = None,
        opponents: Policy | None = None,
        worlds: int = 32,
        margin: float = 2.0,
        deals: int | None = None,
        beliefs: str = "policy",
        doubt: float = 0.01,
        candidates: int = 8,
        tables: int = 1 << 15,
        name: str = "search",
    ) -> None:
        """Sets him up for a table.

        Args:
            game: The game.
            num_players: Seats of the table.
            rules: Its rules.
            base: Who plays on in the worlds, and whom he follows where nothing is better for sure;
                None is the game's rule of thumb.
            opponents: Who the others are thought to be; None is the base.
            worlds: Worlds that each action is tried in.
            margin: Standard errors by which an action has to be better than the base to be played
                instead; 0 takes what was better in the mean.
            deals: Hands of a match that are played on, the present one included; None is the whole
                match. What lies on the table then counts for nobody.
            beliefs: "uniform": every world that can be is as likely as the next; "policy": as the
                opponents' earlier actions in the deal make it, if they are who they are thought to
                be.
            doubt: With "policy", how often others are thought to act at random.
            candidates: With "policy", worlds drawn for each that is kept.
            tables: Tables that are played side by side; bounds the memory, changes nothing else.
            name: What tables and reports call him.

        Raises:
            PolicyError: An impossible argument, or a game without a rule of thumb and no `base`.
        """
        if not margin >= 0.0:
            raise PolicyError(f"margin is {margin!r}, expected a number from 0")
        self.margin = margin
        given: dict[str, Any] = {"base": base, "opponents": opponents, "worlds": worlds}
        given |= {"deals": deals, "beliefs": beliefs, "doubt": doubt, "candidates": candidates}
        super().__init__(game, num_players, rules, **given, tables=tables, name=name)

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        drawn = self.candidates if self.remembers else 0
        return self.worlds * np.maximum(mask.sum(axis=1, dtype=np.int64), drawn)

    def _think(self, worlds: Determinizer, chances: np.ndarray) -> np.ndarray:
        values = self._values(worlds)
        better, error = _compare(values, chances)
        legal = worlds.mask != 0
        sure = legal & (better > np.maximum(self.margin * error, DUST))
        best = np.where(sure, better, -np.inf).argmax(axis=1)
        leaves = sure.any(axis=1)
        chosen = chances.copy()
        chosen[leaves] = np.arange(chances.shape[1]) == best[leaves, None]
        return chosen

    def _values(self, worlds: Determinizer) -> np.ndarray:
        """Returns what each action earns in each world, [m, K, A]; 0 where it is not legal."""
        drawn = self._draw(worlds)
        decision, action = np.nonzero(worlds.mask)
        tables = (decision[:, None] * self.worlds + np.arange(self.worlds)).ravel()
        batch = drawn.take(tables)
        batch.apply(np.repeat(action, self.worlds))
        seats = np.repeat(worlds.seats[decision], self.worlds)
        earned = earnings(batch, seats, (self.base, self.opponents), self.deals)
        values = np.zeros((len(worlds), self.worlds, worlds.mask.shape[1]))
        mine = earned[np.arange(len(tables)), seats].reshape(len(decision), self.worlds)
        values[decision, :, action] = mine
        return values


def _compare(values: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns by how much actions beat the base, [m, A], and the standard errors of that.

    Args:
        values: [m, K, A] what each action earned in each world.
        chances: [m, A] what the base does.
    """
    base = np.einsum("mka,ma->mk", values, chances)
    better = values - base[:, :, None]
    number = values.shape[1]
    spread = better.std(axis=1, ddof=1) if number > 1 else np.zeros(chances.shape)
    return better.mean(axis=1), spread / np.sqrt(number)
