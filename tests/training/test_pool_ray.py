"""A job on a cluster ends with the same results, whichever nodes die under way."""

import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from kille_env.registry import Table
from kille_training.arena.entrants import Entrant
from kille_training.arena.play import Play, Shard
from kille_training.arena.schedule import Schedule
from kille_training.pool.jobs import Failed, Here, WorkerError

pytest.importorskip("ray", reason="the extra `ray` is not installed")

import ray
from ray.cluster_utils import Cluster

from kille_training.pool import cluster as pool_cluster
from kille_training.pool.cluster import Ray

HERE = Path(__file__).parent
ENTRANTS = (
    Entrant(0, "slow", "bad_players:Slow"),
    Entrant(1, "rule", "rule_of_thumb"),
    Entrant(2, "hangs", "bad_players:Sleeps"),
    Entrant(3, "crashes", "bad_players:Crashes"),
)


def shards(*members):
    """At every deal these entrants sit in this order."""
    schedule = Schedule((members[1],), np.array([[0, 1]]), hero=members[0])
    return [Shard(members[1], schedule, first, 5) for first in range(0, 30, 5)]


def job(seconds=3.0):
    table = Table.of("byteskille", 2)
    return Play(table, 5, ENTRANTS, {}, seconds=seconds, transfer=False, trust=False)


def found(results):
    """What was earned, by cohort and deal, and why entrants failed."""
    earned, failed = {}, {}
    for shard, result in results:
        if isinstance(result, Failed):
            failed[result.whose] = result.reason
        else:
            assert (shard.cohort, shard.first_deal) not in earned
            earned[shard.cohort, shard.first_deal] = result["earned"].tobytes()
    return earned, failed


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


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.timeout(180)
def test_a_node_dies_under_way_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of the nodes
    waiting = tmp_path / "waiting"
    monkeypatch.setenv("KILLE_TEST_WAITING", str(waiting))
    items = [*shards(0, 1), *shards(0, 2)[:1], *shards(0, 3)[:1]]

    def killing(results, made, second):
        killed = False
        for number, result in enumerate(results):
            yield result
            if not killed and number >= 2 and len(set(waiting.read_text().split())) == 2:
                made.remove_node(second, allow_graceful=False)
                killed = True
        assert killed

    with cluster(2) as (made, (second,)), Ray(made.address) as pool:
        earned, failed = found(killing(pool.run(job(), items), made, second))
    assert failed.keys() == {2, 3}
    assert "took longer than 3 s" in failed[2] and "SIGSEGV" in failed[3]
    monkeypatch.delenv("KILLE_TEST_WAITING")
    with Here() as pool:
        assert found(pool.run(job(), shards(0, 1))) == (earned, {})


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_cluster_that_is_not_there(address):
    with pytest.raises(WorkerError, match=r"nothing answers at 127\.0\.0\.1:1"):
        Ray(address)


@pytest.mark.compiled
@pytest.mark.slow
def test_a_cluster_on_this_machine(monkeypatch):
    """It is begun and ended by the pool; a node with other games is refused."""
    monkeypatch.syspath_prepend(HERE)
    with Ray(workers=1) as pool:
        there = found(pool.run(job(60.0), shards(0, 1)[:1]))
        monkeypatch.setattr(pool_cluster, "version", lambda: "0.0")
        with pytest.raises(WorkerError, match=r"expected 0\.0; install the same one"):
            list(pool.run(job(60.0), shards(0, 1)[:1]))
    assert not ray.is_initialized()
    with Here() as pool:
        assert found(pool.run(job(), shards(0, 1)[:1])) == there
