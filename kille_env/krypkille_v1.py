"""Krypkille, version 1, under PettingZoo's name; see `kille_env.adapters.registration`."""

from kille_env.adapters.registration import env_and_raw_env

__all__ = ["env", "raw_env"]

env, raw_env = env_and_raw_env("krypkille")
