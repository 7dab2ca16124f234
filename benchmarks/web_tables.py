"""A hundred tables of players with one person each: memory, and how fast a click is answered.

    python benchmarks/web_tables.py [GAME] [TABLES]

The server runs in a process of its own, as `kille play --web` would. Every person clicks the first
choice, one after the other, and waits for the event that shows it.
"""

import multiprocessing
import resource
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from web_tables import Browser, Served

CLICKS = 5


def serve(pipe: Any) -> None:
    with Served() as served:
        pipe.send(served.url)
        pipe.recv()
        resident = int(Path("/proc/self/statm").read_text().split()[1])
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        pipe.send((resident * resource.getpagesize() / 2**20, most, threading.active_count()))


def click(browser: Browser, table: str) -> float | None:
    """Returns the seconds from a click to its event; None where nobody is asked."""
    state = browser.asked(table)
    if not state["choices"]:
        return None
    with browser.listening(table, state["version"]) as events:
        next(events)
        begun = time.perf_counter()
        assert browser.act(table, state).status_code == 200
        while next(events)["version"] == state["version"]:
            pass
        return time.perf_counter() - begun


def main() -> None:
    game = sys.argv[1] if len(sys.argv) > 1 else "byteskille"
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    server.start()
    url = ours.recv()
    begun = time.perf_counter()
    first = Browser(url)
    table = first.make(game)
    first.asked(table)
    opened = time.perf_counter() - begun
    print(f"first page, first table of {game} and its first question: {opened:.2f} s")
    people = [(first, table)]
    for _ in range(number - 1):
        browser = Browser(url)
        people.append((browser, browser.make(game)))
        time.sleep(0.15)  # newcomers are bounded
    answers = [click(*one) for _ in range(CLICKS) for one in people]
    times = sorted(1000 * seconds for seconds in answers if seconds is not None)
    ours.send("enough")
    now, most, threads = ours.recv()
    print(f"{len(times)} clicks at {number} tables: median {statistics.median(times):.0f} ms, "
          f"99 of 100 within {times[int(0.99 * (len(times) - 1))]:.0f} ms")  # fmt: skip
    print(f"memory of the server: {now:.0f} MB, at most {most:.0f} MB; {threads} threads")
    for browser, _ in people:
        browser.http.close()
    server.join()


if __name__ == "__main__":
    main()
