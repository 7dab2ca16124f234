"""Files that are written whole or not at all."""

import io
import json
import os
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

BROKEN = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,  # by which NumPy reads a header
)
"""What reading a broken file of arrays and JSON may raise."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing that appears at its place, whole, when the block ends without error.

    Args:
        path: Where the file is to be; its folder exists.

    Raises:
        OSError: The file cannot be written; what was there before stays as it was.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all; see `whole_file`."""
    with whole_file(path) as file:
        file.write(data)


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Writes arrays and what they are, as JSON can hold it; equal content gives equal bytes."""
    line = np.frombuffer(json.dumps(about, sort_keys=True).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=line, **arrays)
    write_whole(path, buffer.getvalue())


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads what `write_arrays` has written; nothing in the file can run.

    Raises:
        Exception: One of `BROKEN`: the file is missing, or holds something else.
    """
    # Read as a whole first: NumPy leaves a file open that it cannot read.
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(bytes(arrays.pop("about"))), arrays
