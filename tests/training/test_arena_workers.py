"""Whatever a player does, it alone is out, and all others play on."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kille_env.registry import spec
from kille_training.arena.executors import processes as workers
from kille_training.arena.executors.processes import HereExecutor, LocalExecutor, WorkerError
from kille_training.arena.work import Block, Entrant, WorkUnit
from reference.panels import panel_of

HERE = Path(__file__).parent
RULES = spec("byteskille").resolve({}, episode="deal").as_dict()
BAD = {
    "Raises": "RuntimeError: no idea",
    "RaisesUnspeakable": "Unspeakable: an error that cannot be shown",
    "Interrupts": "KeyboardInterrupt: stop it all",
    "Cancels": "CancelledError: ",
    "Exits": "SystemExit: had enough",
    "Crashes": "its process died (signal SIGSEGV)",
    "ClosesFiles": "it closed the files of its process",
    "ClosesFilesAndPlays": "it closed the files of its process",
    "ReplacesFilesAndPlays": "it closed the files of its process",
    "NotANumber": "a value that is no probability",
    "Illegal": "an illegal action",
    "WrongShape": "returned probabilities of shape",
    "Says": "returned 'pass', expected probabilities as an array of numbers",
    "Masked": "a value that is no probability",
    "Scribbles": "an illegal action",
    "WritesIntoFiles": "it wrote into the files of its process",
    "WritesIntoFilesWhenMade": "it wrote into the files of its process): it was asked to be loaded",
    "WritesABit": "it wrote into the files of its process",
    "WritesPickles": "it wrote into the files of its process",
    "Loops": "took longer than 5 s for a batch of 10 decisions",
    "HoldsEverything": "took longer than 5 s for a batch of 10 decisions",
    "NeverLoads": "took longer than 6 s to be loaded",
    "LeavesSomebody": "its process died (exit code 7): it was asked for a batch of 10 decisions",
    "Nobody": "PolicyError: ",
    "TellsSetting": "RuntimeError: 1 thread, score 1000",
}
GOOD = Entrant(0, "rule", "rule_of_thumb")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(HERE)


def unit(who, number=1, first=0, deals=10, panel=None):
    """It sits at ten tables with a good one, which answers first."""
    entrants = (GOOD, Entrant(number, who, f"bad_players:{who}"))
    block = Block(panel_of(number if panel is None else panel, 0, number), first, deals)
    return WorkUnit("byteskille", 2, RULES, 5, (block,), entrants)


def good(first, deals=10):
    block = Block(panel_of(0, 0, 0), first, deals)
    return WorkUnit("byteskille", 2, RULES, 5, (block,), (GOOD,))


def same(one, other):
    return [r.earned.tolist() for r in one.results] == [r.earned.tolist() for r in other.results]


@pytest.mark.compiled
def test_every_entrant_that_fails_is_named_and_no_other_is_stopped(monkeypatch):
    monkeypatch.setattr(workers, "LOADING_LIMIT", 6.0)
    units = []
    for number, who in enumerate(BAD, 1):
        units += [unit(who, number), good(10 * number)]
    with LocalExecutor(2, time_limit=5.0) as executor:
        outcomes = list(executor.run(iter(units)))
    assert len(outcomes) == len(units)
    failures = {each.failure.entrant: each for each in outcomes if each.failure}
    for number, (who, reason) in enumerate(BAD.items(), 1):
        outcome = failures.pop(number)
        assert reason in outcome.failure.reason, who
        assert outcome.failure.panel == number, who
        assert 0 <= outcome.failure.deal < 10, who
        assert outcome.results == (), who
    assert not failures
    played = {each.unit.blocks[0].first_deal: each for each in outcomes if not each.failure}
    with HereExecutor() as executor:
        expected = {each.unit.blocks[0].first_deal: each for each in executor.run(
            each for each in units if len(each.entrants) == 1
        )}  # fmt: skip
    assert played.keys() == expected.keys()
    assert all(same(played[first], expected[first]) for first in played)


@pytest.mark.compiled
def test_what_players_print_goes_to_the_log(tmp_path, capfd):
    log = tmp_path / "run" / "players.log"
    with LocalExecutor(1, log=log) as executor:
        (outcome,) = executor.run([unit("Chatters")])
    assert outcome.failure is None
    printed = capfd.readouterr()
    assert "think" not in printed.out + printed.err
    text = log.read_text()
    for words in ("I think 10\n", "therefore I write\n", "and complain\n"):
        assert words in text


@pytest.mark.compiled
def test_units_are_taken_as_processes_become_free():
    taken = []

    def units():
        for number in range(8):
            taken.append(number)
            yield good(10 * number)

    with LocalExecutor(2) as executor:
        for done, _ in enumerate(executor.run(units())):
            assert len(taken) <= done + 3  # two under way, and this one
        assert len(taken) == 8
        # A run that is not read to the end leaves nothing behind for the next one.
        next(executor.run(good(first) for first in (100, 110, 120)))
        assert [each.unit for each in executor.run([good(200)])] == [good(200)]


@pytest.mark.compiled
def test_a_unit_is_tried_again_when_no_player_is_to_blame(monkeypatch):
    begin, killed = workers._Child.begin, []

    def kill(child, *arguments):
        if len(killed) < deaths:
            killed.append(child._process.pid)
            child._process.kill()
            child._process.wait()
        begin(child, *arguments)

    monkeypatch.setattr(workers._Child, "begin", kill)
    deaths = 1
    with LocalExecutor(1) as executor:
        (outcome,) = executor.run([good(0)])
        assert outcome.failure is None
        deaths = 3
        with pytest.raises(WorkerError, match=r"died 2 times .*no player was thinking.*SIGKILL"):
            list(executor.run([good(0)]))
    assert len(set(killed)) == 3


@pytest.mark.compiled
def test_a_unit_that_cannot_be_played_is_no_players_fault():
    wrong = WorkUnit("byteskille", 999, RULES, 5, good(0).blocks, (GOOD,))
    with LocalExecutor(1) as executor, pytest.raises(WorkerError, match="num_players=999"):
        list(executor.run([wrong]))


def test_impossible_executors_are_refused():
    with pytest.raises(WorkerError, match="workers is 0"):
        LocalExecutor(0)
    with pytest.raises(WorkerError, match="time limit"):
        LocalExecutor(1, 0.0)
    executor = LocalExecutor(1)
    executor.close()
    with pytest.raises(WorkerError, match="is closed"):
        list(executor.run([good(0)]))


def alive(pid):
    """Whether a process runs; one that has ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return found


def pids(log):
    """Returns the processes of players that have said where they are; others may say more."""
    return (
        re.findall(r"^(?:sleeping in|holding) (\d+)$", log.read_text(), re.M)
        if log.exists()
        else []
    )


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_children_end_with_their_parent(tmp_path, number):
    log = tmp_path / "players.log"
    script = (
        "import signal, sys\n"
        "from pathlib import Path\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # if it is ignored
        f"sys.path[:0] = {[str(HERE), *sys.path]!r}\n"
        "import test_arena_workers as tests\n"
        f"with tests.LocalExecutor(2, log=Path({str(log)!r})) as executor:\n"
        "    list(executor.run([tests.unit('Sleeps'), tests.unit('HoldsEverything')]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(lambda: len(pids(log)) == 2)
        children = pids(log)
        assert all(alive(child) for child in children)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    until(lambda: not any(alive(child) for child in children), 10.0)
    assert "Traceback" not in log.read_text()
    if number == signal.SIGINT:
        assert errors.count("Traceback") == 1  # its own
        assert errors.strip().endswith("KeyboardInterrupt")
