"""Standard error, which may be missing, closed, or replaced by an object that only writes."""

import sys
from typing import Any, TextIO


def standard_error() -> TextIO | None:
    """Return standard error; None where there is none (as under pythonw), or it is closed."""
    stream: Any = sys.stderr
    return None if stream is None or getattr(stream, "closed", False) else stream


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # none, closed, or an object that only writes
        return False


def say(line: str) -> None:
    """Print a line on standard error, or nothing where there is none."""
    stream = standard_error()
    if stream is not None:
        print(line, file=stream)
