"""Frames of several tasks side by side: in a union a partition's number says nothing about the subtask it is of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import results
from rekindle.connectors.file_positions import FilePositions
from rekindle.runtime.stream_job import StreamJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TABLES = """
    CREATE TABLE a (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({files}/a');
    CREATE TABLE b (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({files}/b');
    CREATE TABLE o (k INT, e TIMESTAMP(3), n BIGINT) WITH ('connector' = 'collect', 'name' = '{name}');
    CREATE TEMPORARY VIEW every AS SELECT k, window_end AS e, window_time AS t, COUNT(*) AS n
      FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '30' SECOND))
      GROUP BY k, window_start, window_end, window_time;
    CREATE TEMPORARY VIEW first_ AS SELECT k, window_end AS e, window_time AS t, COUNT(*) AS n
      FROM (SELECT * FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '30' SECOND)) WHERE MINUTE(ts) = 0)
      GROUP BY k, window_start, window_end, window_time;
"""
MINUTES, KEYS = 5, 40


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each micro-batch is of a task for each subtask."""
    monkeypatch.setattr(FilePositions, "size", lambda *given: 1 << 26)


def run(spark: SparkSession, folder: Path, query: str) -> list[Any]:
    """A file, and a micro-batch, a minute; a row of each key in it."""
    for table in "ab":
        (folder / table).mkdir()
        for minute in range(MINUTES):
            rows = [{"k": k, "ts": f"2024-01-01 00:0{minute}:{k:02d}"} for k in range(KEYS)]
            (folder / table / f"{minute}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    settings = {"execution.job-dir": str(folder / "job"), "parallelism.default": "3"}
    settings |= {"execution.micro-batch.max-files": "1"}
    environment = TableEnvironment.create(settings, spark=spark)
    files = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}"
    script = f"{TABLES.replace('{files}', files).replace('{name}', str(folder))} INSERT INTO o {query};"
    plan = environment.compile_script(script)
    StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=spark).start().wait()
    return [row for _, row in results(str(folder))]


def test_sources_in_a_union_are_read_whole(spark: SparkSession, tmp_path: Path) -> None:
    rows = run(
        spark, tmp_path, "SELECT k, ts, CAST(1 AS BIGINT) FROM a UNION ALL SELECT k, ts, CAST(2 AS BIGINT) FROM b"
    )
    assert len(rows) == len(set(rows)) == 2 * MINUTES * KEYS


def test_operators_in_a_union_are_woken(spark: SparkSession, tmp_path: Path) -> None:
    """The second aggregation is due when the one below it is not, and another one is."""
    above = "SELECT k, window_end, SUM(n) FROM TABLE(TUMBLE(TABLE first_, DESCRIPTOR(t), INTERVAL '2' MINUTE))"
    rows = run(spark, tmp_path, f"SELECT k, e, n FROM every UNION ALL {above} GROUP BY k, window_start, window_end")
    assert len(rows) == MINUTES * KEYS + KEYS
