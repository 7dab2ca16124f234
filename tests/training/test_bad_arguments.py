"""Functions refuse odd paths and seeds with a sentence that names them."""

import numpy as np
import pytest

import kille_env
import kille_training as kt
from kille_env.errors import FileError, KilleError

TWO = ["uniform", "rule_of_thumb"]


def _record(path):
    recorder = kille_env.Recorder(kille_env.make_batch("knack", 1, 2, restart=False))
    recorder.reset(seed=1)
    kille_env.write_records([recorder.record()], path)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: kt.play_tournament(TWO, "knack", num_players=2, deals=4, out=path),
        lambda path: kt.compare(*TWO, "knack", 2, most=10, out=path),
        lambda path: kt.train("knack", out=path),
        lambda path: kt.train("knack", out=path, seeds=2),
        lambda path: kt.solve("byteskille", 2, iterations=2, out=path),
        lambda path: kt.export_efg("byteskille", 2, path),
        _record,
    ],
    ids=["tournament", "compare", "train", "seeds", "solve", "export_efg", "records"],
)
def test_a_path_that_cannot_be_written_is_named(tmp_path, write):
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"file.* cannot be written: .*; name another place, or"):
        write(tmp_path / "file" / "below")


ODD_SEEDS = [np.array(3), np.array(3.5), np.array([1, 2]), "3", True, -1, 2**64]


@pytest.mark.parametrize("seed", ODD_SEEDS, ids=str)
@pytest.mark.parametrize(
    "play",
    [
        lambda seed: kt.play_tournament(TWO, "knack", num_players=2, deals=4, seed=seed),
        lambda seed: kt.compare(*TWO, "knack", 2, most=10, seed=seed),
        lambda seed: kt.evaluate("uniform", "knack", 2, deals=4, seed=seed, exact=False),
        lambda seed: kt.train("knack", seed=seed),
    ],
    ids=["tournament", "compare", "evaluate", "train"],
)
def test_an_odd_seed_is_refused_by_name(play, seed):
    with pytest.raises(KilleError, match="seed"):
        play(seed)
