"""Whatever code of others does, its owner alone fails, and all other items are done."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kille_env.errors import KilleError
from kille_training.pool.child import Said, decode, encode
from kille_training.pool.jobs import Failed, Here, WorkerError
from kille_training.pool.processes import Processes

HERE = Path(__file__).parent
MASK = np.ones((10, 4), dtype=np.int8)
WROTE = "it wrote into the files of its process"
BAD = {
    "Raises": "RuntimeError: no idea",
    "RaisesUnspeakable": "Unspeakable: an error without a printable text",
    "Interrupts": "KeyboardInterrupt: stop it all",
    "Cancels": "CancelledError: ",
    "Exits": "SystemExit: had enough",
    "Crashes": "its process died (signal SIGSEGV)",
    "ClosesFiles": "it closed the files of its process",
    "ClosesFilesAndPlays": "it closed the files of its process",
    "ReplacesFilesAndPlays": "it closed the files of its process",
    "WritesIntoFiles": WROTE,
    "WritesIntoFilesWhenMade": f"{WROTE}): it was asked to be loaded",
    "WritesABit": WROTE,
    "WritesPickles": WROTE,
    "Loops": "took longer than 1 s for 10 decisions",
    "HoldsEverything": "took longer than 1 s for 10 decisions",
    "NeverLoads": "took longer than 2 s to be loaded",
    "LeavesSomebody": "its process died (exit code 7): it was asked for 10 decisions",
    "Nobody": "AttributeError: ",
    "TellsSetting": "RuntimeError: 1 thread, score 1000",
}


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(HERE)


@dataclass(frozen=True)
class Ask:
    """Asks a player for ten decisions, if the item names one."""

    seconds: float = 1.0

    def __call__(self, item, report):
        number, name = item
        if name is None:
            return {"squares": np.arange(number) ** 2, "one": np.float32(number)}
        import bad_players

        with report(number, "to be loaded", 2 * self.seconds):
            player = getattr(bad_players, name)(2, None)
        with report(number, "for 10 decisions", self.seconds):
            player.probabilities(None, MASK)
        return {}


class Dies:
    """Dies while no code of others runs; the first item sees whether it is tried again."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __call__(self, item, report):
        if item == "always" or not Path(self.mark).exists():
            Path(self.mark).touch()
            os._exit(3)
        return {}


class Refuses:
    def __call__(self, item, report):
        if item == "a sentence":
            raise KilleError("there is no such table")
        raise ZeroDivisionError


def test_every_owner_that_fails_is_named_and_no_other_item_is_stopped():
    items = []
    for number, name in enumerate(BAD, 1):
        items += [(number, name), (number, None)]
    with Processes(2) as pool:
        results = list(pool.run(Ask(), iter(items)))
    assert len(results) == len(items)
    for (number, name), result in results:
        if name is None:
            assert result["squares"].tolist() == [n * n for n in range(number)]
            assert result["one"].dtype == np.float32 and result["one"] == number
        else:
            assert isinstance(result, Failed) and result.whose == number, (name, result)
            assert BAD[name] in result.reason, (name, result)


def test_in_this_process_errors_have_an_owner_too(capsys):
    with Here() as pool:
        found = dict(pool.run(Ask(), [(3, "Raises"), (4, "Exits"), (5, "Chatters"), (2, None)]))
        assert found[3, "Raises"] == Failed(3, "RuntimeError: no idea")
        assert found[4, "Exits"].reason == "SystemExit: had enough"
        assert found[5, "Chatters"] == {} and found[2, None]["squares"].tolist() == [0, 1]
        with pytest.raises(KeyboardInterrupt):
            list(pool.run(Ask(), [(1, "Interrupts")]))
    assert "I think" not in capsys.readouterr().out


def test_what_is_printed_goes_to_the_log(tmp_path, capfd):
    log = tmp_path / "run" / "players.log"
    with Processes(1, log=log) as pool:
        assert list(pool.run(Ask(), [(1, "Chatters")])) == [((1, "Chatters"), {})]
    printed = capfd.readouterr()
    assert "think" not in printed.out + printed.err
    text = log.read_text()
    for words in ("I think 10\n", "therefore I write\n", "and complain\n"):
        assert words in text


def test_items_are_taken_as_processes_become_free():
    taken = []

    def items():
        for number in range(8):
            taken.append(number)
            yield number, None

    with Processes(2) as pool:
        results = pool.run(Ask(), items())
        assert taken == []
        for done, _ in enumerate(results, 1):
            assert len(taken) <= done + 2
        assert len(taken) == 8
        first = next(pool.run(Ask(), items()))  # whoever stops listening stops the rest
        assert first[0] in [(0, None), (1, None)]
        assert len(list(pool.run(Ask(), items()))) == 8


def test_a_process_that_dies_of_nobody_is_tried_again(tmp_path):
    with Processes(1, log=tmp_path / "log") as pool:
        assert list(pool.run(Dies(tmp_path / "mark"), ["once"])) == [("once", {})]
        with pytest.raises(WorkerError, match=r"died 2 times .*exit code 3.*enough memory\? .*log"):
            list(pool.run(Dies(tmp_path / "mark"), ["always"]))


@pytest.mark.parametrize(
    ("item", "words"),
    [("a sentence", "^there is no such table$"), ("a bug", r"(?s)has failed.*ZeroDivisionError")],
)
def test_a_job_that_fails_by_itself_ends_the_run(item, words):
    with Processes(1) as pool, pytest.raises(WorkerError, match=words):
        list(pool.run(Refuses(), [item]))


def test_a_pool_needs_workers():
    with pytest.raises(WorkerError, match="workers is 0, expected 1"):
        Processes(0)


@pytest.mark.parametrize(
    "message",
    [b"", b"kille", encode(Said.FAILED, "x")[:-1], encode(Said.DONE, {"a": np.ones(9)})[:-1],
     encode(Said.DONE, {"a": np.array("x")}).replace(b"<U1", b"|O8"), b"kille\0\r\n\x09{}"],
)  # fmt: skip
def test_garbage_is_no_message(message):
    with pytest.raises(ValueError):
        decode(message)


SCRIPT = """
import signal, sys
sys.path[:0] = {path!r}
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it
from training.test_pool import Ask
from kille_training.pool.processes import Processes
with Processes(2, log=__import__("pathlib").Path({log!r})) as pool:
    list(pool.run(Ask(3600.0), [(1, {name!r}), (2, {name!r})]))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(tmp_path, how):
    log = tmp_path / "log"
    script = SCRIPT.format(path=sys.path, log=str(log), name="Sleeps")
    parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(children := re.findall(r"sleeping in (\d+)", _text(log))) < 2:
        assert parent.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    parent.send_signal(how)
    parent.wait(30)
    while any(_alive(int(child)) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _text(path):
    return path.read_text() if path.exists() else ""


def _alive(process):
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    return False
