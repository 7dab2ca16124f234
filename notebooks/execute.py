"""Executes the notebooks, and writes them with their outputs: `make notebooks`.

    python notebooks/execute.py          all of them
    python notebooks/execute.py 03 05    those whose names begin so

Each runs in an empty folder, in this Python. What is written holds the outputs in order and nothing
about the machine: no times, versions or paths. A digest of the code is kept in its metadata, so
that a test sees whether a cell was changed and not executed again.
"""

import hashlib
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
SMALLER = re.compile(r"^(\w+) = .+  # tests: (.+)$", re.MULTILINE)
"""A setting, and the smaller value that the tests run with."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS = 240
"""Most that a cell may take."""


def notebooks() -> list[Path]:
    """Return the files of the notebooks, in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)


def code(notebook: Any) -> list[Any]:
    """Return the cells with code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def digest(notebook: Any) -> str:
    """Return a fingerprint of the code of a notebook."""
    return hashlib.sha256("\0".join(cell.source for cell in code(notebook)).encode()).hexdigest()


def smaller(notebook: Any) -> Any:
    """Return a notebook with the values that stand after `# tests:`."""
    for cell in code(notebook):
        cell.source = SMALLER.sub(r"\1 = \2", cell.source)
    return notebook


def execute(notebook: Any, folder: Path) -> Any:
    """Execute a notebook from top to bottom, in place.

    Args:
        notebook: The notebook.
        folder: The working folder of its code.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell failed.
    """
    for cell in code(notebook):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        coalesce_streams=True,  # how prints are cut into messages differs from run to run
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    for cell in code(notebook):  # what had to be compiled, and how far it was
        cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    notebook.metadata = nbformat.from_dict({**METADATA, "executed": digest(notebook)})
    return notebook


def main(names: list[str]) -> None:
    """Execute and write the notebooks whose names begin so, or all."""
    os.environ["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path[1:] if entry)
    for path in notebooks():
        if names and not path.name.startswith(tuple(names)):
            continue
        print(path.name, file=sys.stderr)
        with TemporaryDirectory() as folder:
            nbformat.write(execute(read(path), Path(folder)), path)


if __name__ == "__main__":
    main(sys.argv[1:])
