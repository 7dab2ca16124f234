"""Tables in Markdown, as benchmarks print them and pages show them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kille_env.files import write_whole


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Returns a table in Markdown."""
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def fill(page: Path, blocks: Mapping[str, str]) -> None:
    """Writes blocks of a page between their marks."""
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        begin, end = f"<!-- begin {name} -->\n", f"\n<!-- end {name} -->"
        if begin not in text or end not in text:
            raise KeyError(f"{page} has no place for {name}")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{block}\n{end}{rest.partition(end)[2]}"
    write_whole(page, text.encode())
