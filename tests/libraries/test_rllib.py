# pyright: reportMissingImports=false
"""RLlib: the recipe, on this machine and on nodes of a cluster."""

import pytest

pytest.importorskip("lz4", reason='pip install "ray[rllib]" dm-tree')
pytest.importorskip("ray.rllib", reason='pip install "ray[rllib]" dm-tree')

import ray
from ray import cloudpickle
from ray.cluster_utils import Cluster

from reference.recipes import check_recipe
from reference.scripts import script

pytestmark = pytest.mark.filterwarnings("ignore")  # RLlib and Ray warn of their own insides


@pytest.fixture
def alone():
    """Ray on this machine alone."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def two_nodes():
    """A cluster with a head that computes nothing and two nodes of one processor each."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_the_recipe_learns_a_player(game, alone, monkeypatch):
    check_recipe("rllib_ppo", game, monkeypatch, TABLES=32, MINIBATCH=128)


def test_runners_play_on_several_nodes(two_nodes, monkeypatch):
    # A script that is run is pickled by value, a module that is imported is not.
    cloudpickle.register_pickle_by_value(script("training/recipes/rllib_ppo.py"))
    check_recipe(
        "rllib_ppo", "byteskille", monkeypatch, seeds=1, TABLES=32, MINIBATCH=128, runners=2
    )
