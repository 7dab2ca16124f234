"""Everything for Stable-Baselines3 under a short name; see `kille_env.adapters.sb3`."""

from kille_env.adapters.sb3 import SeatVecEnv, SelfPlayVecEnv
from kille_env.adapters.sb3_callbacks import Anneal, Checkpoints
from kille_env.adapters.sb3_policy import save
from kille_env.adapters.sb3_rollouts import SeatPPO, SeatRollouts
from kille_env.adapters.sb3_settings import settings

__all__ = [
    "Anneal",
    "Checkpoints",
    "SeatPPO",
    "SeatRollouts",
    "SeatVecEnv",
    "SelfPlayVecEnv",
    "save",
    "settings",
]
