"""What 10^10 decisions cost: the arithmetic, and which decisions a measurement counts."""

import pytest

pytest.importorskip("sb3_contrib")

from kille_training.learning.settings import LearnerSettings
from kille_training.speed.cost import core_hours, learning


def test_an_hour_for_all_decisions_is_a_core_hour():
    assert core_hours(3600.0, 10**10) == 1.0
    assert core_hours(1.0, 50_000) == pytest.approx(10**10 / 50_000 / 3600)


def test_a_learner_counts_the_decisions_of_its_updates():
    learner = LearnerSettings(num_tables=8, n_steps=4, batch_size=16, n_epochs=1)
    seconds, decisions = learning("byteskille", 3, learner)()
    assert decisions == 4 * 8 * 4
    assert seconds > 0
