"""Files that are written whole or not at all."""

import os
import tempfile
import tokenize
import zipfile
import zlib
from pathlib import Path

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


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file beside its place and moves it there, so that nobody ever sees half of it.

    Args:
        path: Where the file is to be; its folder exists.
        data: Its content.

    Raises:
        OSError: The file cannot be written; what was there before stays as it was.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
