"""A tournament on a cluster ends with the same results, whichever nodes die under way."""

import os
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kille_env.registry import spec
from kille_training.arena.executors.processes import HereExecutor, WorkerError
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.work import Block, Entrant, WorkUnit
from reference.panels import panel_of
from reference.tallies import same

pytest.importorskip("ray", reason="the extra `ray` is not installed")

import ray
from ray.cluster_utils import Cluster

from kille_training.arena.executors.ray_cluster import RayExecutor

HERE = Path(__file__).parent
RULES = spec("byteskille").resolve({}, episode="deal").as_dict()
ENTRANTS = (
    Entrant(0, "slow", "bad_players:Slow"),
    Entrant(1, "rule", "rule_of_thumb"),
    Entrant(2, "hangs", "bad_players:Sleeps"),
    Entrant(3, "crashes", "bad_players:Crashes"),
)
MEMBERS = [(0, 1), (1, 0), (1, 1), (0, 2), (0, 3)]
PANELS = [panel_of(1 + number, *members) for number, members in enumerate(MEMBERS)]
UNITS = [
    WorkUnit("byteskille", 2, RULES, 5, (Block(panel, first, 5),), ENTRANTS)
    for first in range(0, 20, 5)
    for panel in PANELS[:3]
]
FAILING = [
    WorkUnit("byteskille", 2, RULES, 5, (Block(panel, 0, 5),), ENTRANTS) for panel in PANELS[3:]
]


@pytest.fixture(autouse=True)
def quiet():
    # Ray leaves files and sockets of nodes that were killed to the garbage collector.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


@contextmanager
def cluster(nodes):
    """So many nodes of one CPU on this machine."""
    soon = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
    made = Cluster(initialize_head=True, head_node_args={**node(), "_system_config": soon})
    try:
        yield made, [made.add_node(**node()) for _ in range(nodes - 1)]
    finally:
        ray.shutdown()
        made.shutdown()


def node():
    return {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}


def store_of(folder):
    store = Store(folder, create=True)
    store.enter([KeptEntrant(e.number, e.name, e.player, fingerprint=e.name) for e in ENTRANTS])
    for stage, panel in enumerate(PANELS):
        assert store.panels(stage, panel.draw) == [panel]
    return store


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.timeout(180)
def test_a_node_dies_under_way_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of the nodes
    waiting = tmp_path / "waiting"
    monkeypatch.setenv("KILLE_TEST_WAITING", str(waiting))

    with store_of(tmp_path / "cluster") as store:
        with cluster(2) as (made, (second,)), RayExecutor(made.address, time_limit=3.0) as executor:
            killed = False
            for number, outcome in enumerate(executor.run([*UNITS, *FAILING])):
                store.keep(outcome)
                if not killed and number >= 2 and len(set(waiting.read_text().split())) == 2:
                    made.remove_node(second, allow_graceful=False)
                    killed = True
        assert killed
        found, out = store.tallies(), {e.name: e.out for e in store.entrants() if e.out}
    assert out.keys() == {"hangs", "crashes"}
    assert "took longer than 3 s" in out["hangs"]
    assert "SIGSEGV" in out["crashes"]

    monkeypatch.delenv("KILLE_TEST_WAITING")
    with store_of(tmp_path / "here") as store, HereExecutor() as executor:
        for outcome in executor.run(UNITS):
            store.keep(outcome)
        expected = store.tallies()
    assert same(found, expected)
    assert np.abs(expected[2].total).max() > 0


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_cluster_that_is_not_there(address):
    with pytest.raises(WorkerError, match=r"nothing answers at 127\.0\.0\.1:1"):
        RayExecutor(address)


@pytest.mark.compiled
@pytest.mark.slow
def test_a_cluster_on_this_machine(tmp_path, monkeypatch):
    """It is begun and ended by the executor; a node with other games is refused."""
    monkeypatch.syspath_prepend(HERE)
    with RayExecutor(workers=1) as executor:
        (outcome,) = executor.run(UNITS[:1])
        assert outcome.failure is None
        monkeypatch.setattr(executor, "_terms", replace(executor._terms, version="0.0"))
        with pytest.raises(WorkerError, match=r"the one that asks 0\.0; install the same one"):
            list(executor.run(UNITS[:1]))
    assert not ray.is_initialized()
    with HereExecutor() as here:
        (expected,) = here.run(UNITS[:1])
    assert outcome.results[0].earned.tobytes() == expected.results[0].earned.tobytes()
