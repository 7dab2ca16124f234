"""What the tests of training share: the command, and a run that takes a second."""

import json

import pytest

from kille_training.cli.main import main
from kille_training.learn.settings import MeasureSettings, TableSettings, TrainSettings


@pytest.fixture(scope="session")
def tiny():
    """Make the settings of a run of five updates; `learner` and `table` change them.

    It has two seats: of three, measuring exactly takes most of the time.
    """

    def make(form="streams", learner=None, table=None, **changes):
        return TrainSettings(
            table=TableSettings(**{"num_players": 2, **(table or {})}),
            learner={
                "form": form,
                "decisions": 5 * 16 * 8,
                "num_tables": 16,
                "n_steps": 8,
                "batch_size": 64,
                "n_epochs": 2,
                "layers": (8,),
                **(learner or {}),
            },
            measure=MeasureSettings(every=256, deals=10, final_deals=20),
            **{"name": "tiny", "checkpoint_seconds": 1e-9, **changes},
        )

    return make


@pytest.fixture
def kille(capsys, tmp_path, monkeypatch):
    """Run `kille` with some words in an empty folder, and return what it prints, `out` and `err`.

    It has to end with the status `ends`.
    """
    monkeypatch.chdir(tmp_path)

    def run(*words, ends=0):
        status = main([str(word) for word in words])
        printed = capsys.readouterr()
        assert status == ends, printed.err
        return printed

    return run


@pytest.fixture
def answer(kille):
    """Run `kille` with some words and `--json`, and return the one object that it prints."""
    return lambda *words: json.loads(kille(*words, "--json").out)


@pytest.fixture
def refused(kille):
    """Run `kille` with words that it has to refuse, and return why, on one line."""

    def run(*words):
        printed = kille(*words, ends=1)
        assert printed.out == ""
        return " ".join(printed.err.split())

    return run
