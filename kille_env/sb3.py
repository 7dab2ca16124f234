"""Everything for Stable-Baselines3 under a short name; see `kille_env.adapters.sb3`."""

from kille_env.adapters.sb3 import SeatVecEnv, SelfPlayVecEnv
from kille_env.adapters.sb3_annealing import Anneal
from kille_env.adapters.sb3_asking import save
from kille_env.adapters.sb3_buffer import SeatStreamBuffer
from kille_env.adapters.sb3_settings import settings

__all__ = [
    "Anneal",
    "SeatStreamBuffer",
    "SeatVecEnv",
    "SelfPlayVecEnv",
    "save",
    "settings",
]
