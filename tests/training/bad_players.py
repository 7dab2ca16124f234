"""Players that do what no player should; tournaments in tests enter them by name."""

import asyncio
import contextlib
import ctypes
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

from kille_env.registry import Table


def even(mask):
    return mask / mask.sum(axis=1, keepdims=True)


class Player:
    """Plays as `uniform` does; whoever is derived from it has one bad habit."""

    def __init__(self, num_players, rules):
        self.name = type(self).__name__

    def probabilities(self, observation, mask):
        return even(mask)


class Raises(Player):
    def probabilities(self, observation, mask):
        raise RuntimeError("no idea")


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


class RaisesUnspeakable(Player):
    def probabilities(self, observation, mask):
        raise Unspeakable


class Interrupts(Player):
    def probabilities(self, observation, mask):
        raise KeyboardInterrupt("stop it all")


class Cancels(Player):
    def probabilities(self, observation, mask):
        raise asyncio.CancelledError


class Exits(Player):
    def probabilities(self, observation, mask):
        sys.exit("had enough")


class Crashes(Player):
    def probabilities(self, observation, mask):
        ctypes.string_at(0)


class ClosesFiles(Player):
    def probabilities(self, observation, mask):
        os.closerange(3, 256)
        time.sleep(3600)


class ClosesFilesAndPlays(Player):
    def probabilities(self, observation, mask):
        os.closerange(0, 256)
        return even(mask)


class ReplacesFilesAndPlays(Player):
    def probabilities(self, observation, mask):
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in range(256):
            if handle != nothing:
                os.dup2(nothing, handle)
        return even(mask)


def write_everywhere(content):
    for handle in range(3, 31):
        with contextlib.suppress(OSError):
            os.write(handle, content)


class WritesIntoFiles(Player):
    def probabilities(self, observation, mask):
        write_everywhere(b"hello, here I am\n" * 10)
        return even(mask)


class WritesIntoFilesWhenMade(Player):
    def __init__(self, num_players, rules):
        write_everywhere(b"\0" * 100)


class WritesABit(Player):
    def probabilities(self, observation, mask):
        write_everywhere(b"\0")
        return even(mask)


class RunsInTheParent:
    def __reduce__(self):
        return os._exit, (42,)


class WritesPickles(Player):
    """Sends what runs code in whoever unpickles it."""

    def probabilities(self, observation, mask):
        write_everywhere(pickle.dumps(RunsInTheParent()))
        return even(mask)


class Sleeps(Player):
    def probabilities(self, observation, mask):
        print(f"sleeping in {os.getpid()}\n", end="")  # in one piece: others print too
        time.sleep(3600)


class Loops(Player):
    def probabilities(self, observation, mask):
        while True:
            pass


class HoldsEverything(Player):
    """Calls what never returns and lets no other thread of the process run."""

    def probabilities(self, observation, mask):
        print(f"holding {os.getpid()}\n", end="")
        ctypes.PyDLL(None).sleep(3600)


class NeverLoads(Player):
    def __init__(self, num_players, rules):
        time.sleep(3600)


class LeavesSomebody(Player):
    """Starts a process that holds on to all files, and dies."""

    def probabilities(self, observation, mask):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], close_fds=False)
        os._exit(7)


class TellsSetting(Player):
    def probabilities(self, observation, mask):
        victim = Path("/proc/self/oom_score_adj")
        raise RuntimeError(
            f"{os.environ['OMP_NUM_THREADS']} thread, "
            f"score {victim.read_text().strip() if victim.exists() else 1000}"
        )


class Chatters(Player):
    """Plays, and says so."""

    def probabilities(self, observation, mask):
        print("I think", len(mask))
        os.write(1, b"therefore I write\n")
        sys.stderr.write("and complain\n")
        return even(mask)


class Slow(Player):
    """Takes its time and writes down which process waits for it, if it is told where."""

    def probabilities(self, observation, mask):
        waiting = os.environ.get("KILLE_TEST_WAITING")
        if waiting:
            with Path(waiting).open("a") as file:
                file.write(f"{os.getppid()}\n")
            time.sleep(0.3)
        return even(mask)


class ForTwo(Player):
    """Was made for two seats."""

    def __init__(self, num_players, rules):
        super().__init__(num_players, rules)
        self.tables = (Table.of(rules.game, 2, rules),)
