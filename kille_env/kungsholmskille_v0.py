"""Kungsholmskille, version 0, under PettingZoo's name; see `kille_env.adapters.versioned`."""

from kille_env.adapters.versioned import doors

__all__ = ["env", "raw_env"]

env, raw_env = doors("kungsholmskille")
