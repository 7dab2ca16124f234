"""Monte Carlo tree search over information sets.

After Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (IEEE Transactions
on Computational Intelligence and AI in Games 4, 2012). Each iteration draws a determinization that
agrees with what the seat knows, descends a tree that all determinizations share, adds a node to it,
lets a policy that does not search play on from there, and adds what every seat earned to the nodes
on the path. An action that is not legal in a determinization is not chosen there: a node counts how
often each action was available.

In a node its seat plays what has earned *it* most so far (max^n, for any number of seats), by upper
confidence bounds; actions that were never tried come first, and among those the ones that the base
prefers.

What a node stands for is what `observer` sees there: the searcher ("searcher": the others play
without their own cards), or the seat to act ("actor": every seat with what it would know, which
takes far more iterations). With `others="policy"` the others have no nodes and play as they are
assumed to: the search is then for a best response to them.

Many decisions are searched side by side: one iteration of all of them is one native batch.
"""

import numpy as np

from kille_agents.search.rollouts import earnings, seated
from kille_agents.search.search import DUST, Search
from kille_agents.search.settings import TreeSettings
from kille_env.core.batch import Batch
from kille_env.core.rollouts import AT_ANYBODY, AT_SEARCHER, TO_THE_END, Rollouts
from kille_env.core.table import OVER
from kille_env.play.decisions import Decisions


class TreeSearch(Search[TreeSettings]):
    """Monte Carlo tree search over information sets; see the module's text."""

    name = "ismcts"
    what = (
        "searches a tree over information sets, in determinizations that agree with what it knows, "
        "against seats that play the rule of thumb"
    )
    kind = TreeSettings

    def _costs(self, mask: np.ndarray) -> np.ndarray:
        settings = self.settings
        drawn = settings.candidates if self.remembers else 1
        return np.full(len(mask), settings.determinizations * drawn)

    def _think(self, decisions: Decisions, chances: np.ndarray) -> np.ndarray:
        drawn, number = self._draw(decisions), self.settings.determinizations
        forest = _Forest(len(decisions), self.num_players, chances.shape[1])
        first = np.arange(len(decisions)) * number
        rollouts = self._rollouts(drawn)
        for iteration in range(number):
            if rollouts:
                tables = drawn.tables[first + iteration]
                self._iterate_compiled(forest, rollouts, tables, decisions.seats)
            else:
                self._iterate(forest, drawn.take(first + iteration), decisions.seats)
        return self._choose(forest, decisions.mask != 0, chances)

    def _iterate_compiled(
        self, forest: "_Forest", rollouts: Rollouts, tables: np.ndarray, searchers: np.ndarray
    ) -> None:
        """Does what `_iterate` does where the policies are kernels."""
        settings = self.settings
        inside = AT_SEARCHER if settings.others == "policy" else AT_ANYBODY
        rows, path = np.arange(len(searchers)), []
        earned = np.zeros((len(searchers), self.num_players))
        actions, pauses = np.full(len(rows), -1), np.full(len(rows), inside)
        while True:
            wished, masks, gained = rollouts.play(tables, actions, searchers[rows], pauses)
            earned[rows[wished < 0]] = gained[wished < 0]
            paused = np.flatnonzero(wished >= 0)
            rows, tables, masks = rows[paused], tables[paused], masks[paused]
            if not len(rows):
                break
            seats = tables["seat"].astype(np.int64)
            viewers = searchers[rows] if settings.observer == "searcher" else seats
            nodes = forest.find(rows, seats, rollouts.information_states(tables, viewers))
            wishes = np.eye(masks.shape[1])[wished[paused]]
            actions, untried = forest.select(rows, nodes, masks != 0, wishes, settings.exploration)
            path.append((rows, seats, nodes, actions))
            pauses = np.where(untried, TO_THE_END, inside)
        forest.learn(path, earned)

    def _iterate(self, forest: "_Forest", batch: Batch, searchers: np.ndarray) -> None:
        """Plays one determinization of each decision through the tree, and on."""
        players = seated(batch, searchers, self.base, self.opponents)
        settings = self.settings
        path = []
        inside = np.ones(len(searchers), dtype=bool)
        while inside.any():
            nodes_at = inside.copy()  # where the seat to act has a node
            if settings.others == "policy":
                nodes_at &= batch.seat == searchers
            actions = players.actions(inside & ~nodes_at)
            leaves = rows = np.flatnonzero(nodes_at)
            if len(rows):
                seats = batch.seat[rows].astype(np.int64)
                nodes = forest.find(rows, seats, self._states(batch, searchers)[rows])
                wishes = self.base.probabilities(batch.observation[rows], batch.mask[rows])
                chosen, untried = forest.select(
                    rows, nodes, batch.mask[rows] != 0, wishes, settings.exploration
                )
                actions[rows] = chosen
                path.append((rows, seats, nodes, chosen))
                leaves = rows[untried]
            players.step(actions, inside)
            inside[leaves] = False
            inside &= batch.tables["phase"] > OVER  # a new hand is beyond the tree
        forest.learn(path, earnings(players, settings.deals))

    def _states(self, batch: Batch, searchers: np.ndarray) -> np.ndarray:
        """Returns what tells nodes apart at each table, [m, F]."""
        if self.settings.observer == "searcher":
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
        better = means[rows, best] - base > np.maximum(self.settings.margin * error, DUST)
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
        """Returns the nodes of some decisions, [n], new ones where there was none.

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
            legal: [n, A] bool, what is legal in the determinization at hand.
            wishes: [n, A] what is tried first.
            exploration: See `TreeSettings`.

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
        """Adds what was earned to the nodes on the path.

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
