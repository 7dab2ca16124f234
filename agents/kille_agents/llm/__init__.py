"""Language models as players: `llm:MODEL` at an address that the user gives; none by default."""

from kille_agents.llm.player import PREFIX, LanguageModel
from kille_agents.llm.service import Settings

__all__ = ["PREFIX", "LanguageModel", "Settings"]
