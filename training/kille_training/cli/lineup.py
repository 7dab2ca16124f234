"""Who sits where: players named on the command line, and their moves at many tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kille_agents.catalog import BASELINES, load_policy
from kille_agents.network import SPECIFICATION, NetworkMetadata, policy_folder, read_network
from kille_agents.population import ROSTER
from kille_agents.tabular import TabularMetadata, read_metadata, tabular_file
from kille_env.core.batch import Batch
from kille_env.core.determinization import History
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.policy import Policy, Searcher, decide, history_for, sample_actions
from kille_env.registry import spec


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


def table_for(
    policy: str,
    game: str | None,
    num_players: int | None,
    episode: str | None,
    switches: Mapping[str, Any],
) -> tuple[str, int, Rules]:
    """Returns the table that a player is to be measured at: game, seats and rules.

    Args:
        policy: A name or a path. What is not given is what an exported network or a table was made
            for, or a bot's game; for anyone else it is Byteskille's, and a single deal.
        game: The game, if given.
        num_players: Seats, if given.
        episode: "deal" or "match", if given.
        switches: Switches that were given; a preset among them stands for all others.

    Raises:
        KilleError: There is no such game, switch or table, or the file cannot be read.
    """
    if policy in ROSTER:
        game = game or ROSTER[policy].game
    card = _card(policy)
    if card is not None:
        if "preset" not in switches and game in (None, card.game):
            switches = {**card.rules, **switches}
        game, num_players = game or card.game, num_players or card.num_players
    table = spec(game or "byteskille")
    seats = table.check_players(num_players)
    episode = episode or str(switches.get("episode", "deal"))
    return table.name, seats, table.resolve(dict(switches), episode=episode)


def _card(policy: str) -> NetworkMetadata | TabularMetadata | None:
    """Returns what a policy was made for, None if it does not say."""
    if policy in BASELINES or policy in ROSTER:
        return None
    if (file := tabular_file(policy)) is not None:
        return read_metadata(file)[1]
    folder = policy_folder(policy)
    if folder is not None and (folder / SPECIFICATION).is_file():
        return read_network(folder)[0]
    return None
