"""What the person and the players at a table are called, and what plays in their seats."""

from collections.abc import Sequence

from kille_env.words.text import YOU, listed

FIRST_NAMES = (
    "Astrid", "Bertil", "Cecilia", "David", "Elsa", "Folke", "Greta", "Hugo", "Ingrid", "Jonas",
    "Karin", "Lasse", "Maja", "Nils", "Olga", "Pelle", "Rakel", "Sixten", "Tora", "Ulf",
)  # fmt: skip
"""What players are called, by seat: in the order of the alphabet, so that names say who is next."""


LABELS = {
    "uniform": "Random", "rule_of_thumb": "Steady, a rule of thumb",
    "trained": "Trained, learned by self-play", "solved": "Perfect, where the game is solved",
}  # fmt: skip
"""What the usual players are."""


def names_at(num_players: int, person: int) -> list[str]:
    """Returns [P] what to call each seat: the person "You", a player by its seat's first name."""
    return [YOU if seat == person else FIRST_NAMES[seat] for seat in range(num_players)]


def label_of(player: str) -> str:
    """Returns what plays, as people read it: "Random", "lilja seven"."""
    name = player.rpartition("/")[2]
    return LABELS.get(name) or name.replace("_", " ")


def company(names: Sequence[str], players: Sequence[str]) -> str:
    """Returns who the others are: "With you: Bertil and David (Random).".

    Args:
        names: [P - 1] what they are called.
        players: [P - 1] names of the players that play for them.
    """
    groups = [
        f"{listed([name for name, other in zip(names, players, strict=True) if other == player])} "
        f"({label_of(player)})"
        for player in dict.fromkeys(players)
    ]
    return f"With you: {', '.join(groups)}."
