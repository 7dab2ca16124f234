"""What there is to see at a table of Kungsholmskille: see `kille_env.tricktaking.view`."""

from typing import Any

from kille_env.cards.view import KNOCK
from kille_env.core.spec import Rules
from kille_env.core.text import units
from kille_env.core.view import Call, Change, View
from kille_env.games.kungsholmskille.table import Phase, Said
from kille_env.games.kungsholmskille.text import BUD, asked, deeds_of
from kille_env.tricktaking.text import to_decide
from kille_env.tricktaking.view import moves_of, view_of

_ROUNDS: dict[int, str] = {Phase.BUD1: "said1", Phase.BUD2: "said2", Phase.SHOW: "showed"}


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    words = [[*deeds_of(table, other), *_owes(table, other)] for other in range(len(who))]
    return view_of("Kungsholmskille", table, seat, words, to_decide(table, who, asked(table, who)))


def _owes(table: Any, seat: int) -> list[str]:
    """What a seat pays when the next deal is dealt."""
    owed = int(table["owed"][seat])
    return [f"owes {units(owed)}"] if owed else []


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    return Change(moves_of(before, after, seat), _calls(before, after))


def _calls(before: Any, after: Any) -> tuple[Call, ...]:
    field, actor = _ROUNDS.get(int(before["phase"])), int(before["seat"])
    if field is None:
        return ()
    if after[field][actor] == Said.YIELDED:
        return (Call(actor, *BUD),)
    return () if field == "showed" else (Call(actor, KNOCK, "I ask for play"),)
