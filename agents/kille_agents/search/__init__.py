"""Players that look ahead."""

from kille_agents.search.flat import FlatSearch
from kille_agents.search.ismcts import TreeSearch
from kille_agents.search.search import Search
from kille_agents.search.settings import SearchSettings, TreeSettings

__all__ = ["FlatSearch", "Search", "SearchSettings", "TreeSearch", "TreeSettings"]
