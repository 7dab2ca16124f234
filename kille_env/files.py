"""Files that are written whole or not at all."""

import os
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

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
