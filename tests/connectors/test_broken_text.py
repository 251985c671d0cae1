"""Bytes that are no text: a format fails with file and line, or leaves the line out; it never puts something else."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError
from rekindle.connectors.registry import describe_failure
from tests.connectors.helpers import read, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DEBEZIUM = b'{"before": null, "after": {"x": "%s"}, "op": "c"}'
CANAL = b'{"data": [{"x": "%s"}], "type": "INSERT"}'
LINES = {"json": b'{"x": "%s"}', "csv": b"%s", "debezium-json": DEBEZIUM, "canal-json": CANAL}
NOT_UTF8 = (b"caf\xe9", b"\xff\xfe", b"a\xc0\xafb", b"\xed\xa0\x80", b"cut \xf0\x9f\x98", b"\x80", b"\xf4\x90\x80\x80")
TORN = (rb"\ud800", rb"x\uDBFFy", rb"\udc00", rb"\ud83d\ud83d\ude00", rb"\\\uD83D!")
WHOLE = (rb"\ud83d\ude00", rb"\\ud800", "é😀\u0000".encode(), b"\\u0041", "\ufffd".encode())


def _table(path: Path, kind: str, ignore: bool = False) -> Any:
    options = {"connector": "filesystem", "format": kind, "path": str(path)}
    return table({"x": "STRING"}, {**options, **({f"{kind}.ignore-parse-errors": "true"} if ignore else {})})


@pytest.mark.parametrize("kind", LINES)
def test_what_is_no_utf8_fails_or_is_left_out(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    bad = [LINES[kind] % each for each in (*NOT_UTF8, *(() if kind == "csv" else TORN))]
    good = [LINES[kind] % each for each in ((b"a", "é😀".encode()) if kind == "csv" else (b"a", *WHOLE))]
    path = tmp_path / "in put"
    path.write_bytes(codecs.BOM_UTF8 + b"\r\n".join([good[0], *bad, *good[1:]]) + b"\n")
    rows = read(spark, _table(path, kind, ignore=True), tmp_path / "job", batch=True)
    # Half a character loses its field alone.
    halves = [None] * len(TORN)
    texts = ["a", "é😀"] if kind == "csv" else ["a", *halves, "😀", r"\ud800", "é😀\x00", "A", "\ufffd"]
    assert [row[-1] for row in rows] == texts
    for batch in (True, False):
        with pytest.raises(Exception, match="rekindle-bad-line") as raised:
            read(spark, _table(path, kind), tmp_path / f"job-{batch}", batch=batch)
        error = describe_failure(raised.value)
        assert isinstance(error, ConnectorError)
        assert error.message == "the line is not valid UTF-8"
        assert error.where == f"{path}, line 2"
        assert r"caf\xe9" in str(error.hint)


def test_each_kind_of_damage_is_told_with_its_line(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    for number, text in enumerate((*NOT_UTF8[1:3], *TORN)):
        path.write_bytes(b'{"x": "a"}\n\r{"x": 1}\n' + LINES["json"] % text)
        with pytest.raises(Exception, match="rekindle-bad-line") as raised:
            read(spark, _table(path, "json"), tmp_path / f"job-{number}", batch=True)
        said = str(describe_failure(raised.value))
        assert f"{path}, line 3: " in said
        assert ("UTF-8" in said) == (text in NOT_UTF8), said
        assert ("half a character" in said) == (text in TORN), said


def test_compressed_files(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "f.json.gz"
    path.write_bytes(gzip.compress(b'{"x": "a"}\n{"x": "\xe9"}\n'))
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, _table(path, "json"), tmp_path / "job", batch=True)
    assert f"{path}, line 2: the line is not valid UTF-8" in str(describe_failure(raised.value))
    path.write_bytes(gzip.compress(b'{"x": "a"}\n' * 1000)[:-20])
    for batch in (True, False):
        with pytest.raises(Exception, match="FAILED_READ_FILE") as raised:
            read(spark, _table(path, "json", ignore=True), tmp_path / f"cut-{batch}", batch=batch)
        assert f"{path}: the file cannot be read" in str(describe_failure(raised.value))


def test_keys_and_names_of_fields(spark: SparkSession, tmp_path: Path) -> None:
    """A key that is no text spoils its line, also where nobody asks for the field; half a character spoils its MAP."""
    keys = (b"caf\xe9", b"\xff", rb"\ud800", rb"x\udc00")
    inner = [b'{"x": "a", "%s": 1}' % each for each in keys] + [b'{"x": "a", "m": {"%s": "b"}}' % each for each in keys]
    envelopes = {"debezium-json": b'{"after": %s, "op": "c"}', "canal-json": b'{"data": [%s], "type": "INSERT"}'}
    shapes = {"json": b"%s", **envelopes}
    for kind, shape in shapes.items():
        path = tmp_path / kind
        path.write_bytes(b"\n".join(shape % each for each in (b'{"x": "ok"}', *inner)))
        columns = {"x": "STRING", "m": "MAP<STRING, STRING>"}
        options = {"connector": "filesystem", "format": kind, "path": str(path), f"{kind}.ignore-parse-errors": "true"}
        rows = read(spark, table(columns, options), tmp_path / f"job-{kind}", batch=True)
        assert [row[-2:] for row in rows] == [("ok", None), *[("a", None)] * 4], kind
        given = table({"x": "STRING"}, {**options, f"{kind}.ignore-parse-errors": "false"})
        with pytest.raises(Exception, match="rekindle-bad-line") as raised:
            read(spark, given, tmp_path / f"strict-{kind}", batch=True)
        assert f"{path}, line 2: the line is not valid UTF-8" in str(describe_failure(raised.value))


@pytest.mark.parametrize("batch", [True, False])
def test_names_of_partitions_are_never_replaced(spark: SparkSession, tmp_path: Path, batch: bool) -> None:
    names = {"%FF": "%FF", "caf%E9": "caf%E9", "caf%C3%A9": "café", "100%": "100%"}
    names |= {"%EF%BF%BD": "\ufffd", "x\ufffd": "x\ufffd"}
    for name in names:
        (tmp_path / "t" / f"k={name}").mkdir(parents=True)
        (tmp_path / "t" / f"k={name}" / "f.json").write_bytes(b'{"x": "%d"}' % len(name))
    options = {"connector": "filesystem", "format": "json", "path": str(tmp_path / "t")}
    rows = read(spark, table({"x": "STRING", "k": "STRING"}, options, partitions=("k",)), tmp_path / "job", batch=batch)
    assert sorted(row[1] for row in rows) == sorted(names.values())
