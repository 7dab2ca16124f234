"""The population: bots that play like people, as far as a sentence can describe them.

Every game has about a dozen. A bot has a name such as "byteskille/maniac", plays at every table of
its game, and does what its sentence says. The bots are split into those that a learner may train
against and those that are held out to judge it; both halves have wild and timid ones, folk rules,
good ones and noisy ones.
"""

from kille_agents.population.bot import Bot
from kille_agents.population.roster import ROSTER, population

__all__ = ["ROSTER", "Bot", "population"]
