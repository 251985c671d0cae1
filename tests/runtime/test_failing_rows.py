"""What a row fails with: the statement, the place of the expression, and the line of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import JobError
from rekindle.api.table_environment import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TABLES = """CREATE TABLE t (s STRING, a INT, b INT, r AS a % b) WITH ('connector' = 'filesystem',
    'path' = '{}', 'format' = '{}');
CREATE TABLE o (x BIGINT) WITH ('connector' = 'print');
"""
ROWS = [{"s": str(at), "a": 1, "b": 1} for at in range(50)] + [{"s": "x", "a": 1, "b": 0}]


def failure(query: str, path: Path, mode: str, kind: str = "json") -> JobError:
    environment = TableEnvironment.create({"execution.runtime-mode": mode, "parallelism.default": "1"})
    for statement in TABLES.format(path, kind).split(";\n")[:-1]:
        environment.execute_sql(statement)
    with pytest.raises(JobError) as raised:
        environment.execute_sql(f"INSERT INTO o\n  {query}").await_()
    return raised.value


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    ("query", "message", "place", "line"),
    [
        ("SELECT a / b FROM t WHERE s <> ''", "division by zero", "line 2, column 10: a / b", 51),
        ("SELECT 1 FROM t WHERE CAST(s AS INT) > 0", "cannot read as INT: x", "line 2, column 25: CAST(s AS INT)", 51),
        ("SELECT SUM(a / b) FROM t GROUP BY s", "division by zero", "line 2, column 14: a / b", 51),
        (
            "SELECT 1 / (SUM(a) - 50) FROM t WHERE b > 0",
            "division by zero",
            "line 2, column 10: 1 / (SUM(a) - 50)",
            None,
        ),
    ],
)
def test_a_failing_row(
    spark: SparkSession, tmp_path: Path, mode: str, query: str, message: str, place: str, line: int | None
) -> None:
    path = tmp_path / "in put.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    error = failure(query, path, mode)
    assert error.message == message
    assert error.where is not None
    assert error.where.startswith(f"INSERT INTO default_catalog.default_database.o, {place}"), error.where
    if line is None:
        assert "row of" not in error.where
    else:
        assert error.where.endswith(f"; row of {path}, line {line}")
        assert f"The line is: {json.dumps(ROWS[-1])}" in str(error.hint)
    assert "TRY_CAST" in str(error.hint)
    assert "[row" not in str(error)


def test_other_formats_and_computed_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x,1,1\n\ny,2,0\n")
    error = failure("SELECT r FROM t", path, "streaming", "csv")
    assert str(error.where) == f"CREATE TABLE t, line 1, column 46: a % b; row of {path}, line 3"
