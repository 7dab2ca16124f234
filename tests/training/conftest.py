"""What the tests of training share: a run that takes a second."""

import pytest

from kille_training.learning.settings import (
    LearnerSettings,
    MeasureSettings,
    TableSettings,
    TrainSettings,
)


@pytest.fixture(scope="session")
def tiny():
    """Makes the settings of a run of five updates; `learner` and `table` change them."""

    def make(form="streams", learner=None, table=None, **changes):
        return TrainSettings(
            table=TableSettings(**{"num_players": 3, **(table or {})}),
            learner=LearnerSettings(
                **{
                    "form": form,
                    "decisions": 5 * 16 * 8,
                    "num_tables": 16,
                    "n_steps": 8,
                    "batch_size": 64,
                    "n_epochs": 2,
                    "layers": (8,),
                    **(learner or {}),
                }
            ),
            measure=MeasureSettings(every=256, deals=10, final_deals=20),
            **{"name": "tiny", "checkpoint_seconds": 1e-9, **changes},
        )

    return make
