"""Who sits in the other seats: by name, or any object that gives probabilities of actions.

A player who looks ahead has `search(worlds)` and is given worlds instead of observations.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.worlds import History, Worlds
from kille_env.errors import PolicyError

CATALOG = "kille_agents.catalog"
"""Where players other than "uniform" are looked up by name; imported when one is asked for."""


@runtime_checkable
class Player(Protocol):
    """Whoever plays a batch of decisions, each seen from the seat to act."""

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns how likely each action is.

        Args:
            observation: [N, F] uint8.
            mask: [N, A] int8, 1 for each legal action; every row has one.

        Returns:
            [N, A]; rows sum to 1 and are 0 where the mask is 0.
        """
        ...


PlayerLike = Player | str | Path


class Uniform:
    """Plays each legal action with the same probability."""

    name = "uniform"

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 over the number of legal actions for each of them, [N, A] float64."""
        return mask / mask.sum(axis=1, keepdims=True)


def resolve(player: PlayerLike, game: str, num_players: int, rules: Rules) -> Player:
    """Returns a player for a table.

    Args:
        player: "uniform"; a name or path that `kille_agents.load_policy` knows; or a player.
        game: The game to be played.
        num_players: Seats of the table.
        rules: Its rules.

    Raises:
        PolicyError: There is no such player, or it was made for another table.
    """
    if isinstance(player, str) and player == "uniform":
        return Uniform()
    if not isinstance(player, (str, Path)):
        if callable(getattr(player, "probabilities", None)) or _searches(player):
            return player
        raise PolicyError(
            f"a player is a name or an object with probabilities(observation, mask), got {player!r}"
        )
    try:
        catalog = importlib.import_module(CATALOG)
    except ModuleNotFoundError as error:
        if error.name not in (CATALOG, CATALOG.partition(".")[0]):
            raise
        raise PolicyError(
            f"the player {str(player)!r} is looked up in {CATALOG}, which is not installed; "
            'without it there is "uniform", or pass an object with probabilities(observation, mask)'
        ) from error
    return cast(Player, catalog.load_policy(player, game, num_players, rules))


def _searches(player: Any) -> bool:
    return callable(getattr(player, "search", None))


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
    if _searches(player):
        return player.search(Worlds(batch, rows, keys, history))
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


def pick(probabilities: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Returns an action for each row, [N] int64.

    Args:
        probabilities: [N, A]; only the proportions within a row matter.
        chance: [N] numbers from 0 to below 1 that decide.
    """
    cumulative = np.cumsum(probabilities, axis=1, dtype=np.float64)
    return (cumulative > (chance * cumulative[:, -1])[:, None]).argmax(axis=1)
