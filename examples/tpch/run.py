"""One query three ways: from its compiled plan, by Spark's own SQL, by DuckDB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from examples.tpch.data import TABLES
from rekindle import CompiledPlan, TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
QUERIES = tuple(path.stem for path in sorted(HERE.glob("q*.sql")))
Rows = list[tuple[Any, ...]]


def sql(query: str) -> str:
    """The text of ``q01``, …."""
    return (HERE / f"{query}.sql").read_text(encoding="utf-8")


def compile_query(query: str, data: Path) -> CompiledPlan:
    """The plan of a query over the tables in a folder."""
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"})
    ddl = (HERE / "ddl.sql").read_text(encoding="utf-8").replace("${dir}", str(data))
    return environment.compile_script(f"{ddl}\n{sql(query)}")


def run_plan(plan: Path, spark: SparkSession, options: dict[str, str] | None = None) -> Rows:
    """The rows of a plan file, which needs nothing but itself."""
    environment = TableEnvironment.create(options or {}, spark=spark)
    return [tuple(row) for row in environment.execute_plan(plan).collect()]


def register(data: Path, spark: SparkSession) -> None:
    """Make the tables known to Spark's own SQL."""
    for table in TABLES:
        spark.read.parquet(str(data / f"{table}.parquet")).createOrReplaceTempView(table)


def run_spark(query: str, spark: SparkSession) -> Rows:
    """The rows that Spark's SQL gives for the same text, over tables that are registered."""
    *views, last = _statements(sql(query))
    for view in views:
        spark.sql(view.replace("CREATE TEMPORARY VIEW", "CREATE OR REPLACE TEMPORARY VIEW"))
    return [tuple(row) for row in spark.sql(last).collect()]


def run_duckdb(query: str, data: Path) -> Rows:
    """The rows that DuckDB gives."""
    with duckdb.connect() as database:
        for table in TABLES:
            database.execute(f"CREATE VIEW {table} AS SELECT * FROM '{data / table}.parquet'")
        for statement in _statements(sql(query)):
            result = database.execute(statement.replace("`", '"'))
        return [tuple(row) for row in result.fetchall()]


def _statements(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def difference(ours: Rows, theirs: Rows) -> str | None:
    """The first row that differs, in any order; None if none does. Numbers may differ where a DECIMAL was rounded."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}"
    for mine, its in zip(sorted(map(_plain, ours)), sorted(map(_plain, theirs)), strict=True):
        if not all(map(_close, mine, its)):
            return f"{mine}, not {its}"
    return None


def _plain(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_value(each) for each in row)


def _value(value: Any) -> Any:
    if isinstance(value, Decimal | int):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value


def _close(mine: Any, its: Any) -> bool:
    if isinstance(mine, float) and isinstance(its, float):
        return math.isclose(mine, its, rel_tol=1e-9, abs_tol=1e-6)
    return bool(mine == its)
