"""Byteskille, also enkortskille: one card each, swap it or stand, the lowest card is out.

Sources: the Swedish article on Kille after Werner and Sandgren, *Kortoxen* (1949), and
*Killeboken* (12th edition, 1967): preset `svensk`; the English encyclopedia article "Kille (card
game)": preset `wikipedia`. Where they are silent or disagree, a switch or a documented default
decides; the numbers D-E01 to D-E26 are explained on the game's page. Beyond them:

- A hand that is dealt again pays no further ante: it belongs to the same deal.
- Chopped players who hold a hidden gok are asked to call like any other holder.
- Under `dealer_after_inn` the dealer acts after whatever the talon did but a gok.
"""

from kille_env.games.byteskille.determinize import relabel, resample
from kille_env.games.byteskille.observe import full_state, information_state, observe
from kille_env.games.byteskille.rules import (
    apply,
    begin,
    deal,
    dealt_again,
    legal_actions,
    outcome,
    passed_over,
)
from kille_env.games.byteskille.spec import SPEC
from kille_env.games.byteskille.words import choice, narrate, result, view
