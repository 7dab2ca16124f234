"""Files from elsewhere: what is no JSON or no arrays is refused in a sentence."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kille_env import files
from kille_env.errors import KilleError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested more than 64 levels"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "nested more than 64 levels"),
        ("[" * 65 + "]" * 65, "nested more than 64 levels"),
        ("9" * 5_000, "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        ("{", "not JSON"),
        ("", "not JSON"),
        (" " * 2_000, "larger than 0 MiB"),
    ],
)
def test_json_that_is_refused(
    text: str | bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if words.startswith("larger"):
        monkeypatch.setattr(files, "MOST_JSON", 1_000)
    with pytest.raises(KilleError, match=words):
        files.parse_json(text)


def test_json_within_bounds_is_read(tmp_path: Path) -> None:
    deep = "[" * 64 + "]" * 64
    (tmp_path / "x.json").write_text(deep)
    assert files.read_json(tmp_path / "x.json") == files.parse_json(deep)
    assert files.parse_json(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}


def _npy(shape: str, data: bytes = b"") -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"about": _npy("(99999999999999,)")}, "arrays cannot be read .{,250}$"),
        ({"about": _npy("(" * 3_000 + ")" * 3_000)}, "arrays cannot be read .{,250}$"),
        ({"about": _npy("(-1,)")}, "arrays cannot be read"),
        ({"about": _npy("(3,)", bytes(24)), "x": bytes(5_000)}, "arrays are larger than 0 MiB"),
    ],
)
def test_arrays_that_are_refused(
    members: dict[str, bytes], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    if "0 MiB" in words:
        monkeypatch.setattr(files, "MOST_ARRAYS", 4_000)
    with pytest.raises(KilleError, match=words):
        files.read_arrays(path)


@pytest.mark.parametrize(
    ("about", "words"),
    [(b"[" * 5_000, "nested"), (b"[1]", r"is \[1\], expected an object"), (b"{", "not JSON")],
)
def test_arrays_whose_description_is_refused(about: bytes, words: str, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, about=np.frombuffer(about, dtype=np.uint8))
    (tmp_path / "x.npz").write_bytes(buffer.getvalue())
    with pytest.raises(KilleError, match=words):
        files.read_arrays(tmp_path / "x.npz")
