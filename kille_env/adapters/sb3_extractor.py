"""Stable-Baselines3: the first layer of a network that plays at tables of every size.

`kille_env.sb3.settings` takes it for environments that show "seats".
"""

from kille_env.extras import needs

with needs("train"):
    import torch
    from gymnasium import spaces
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from torch import nn

from kille_env.core.floats import NEAR_SEATS, seat_layout
from kille_env.errors import RulesError
from kille_env.registry import spec


class SeatExtractor(BaseFeaturesExtractor):
    """A linear layer over the observation "seats", whose far seats share their weights.

    The nearest seats have weights of their own, by their distance and side, as in relative position
    representations clipped at a distance (Shaw, Uszkoreit, Vaswani 2018, "Self-attention with
    relative position representations"). All seats farther away are summed before the layer, which
    gives them the same weights. So weights learned at a small table serve at a large one, and the
    layer has one size for all numbers of seats.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        game: str,
        units: int = 64,
        near_seats: int = NEAR_SEATS,
        activation_fn: type[nn.Module] = nn.Tanh,
        observe_rules: bool = False,
    ) -> None:
        """Make the layer, with weights of their own for `near_seats`, the viewer among them."""
        super().__init__(observation_space, units)
        self.layout, self.near_seats = seat_layout(spec(game), observe_rules), near_seats
        if observation_space.shape != (self.layout.size,):
            raise RulesError(
                f"the observation 'seats' of {game} has shape ({self.layout.size},), and "
                f"SeatExtractor was given {observation_space.shape}; make the environment with "
                'observation="seats"'
            )
        self.linear = nn.Linear(self.layout.pooled_size(near_seats), units)
        self.activation = activation_fn()

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return features [N, units] of observations [N, S]."""
        layout, near = self.layout, self.near_seats
        near = min(near, layout.max_players)
        ends = [layout.num_table + near * layout.num_seat]
        near_part, far = observations.tensor_split(ends, dim=1)
        # Empty seats are zeros, so the sum is the same at tables of every size.
        farther = far.reshape(len(far), layout.max_players - near, layout.num_seat).sum(1)
        return self.activation(self.linear(torch.cat([near_part, farther], dim=1)))
