"""Kungsholmskille: five cards, four tricks, and the lowest last card wins the pot, if it is shown.

Source: the Swedish rules of Kungsholmens Kungliga Kille Klubb. Where they are silent, a switch or a
documented default decides; the numbers D-K01 to D-K13 are explained on the game's page. Beyond
them:

- A forehand who may not fold is still asked, with one answer.
- Splitting a pot at the end of a match gives everybody whole units; the rest stays on the table.
"""

from kille_env.games.kungsholmskille.determinize import relabel, resample
from kille_env.games.kungsholmskille.observe import full_state, information_state, observe
from kille_env.games.kungsholmskille.rules import apply, begin, deal, legal_actions
from kille_env.games.kungsholmskille.spec import SPEC
from kille_env.games.kungsholmskille.words import choice, narrate, result, set_up, view
