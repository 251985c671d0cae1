"""Sources of a running job that are idle no longer hold back its watermark."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.stream_job import StreamJob
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SQL = """
CREATE TABLE busy (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/busy', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE quiet (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/quiet', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE counts (m STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{dir}/counts', 'format' = 'json');
INSERT INTO counts SELECT DATE_FORMAT(window_start, 'HH:mm'), COUNT(*) FROM TABLE(TUMBLE(
  (SELECT * FROM busy UNION ALL SELECT * FROM quiet), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""


@pytest.mark.spark
@pytest.mark.long
def test_a_pipeline_of_the_callers_with_a_silent_source(spark: SparkSession, tmp_path: Path) -> None:
    """It is watched like a job."""
    for name in ("busy", "quiet"):
        (tmp_path / name).mkdir()
    rows = (json.dumps({"k": "a", "ts": f"2024-01-01 00:{each:02}:30"}) + "\n" for each in (1, 1, 2))
    (tmp_path / "busy" / "1.json").write_text("".join(rows), encoding="utf-8")
    options = {"table.exec.source.idle-timeout": "1 s", "execution.job-dir": str(tmp_path / "job")}
    environment = TableEnvironment.create(options, spark=spark)
    plan = environment.compile_script(SQL.replace("{dir}", str(tmp_path)))
    query = environment.attach_as_data_stream(plan).trigger(processingTime="200 milliseconds").start()
    try:
        _until(lambda: any(each["m"] == "00:01" for each in written_rows(tmp_path / "counts")))
    finally:
        query.stop()


@pytest.mark.spark
@pytest.mark.long
def test_a_job_with_a_silent_source(spark: SparkSession, tmp_path: Path) -> None:
    """Its windows close; after a restart too. Rows of the silent source that come too late are late."""
    for name in ("busy", "quiet"):
        (tmp_path / name).mkdir()
    options = {"table.exec.source.idle-timeout": "1 s", "execution.job-dir": str(tmp_path / "job")}
    environment = TableEnvironment.create(options)
    plan = environment.compile_script(SQL.replace("{dir}", str(tmp_path)))

    def put(table: str, name: str, *minutes: int) -> None:
        rows = (json.dumps({"k": "a", "ts": f"2024-01-01 00:{each:02}:30"}) + "\n" for each in minutes)
        (tmp_path / table / f"{name}.json").write_text("".join(rows), encoding="utf-8")

    def windows() -> list[tuple[str, int]]:
        return sorted((each["m"], each["n"]) for each in written_rows(tmp_path / "counts"))

    put("busy", "1", 1, 1, 2)
    job = _job(plan, options, spark)
    _until(lambda: windows() == [("00:01", 2)])
    put("busy", "2", 4)
    _until(lambda: windows() == [("00:01", 2), ("00:02", 1)])
    job.stop()
    job = _job(plan, options, spark)
    put("quiet", "1", 2, 4)
    names = (f"{number}" for number in count(3))

    def closed() -> bool:
        """The busy source goes on, so that it is not idle itself."""
        put("busy", next(names), 6)
        return windows() == [("00:01", 2), ("00:02", 1), ("00:04", 2)]

    _until(closed)
    job.stop()


def _job(plan: CompiledPlan, options: Mapping[str, str], spark: SparkSession) -> StreamJob:
    return StreamJob(plan.graph, plan.as_json_string(), Configuration(options), spark=spark).start()


def _until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 240
    while not reached():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.5)
