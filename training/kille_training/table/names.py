"""What the person and the players at a table are called."""

from kille_env.words.text import YOU

FIRST_NAMES = (
    "Astrid", "Bertil", "Cecilia", "David", "Elsa", "Folke", "Greta", "Hugo", "Ingrid", "Jonas",
    "Karin", "Lasse", "Maja", "Nils", "Olga", "Pelle", "Rakel", "Sixten", "Tora", "Ulf",
)  # fmt: skip
"""What players are called, by seat: in the order of the alphabet, so that names say who is next."""


def names_at(num_players: int, person: int) -> list[str]:
    """Returns [P] what to call each seat: the person "You", a player by its seat's first name."""
    return [YOU if seat == person else FIRST_NAMES[seat] for seat in range(num_players)]


def plain_name(player: str) -> str:
    """Returns the name of a player of the suite as people read it: "lilja seven"."""
    return player.rpartition("/")[2].replace("_", " ")
