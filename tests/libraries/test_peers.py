"""What other libraries are measured at, where all are installed: `make test-libraries`."""

import pytest

pytest.importorskip("pgx")

from speed.libraries import WORKS


@pytest.mark.parametrize("library", WORKS)
def test_every_work_counts_its_pieces(library) -> None:
    for work in WORKS[library]:
        pieces, seconds = work.prepare()()
        assert pieces > 0 and seconds > 0, work.what
