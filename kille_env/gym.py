"""The Gymnasium environments; importing this registers the games with Gymnasium."""

from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.vector import SeatVectorEnv

__all__ = ["KilleEnv", "SeatVectorEnv"]
