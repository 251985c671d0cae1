"""Scripts from files and from standard input: the same text, and the same error, for the same bytes."""

from __future__ import annotations

import codecs
import io
import sys
from pathlib import Path

import pytest

from execnodes.core.errors import SqlError
from rekindle.cli.inputs import read_script


def _read_twice(monkeypatch: pytest.MonkeyPatch, folder: Path, data: bytes) -> tuple[str, str]:
    """The text, or the error without its place, from a file and from standard input in a locale of ASCII."""
    (folder / "s.sql").write_bytes(data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))
    found = []
    for path, place in ((folder / "s.sql", str(folder / "s.sql")), (Path("-"), "<stdin>")):
        try:
            found.append(read_script(path).text)
        except SqlError as error:
            found.append(f"{error.message} at {error.where}".removesuffix(f" at {place}"))
    return found[0], found[1]


@pytest.mark.parametrize("data", ["SELECT 'é';\nSELECT 2".encode(), b"SELECT 1;\r\nSELECT 2", b"  ", b""])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_script_is_the_same_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes, mark: bytes
) -> None:
    text = data.decode().replace("\r\n", "\n") if data.strip() else "the script is empty"
    assert _read_twice(monkeypatch, tmp_path, mark + data) == (text, text)


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        ("SELECT 1".encode("utf-16"), 0),
        (codecs.BOM_UTF16_BE + "SELECT 1".encode("utf-16-be"), 0),
        (b"SELECT '\xe9'", 8),
    ],
)
def test_other_encodings_have_one_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes, byte: int
) -> None:
    message = f"the script is not UTF-8 (byte {byte})"
    assert _read_twice(monkeypatch, tmp_path, data) == (message, message)
