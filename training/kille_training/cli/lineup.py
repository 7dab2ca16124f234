"""Who sits where: players named on the command line, and their moves at many tables."""

from collections.abc import Sequence

import numpy as np

from kille_agents.catalog import load_policy
from kille_env.core.batch import Batch
from kille_env.core.determinization import History
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.policy import Policy, Searcher, decide, history_for, sample_actions


class LineUp:
    """A player for every seat of a table.

    Attributes:
        names: [P] what the players are called.
    """

    def __init__(self, players: Sequence[Policy | Searcher]) -> None:
        """Keeps the players, [P]; one that has several seats is asked for all of them at once."""
        self.names = [player.name for player in players]
        self._players = list(dict.fromkeys(players))
        self._of_seat = np.array([self._players.index(player) for player in players])

    def history(self, batch: Batch) -> History | None:
        """Returns a history of tables if one of the players wants it; see `history_for`."""
        return history_for(self._players, batch)

    def actions(
        self, batch: Batch, rngs: list[np.random.Generator], history: History | None = None
    ) -> np.ndarray:
        """Returns an action for every table, [N] int64; 0 where nobody is to act.

        Args:
            batch: The tables.
            rngs: [N] generators, one a table, so that no table's play depends on another's.
            history: What `history` has returned, told every action since.

        Raises:
            PolicyError: A player returned what is no distribution over the legal actions.
        """
        actions = np.zeros(batch.num_tables, dtype=np.int64)
        players = np.where(batch.seat >= 0, self._of_seat[batch.seat], -1)
        for number, player in enumerate(self._players):
            rows = np.flatnonzero(players == number)
            if len(rows):
                keys = np.zeros(len(rows), dtype=np.uint64)
                if isinstance(player, Searcher):
                    keys[:] = [rngs[row].integers(2**64, dtype=np.uint64) for row in rows]
                chances = decide(player, batch, rows, keys, history)
                for chance, row in zip(chances, rows.tolist(), strict=True):
                    actions[row] = sample_actions(chance[None], rngs[row])[0]
        return actions


def line_up(agents: str, game: str, num_players: int, rules: Rules, trust: bool = False) -> LineUp:
    """Returns the players for a table.

    Args:
        agents: Names or paths with commas between them, one for all seats or one a seat.
        game: The game.
        num_players: Seats of the table.
        rules: Its rules.
        trust: Whether model files that can run code may be loaded.

    Raises:
        PolicyError: A wrong number of players, or one that does not exist or fit the table.
    """
    words = [word.strip() for word in agents.split(",")]
    if len(words) not in (1, num_players):
        raise PolicyError(
            f"{len(words)} players are named for {num_players} seats: {agents!r}; "
            f"name one for all of them or {num_players}, with commas between them"
        )
    made = {word: load_policy(word, game, num_players, rules, trust=trust) for word in words}
    return LineUp([made[word] for word in (words * num_players)[:num_players]])
