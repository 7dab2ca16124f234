"""Players of flesh and blood, as far as a sentence can describe them: for every game about a dozen.

Each is a bot by name, "byteskille/maniac" for one, plays at every table of his game, and does what
his sentence says. They are split into those that a learner may train against and those that are
held out to judge it; in both halves there are wild and timid ones, folk rules, good ones and noisy
ones.
"""

from kille_agents.population.bot import Bot
from kille_agents.population.roster import ROSTER, population

__all__ = ["ROSTER", "Bot", "population"]
