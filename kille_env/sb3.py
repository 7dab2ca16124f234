"""Everything for Stable-Baselines3 under a short name; see `kille_env.adapters.sb3`."""

from kille_env.adapters.sb3 import LivePolicy, SeatStreamBuffer, SeatVecEnv, SelfPlayVecEnv
from kille_env.adapters.sb3_asking import save
from kille_env.adapters.sb3_callbacks import Anneal
from kille_env.adapters.sb3_extractor import SeatExtractor
from kille_env.adapters.sb3_mixed import MixedSelfPlayVecEnv
from kille_env.adapters.sb3_wrappers import BestLegalAction, ScaledRewards

__all__ = [
    "Anneal",
    "BestLegalAction",
    "LivePolicy",
    "MixedSelfPlayVecEnv",
    "ScaledRewards",
    "SeatExtractor",
    "SeatStreamBuffer",
    "SeatVecEnv",
    "SelfPlayVecEnv",
    "save",
]
