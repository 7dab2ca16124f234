"""Knack, also trekort: three cards, three tricks, and a bet for joining without taking one.

Source: the Swedish article on Knack after Öberg, *Nyaste Spelbok* (1858), Lindskog, *Ny och
fullständig svensk spelbok* (1847), and Melbye, *Nye och fuldstændig Dansk Spille-Bog* (1786). Where
it is silent or unclear, a switch or a documented default decides; the numbers D-N01 to D-N13 are
explained on the game's page.

The record of a table and what happens are in `rules`, who sees what in `observe`, what a seat deems
possible in `determinize`, the texts in `words`.
"""

from kille_env.games.knack.determinize import relabel, resample
from kille_env.games.knack.observe import full_state, information_state, observe
from kille_env.games.knack.rules import apply, begin, deal, legal_actions
from kille_env.games.knack.spec import SPEC
from kille_env.games.knack.words import chance, choice, narrate, result, set_up, view
