"""Tables as bytes: a line of JSON that says what they are, then the records."""

import json
import zlib
from typing import Any

import numpy as np

from kille_env.errors import KilleError, shortened


def encoded(identity: dict[str, Any], tables: np.ndarray) -> bytes:
    """Returns tables as bytes, with what they are and a checksum."""
    body = tables.tobytes()
    return json.dumps({**identity, "crc32": zlib.crc32(body)}).encode() + b"\n" + body


def decoded(saved: Any, expected: dict[str, Any], dtype: np.dtype) -> np.ndarray:
    """Returns saved tables, [N] of a dtype.

    Args:
        saved: The bytes.
        expected: What they must say of themselves.
        dtype: Record dtype of a table.

    Raises:
        KilleError: They are no saved tables, are damaged, or say something else.
    """
    if not isinstance(saved, bytes):
        raise KilleError(f"saved tables are bytes of Batch.save, got {shortened(saved)}")
    head, _, body = saved.partition(b"\n")
    try:
        identity = dict(json.loads(head))
    except (ValueError, TypeError, RecursionError):
        raise KilleError("these bytes were not written by Batch.save") from None
    for key in expected:
        if identity.get(key) != expected[key]:
            raise KilleError(
                f"the saved tables differ in {key}: {shortened(identity.get(key))}, "
                f"not {expected[key]!r}"
            )
    length = expected["num_tables"] * dtype.itemsize
    if len(body) != length:
        raise KilleError(f"the saved tables are cut off: {len(body)} bytes of {length}")
    if zlib.crc32(body) != identity.get("crc32"):
        raise KilleError("the saved tables are damaged: their checksum is another")
    return np.frombuffer(body, dtype=dtype)
