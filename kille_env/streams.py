"""Standard error, which may be missing, closed, or replaced by an object that only writes."""

import sys
import textwrap
from shutil import get_terminal_size
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


def fitted(text: str, stream: Any) -> str:
    """Return a text with long lines broken between words if the stream is a terminal."""
    if not is_terminal(stream):
        return text
    width = get_terminal_size().columns
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="  ") if len(line) > width else line
        for line in text.split("\n")
    )


def say(line: str) -> None:
    """Print a line on standard error, or nothing where there is none."""
    stream = standard_error()
    if stream is not None:
        # The line of a progress bar is cleared; its next update draws it below.
        clear = "\r\x1b[K" if is_terminal(stream) else ""
        print(f"{clear}{fitted(line, stream)}", file=stream)
