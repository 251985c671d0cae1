"""Rows of one key from a query that only inserts, in a table that keeps one row a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from execnodes.core.errors import JobError
from rekindle import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = ((1, "a", 1), (2, "b", 2), (1, "c", 3), (1, "d", 4), (3, "e", 5))
DDL = """
CREATE TABLE q (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/q.json', 'format' = 'json');
CREATE TABLE k (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '{dir}/k.duckdb', 'table' = 'k');
"""


def create_environment(spark: SparkSession, folder: Path) -> TableEnvironment:
    lines = (f'{{"a": {a}, "b": "{b}", "ts": "2024-01-01 00:00:0{second}"}}' for a, b, second in ROWS)
    (folder / "q.json").write_text("\n".join(lines) + "\n")
    made = TableEnvironment.create({"table.exec.lateness.granularity": "row"}, spark=spark)
    made.execute_script(DDL.replace("{dir}", str(folder)))
    return made


@pytest.mark.spark
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("DEDUPLICATE", [(1, "d"), (2, "b"), (3, "e")]), ("NOTHING", [(1, "a"), (2, "b"), (3, "e")])],
)
def test_inserts_of_one_key_settle(
    strategy: str, expected: list[tuple[int, str]], tmp_path: Path, spark: SparkSession
) -> None:
    made = create_environment(spark, tmp_path)
    made.execute_sql(f"INSERT INTO k SELECT a, b FROM q ON CONFLICT DO {strategy}").await_()
    with duckdb.connect(str(tmp_path / "k.duckdb"), read_only=True) as database:
        assert database.sql("SELECT a, b FROM k ORDER BY a").fetchall() == expected


@pytest.mark.spark
def test_inserts_of_one_key_fail_with_do_error(tmp_path: Path, spark: SparkSession) -> None:
    made = create_environment(spark, tmp_path)
    with pytest.raises(JobError, match="several rows of the query meet"):
        made.execute_sql("INSERT INTO k SELECT a, b FROM q ON CONFLICT DO ERROR").await_()
