"""A process in which one library is measured: `python -m speed.peers.worker NAME`.

It writes lines of JSON: first the library's version and its works, then for every number that it
reads the seconds per piece of that work. What libraries print goes to the standard error.
"""

import contextlib
import importlib
import json
import os
import sys
from importlib.metadata import version
from typing import TextIO

from speed.peers.work import Play, measured


def serve(name: str, requests: TextIO, answers: TextIO) -> None:
    """Measures what it is asked for, until there are no more requests."""

    def answer(value: object) -> None:
        print(json.dumps(value), file=answers, flush=True)

    try:
        library = importlib.import_module(f"speed.peers.{name}")
    except ImportError as error:
        answer({"missing": str(error)})
        return
    works = [[work.kind, work.what, work.includes] for work in library.WORKS]
    answer({"version": version(library.DISTRIBUTION), "works": works})
    ready: dict[int, Play] = {}
    for line in requests:
        number = int(line)
        if number not in ready:
            ready[number] = library.WORKS[number].prepare()
        answer(measured(ready[number]))


def main() -> None:
    """Keeps to one core, and the answers apart from what libraries print."""
    with contextlib.suppress(AttributeError):  # not every system has it
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.argv[1], sys.stdin, answers)


if __name__ == "__main__":
    main()
