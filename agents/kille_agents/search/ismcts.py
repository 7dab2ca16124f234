"""A player who looks ahead with a tree: Monte Carlo tree search over information sets.

After Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (IEEE Transactions
on Computational Intelligence and AI in Games 4, 2012). Each iteration draws a world that agrees
with what the player knows, goes down a tree that all worlds share, adds a node to it, lets a player
who does not search play on from there, and writes what everybody earned into the nodes that it came
through. What is not possible in a world is not chosen in it: a node counts how often each action
was available.

In a node its seat plays what has earned *it* most so far (max^n, for any number of seats), by upper
confidence bounds; actions that were never tried come first, those that the base likes best before
the others.

What a node stands for is what `observer` sees there: the searcher ("searcher", the others play
without their own cards), or the seat to act ("actor", every seat with what it would know, which
takes far more iterations). With `others="policy"` the others have no nodes and play as they are
thought to: the search is then for a best response to them.

Many decisions are thought about side by side: one iteration of all of them is one native batch.
"""

from typing import Any

import numpy as np

from kille_agents.search.flat import DUST, Looker
from kille_agents.search.rollouts import drawn_actions, earnings, luck_of
from kille_env.core.batch import Batch
from kille_env.core.determinization import Determinizer
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import PolicyError
from kille_env.policy import Policy

OBSERVERS = ("searcher", "actor")
OTHERS = ("policy", "tree")


class TreeSearchPlayer(Looker):
    """Monte Carlo tree search over information sets; see the module's text."""

    about = (
        "looks ahead with a tree of his own decisions, which grows with every world that he plays"
    )

    def __init__(
        self,
        game: str,
        num_players: int,
        rules: Rules,
        *,
        base: Policy | None = None,
        opponents: Policy | None = None,
        worlds: int = 256,
        exploration: float = 0.5,
        observer: str = "searcher",
        others: str = "policy",
        margin: float = 2.0,
        deals: int | None = None,
        beliefs: str = "policy",
        doubt: float = 0.01,
        candidates: int = 8,
        tables: int = 1 << 16,
        name: str = "ismcts",
    ) -> None:
        """Sets him up for a table.

        Args:
            game: The game.
            num_players: Seats of the table.
            rules: Its rules.
            base: Who plays on from the tree's edge; None is the game's rule of thumb.
            opponents: Who the others are thought to be; None is the base.
            worlds: Iterations, each in a world of its own.
            exploration: How much what was seldom tried is tried again, in parts of the range of
                what has been earned.
            observer: "searcher" or "actor": whose knowledge tells nodes apart.
            others: "policy" or "tree": what the other seats do inside the tree.
            margin: Standard errors by which what was tried most has to be better than the base to
                be played instead.
            deals: As for `SearchPlayer`.
            beliefs: As for `SearchPlayer`.
            doubt: As for `SearchPlayer`.
            candidates: As for `SearchPlayer`.
            tables: Worlds that are kept at once; bounds the memory, changes nothing else.
            name: What tables and reports call him.

        Raises:
            PolicyError: An impossible argument, or a game without a rule of thumb and no `base`.
        """
        if not (exploration >= 0.0 and margin >= 0.0):
            raise PolicyError(
                f"exploration is {exploration!r} and margin {margin!r}; expected numbers from 0"
            )
        for what, word, known in (("observer", observer, OBSERVERS), ("others", others, OTHERS)):
            if word not in known:
                raise PolicyError(f"{what} is {word!r}, expected {' or '.join(known)}")
        self.exploration, self.margin = exploration, margin
        self.observer, self.others = observer, others
        given: dict[str, Any] = {"base": base, "opponents": opponents, "worlds": worlds}
        given |= {"deals": deals, "beliefs": beliefs, "doubt": doubt, "candidates": candidates}
        super().__init__(game, num_players, rules, **given, tables=tables, name=name)

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        return np.full(len(mask), self.worlds * (self.candidates if self.remembers else 1))

    def _think(self, worlds: Determinizer, chances: np.ndarray) -> np.ndarray:
        drawn = self._draw(worlds)
        forest = _Forest(len(worlds), self.num_players, chances.shape[1])
        first = np.arange(len(worlds)) * self.worlds
        for iteration in range(self.worlds):
            self._iterate(forest, drawn.take(first + iteration), worlds.seats)
        return self._choose(forest, worlds.mask != 0, chances)

    def _iterate(self, forest: "_Forest", batch: Batch, searchers: np.ndarray) -> None:
        """Plays one world of each decision through the tree, and on."""
        luck = luck_of(batch)
        path = []
        inside = np.ones(len(searchers), dtype=bool)
        actions = np.zeros(len(searchers), dtype=np.int64)
        number = 0
        while inside.any():
            number += 1
            rows = np.flatnonzero(inside)
            if self.others == "policy":
                own = batch.seat[rows] == searchers[rows]
                away, rows = rows[~own], rows[own]
                if len(away):
                    actions[away] = drawn_actions(self.opponents, batch, away, luck[away], number)
            leaves = np.zeros(0, dtype=np.int64)
            if len(rows):
                seats = batch.seat[rows].astype(np.int64)
                nodes = forest.find(rows, seats, self._states(batch, searchers)[rows])
                wishes = self.base.probabilities(batch.observation[rows], batch.mask[rows])
                chosen, untried = forest.select(
                    rows, nodes, batch.mask[rows] != 0, wishes, self.exploration
                )
                actions[rows] = chosen
                path.append((rows, seats, nodes, chosen))
                leaves = rows[untried]
            batch.apply(actions, inside)
            inside[leaves] = False
            inside &= batch.tables["phase"] > OVER  # a new hand is beyond the tree
        players = (self.base, self.opponents)
        forest.learn(path, earnings(batch, searchers, players, self.deals, number))

    def _states(self, batch: Batch, searchers: np.ndarray) -> np.ndarray:
        """Returns what tells nodes apart at each table, [m, F]."""
        if self.observer == "searcher":
            return batch.information_state(searchers)
        return batch.information_state(np.maximum(batch.seat, 0))

    def _choose(self, forest: "_Forest", legal: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Returns what was tried most where it is better than the base, [m, A]."""
        visits, means, errors = forest.roots()
        tried = np.where(legal, visits, -1)
        top = tried == tried.max(axis=1, keepdims=True)
        best = np.where(top, means, -np.inf).argmax(axis=1)
        chosen = chances.copy()
        rows = np.arange(len(chances))
        # What the base would do was tried too: mixed as it mixes.
        known = (visits > 0) & (chances > 0)
        share = np.where(known, chances, 0.0)
        share /= np.maximum(share.sum(axis=1, keepdims=True), DUST)
        base = (share * np.where(known, means, 0.0)).sum(axis=1)
        spread = np.sqrt((share**2 * np.where(known, errors, 0.0) ** 2).sum(axis=1))
        error = np.sqrt(spread**2 + errors[rows, best] ** 2)
        better = means[rows, best] - base > np.maximum(self.margin * error, DUST)
        leaves = better & known.any(axis=1)
        chosen[leaves] = np.arange(chances.shape[1]) == best[leaves, None]
        return chosen


class _Forest:
    """A tree for each of m decisions, in arrays over the nodes of all of them.

    Node i of the first m is the root of decision i.
    """

    def __init__(self, decisions: int, num_players: int, num_actions: int) -> None:
        self._nodes: list[dict[bytes, int]] = [{} for _ in range(decisions)]
        self._roots = np.full(decisions, -1)
        self._size = 0
        shape = (max(4 * decisions, 64), num_actions)
        self._visits, self._available = np.zeros(shape), np.zeros(shape)
        self._total, self._squares = np.zeros(shape), np.zeros(shape)
        self._low = np.full((decisions, num_players), np.inf)
        self._high = np.full((decisions, num_players), -np.inf)

    def find(self, rows: np.ndarray, seats: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Returns the nodes of some decisions, [n], new ones where nobody has been.

        Args:
            rows: [n] decisions.
            seats: [n] who is to act.
            states: [n, F] what tells nodes apart.
        """
        found = np.empty(len(rows), dtype=np.int64)
        keyed = np.column_stack([seats.astype(np.uint8), states])
        for place, (row, key) in enumerate(zip(rows.tolist(), keyed, strict=True)):
            nodes = self._nodes[row]
            node = nodes.setdefault(key.tobytes(), self._size)
            if node == self._size:
                self._size += 1
                if len(nodes) == 1:
                    self._roots[row] = node
            found[place] = node
        while self._size > len(self._visits):
            for name in ("_visits", "_available", "_total", "_squares"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        return found

    def select(
        self,
        rows: np.ndarray,
        nodes: np.ndarray,
        legal: np.ndarray,
        wishes: np.ndarray,
        exploration: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Chooses an action in each node.

        Args:
            rows: [n] decisions.
            nodes: [n] nodes.
            legal: [n, A] bool, what is legal in the world at hand.
            wishes: [n, A] what is tried first.
            exploration: See `TreeSearchPlayer`.

        Returns:
            [n] actions, and [n] bool whether they have never been tried before.
        """
        self._available[nodes] += legal
        visits = self._visits[nodes]
        tried = np.maximum(visits, 1.0)
        spread = (self._high[rows] - self._low[rows]).max(axis=1)
        spread = np.where(np.isfinite(spread), np.maximum(spread, DUST), 1.0)
        log = np.log(np.maximum(self._available[nodes], 1.0))
        bound = self._total[nodes] / tried + exploration * spread[:, None] * np.sqrt(log / tried)
        new = legal & (visits == 0)
        bound = np.where(legal & ~new, bound, -np.inf)
        first = np.where(new, wishes, -np.inf).argmax(axis=1)
        untried = new.any(axis=1)
        return np.where(untried, first, bound.argmax(axis=1)), untried

    def learn(
        self,
        path: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
        earned: np.ndarray,
    ) -> None:
        """Writes what was earned into the nodes that were met on the way.

        Args:
            path: Rows, seats, nodes and actions of each step.
            earned: [m, P].
        """
        np.minimum(self._low, earned, out=self._low)
        np.maximum(self._high, earned, out=self._high)
        for rows, seats, nodes, actions in path:
            money = earned[rows, seats]
            self._visits[nodes, actions] += 1.0
            self._total[nodes, actions] += money
            self._squares[nodes, actions] += money**2

    def roots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns visits, means and standard errors of the means at the roots, [m, A] each."""
        visits = self._visits[self._roots]
        tried = np.maximum(visits, 1.0)
        means = self._total[self._roots] / tried
        variance = np.maximum(self._squares[self._roots] / tried - means**2, 0.0)
        return visits, means, np.sqrt(variance / np.maximum(tried - 1.0, 1.0))
