"""What the people and the players at a table are called."""

from collections.abc import Mapping

from kille_env.errors import ConfigError, shortened
from kille_env.words.text import YOU, plain_letters

FIRST_NAMES = (
    "Astrid", "Bertil", "Cecilia", "David", "Elsa", "Folke", "Greta", "Hugo", "Ingrid", "Jonas",
    "Karin", "Lasse", "Maja", "Nils", "Olga", "Pelle", "Rakel", "Sixten", "Tora", "Ulf",
)  # fmt: skip
"""What players are called, by seat: in the order of the alphabet, so that names say who is next."""
LONGEST = 30
"""Characters of a person's name."""


def names_at(num_players: int, people: Mapping[int, str]) -> list[str]:
    """Returns [P] what to call each seat: people by their names, players by the seat's first name.

    A player whose name one of the people has takes the next name that nobody has.

    Args:
        num_players: P, seats of the table.
        people: Names of the people, checked, by seat.
    """
    theirs = {_heard(name) for name in people.values()}
    kept = [name for name in FIRST_NAMES if _heard(name) not in theirs]
    by_seat = [FIRST_NAMES[seat] for seat in range(num_players) if seat not in people]
    spare = [name for name in kept if name not in by_seat]
    names = [name if name in kept else spare.pop(0) for name in by_seat]
    return [people[seat] if seat in people else names.pop(0) for seat in range(num_players)]


def check_name(name: str) -> str:
    """Returns the name of a person without blanks around it.

    Raises:
        ConfigError: It is empty or too long, has characters that nobody could see or that would
            control a terminal, or is what the table calls everybody who reads it.
    """
    name = name.strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        raise ConfigError(
            f"a name has 1 to {LONGEST} characters that can be printed, all on one line; "
            f"got {shortened(name, 60)}"
        )
    if _heard(name) == _heard(YOU):
        raise ConfigError(f"{name!r} is what the table calls everybody who reads; choose another")
    return name


def _heard(name: str) -> str:
    return plain_letters(name).casefold()
