"""TPC-H's queries run from their plans and give the rows of Spark's own SQL and of DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.tpch.data import generate
from examples.tpch.run import QUERIES, compile_query, difference, register, run_duckdb, run_plan, run_spark
from rekindle.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAY_BE_EMPTY = ("q18",)
"""No order is that large at this scale."""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of scale 0.01."""
    return generate(0.01, tmp_path_factory.mktemp("tpch"))


@pytest.fixture(scope="session")
def plain(spark: SparkSession, data: Path) -> SparkSession:
    """A session that has the tables under their names."""
    prepared = prepare(spark, 1, {})
    register(data, prepared)
    return prepared


@pytest.mark.spark
@pytest.mark.xdist_group("tpch")
@pytest.mark.parametrize("query", QUERIES)
def test_a_plan_gives_the_rows_of_spark_and_duckdb(
    query: str, data: Path, tmp_path: Path, spark: SparkSession, plain: SparkSession
) -> None:
    plan = tmp_path / "plan.json"
    compile_query(query, data).write_to_file(plan)
    ours = run_plan(plan, spark, {"parallelism.default": "1"})
    assert ours or query in MAY_BE_EMPTY
    assert difference(ours, run_spark(query, plain)) is None
    assert difference(ours, run_duckdb(query, data)) is None
