"""Shared code of the scripts beside the pages: files and generated blocks."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from markdown_tables import table as table


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects of a file, one per line; none if there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def filled(page: Path, blocks: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its generated blocks replaced."""
    found = set()

    def block(match: re.Match[str]) -> str:
        found.add(match[1])
        return f"<!-- begin {match[1]} -->\n\n{blocks[match[1]]()}\n\n<!-- end {match[1]} -->"

    marks = r"(?ms)^<!-- begin ([\w -]+) -->$.*?^<!-- end \1 -->$"
    text = re.sub(marks, block, page.read_text(encoding="utf-8"))
    if missing := blocks.keys() - found:
        raise KeyError(f"{page} has no place for {', '.join(sorted(missing))}")
    return text


def write(files: Mapping[Path, str], check: bool) -> int:
    """Write changed files, or (check) print their names and return 1."""
    stale = False
    for path, new in files.items():
        if path.is_file() and path.read_text(encoding="utf-8") == new:
            continue
        stale = True
        if not check:
            path.write_text(new, encoding="utf-8")
        print(f"{path}: stale; run the script again" if check else f"{path}: written")
    return int(check and stale)
