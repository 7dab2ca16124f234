"""What a child process and its parent say to each other, over one connection.

The parent sends pickles. The child answers in messages of bytes: a mark, what is said, and JSON or
arrays. So the parent unpickles nothing, and garbage that a player writes into the connection is no
message.
"""

import io
import json
from enum import IntEnum
from typing import Any

import numpy as np

from kille_training.pool.jobs import Arrays

MARK = b"kille\0\r\n"
LARGEST = 1 << 30
"""Bytes of a message, at most."""
MOST_TEXT = 10_000
"""Characters of a text, at most."""
FILES_CLOSED = 113
"""Exit code of a child whose files a player has closed or replaced."""


class Said(IntEnum):
    """What a child says.

    Attributes:
        ASKED: Code of others runs next: whose, what it is asked, and how many seconds it has.
        ANSWERED: It has returned.
        FAILED: It has failed, and why.
        DONE: The item's arrays.
        BROKEN: The job itself has failed; a sentence or a traceback.
    """

    ASKED = 1
    ANSWERED = 2
    FAILED = 3
    DONE = 4
    BROKEN = 5


def encode(said: Said, content: Any = None) -> bytes:
    """Return a message; its content is arrays by name for `DONE`, otherwise what JSON holds."""
    if said is not Said.DONE:
        return MARK + bytes([said]) + json.dumps(content).encode()
    stream = io.BytesIO()
    for name, array in content.items():
        np.lib.format.write_array(stream, np.array(name), (1, 0), allow_pickle=False)
        np.lib.format.write_array(stream, np.asarray(array), (1, 0), allow_pickle=False)
    return MARK + bytes([said]) + stream.getvalue()


def decode(message: bytes) -> tuple[Said, Any]:
    """Return what a message says, and its content.

    Raises:
        ValueError: It is none.
    """
    start = len(MARK) + 1
    if len(message) < start or not message.startswith(MARK):
        raise ValueError("no mark")
    said = Said(message[start - 1])
    try:
        if said is not Said.DONE:
            return said, json.loads(message[start:])
        stream, arrays = io.BytesIO(message[start:]), Arrays()
        while stream.tell() < len(message) - start:
            name = str(np.lib.format.read_array(stream, allow_pickle=False))
            arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
        return said, arrays
    except (ArithmeticError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError) as e:
        raise ValueError(str(e)) from None
