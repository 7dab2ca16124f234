"""Generate the tables and pictures of the pages: `python docs/pages.py [--check] [NAME ...]`.

Every script of `MAKERS` lists its generated blocks of pages in `BLOCKS`, whole files in `FILES`,
and Matplotlib pictures in `FIGURES`, which are not checked because their bytes depend on its
version. `--check` writes nothing; it prints stale files and exits with 1.
"""

import argparse
import importlib
import sys
from pathlib import Path

from blocks import filled, write

MAKERS = (
    *("architecture", "benchmark", "curves", "leaderboard", "learning", "performance"),
    *("pictures", "rule_spaces", "tables", "truth", "what_is_hard"),
)


def built(name: str) -> dict[Path, str]:
    """Return the files of a script with their content."""
    maker = importlib.import_module(name)
    pages = {page: filled(page, blocks) for page, blocks in getattr(maker, "BLOCKS", {}).items()}
    return pages | {path: make() for path, make in getattr(maker, "FILES", {}).items()}


def main() -> int:
    """Write or check; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="scripts; all by default")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if others := set(options.names) - set(MAKERS):
        parser.error(
            f"no script {', '.join(sorted(others))} is run here; possible: {', '.join(MAKERS)}"
        )
    files = {}
    for name in options.names or MAKERS:
        files |= built(name)
        if not options.check:
            figures = getattr(importlib.import_module(name), "FIGURES", {})
            # Matplotlib leaves spaces at the ends of lines.
            lines = {path: map(str.rstrip, make().splitlines()) for path, make in figures.items()}
            files |= {path: "\n".join(each) + "\n" for path, each in lines.items()}
    return write(files, options.check)


if __name__ == "__main__":
    sys.exit(main())
