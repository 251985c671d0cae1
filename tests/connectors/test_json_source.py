"""Format json: Flink's conversions, bad input, order and metadata."""

from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError
from rekindle.connectors.registry import describe_failure, find_source
from tests.connectors.helpers import read, source_request, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def _json(path: Path, columns: dict[str, str], **options: str) -> Any:
    given = {"connector": "filesystem", "format": "json", "path": str(path)}
    return table(columns, {**given, **{key.replace("__", ".").replace("_", "-"): v for key, v in options.items()}})


LENIENT_LINES = """\
{"id":1,"v":"12","s":5,"ts":"2024-01-01 00:00:00"}
{"id":2,"v":"x","s":"ok"}
not json
{"id":3,"s":{"z":1, "a" : [1, 2]},"ts":"2024-01-01T00:00:00"}
{"id":4,"v":1.9}
{"id":"5","v":true,"s":null}

{"id":6,"v":2147483648,"extra":1}
[1,2]
{"id":7,"v":7,"s":"é","ts":"2024-01-01 00:00:00.123456"}
{"ID":8}
"""


def test_bad_fields_are_null_and_bad_lines_dropped(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(LENIENT_LINES, encoding="utf-8")
    columns = {"id": "INT", "v": "INT", "s": "STRING", "ts": "TIMESTAMP(3)"}
    rows = read(spark, _json(tmp_path / "r.jsonl", columns, json__ignore_parse_errors="true"), tmp_path / "job")
    assert rows == [
        (1, 12, "5", dt.datetime(2024, 1, 1)),
        (2, None, "ok", None),
        (3, None, '{"z":1,"a":[1,2]}', None),
        (4, 1, None, None),
        (5, None, None, None),
        (6, None, None, None),
        (7, 7, "é", dt.datetime(2024, 1, 1, 0, 0, 0, 123000)),
        (None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("BOOLEAN", "true", True),
        ("BOOLEAN", '"TRUE"', True),
        ("BOOLEAN", '"yes"', False),
        ("TINYINT", '"7"', 7),
        ("SMALLINT", "-300", -300),
        ("INT", "1.9", 1),
        ("INT", "-1.9", -1),
        ("INT", '" 12 "', 12),
        ("BIGINT", "1e3", 1000),
        ("BIGINT", "9223372036854775807", 9223372036854775807),
        ("DOUBLE", "1", 1.0),
        ("DOUBLE", '"2.5"', 2.5),
        ("DECIMAL(30, 10)", "12345678901234567890.0123456789", Decimal("12345678901234567890.0123456789")),
        ("DECIMAL(8, 2)", '"10.005"', Decimal("10.01")),
        ("DECIMAL(4, 2)", "1234567", None),
        ("STRING", "[1, {}]", "[1,{}]"),
        ("STRING", "true", "true"),
        ("DATE", '"2024-02-29"', dt.date(2024, 2, 29)),
        ("TIME(3)", '"12:34:56.789"', 45296789),
        ("TIMESTAMP(6)", '"2024-02-30 01:02:03.5"', dt.datetime(2024, 2, 29, 1, 2, 3, 500000)),
        ("TIMESTAMP(0)", '"2024-02-28 01:02:03.999"', dt.datetime(2024, 2, 28, 1, 2, 3)),
        ("BYTES", '"AQI="', b"\x01\x02"),
        ("ARRAY<INT>", "[1, null, 3]", [1, None, 3]),
        ("ARRAY<INT>", '["1", 2.5]', [1, 2]),
        ("ARRAY<TIMESTAMP(3)>", '["2024-01-01 00:00:00"]', [dt.datetime(2024, 1, 1)]),
        ("MAP<STRING, INT>", '{"a": 1, "b": "2"}', {"a": 1, "b": 2}),
        ("ROW<`a` INT, `b` ROW<`c` DATE>>", '{"b": {"c": "2024-01-01"}}', (None, (dt.date(2024, 1, 1),))),
        ("ROW<`a` INT, `b` ROW<`c` STRING>>", '{"a": "1", "b": {"c": {"z": 1, "y": 2}}}', (1, ('{"z":1,"y":2}',))),
        ("INT", "null", None),
    ],
)
def test_conversions(spark: SparkSession, tmp_path: Path, kind: str, text: str, expected: Any) -> None:
    (tmp_path / "f").write_text(f'{{"x": {text}}}\n', encoding="utf-8")
    frame_rows = read(spark, _json(tmp_path / "f", {"x": kind}), tmp_path / "job", batch=True)
    assert frame_rows == [(expected,)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("INT", '"x"'),
        ("INT", "{}"),
        ("INT", "2147483648"),
        ("TINYINT", "1.5"),
        ("DECIMAL(4, 2)", '"abc"'),
        ("DATE", '"2023-02-29"'),
        ("TIMESTAMP(3)", '"2024-01-01T00:00:00"'),
        ("TIMESTAMP_LTZ(3)", '"2024-01-01 00:00:00"'),
        ("ARRAY<INT>", '[1, "a"]'),
        ("ARRAY<DATE>", '["2024-13-01"]'),
        ("ROW<`a` INT>", "5"),
        ("ROW<`a` ROW<`b` TIMESTAMP(3)>>", '{"a": {"b": "?"}}'),
        ("BYTES", "5"),
    ],
)
def test_a_bad_value_fails_with_file_and_line(spark: SparkSession, tmp_path: Path, kind: str, text: str) -> None:
    path = tmp_path / "in put.jsonl"
    path.write_text(f'{{"x": null}}\n\n{{"x": {text}}}\n', encoding="utf-8")
    given = _json(path, {"x": kind})
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, given, tmp_path / "job", batch=True)
    error = describe_failure(raised.value)
    assert isinstance(error, ConnectorError)
    assert f"{path}, line 3: field 'x" in str(error)
    assert f'{{"x": {text}}}' in str(error)
    lenient = _json(path, {"x": kind}, json__ignore_parse_errors="true")
    assert read(spark, lenient, tmp_path / "job", batch=True)[0] == (None,)


@pytest.mark.parametrize("line", ["not json", "[1,2]", '{"x": 1', "5"])
def test_a_bad_line_fails_even_when_no_column_is_read(spark: SparkSession, tmp_path: Path, line: str) -> None:
    (tmp_path / "f").write_text(f'{{"x": 1}}\n{line}\n', encoding="utf-8")
    given = _json(tmp_path / "f", {"x": "INT"})
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, given, tmp_path / "job", batch=True, columns=())
    assert "line 2: the line is not a JSON object" in str(describe_failure(raised.value))


def test_missing_field_can_fail(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "f").write_text('{"x": null}\n{"y": 1}\n', encoding="utf-8")
    given = _json(tmp_path / "f", {"x": "INT"}, json__fail_on_missing_field="true")
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, given, tmp_path / "job", batch=True)
    assert "line 2: field 'x': the field is missing" in str(describe_failure(raised.value))


def test_iso_timestamps(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "f").write_text('{"a": "2024-01-01T00:00", "b": "2024-01-01T00:00:00.25Z"}\n', encoding="utf-8")
    columns = {"a": "TIMESTAMP(3)", "b": "TIMESTAMP_LTZ(3)"}
    options = {"json.timestamp-format.standard": "ISO-8601"}
    given = table(columns, {"connector": "filesystem", "format": "json", "path": str(tmp_path / "f"), **options})
    rows = read(spark, given, tmp_path / "job")
    assert rows[0][0] == dt.datetime(2024, 1, 1)
    assert rows[0][1].timestamp() == dt.datetime(2024, 1, 1, 0, 0, 0, 250000, tzinfo=dt.UTC).timestamp()


def test_files_come_by_modification_time_then_path(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name, age in (("b.json", 5), ("a{1}.json", 5), ("sub/c [x].json", 1), ("_hidden.json", 0)):
        path = folder / name
        path.write_text("".join(f'{{"x": "{name}{i}"}}\n' for i in range(3)), encoding="utf-8")
        os.utime(path, (1e9 + age, 1e9 + age))
    given = _json(folder, {"x": "STRING", "file.name": "STRING", "file.path": "STRING"})
    rows = read(spark, given, tmp_path / "job")
    names = ["sub/c [x].json"] * 3 + ["a{1}.json"] * 3 + ["b.json"] * 3
    assert [row[0] for row in rows] == [f"{name}{i % 3}" for i, name in enumerate(names)]
    assert rows[0][1:] == ("c [x].json", str(folder / "sub/c [x].json"))


def test_a_bounded_source_keeps_its_files(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.json").write_text('{"x": 1}\n', encoding="utf-8")
    given = _json(folder, {"x": "INT"})
    assert read(spark, given, tmp_path / "job") == [(1,)]
    positions = find_source("filesystem").positions(spark, source_request(given, tmp_path / "job"))
    assert positions is not None
    first = positions.plan(None)
    assert first is not None
    assert first.ended
    (folder / "2.json").write_text('{"x": 2}\n', encoding="utf-8")
    again = positions.plan(first.position)
    assert again is not None
    assert (again.position, again.ended) == (first.position, True)
    assert read(spark, given, tmp_path / "job2", start=f'["{folder}/1.json"]') == [(2,)]


def test_a_missing_path_is_named(spark: SparkSession, tmp_path: Path) -> None:
    given = _json(tmp_path / "nowhere" / "*.json", {"x": "INT"})
    with pytest.raises(ConnectorError, match=r"table t: there is no file or folder .*nowhere"):
        read(spark, given, tmp_path / "job")


def test_an_empty_folder_is_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert read(spark, _json(tmp_path / "in", {"x": "INT"}), tmp_path / "job") == []
