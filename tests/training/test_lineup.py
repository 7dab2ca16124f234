"""Players at the seats of many tables."""

import numpy as np
import pytest

from kille_env.errors import PolicyError
from kille_env.registry import make_batch, spec
from kille_training.cli.lineup import LineUp, line_up, table_for


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


def test_bots_sit_in_lists_of_players_and_know_their_game():
    game, seats, rules = table_for("knack/tight", None, None, None, {})
    assert (game, seats, rules["episode"]) == ("knack", 4, "deal")
    line = line_up("knack/tight, knack/drunk, uniform, knack/tight", game, seats, rules)
    assert line.names == ["knack/tight", "knack/drunk", "uniform", "knack/tight"]
    with pytest.raises(PolicyError, match="knack/tight plays knack, not byteskille"):
        line_up("knack/tight", "byteskille", 3, spec("byteskille").resolve())
