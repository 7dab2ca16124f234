# pyright: reportMissingImports=false
"""The recipe for OpenEnv, in an environment of its own: `make test-libraries`."""

import socket
import threading
import time

import pytest

from reference.scripts import script

pytest.importorskip("openenv")

import uvicorn
from openenv.cli._validation import validate_running_environment
from openenv.core.generic_client import GenericEnvClient

recipe = script("training/recipes/openenv_server.py")
KilleAction, KilleOpenEnv, make_app = recipe.KilleAction, recipe.KilleOpenEnv, recipe.make_app


@pytest.fixture(scope="module")
def server():
    """A server of three-seat deals of Byteskille, by its address."""
    app = make_app("byteskille", num_players=3, episode="deal", opponents="uniform", tries=1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="error"))
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    while not served.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    served.should_exit = True
    thread.join(10)


def test_openenvs_own_validation_passes(server):
    report = validate_running_environment(server)
    assert report["passed"], report["summary"]


def test_a_session_is_played_over_the_wire(server):
    with GenericEnvClient(base_url=server).sync() as client:
        for seed in range(3):
            result, steps = client.reset(seed=seed), 0
            assert result.observation["rules"].startswith("Byteskille")
            while not result.done:
                assert "seat" in result.observation["prompt"]
                result = client.step({"answer": result.observation["legal_actions"][0]})
                steps += 1
            assert client.state()["step_count"] == steps


def test_sessions_do_not_disturb_each_other(server):
    with GenericEnvClient(base_url=server).sync() as one:
        first = one.reset(seed=5).observation["prompt"]
        with GenericEnvClient(base_url=server).sync() as other:
            other.reset(seed=6)
            other.step({"answer": "1"})
        assert one.reset(seed=5).observation["prompt"] == first


def test_an_unreadable_answer_is_told_so_and_then_costs():
    env = KilleOpenEnv("byteskille", num_players=3, episode="deal", seat=0)
    before = env.reset(seed=1)
    told = env.step(KilleAction(answer="perhaps"))
    assert (told.reward, told.done) == (0.0, False)
    assert told.legal_actions == before.legal_actions
    assert "Your answer has no line" in told.prompt
    after = env.step(KilleAction(answer="perhaps"))
    assert (after.reward, after.done) == (-3.0, True)  # the stake of 2, and one unit
