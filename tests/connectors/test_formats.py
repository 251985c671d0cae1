"""Formats csv, parquet, debezium-json and canal-json: reading, and reading back what was written."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError
from rekindle.connectors.registry import describe_failure
from tests.connectors.helpers import frame_of, read, sink, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def _table(path: Path, kind: str, columns: dict[str, str], **options: str) -> Any:
    given = {"connector": "filesystem", "format": kind, "path": str(path)}
    return table(columns, {**given, **{f"{kind}.{key.replace('_', '-')}": v for key, v in options.items()}})


def test_csv_with_null_literal(spark: SparkSession, tmp_path: Path) -> None:
    lines = "a|1|1.5\nb|n/a|2\nn/a|3|n/a\n|4|4.0\ne|-5|1e3\nf|6|\nh|x|-0.0\nlong|1|2|3\nshort|7\n"
    (tmp_path / "r.csv").write_text(lines, encoding="utf-8")
    columns = {"k": "STRING", "v": "INT", "w": "DOUBLE"}
    given = _table(
        tmp_path / "r.csv", "csv", columns, null_literal="n/a", field_delimiter="|", ignore_parse_errors="true"
    )
    assert read(spark, given, tmp_path / "job") == [
        ("a", 1, 1.5), ("b", None, 2.0), (None, 3, None), ("", 4, 4.0), ("e", -5, 1000.0), ("f", 6, None),
        ("h", None, -0.0), ("short", 7, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "line", "expected"),
    [
        ({}, '"a,b","say ""hi""", x ', ("a,b", 'say "hi"', " x ")),
        ({"quote_character": "'"}, "'a,b',\"c\",''", ("a,b", '"c"', "")),
        ({"disable_quote_character": "true"}, '"a,b",c', ('"a', 'b"', "c")),
        ({"escape_character": "\\"}, '"a\\"b",c,d', ('a"b', "c", "d")),
        ({"field_delimiter": "\\t"}, "a\tb,c\td", ("a", "b,c", "d")),
        ({"field_delimiter": "\\u0001"}, "a\u0001b\u0001c", ("a", "b", "c")),
        ({"allow_comments": "true"}, "#x\na,b,c", ("a", "b", "c")),
        ({"null_literal": ""}, ",b,", (None, "b", None)),
    ],
)
def test_csv_options(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], line: str, expected: tuple[Any, ...]
) -> None:
    (tmp_path / "r.csv").write_text(line + "\n", encoding="utf-8")
    given = _table(tmp_path / "r.csv", "csv", {"a": "STRING", "b": "STRING", "c": "STRING"}, **options)
    assert read(spark, given, tmp_path / "job", batch=True) == [expected]


def test_csv_types_and_projection(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("true,2024-01-02,2024-01-02 03:04:05.678,1;2;3,10.005,AQI=,7;x\n", encoding="utf-8")
    columns = {
        "a": "BOOLEAN", "b": "DATE", "c": "TIMESTAMP(3)", "d": "ARRAY<INT>", "e": "DECIMAL(6, 2)", "f": "BYTES",
        "g": "ROW<`i` INT, `s` STRING>",
    }  # fmt: skip
    given = _table(tmp_path / "r.csv", "csv", columns)
    row = (
        True, dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4, 5, 678000), [1, 2, 3], Decimal("10.01"), b"\x01\x02",
        (7, "x"),
    )  # fmt: skip
    assert read(spark, given, tmp_path / "job", batch=True) == [row]
    chosen = given.table_schema.columns[4:1:-2]
    assert read(spark, given, tmp_path / "job", batch=True, columns=chosen) == [(row[4], row[2])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("8,", "line 2: field 'price': not a value of type DECIMAL(8, 2): ''"),
        ("x,1", "line 2: field 'id': not a value of type INT: 'x'"),
        ("8", "line 2: the line has not the 2 fields of the table"),
        ("8,1,2", "line 2: the line has not the 2 fields of the table"),
    ],
)
def test_bad_csv_fails_with_file_and_line(spark: SparkSession, tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"1,1.50\n{line}\n", encoding="utf-8")
    given = _table(path, "csv", {"id": "INT", "price": "DECIMAL(8, 2)"})
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, given, tmp_path / "job", batch=True)
    assert f"{path}, {message}" in str(describe_failure(raised.value))


DEBEZIUM = [
    {"before": None, "after": {"k": 1, "amt": "10.00"}, "op": "c"},
    {"before": None, "after": {"k": 3, "amt": 1}, "op": "r"},
    {"before": {"k": 1, "amt": "10.00"}, "after": {"k": 1, "amt": "12.00"}, "op": "u"},
    {"before": {"k": 3, "amt": 1}, "after": None, "op": "d"},
]
EXPECTED = [
    (0, 1, Decimal("10.00")),
    (0, 3, Decimal("1.00")),
    (1, 1, Decimal("10.00")),
    (2, 1, Decimal("12.00")),
    (3, 3, Decimal("1.00")),
]
ACCOUNT = {"k": "INT NOT NULL", "amt": "DECIMAL(8, 2)"}


@pytest.mark.parametrize("wrapped", [False, True])
def test_debezium(spark: SparkSession, tmp_path: Path, wrapped: bool) -> None:
    records = [{"schema": {}, "payload": each} if wrapped else each for each in DEBEZIUM]
    (tmp_path / "a").write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    given = _table(tmp_path / "a", "debezium-json", ACCOUNT, schema_include=str(wrapped).lower())
    assert read(spark, given, tmp_path / "job") == EXPECTED
    only = given.table_schema.columns[1:]
    assert read(spark, given, tmp_path / "job", columns=only) == [(kind, amt) for kind, _, amt in EXPECTED]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"after": {"k": 1}, "op": "x"}', "not a change record; op: 'x'"),
        ('{"after": {"k": 1}, "op": "u"}', "an update or delete without 'before'"),
        ('{"k": 1}', "not a change record; op"),
        ('{"after": {"k": "q"}, "op": "c"}', "field 'after.k': not a value of type INT: 'q'"),
    ],
)
def test_bad_debezium(spark: SparkSession, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "a").write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, _table(tmp_path / "a", "debezium-json", ACCOUNT), tmp_path / "job", batch=True)
    assert "line 2: " + message in str(describe_failure(raised.value))


def test_canal(spark: SparkSession, tmp_path: Path) -> None:
    records = [
        {"data": [{"k": "1", "amt": "10"}, {"k": "3", "amt": None}], "type": "INSERT", "database": "d", "table": "t"},
        {"data": [{"k": 1, "amt": 12}], "old": [{"amt": None}], "type": "UPDATE", "database": "d", "table": "t"},
        {"data": [{"k": 9}], "type": "INSERT", "database": "d", "table": "other"},
        {"data": None, "type": "CREATE", "database": "d", "table": "t"},
        {"data": [{"k": 3}], "type": "DELETE", "database": "d", "table": "t"},
    ]
    (tmp_path / "a").write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    given = _table(tmp_path / "a", "canal-json", ACCOUNT, **{"table.include": "t"})
    assert read(spark, given, tmp_path / "job") == [
        (0, 1, Decimal("10.00")),
        (0, 3, None),
        (1, 1, None),
        (2, 1, Decimal("12.00")),
        (3, 3, None),
    ]


EVERYTHING = {
    "b": "BOOLEAN", "i": "INT", "l": "BIGINT", "d": "DOUBLE", "n": "DECIMAL(20, 4)", "s": "STRING", "x": "BYTES",
    "day": "DATE", "clock": "TIME(3)", "ts": "TIMESTAMP(6)", "ltz": "TIMESTAMP_LTZ(3)", "xs": "ARRAY<INT>",
    "r": "ROW<`a` INT, `t` TIMESTAMP(3)>",
}  # fmt: skip
ROWS = """\
(true, 1, 2L, 1.5D, CAST('12.3400' AS DECIMAL(20, 4)), 'a,"b" é', X'0102', DATE'2024-02-29', 45296789,
 TIMESTAMP_NTZ'2024-01-01 00:00:00.123456', TIMESTAMP'2024-01-01 00:00:00.5Z', array(1, 2),
 named_struct('a', 1, 't', TIMESTAMP_NTZ'2024-01-01 00:00:00'), 0Y),
(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0Y)"""


@pytest.mark.parametrize("kind", ["json", "csv", "parquet", "debezium-json", "canal-json"])
def test_what_was_written_is_read_back(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    options = {"null_literal": "n/a"} if kind == "csv" else {}
    given = _table(tmp_path / "out", kind, EVERYTHING, **options)
    batch = frame_of(spark, ROWS, ", ".join([*EVERYTHING, "rk_kind"]))
    sink(spark, given, tmp_path / "job").write(batch, 0)
    read_back = {row[-len(EVERYTHING) :] for row in map(_hashable, read(spark, given, tmp_path / "job"))}
    assert read_back == {_hashable(tuple(row))[:-1] for row in batch.collect()}


def _hashable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(v) if isinstance(v, list) else bytes(v) if isinstance(v, bytearray) else v for v in row)


def test_a_changelog_keeps_its_order(spark: SparkSession, tmp_path: Path) -> None:
    given = _table(tmp_path / "out", "debezium-json", ACCOUNT)
    rows = "(1, 2.00BD, 2Y, 9L), (1, 1.00BD, 0Y, 7L), (1, 1.00BD, 1Y, 8L)"
    sink(spark, given, tmp_path / "job").write(frame_of(spark, rows, "k, amt, rk_kind, rk_seq").repartition(3), 0)
    kinds = [(row[0], row[2]) for row in read(spark, given, tmp_path / "job")]
    assert kinds == [(0, Decimal("1.00")), (3, Decimal("1.00")), (0, Decimal("2.00"))]


def test_a_file_that_is_no_parquet_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("no parquet", encoding="utf-8")
    with pytest.raises(Exception, match="FAILED_READ_FILE") as raised:
        read(spark, _table(tmp_path / "x.parquet", "parquet", {"x": "INT"}), tmp_path / "job", batch=True)
    error = describe_failure(raised.value)
    assert isinstance(error, ConnectorError)
    assert f"{tmp_path}/x.parquet" in str(error)
