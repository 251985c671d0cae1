"""Event time in the default mode: rows that a condition drops move it, too."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob
from rekindle.spark.session import prepare
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    {"k": "a", "ts": "2024-01-01 12:00:01", "s": "403", "xs": [1, 2]},
    {"k": "a", "ts": "2024-01-01 12:00:03", "s": "403", "xs": [3]},
    {"k": "b", "ts": "2024-01-01 12:05:00", "s": "200", "xs": []},
]
TUMBLE = "TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
COUNT = f"SELECT k, COUNT(*) FROM {TUMBLE} WHERE {{condition}} GROUP BY k, window_start, window_end"
TOP = "SELECT * FROM (SELECT k, s, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {order}) AS n FROM t WHERE s = '403')"
SHAPES = {
    "tumble": (COUNT.format(table="t", condition="s = '403'"), [["a", 2]]),
    "view": (COUNT.format(table="v", condition="s LIKE '4%'"), [["a", 2]]),
    "inferred not null": (COUNT.format(table="t", condition="UPPER(s) = '403' AND s IS NOT NULL"), [["a", 2]]),
    "session": (
        "SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
        " WHERE s = '403' GROUP BY k, window_start, window_end",
        [["a", 2]],
    ),
    "unnest": (
        f"SELECT k, COUNT(*) FROM {TUMBLE.format(table='t')} CROSS JOIN UNNEST(xs) AS u (x) WHERE s = '403'"
        " GROUP BY k, window_start, window_end",
        [["a", 3]],
    ),
    "legacy window": (
        "SELECT k, COUNT(*) FROM t WHERE s = '403' GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)",
        [["a", 2]],
    ),
    "over": (
        "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM t WHERE s = '403'",
        [["a", 1], ["a", 2]],
    ),
    "deduplicate": (f"SELECT k, s FROM ({TOP.format(order='ASC')}) WHERE n = 1", [["a", "403"]]),
    "order by time": ("SELECT k, s FROM t WHERE s = '403' ORDER BY ts", [["a", "403"], ["a", "403"]]),
}
"""Query and rows, by name."""


def environment(spark: SparkSession, folder: Path, **more: str) -> TableEnvironment:
    source = folder / "in"
    source.mkdir()
    (source / "t.json").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    made = TableEnvironment.create(more, spark=prepare(spark, 2, {}))
    made.execute_script(
        "CREATE TABLE t (k STRING, ts TIMESTAMP(3), s STRING, xs ARRAY<INT>,"
        " WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
        f" WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json');"
        "CREATE VIEW v AS SELECT * FROM t WHERE k <> 'b'"
    )
    return made


@pytest.mark.spark
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_a_condition_drops_move_event_time(shape: str, spark: SparkSession, tmp_path: Path) -> None:
    query, expected = SHAPES[shape]
    result = environment(spark, tmp_path).execute_sql(query)
    assert sorted(list(row) for _, row in result.collect_changes()) == expected


UNBOUNDED = """
CREATE TABLE t (k STRING, ts TIMESTAMP(3), s STRING, WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/in', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{dir}/out', 'format' = 'json');
INSERT INTO o SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE s = '403' GROUP BY k, window_start, window_end;
"""


@pytest.mark.spark
def test_windows_of_a_job_without_end_close_by_dropped_rows(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "1.json").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]))
    made = TableEnvironment.create({}, spark=prepare(spark, 2, {}))
    plan = made.compile_script(UNBOUNDED.replace("{dir}", str(tmp_path)))
    configuration = Configuration({"execution.job-dir": str(tmp_path / "job")})
    job = StreamJob(plan.graph, plan.as_json_string(), configuration, spark=spark).start()
    try:
        (source / "2.json").write_text(json.dumps(ROWS[2]) + "\n")
        end = time.monotonic() + 120
        while not (written := written_rows(tmp_path / "out")) and time.monotonic() < end:
            assert not job.wait(0.2), "the job has ended"
        assert written == [{"k": "a", "n": 2}]
    finally:
        job.stop()
