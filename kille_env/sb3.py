"""The environments for Stable-Baselines3 under a short name; see `kille_env.adapters.sb3`."""

from kille_env.adapters.sb3 import LivePolicy, SeatStreamBuffer, SeatVecEnv, SelfPlayVecEnv

__all__ = ["LivePolicy", "SeatStreamBuffer", "SeatVecEnv", "SelfPlayVecEnv"]
