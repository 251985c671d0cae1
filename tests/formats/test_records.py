"""Whole records of JSON that are odd; what Flink 2.3 makes of them was asked."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rekindle.connectors.registry import describe_failure
from tests.connectors.helpers import frame_of, read, sink, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RECORDS: tuple[tuple[str, list[tuple[Any, Any]]], ...] = (
    ('[{"x":1.10,"y":1},{"x":"b"}]', [("1.10", 1), ("b", None)]),
    (' [ {"x" : "a,]" , "y":-0} , {"x":[1, 2.50]}]', [("a,]", 0), ("[1,2.5]", None)]),
    ("[]", []),
    ('[null,{"x":2}]', [("2", None)]),
    ('{"x":1} {"x":2}', [("1", None)]),
    ('  {"x":1}  ', [("1", None)]),
    ('{"x":1,"x":2}', [("2", None)]),
    ('{"X":1}', [(None, None)]),
    ("{}", [(None, None)]),
    ('{"x":"a\\u0000b\x01"}', [("a\x00b\x01", None)]),
    ('{"z":{"a":[1,{}]},"x":1e3}', [("1e3", None)]),
    ('{"x":{"a":-0,"b":1e400,"c":12345678901234567890.123,"d":"\\u00e9\\n","e":1.0E10}}',
     [('{"a":0,"b":"Infinity","c":1.2345678901234567E19,"d":"é\\n","e":1.0E10}', None)]),
)  # fmt: skip
BAD = (
    '[1,{"x":1}]',
    '["{\\"x\\":1}"]',
    '{"x":1',
    '{"x":NaN}',
    '{"z":tru,"x":1}',
    '{"x":1,,"y":2}',
    "1",
    '"a"',
    '[{"x":1},',
)


def _table(path: Path, columns: dict[str, str], ignore: bool = False, kind: str = "json") -> Any:
    options = {"connector": "filesystem", "format": kind, "path": str(path)}
    return table(columns, options | ({f"{kind}.ignore-parse-errors": "true"} if ignore else {}))


@pytest.mark.parametrize("batch", [True, False])
def test_odd_records(spark: SparkSession, tmp_path: Path, batch: bool) -> None:
    (tmp_path / "f").write_text("\n".join(text for text, _ in RECORDS), encoding="utf-8")
    given = _table(tmp_path / "f", {"x": "STRING", "y": "INT"})
    assert read(spark, given, tmp_path / "job", batch=batch) == [row for _, rows in RECORDS for row in rows]


def test_bad_records_are_left_out_or_fail(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("\n".join(('{"x":0}', *BAD)), encoding="utf-8")
    columns = {"x": "STRING", "y": "INT"}
    rows = read(spark, _table(tmp_path / "f", columns, ignore=True), tmp_path / "job", batch=True)
    assert set(rows) <= {("0", None), ("1", None)}
    assert rows[0] == ("0", None)
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, _table(tmp_path / "f", columns), tmp_path / "job", batch=True)
    assert "line 2: the line is not a JSON object" in str(describe_failure(raised.value))


def test_half_a_character_loses_its_field_alone(spark: SparkSession, tmp_path: Path) -> None:
    lines = (r'{"x":"\ud800","m":{"k":"1.0"},"y":1}', r'{"x":"a","m":{"\udc00":"b"},"y":2}', '{"x":"\x01","y":"\x02"}')
    (tmp_path / "f").write_text("\n".join(lines), encoding="utf-8")
    columns = {"x": "STRING", "m": "MAP<STRING, STRING>", "y": "INT"}
    rows = read(spark, _table(tmp_path / "f", columns, ignore=True), tmp_path / "job", batch=True)
    assert rows == [(None, {"k": "1.0"}, 1), ("a", None, 2), ("\x01", None, None)]


@pytest.mark.parametrize("kind", ["json", "debezium-json", "canal-json", "csv"])
def test_decimals_are_written_without_exponents(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    given = _table(tmp_path / "t", {"d": "DECIMAL(38, 18)", "z": "DECIMAL(9, 7)", "b": "DECIMAL(38, 0)"}, kind=kind)
    writer = sink(spark, given, tmp_path / "job")
    rows = (
        "(0.000000000000000001, 0, 1, 0Y), (-0.00000012, -0.0000001, -12345678901234567890123456789012345678, 0Y), "
        "(0, 1.5, 0, 0Y)"
    )
    types = {"d": "DECIMAL(38, 18)", "z": "DECIMAL(9, 7)", "b": "DECIMAL(38, 0)", "rk_kind": "TINYINT"}
    values = frame_of(spark, rows, ", ".join(types))
    writer.write(values.selectExpr(*(f"CAST({name} AS {kind}) AS {name}" for name, kind in types.items())), 0)
    text = "".join(each.read_text() for each in sorted((tmp_path / "t").rglob("*")) if each.is_file() and each.suffix)
    assert "E" not in text.replace("INSERT", "")
    for digits in ("0.000000000000000001", "0.0000000", "-0.000000120000000000", "-0.0000001", "1.5000000"):
        assert digits in text, text
    found = read(spark, given, tmp_path / "read", batch=True, order=False)
    assert sorted(row[-3:] for row in found) == sorted(
        [
            (Decimal("1E-18"), Decimal(0), Decimal(1)),
            (Decimal("-1.2E-7"), Decimal("-1E-7"), Decimal(-12345678901234567890123456789012345678)),
            (Decimal(0), Decimal("1.5"), Decimal(0)),
        ]
    )
