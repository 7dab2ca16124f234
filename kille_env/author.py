"""Building blocks of your own game: facts, cards, tables, and the check of the whole.

See `docs/add_a_game.md`.
"""

from kille_env.cards.arrange import deal_places, relabel_cards, whole_pack
from kille_env.cards.pack import draw, take_pack
from kille_env.cards.sets import card_bit
from kille_env.cards.words import spread
from kille_env.core.jit import kernel
from kille_env.core.pack import Pack
from kille_env.core.spec import GameSpec, Part, Switch, lay_out
from kille_env.core.table import OVER, new_deal, new_match, table_dtype
from kille_env.registry import register
from kille_env.testing import check_game
from kille_env.words.view import Card, Pile, Seat, View

__all__ = [
    "OVER",
    "Card",
    "GameSpec",
    "Pack",
    "Part",
    "Pile",
    "Seat",
    "Switch",
    "View",
    "card_bit",
    "check_game",
    "deal_places",
    "draw",
    "kernel",
    "lay_out",
    "new_deal",
    "new_match",
    "register",
    "relabel_cards",
    "spread",
    "table_dtype",
    "take_pack",
    "whole_pack",
]
