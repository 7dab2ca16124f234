"""All bots, by game and by split."""

from kille_agents.population import byteskille, femkortskille, knack, krypkille, kungsholmskille
from kille_agents.population.bot import SPLITS, Bot
from kille_env.errors import PolicyError, did_you_mean

ROSTER: dict[str, Bot] = {
    bot.name: bot
    for game in (byteskille, kungsholmskille, krypkille, knack, femkortskille)
    for bot in game.BOTS
}
"""Bots by name, "game/habit"; those of a game stand together."""


def population(game: str, split: str = "all") -> list[str]:
    """Return the names of the bots of a game in a split, "train", "held_out" or "all"."""
    if split not in SPLITS:
        raise PolicyError(f"there is no split {split!r}. {did_you_mean(split, SPLITS)}")
    return [bot.name for bot in ROSTER.values() if bot.game == game and split in (bot.split, "all")]
