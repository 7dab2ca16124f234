"""Names of the person and the players at a table, and of the policies in their seats."""

from collections.abc import Sequence

from kille_env.words.text import YOU, listed

FIRST_NAMES: tuple[str, ...] = (
    "Astrid", "Bertil", "Cecilia", "David", "Elsa", "Folke", "Greta", "Hugo", "Ingrid", "Jonas",
    "Karin", "Lasse", "Maja", "Nils", "Olga", "Pelle", "Rakel", "Sixten", "Tora", "Ulf",
)  # fmt: skip
"""Names of players by seat, in alphabetical order, so that the next name is easy to guess."""


LABELS = {
    "uniform": "Random", "rule_of_thumb": "Steady, a rule of thumb",
    "trained": "Trained, learned by self-play", "solved": "Perfect, where the game is solved",
}  # fmt: skip
"""Descriptions of the usual players."""


def names_at(num_players: int, person: int) -> list[str]:
    """Return the names of the seats, [P]: "You" for the person, first names for the players."""
    return [YOU if seat == person else FIRST_NAMES[seat] for seat in range(num_players)]


def label_of(player: str) -> str:
    """Return the display name of a player: "Random", "lilja seven"."""
    name = player.rpartition("/")[2]
    return LABELS.get(name) or name.replace("_", " ")


def company(names: Sequence[str], players: Sequence[str]) -> str:
    """Return names with their players, as in "Bertil and David (Random), You"; "" is a person."""
    groups: dict[str, list[str]] = {player: [] for player in players}
    for name, player in zip(names, players, strict=True):
        groups[player].append(name)
    return ", ".join(
        f"{listed(group)} ({label_of(player)})" if player else listed(group)
        for player, group in groups.items()
    )
