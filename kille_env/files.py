"""Files that are written whole or not at all, and read within bounds."""

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kille_env.errors import FileError, KilleError, shortened

MOST_JSON, MOST_LEVELS = 64 << 20, 64
"""Bytes of a text of JSON, and levels of nesting in it, at most."""
MOST_ARRAYS = 2 << 30
"""Bytes of the arrays of one file, unpacked, at most."""
BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""Errors that reading a broken file of arrays and JSON may raise."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an `OSError` about a path to write into a `FileError` that names it."""
    try:
        yield
    except (FileError, BrokenPipeError):  # the end of `| head` is no fault
        raise
    except OSError as error:
        reason = error.strerror or error
        raise FileError(
            f"{path} cannot be written: {reason}; name another place, or make this one writable"
        ) from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are missing."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears at its place, whole, if the block ends without error."""
    with writing(path):
        # In the same folder: only within one file system is replacing atomic.
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                # `mkstemp` makes files that nobody else can read.
                os.fchmod(file.fileno(), 0o644)
            Path(temporary).replace(path)
        # Ctrl-C leaves no half file behind either.
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; see `whole_file`."""
    with whole_file(path) as file:
        file.write(data)


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write arrays and a description, as JSON can hold it; equal content gives equal bytes."""
    line = np.frombuffer(json.dumps(about, sort_keys=True).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=line, **arrays)
    write_whole(path, buffer.getvalue())


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a file of `write_arrays`; nothing in the file can run."""
    # Read as a whole first: NumPy leaves a file open that it cannot read.
    data = io.BytesIO(read_bytes(path, MOST_ARRAYS))
    try:
        with zipfile.ZipFile(data) as archive:
            # A small file can unpack to more than the memory holds.
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MOST_ARRAYS:
            raise KilleError(f"its arrays are larger than {MOST_ARRAYS >> 20:,} MiB")
        with np.load(data, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except KilleError:
        raise
    except Exception as error:  # a header can claim anything: NumPy, zipfile and zlib have no base
        raise KilleError(f"its arrays cannot be read ({shortened(str(error))})") from None
    about = parse_json(bytes(arrays.pop("about")))
    if not isinstance(about, dict):
        raise KilleError(f"its description is {shortened(about)}, expected an object")
    return about, arrays


def read_bytes(path: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes."""
    if path.stat().st_size > most:
        raise KilleError(f"it is larger than {most >> 20:,} MiB")
    return path.read_bytes()


def read_json(path: Path) -> Any:
    """Read a file of JSON; see `parse_json`."""
    return parse_json(read_bytes(path, MOST_JSON))


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """Parse JSON of any origin."""
    if len(text) > MOST_JSON:
        raise KilleError(f"it is larger than {MOST_JSON >> 20:,} MiB")
    try:
        content = json.loads(text, **hooks)
    except RecursionError:
        raise KilleError(f"it is nested more than {MOST_LEVELS} levels deep") from None
    except ValueError as error:
        raise KilleError(f"it is not JSON ({error})") from None
    level = [content]
    for _ in range(MOST_LEVELS):
        level = [one for thing in level for one in _members(thing)]
    if level:
        raise KilleError(f"it is nested more than {MOST_LEVELS} levels deep")
    return content


def _members(thing: Any) -> Iterable[Any]:
    if isinstance(thing, dict):
        return thing.values()
    return thing if isinstance(thing, list) else ()
