"""Checking in: who wants to take part is loaded once, before anything is played."""

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import kille_env
from kille_agents.catalog import load_policy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_training.arena.units import Entrant


def check_in(
    entrants: Sequence[Entrant], sizes: Sequence[int], rules: Rules, *, trust: bool
) -> None:
    """Loads every entrant for every table size.

    Raises:
        ConfigError: One cannot play at one of the tables; the message names him.
    """
    for entrant in entrants:
        for seats in sizes:
            try:
                with redirect_stdout(sys.stderr):  # what it prints is none of our output
                    load_policy(entrant.player, rules.game, seats, rules, trust=trust)
            except (Exception, SystemExit) as error:  # whatever a player's own code may raise
                why = str(error) if isinstance(error, KilleError) else repr(error)
                raise ConfigError(
                    f"the entrant {entrant.name!r} cannot play at {seats} seats: {why}"
                ) from error


def fingerprint(player: str) -> str:
    """Returns what tells a player from another one, whatever he is called in a tournament.

    For a file or a folder it is a digest of what lies there, wherever that is; for an entry point
    one of its module's file, with the object's name; a named player is told by his name and the
    version of this package.
    """
    path = Path(player)
    if path.is_file():
        return _digest([path])
    if path.is_dir():
        return _digest([each for each in sorted(path.glob("policy.*")) if each.is_file()])
    module, colon, name = player.partition(":")
    if colon:
        found = importlib.util.find_spec(module)
        if found is not None and found.origin and Path(found.origin).is_file():
            return f"{_digest([Path(found.origin)])}:{name}"
    return f"{player} of kille-env {kille_env.__version__}"


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()
