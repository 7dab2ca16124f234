"""Entrants: the players of a tournament."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import cloudpickle
from pydantic import Field

from kille_agents.catalog import BASELINES, game_of
from kille_env.errors import ConfigError
from kille_env.play.policy import PlayerLike

SAMPLED = "sampled"
MOST_DEALS = 10**14  # upper limit of a deal's number
Number = Annotated[int, Field(ge=0, le=MOST_DEALS)]
OBJECT = "Python object "  # prefix of the names of Python objects in settings


@dataclass(frozen=True)
class Entrant:
    """A player in a tournament."""

    number: Number
    name: str
    player: str  # name or path, or a description of a Python object
    play: Literal["sampled", "greedy"] = "sampled"
    cohort: Number = 0  # those that entered together; founders are 0
    out: str | None = None  # the reason, once it is out
    fingerprint: str = ""  # of the player; empty if it was never asked
    transferred: str = ""  # the table that it was made for, if another one

    @cached_property
    def key(self) -> int:
        """The name as a number below 2**64, a seed of the orders round the table."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little")


def entrants_of(players: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, PlayerLike]]:
    """Return entrants for the settings, and the Python objects among their players."""
    entrants: dict[str, Any] = {}
    objects: dict[str, PlayerLike] = {}
    for name, value in players.items():
        fields = dict(value) if isinstance(value, Mapping) else {"player": value}
        player = fields.get("player")
        if isinstance(player, Path):
            fields["player"] = str(player)
        elif player is not None and not isinstance(player, str):
            fields["player"] = f"{OBJECT}{default_name(player)}"
            objects[name] = player
        entrants[name] = fields
    return entrants, objects


def default_name(player: Any) -> str:
    """Return the default name of a player."""
    if isinstance(player, (str, Path)):
        return str(player)
    for attribute in ("name", "__name__"):
        if isinstance(found := getattr(player, attribute, None), str):
            return found
    return type(player).__name__


def player_of(entrant: Entrant, objects: Mapping[str, PlayerLike | bytes]) -> PlayerLike:
    """Return the player of an entrant: an object, unpickled if need be, or a name or path."""
    if entrant.name in objects:
        player = objects[entrant.name]
        return cloudpickle.loads(player) if isinstance(player, bytes) else player
    if entrant.player.startswith(OBJECT):
        raise ConfigError(
            f"{entrant.name!r} is a {entrant.player} and cannot be loaded from a folder; call "
            "kille_training.play_tournament(..., out=FOLDER) from the program that made it"
        )
    return entrant.player


def comes_with_the_suite(player: object) -> bool:
    """Return whether a player belongs to this package, and so is trusted."""
    return isinstance(player, str) and (player in BASELINES or game_of(player) is not None)
