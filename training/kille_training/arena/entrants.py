"""Checking in: every entrant is loaded once before anything is played."""

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

import kille_env
from kille_agents.catalog import NOT_MEASURED, describe_player
from kille_agents.llm import PREFIX
from kille_agents.trained import TRAINED
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.policy import PlayerLike, resolve
from kille_training.arena.work import Entrant

OBJECT = "Python object "
"""How settings begin to name a player that is a Python object."""


def player_of(entrant: Entrant, objects: Mapping[str, PlayerLike]) -> PlayerLike:
    """Returns the player of an entrant, an object or what loads one.

    Args:
        entrant: The entrant.
        objects: Players that are Python objects, by what the settings call the player.

    Raises:
        ConfigError: Its player is an object that is not there.
    """
    if entrant.player in objects:
        return objects[entrant.player]
    if entrant.player.startswith(OBJECT):
        raise ConfigError(
            f"{entrant.name!r} is a {entrant.player}, which only the program that made it can pass "
            "in; call kille_training.play_tournament(..., out=FOLDER) with it there"
        )
    return entrant.player


def check_in(
    entrants: Sequence[Entrant],
    sizes: Sequence[int],
    rules: Rules,
    *,
    trust: bool,
    objects: Mapping[str, PlayerLike],
) -> None:
    """Loads every entrant for every table size.

    Raises:
        ConfigError: One cannot play at one of the tables; the message names it.
    """
    for entrant in entrants:
        for seats in sizes:
            try:
                player = player_of(entrant, objects)
                with redirect_stdout(sys.stderr):  # what it prints is not our output
                    resolve(player, rules.game, seats, rules, trust=trust)
            except (Exception, SystemExit) as error:  # whatever a player's own code may raise
                why = str(error) if isinstance(error, KilleError) else repr(error)
                raise ConfigError(
                    f"the entrant {entrant.name!r} cannot play at {seats} seats: {why}"
                ) from error


def fingerprint(player: str) -> str:
    """Returns what identifies a player, whatever it is called in a tournament.

    For a file or a folder, and for a network that comes with the suite, it is a digest of the
    content, wherever it lies; for an entry point a digest of its module's file, with the object's
    name; for a Python object the last word of what settings call it; for a named player its name
    and the version of this package.
    """
    if player.startswith(OBJECT):
        return player.rpartition(" ")[2]
    path = TRAINED.get(player) or Path(player)
    if path.is_file():
        return _digest([path])
    if path.is_dir():
        return _digest([each for each in sorted(path.glob("policy.*")) if each.is_file()])
    module, colon, name = player.partition(":")
    if colon and not player.startswith(PREFIX):
        found = importlib.util.find_spec(module)
        if found is not None and found.origin and Path(found.origin).is_file():
            return f"{_digest([Path(found.origin)])}:{name}"
    return f"{player} of kille-env {kille_env.__version__}"


def advice(entrant: Entrant) -> str:
    """Returns what else to do about an entrant that has changed."""
    if not entrant.player.startswith(OBJECT):
        return ""
    return (
        "; give an object that changes while it plays an attribute `fingerprint`, a text that you "
        "change when the player changes"
    )


def metadata(player: str, game: str, objects: Mapping[str, PlayerLike]) -> dict[str, Any]:
    """Returns what is known of a player, JSON values.

    Raises:
        PolicyError: There is no such player, or one of its files is broken.
    """
    if player not in objects:
        return asdict(describe_player(player, game))
    text = " ".join((inspect.getdoc(objects[player]) or "").split("\n\n")[0].split())
    made = "passed in from Python"
    return {"name": player, "what": text or player, "made": made, "strength": NOT_MEASURED}


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()
