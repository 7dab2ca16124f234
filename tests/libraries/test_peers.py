"""What other libraries are measured at, where all are installed: `make test-libraries`."""

import importlib

import pytest

pytest.importorskip("pgx")

from speed.peers.contest import PEERS


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.module)
def test_every_work_counts_its_pieces(peer) -> None:
    library = importlib.import_module(f"speed.peers.{peer.module}")
    for work in library.WORKS:
        pieces, seconds = work.prepare()()
        assert pieces > 0 and seconds > 0, work.what
