"""Players at the seats of many tables."""

import numpy as np
import pytest

from kille_env.errors import PolicyError
from kille_env.registry import make_batch
from kille_training.lineup import LineUp


def test_what_is_no_distribution_is_refused_with_the_name_of_the_player():
    class Broken:
        name = "broken"

        def probabilities(self, observation, mask):
            return np.full(mask.shape, np.nan)

    batch = make_batch("byteskille", 4, 3, episode="deal", seed=1)
    batch.reset()
    rngs = [np.random.default_rng(number) for number in range(4)]
    with pytest.raises(PolicyError, match="policy 'broken' returned a value that is no"):
        LineUp([Broken()] * 3).actions(batch, rngs)
