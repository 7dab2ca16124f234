"""The notebooks run from top to bottom; their outputs are committed, small and of no machine."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from reference.scripts import script

for needed in ("ipykernel", "matplotlib", "nbclient", "pandas", "sb3_contrib"):
    pytest.importorskip(needed)

made = script("notebooks/execute.py")
NOTEBOOKS = made.notebooks()
LARGEST_FILE, LARGEST_OUTPUT = 400_000, 150_000
"""Bytes."""
FOREIGN = re.compile(
    r"(?:/home|/tmp|/root|/Users|/var|/work)/|[A-Z]:\\\\|0x[0-9a-f]{6,}|site-packages|\d\d:\d\d:\d\d"
)
"""Paths, addresses and times, which differ from machine to machine."""


def ids(path: Path) -> str:
    return path.stem


def texts(output: Any) -> list[str]:
    """What an output shows, whatever its form."""
    shown = output.get("data", {"text/plain": output.get("text", "")})
    return ["".join(part) for part in shown.values()]


def test_there_are_notebooks() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{n + 1:02}" for n in range(8)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_outputs_are_those_of_the_code(path: Path) -> None:
    notebook = made.read(path)
    counts = [cell.execution_count for cell in made.code(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "executed in another order"
    assert notebook.metadata.executed == made.digest(notebook), (
        f"{path.name} was changed and not executed again: make notebooks"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_outputs_are_small_and_of_no_machine(path: Path) -> None:
    assert path.stat().st_size < LARGEST_FILE
    notebook = made.read(path)
    assert set(notebook.metadata) == {*made.METADATA, "executed"}
    for cell in made.code(notebook):
        assert not cell.metadata
        for output in cell.outputs:
            assert output.output_type != "error" and output.get("name") != "stderr", output
            for text in texts(output):
                assert len(text) < LARGEST_OUTPUT
                assert not (found := FOREIGN.search(text)), found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_links_lead_somewhere(path: Path) -> None:
    for cell in made.read(path).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\((?!https:)([^)#]+)", cell.source):
                assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.compiled
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if n else ()) for n, path in enumerate(NOTEBOOKS)],
    ids=ids,
)
def test_every_cell_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(entry for entry in sys.path if entry))
    notebook = made.smaller(made.read(path))
    whole = made.digest(notebook) == notebook.metadata.executed
    before = [shown(cell) for cell in made.code(notebook)]
    after = [shown(cell) for cell in made.code(made.execute(notebook, tmp_path))]
    assert before == after or not whole, "its outputs are others: make notebooks"


def shown(cell: Any) -> list[str]:
    """What a cell has printed; pictures differ between versions of matplotlib."""
    printed = [output.get("text", "") for output in cell.outputs]
    values = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return ["".join(part) for part in (*printed, *values)]
