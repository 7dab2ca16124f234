"""Who is done with a match of Krypkille before it ends."""

from typing import Any

from kille_env.core.game import OVER
from kille_env.core.spec import Rules


def retired(table: Any, rules: Rules) -> list[int]:
    """Returns the seats that will neither act nor earn again in this match: those who are out.

    Between deals a seat that has just gone out with all the others may still share the win, but
    then the match is over.
    """
    if table["phase"] == OVER:
        return []
    limit = rules.number("limit")
    return [s for s in range(int(table["num_players"])) if table["scores"][s] >= limit]
