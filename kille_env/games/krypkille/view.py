"""What there is to see at a table of Krypkille: see `kille_env.tricktaking.view`.

A whole trick is played at once; the points on the score sheet are the first word of each seat.
"""

from typing import Any

from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.core.text import counted
from kille_env.core.view import Call, Change, View
from kille_env.games.krypkille.text import asked, deeds_of
from kille_env.tricktaking.text import to_decide
from kille_env.tricktaking.view import moves_of, view_of


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    words = [
        [counted(int(table["scores"][other]), "point", "points"), *deeds_of(table, rules, other)]
        for other in range(len(who))
    ]
    return view_of("Krypkille", table, seat, words, to_decide(table, who, asked(table, rules)))


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    passed = set(members(after["passed"])) - set(members(before["passed"]))
    calls = tuple(Call(other, "Pass!", "My card is not the lowest") for other in passed)
    return Change(moves_of(before, after, seat), calls)
