"""Femkortskille (Knackkille, Bultkille): three cards, two more for a knock, and the last trick.

Source: an encyclopedia's rules, the end of which is cut off. Where they are silent, a switch or a
documented default decides; the numbers D-F01 to D-F13 are explained on the game's page.
"""

from kille_env.games.femkortskille.determinize import relabel, resample
from kille_env.games.femkortskille.observe import full_state, information_state, observe
from kille_env.games.femkortskille.rules import apply, begin, deal, legal_actions
from kille_env.games.femkortskille.spec import SPEC
from kille_env.games.femkortskille.words import choice, narrate, result, view
