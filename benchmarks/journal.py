"""A file of finished runs, so that benchmarks of learning resume."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kille_env.errors import ConfigError
from kille_training.settings import plain, versions

ROOT = Path(__file__).parents[1]
Key = dict[str, Any]  # values that identify a run of a benchmark
Case = tuple[Key, Any]  # run: its key and its settings
Measure = Callable[[Key, Any], dict[str, Any]]


class Journal:
    """A file of finished runs, one JSON object per line."""

    def __init__(self, path: Path) -> None:
        """Read the lines; drop an incomplete last one, so that its run is repeated."""
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]
        if whole != text:
            path.write_text(whole, encoding="utf-8")

    def has(self, key: Mapping[str, Any], settings: Any) -> bool:
        """Return whether a run is finished; refuse one with other settings."""
        for line in self.lines:
            if all(line.get(name) == value for name, value in key.items()):
                if line["settings"] != plain(settings):
                    raise ConfigError(
                        f"{self.path} holds the run {dict(key)} with other settings; "
                        "remove the file, or choose another one with --out"
                    )
                return True
        return False

    def add(self, key: Mapping[str, Any], settings: Any, **found: Any) -> None:
        """Append a finished run."""
        line = {**key, **found, "settings": plain(settings), "made_with": versions()}
        self.lines.append(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")


def make_runs(
    doc: str | None,
    name: str,
    cases: Callable[[int], Iterable[Case]],
    measure: Measure,
    seeds: int = 5,
) -> None:
    """Execute the missing runs of the file `--out`, for a number of seeds."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--workers", type=int, default=1, help="processes; each takes one core")
    parser.add_argument("--out", type=Path, default=Path("runs") / f"{name}.jsonl")
    options = parser.parse_args()
    journal = Journal(options.out)
    missing = [case for case in cases(options.seeds) if not journal.has(*case)]
    for (key, settings), found in _made(missing, measure, options.workers):
        journal.add(key, settings, **found)
        print(f"{json.dumps(key)}: {json.dumps(found)}", flush=True)


def _made(
    cases: Iterable[Case], measure: Measure, workers: int
) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield runs with their results, in order of completion."""
    if workers == 1:
        yield from ((case, measure(*case)) for case in cases)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        jobs = {pool.submit(measure, *case): case for case in cases}
        for job in as_completed(jobs):
            yield jobs[job], job.result()
