"""Single tables begin in plain Python and go on compiled: same bytes, no process left over."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kille_env
from kille_env.core import jit, start
from reference.scripts import printed

pytestmark = pytest.mark.compiled

DECISIONS, SWITCH = 120, 50
"""Decisions of a test, and after how many it waits for compiled kernels: in mid-match."""

AEC = """
def decisions(game, episode):
    env = kille_env.make(game, rules={"episode": episode})
    env.reset(seed=3)
    while True:
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = info["action_mask"].nonzero()[0]
            yield observation["observation"], legal, float(reward)
            env.step(legal[int(observation["observation"].sum()) % len(legal)])
        yield str(env.record())
        env.reset()
"""
GYM = """
def decisions(game, episode):
    env = gymnasium.make(env_id(game), episode=episode, opponents="rule_of_thumb")
    observation, info = env.reset(seed=3)
    while True:
        legal = info["action_mask"].nonzero()[0]
        yield observation, legal
        action = legal[int(np.sum(observation)) % len(legal)]
        observation, reward, terminated, truncated, info = env.step(action)
        yield float(reward), terminated, truncated
        if terminated or truncated:
            observation, info = env.reset()
"""
PLAY = """
import hashlib, itertools, json, sys
import gymnasium, numpy as np
from kille_env.adapters.registration import env_id
import kille_env
from kille_env.core import start
from kille_env.core.jit import Kernel
{decisions}
def play(game, size, switch):
    digest, plain = hashlib.sha256(), []
    for number, shown in enumerate(itertools.islice(decisions(game, "match"), size)):
        if number == switch:
            start.finish()
        plain.append(Kernel.starting)
        for part in shown if isinstance(shown, tuple) else (shown,):
            digest.update(repr(np.asarray(part).tolist()).encode())
    return {{"digest": digest.hexdigest(), "first": plain[0], "last": plain[-1]}}
"""
PRINT = "print(json.dumps(play(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))"


def run(code: str, *arguments: object, **environment: str) -> dict[str, object]:
    """Return the line of JSON that a script prints in a process of its own."""
    found = printed(code, *arguments, KILLE_PLAIN_START="1", **environment)
    return json.loads(found.splitlines()[-1])


needs_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2 if hasattr(os, "sched_getaffinity") else False,
    reason="with one core nothing starts in plain Python",
)


@needs_cores
@pytest.mark.parametrize("environment", [AEC, GYM], ids=["aec", "gymnasium"])
def test_a_switch_in_the_middle_changes_nothing(environment: str, game: str) -> None:
    code = PLAY.format(decisions=environment)
    switched = run(code + PRINT, game, DECISIONS, SWITCH)
    names: dict[str, Any] = {}
    exec(code, names)
    assert switched["first"] and not switched["last"]
    assert switched["digest"] == names["play"](game, DECISIONS, 0)["digest"]


LOADED = """
import json, sys
import kille_env
from kille_env.core import start
env = kille_env.make(sys.argv[1])
env.reset(seed=1)
start.finish()
stats = env.game.step.stats
print(json.dumps({"hits": sum(stats.cache_hits.values()), "misses": len(stats.cache_misses)}))
"""


@needs_cores
def test_the_child_compiles_and_the_process_only_loads(tmp_path: Path) -> None:
    found = run(LOADED, "knack", KILLE_CACHE_DIR=str(tmp_path))
    assert found == {"hits": 1, "misses": 0}


FALLS_BACK = """
import json, sys
from kille_env.core import jit, start
import kille_env
{change}
env = kille_env.make("knack")
env.reset(seed=1)
start.finish()
for agent in env.agent_iter(6):
    _, _, terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else info["action_mask"].argmax())
print(json.dumps([jit.Kernel.starting, env.game.is_compiled]))
"""


@pytest.mark.parametrize(
    "change",
    [
        "import kille_env.adapters.aec as aec; aec.ONE_TABLE = 'kille_env.core.single:nothing'",
        "start._compile_in_child = lambda job: False",
        "jit.cache_base = lambda: None; jit.kernel_folder = lambda key: None",
        "start.os.sched_getaffinity = lambda pid: {0}",
    ],
    ids=["a job that fails", "a child that dies", "no cache", "one core"],
)
def test_without_a_child_kernels_compile_at_their_first_call(change: str) -> None:
    assert run(FALLS_BACK.format(change=change)) == [False, True]


ENDS = """
import subprocess, sys, time
class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)
subprocess.Popen = Popen
import kille_env
kille_env.make("byteskille").reset(seed=1)
"""


def is_running(pid: int) -> bool:
    """Return whether a process is there that has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@needs_cores
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("killed", [False, True])
def test_no_process_is_left_behind(killed: bool, tmp_path: Path) -> None:
    waits = "import time; time.sleep(1000)" if killed else "time.sleep(0.5)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{ENDS}\n{waits}"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "KILLE_PLAIN_START": "1", "KILLE_CACHE_DIR": str(tmp_path)},
    ) as process:
        assert process.stdout
        child = int(process.stdout.readline())
        if killed:
            process.send_signal(signal.SIGKILL)
    while is_running(child):  # it ends when it has read that the pipe is closed
        time.sleep(0.05)


def test_several_tables_wait_for_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(jit.Kernel, "starting", True)
    monkeypatch.setattr("kille_env.core.batch.finish", lambda: called.append(True))
    kille_env.make_batch("knack", 1)
    assert not called
    kille_env.make_batch("knack", 2)
    assert called


FORK = """
import os, sys
from kille_env.core import start

start._turn.acquire()  # as a thread does that compiles while the process is forked
if not (child := os.fork()):
    os._exit(0 if start._turn.acquire(timeout=1) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    assert subprocess.run([sys.executable, "-c", FORK], timeout=60).returncode == 0


def test_an_edit_in_the_package_of_a_job_compiles_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "own_games"
    package.mkdir()
    source = package / "__init__.py"
    source.write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(jit, "source_digest", jit.source_digest.__wrapped__)
    monkeypatch.setattr(jit, "cache_base", lambda: tmp_path)
    job = "own_games.kernels:all_of_them", "kille_env.games.knack"
    before = start._marker(job)
    assert start._marker(job) == before
    source.write_text("edited = True")
    assert start._marker(job) != before
