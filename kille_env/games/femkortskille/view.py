"""What there is to see at a table of Femkortskille: see `kille_env.tricktaking.view`."""

from typing import Any

from kille_env.cards.view import KNOCK
from kille_env.core.spec import Rules
from kille_env.core.view import Call, Change, View
from kille_env.games.femkortskille.table import Phase
from kille_env.games.femkortskille.text import asked, deeds_of
from kille_env.tricktaking.text import to_decide
from kille_env.tricktaking.view import moves_of, view_of


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    words = [deeds_of(table, other) for other in range(len(who))]
    return view_of("Femkortskille", table, seat, words, to_decide(table, who, asked(table)))


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    knocked = before["phase"] == Phase.SPEAK and after["knockers"] != before["knockers"]
    calls = (Call(int(before["seat"]), KNOCK, "I play for the pot"),) if knocked else ()
    return Change(moves_of(before, after, seat), calls)
