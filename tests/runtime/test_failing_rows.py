"""What a row fails with: the statement, the place of the expression, and the line of the file, as far as known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.core.errors import JobError
from execnodes.user_functions.aggregate import AggregateFunction
from execnodes.user_functions.scalar import udf
from rekindle.api.table_environment import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
COLUMNS = "s STRING, a INT, b INT, n BIGINT, ts TIMESTAMP(3), c CHAR(1)"
FILES = "WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{kind}')"
TABLES = f"""CREATE TABLE t ({COLUMNS}, r AS a % b) {FILES};
CREATE TABLE w ({COLUMNS}, WATERMARK FOR ts AS ts) {FILES};
CREATE TABLE e (n INT, a INT, b INT, t AS TO_TIMESTAMP_LTZ(n / b, 3), WATERMARK FOR t AS t) {FILES};
CREATE TABLE p (s STRING, a INT, b INT) WITH ('connector' = 'filesystem', 'path' = '{{path}}.parquet',
    'format' = 'parquet');
CREATE TABLE o (x BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE texts (x STRING) WITH ('connector' = 'blackhole');
CREATE TABLE short (x CHAR(1)) WITH ('connector' = 'blackhole');
CREATE TABLE times (x TIMESTAMP(3)) WITH ('connector' = 'blackhole');
CREATE TABLE needed (x BIGINT NOT NULL) WITH ('connector' = 'blackhole');
"""
GOOD = {"a": 1, "b": 1, "n": 1, "ts": "2020-01-01 00:00:00", "c": "c"}
ROWS = [{"s": str(at), **GOOD} for at in range(50)]
ROWS += [{"s": "x", "a": 1, "b": 0, "n": None, "ts": None, "c": "cc"}]
WINDOW = "TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


@udf
def ratio(a: int, b: int) -> int:
    return a // b


@udf(func_type="pandas", input_types=["INT"], result_type="BIGINT")
def whole(b: object) -> object:
    raise ValueError("no series today")


class Ratios(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], b: int) -> None:
        accumulator[0] += 1 // b

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


@dataclass(frozen=True)
class Case:
    query: str
    message: str
    place: str
    """What stands there."""
    row: str = ""
    """In a stream: ``line`` of t, or ``row`` of p, if it is known."""
    batch: str | None = ""
    """As `row`, in batch; None: not there."""
    sink: str = "o"
    long: bool = False
    """In a stream it says nothing that a shorter case does not."""


DIVISION = "division by zero"
UNREADABLE = "cannot read as INT: x"
NULL_TIME = "RowTime field should not be null: column 'ts' is NULL in a row of table default_catalog.default_database.w"
NOT_NULL = "Column 'x' is NOT NULL, but a NULL is being written into it."
CASES = (
    Case("SELECT a / b FROM t WHERE s <> ''", DIVISION, "a / b", "line", "line"),
    Case("SELECT 1 FROM t WHERE CAST(s AS INT) > 0", UNREADABLE, "CAST(s AS INT)", "line", "line"),
    Case("SELECT a / b FROM p", DIVISION, "a / b", "row", "row"),
    Case(
        "SELECT SUM(CAST(s AS INT)) FROM p GROUP BY a",
        "cannot read as INT: x",
        "CAST(s AS INT)",
        "row",
        "row",
        long=True,
    ),
    Case("SELECT SUM(a) FROM t HAVING 1 / (SUM(a) - 51) > 0", DIVISION, "1 / (SUM(a) - 51)"),
    Case("SELECT t.a FROM t JOIN p ON t.s = p.s AND t.a / p.b > 0", DIVISION, "t.a / p.b"),
    Case("SELECT n FROM t", NOT_NULL, "", "line", "line", "needed"),
    Case("SELECT MIN(n) FROM t GROUP BY s", NOT_NULL, "", sink="needed", long=True),
    Case("SELECT c FROM t", "a value of another length is being written into it: cc.", "", "line", "line", "short"),
    Case("SELECT ratio(a, b) FROM t", "ratio failed for (1, 0): ZeroDivisionError: integer", "ratio(a, b)"),
    Case("SELECT whole(b) FROM t", "whole failed: ValueError: no series today", "whole(b)"),
    Case("SELECT ratios(b) FROM t GROUP BY s", "ratios failed for (0): ZeroDiv", "ratios(b)", batch=None),
    Case(f"SELECT window_start FROM {WINDOW}", NULL_TIME, "TUMBLE", "line", "line", "times"),
    Case("SELECT a / b FROM t CROSS JOIN UNNEST(ARRAY[a, b]) AS u (x) WHERE x < 5", DIVISION, "a / b", "line", "line"),
    Case(
        "SELECT a / b FROM (SELECT a, b FROM t UNION ALL SELECT b, b FROM t WHERE b > 0)",
        DIVISION,
        "a / b",
        "line",
        "line",
    ),
    Case(
        "SELECT SUM(t.a / t.b) FROM t JOIN (SELECT s, MAX(a) AS a FROM t GROUP BY s) AS x ON t.s = x.s",
        DIVISION,
        "t.a / t.b",
        long=True,
    ),
    Case(
        "SELECT MAX(n) FROM (SELECT a, s, CAST(s AS INT) AS n FROM t) GROUP BY GROUPING SETS ((a), (s))",
        UNREADABLE,
        "CAST(s AS INT)",
        "line",
        "line",
        long=True,
    ),
    Case(f"SELECT COUNT(*) FROM {WINDOW} GROUP BY window_start, window_end", NULL_TIME, "TUMBLE", "line", "line"),
    Case(
        "SELECT JSON_OBJECTAGG(KEY CAST(n AS STRING) VALUE a) FROM t",
        "a key of JSON_OBJECTAGG is NULL",
        "JSON_OBJECTAGG(CAST(n AS STRING), a)",
        sink="texts",
        long=True,
    ),
)


def failure(query: str, sink: str, path: Path, mode: str, kind: str = "json") -> JobError:
    options = {"execution.runtime-mode": mode, "parallelism.default": "1"}
    options |= {"table.exec.sink.type-length-enforcer": "ERROR"}
    environment = TableEnvironment.create(options)
    for statement in TABLES.format(path=path, kind=kind).split(";\n")[:-1]:
        environment.execute_sql(statement)
    environment.create_temporary_function("ratio", ratio)
    environment.create_temporary_function("whole", whole)
    environment.create_temporary_function("ratios", Ratios())
    with pytest.raises(JobError) as raised:
        environment.execute_sql(f"INSERT INTO {sink}\n  {query}").await_()
    return raised.value


@pytest.mark.parametrize(
    ("mode", "long"), [("streaming", False), ("batch", None), pytest.param("streaming", True, marks=pytest.mark.long)]
)
def test_a_failing_row(spark: SparkSession, tmp_path: Path, mode: str, long: bool | None) -> None:
    path = tmp_path / "in put.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    schema = pa.schema({"s": pa.string(), "a": pa.int32(), "b": pa.int32()})
    pq.write_table(
        pa.Table.from_pylist([{name: row[name] for name in "sab"} for row in ROWS], schema), f"{path}.parquet"
    )
    for case in CASES:
        known = case.row if mode == "streaming" else case.batch
        if known is None or long not in (None, case.long):
            continue
        error = failure(case.query, case.sink, path, mode)
        assert case.message in error.message, case.query
        statement = f"INSERT INTO default_catalog.default_database.{case.sink}, "
        first = case.place.partition("(")[0] if case.place.startswith("JSON") else case.place
        column = 3 + case.query.index(first)
        place = f"line 2, column {column}: {case.place}" if case.place else "line 1, column 1"
        ends = {"": "", "line": f"; row of {path}, line 51", "row": f"; row of {path}.parquet, row 51"}
        assert error.where == statement + place + ends[known], case.query
        assert (f"The line is: {json.dumps(ROWS[-1])}" in str(error.hint)) == (known == "line"), case.query
        assert ("File and line are not known" in str(error.hint)) == (known == ""), case.query
        assert "[row" not in str(error), case.query
        assert "[at" not in str(error), case.query
        assert error.place is not None
        assert error.hint


def test_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    """What gives the event time is computed before the query."""
    path = tmp_path / "e.json"
    path.write_text('{"n": 1, "a": 1, "b": 1}\n{"n": 1, "a": 2, "b": 0}\n')
    windows = "TABLE(TUMBLE(TABLE e, DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    error = failure(f"SELECT COUNT(*) FROM {windows}", "o", path, "streaming")
    assert str(error.where).endswith(f"n / b; row of {path}, line 2")


def test_other_formats_and_computed_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x,1,1,,,\n\ny,2,0,,,\n")
    error = failure("SELECT r FROM t", "o", path, "streaming", "csv")
    column = TABLES.index("a % b") + 1
    assert str(error.where) == f"CREATE TABLE t, line 1, column {column}: a % b; row of {path}, line 3"
