"""A job that is stopped in the middle of a window; another process goes on in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob
from rekindle.testing import lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE events (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/events', 'format' = 'json');
CREATE TABLE sums (m TIMESTAMP(3), s INT) WITH ('connector' = 'collect', 'name' = '{folder}');
INSERT INTO sums SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end;
"""
EVENTS = lines("v ts", '3 "2024-03-31T00:00:10"', '5 "2024-03-31T00:01:20"', '7 "2024-03-31T00:01:30"')
LEFT = 12
"""Sum of the window that is open when the job stops."""


def job(spark: SparkSession, folder: Path, *, stops: bool) -> StreamJob:
    """The job in `folder`, not started; with `stops` it ends with a savepoint at the end of its input."""
    (folder / "events").mkdir(parents=True, exist_ok=True)
    (folder / "events" / "0.json").write_text(EVENTS.replace("T00:", " 00:"), encoding="utf-8")
    environment = TableEnvironment.create({"execution.job-dir": str(folder / "job")}, spark=spark)
    plan = environment.compile_script(SCRIPT.format(folder=folder)).graph
    target = folder / "savepoint" if stops else None
    return StreamJob(plan, encode(plan), environment.configuration, spark=spark, savepoint_at_end=target)
