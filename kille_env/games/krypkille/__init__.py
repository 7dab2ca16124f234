"""Krypkille with a score sheet: keep a low card, and know whether it is the lowest.

Source: an English description of the game from the forests of Värmland. Its table of outcomes is
lost; ours (preset `reconstructed`) is the smallest that fits what else is known, and another
(`blog2010`) is that of a sister game. Every number of it is a switch (D-R01). The other numbers,
D-R02 to D-R10, are explained on the game's page. Beyond them:

- A player who cannot discard anything (`max_discards` 0, or an empty talon) is asked all the same,
  with one answer.
"""

from kille_env.games.krypkille.determinize import relabel, resample
from kille_env.games.krypkille.observe import full_state, information_state, observe
from kille_env.games.krypkille.rules import apply, begin, deal, legal_actions
from kille_env.games.krypkille.spec import SPEC
from kille_env.games.krypkille.words import choice, narrate, result, set_up, view
