"""A player that looks ahead."""

from kille_agents.search.flat import FlatSearch

__all__ = ["FlatSearch"]
