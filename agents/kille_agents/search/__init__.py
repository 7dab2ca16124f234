"""A player that looks ahead."""

from kille_agents.search.flat import FlatSearch
from kille_agents.search.settings import SearchSettings

__all__ = ["FlatSearch", "SearchSettings"]
