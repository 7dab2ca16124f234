"""Who sits in the other seats of a table of which an adapter owns one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.determinization import Determinizer, History
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.policy import Player, PlayerLike, resolve, searches


def ask(
    player: Any, batch: Batch, rows: np.ndarray, keys: np.ndarray, history: History | None
) -> np.ndarray:
    """Returns how likely each action of a player is at some tables, [M, A].

    Args:
        player: Who is to act there.
        batch: The tables.
        rows: [M].
        keys: [M] uint64, what is random in the thinking of one who looks ahead.
        history: What has been decided at the tables, if one of the players wants to know.
    """
    if searches(player):
        return player.search(Determinizer(batch, rows, keys, history))
    return player.probabilities(batch.observation[rows], batch.mask[rows])


class Seating:
    """Which player sits how far to the left of the seat that is the outside's.

    Attributes:
        players: The different players, so that each is asked once for all tables.
        remember: Whether one of them wants to know what has been decided in the deal.
        at: [P] index into `players` by distance to the left, from 1; entry 0 says nothing.
    """

    def __init__(
        self,
        opponents: PlayerLike | Sequence[PlayerLike],
        game: str,
        num_players: int,
        rules: Rules,
    ) -> None:
        """Seats them.

        Args:
            opponents: One player for all other seats, or P - 1 players, clockwise from the left
                neighbour.
            game: The game to be played.
            num_players: P.
            rules: Its rules.

        Raises:
            PolicyError: Not as many players as seats, or a player that does not fit.
        """
        alone = isinstance(opponents, (str, Path)) or not isinstance(opponents, Sequence)
        given: Sequence[Any] = (
            [opponents] * (num_players - 1) if alone else cast(Sequence[Any], opponents)
        )
        if len(given) != num_players - 1:
            raise PolicyError(
                f"{len(given)} opponents for {num_players - 1} other seats; "
                "give one for all of them, or one for each, clockwise from the left neighbour"
            )
        self.players: list[Player] = []
        self.at = np.zeros(num_players, dtype=np.int64)
        known: dict[Any, int] = {}
        for distance, player in enumerate(given, start=1):
            key = player if isinstance(player, (str, Path)) else id(player)
            if key not in known:
                known[key] = len(self.players)
                self.players.append(resolve(player, game, num_players, rules))
            self.at[distance] = known[key]
        self.remember = any(getattr(player, "remembers", False) for player in self.players)
