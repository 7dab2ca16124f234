"""Notebooks as pages: their text, code and outputs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def page(path: Path) -> str:
    """Return a notebook as a page with embedded pictures."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _parts(cell)) + "\n"


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    for output in cell["outputs"]:
        yield from _shown(output)


def _shown(output: dict[str, Any]) -> Iterator[str]:
    """Yield the richest displayable form of an output."""
    if output["output_type"] == "stream":
        yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        return
    forms = {kind: "".join(data) for kind, data in output["data"].items()}
    if "image/svg+xml" in forms:
        yield f'<div class="output">\n{_without_blank_lines(forms["image/svg+xml"])}\n</div>'
    elif "text/html" in forms:
        yield f'<div class="output">\n{_without_blank_lines(forms["text/html"])}\n</div>'
    else:
        yield f"```text\n{forms['text/plain'].rstrip()}\n```"


def _without_blank_lines(html: str) -> str:
    """Return HTML without blank lines, one block of Markdown."""
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())
