"""Windows by processing time: what the clock tells, what is refused, and a job whose windows close in silence."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from execnodes.core.windowing import WindowSpec
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import record
from rekindle.runtime.stream_job import StreamJob
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/t', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE o (q STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{dir}/o', 'format' = 'json');
"""
BY = "GROUP BY window_start, window_end"
COUNTED = f"SELECT COUNT(*) FROM TABLE(TUMBLE({{}}, DESCRIPTOR({{}}), INTERVAL '2' SECOND)) {BY}"


def compiled(query: str, **options: str) -> TableEnvironment:
    environment = TableEnvironment.create({name.replace("_", "."): value for name, value in options.items()})
    environment.execute_script(TABLES.replace("{dir}", "/nowhere"))
    environment.compile_plan_sql(query)
    return environment


def test_windows_end_at_multiples_of_their_steps_in_every_zone() -> None:
    assert WindowSpec(type="TumblingWindow", size=86_400_000).between_ends == 900_000
    assert WindowSpec(type="TumblingWindow", size=5000, offset=2000).between_ends == 1000
    assert WindowSpec(type="HoppingWindow", size=7, slide=3).between_ends == 1, "begins go by slides, ends by sizes"
    assert WindowSpec(type="CumulativeWindow", max_size=20_000, step=5000).between_ends == 5000
    assert WindowSpec(type="SessionWindow", gap=8000).between_ends == 2000


def test_without_rows_of_one_kind_of_time() -> None:
    """A watermark that nobody waits for is no hindrance."""
    environment = compiled(COUNTED.format("TABLE t", "pt"))
    graph = environment.compile_plan_sql(COUNTED.format("TABLE t", "pt")).graph
    found = record(graph)
    assert found.ticks == 2000
    assert [each.event_times for each in found.sources.values()] == [["CAST(NULL AS TIMESTAMP)"]]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (COUNTED.format("(SELECT a.pt FROM t AS a JOIN t AS b ON a.k = b.k)", "pt"), "of a row that a join has kept"),
        (
            "SELECT TUMBLE_ROWTIME(pt, INTERVAL '2' SECOND) FROM t GROUP BY TUMBLE(pt, INTERVAL '2' SECOND)",
            "TUMBLE_ROWTIME is the event time of a window, but this one goes by processing time",
        ),
    ],
)
def test_refusals(query: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        compiled(query)


@pytest.mark.parametrize(
    "query",
    [
        COUNTED.format("(SELECT a.k, PROCTIME() AS x FROM t AS a JOIN t AS b ON a.k = b.k)", "x"),
        "SELECT TUMBLE_START(PROCTIME(), INTERVAL '2' SECOND) FROM t GROUP BY TUMBLE(PROCTIME(), INTERVAL '2' SECOND)",
        "SELECT TUMBLE_PROCTIME(ts, INTERVAL '2' SECOND) FROM t GROUP BY TUMBLE(ts, INTERVAL '2' SECOND)",
        "SELECT HOP_PROCTIME(pt, INTERVAL '2' SECOND, INTERVAL '3' SECOND) FROM t "
        "GROUP BY HOP(pt, INTERVAL '2' SECOND, INTERVAL '3' SECOND)",
    ],
)
def test_what_compiles(query: str) -> None:
    compiled(query)


@pytest.mark.spark
@pytest.mark.long
def test_windows_close_in_silence(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    options = {"execution.job-dir": str(tmp_path / "job")}
    environment = TableEnvironment.create(options)
    session = f"TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(pt), INTERVAL '1' SECOND)) {BY}, k"
    plan = environment.compile_script(
        f"{TABLES.replace('{dir}', str(tmp_path))} EXECUTE STATEMENT SET BEGIN "
        f"INSERT INTO o SELECT 'session', COUNT(*) FROM {session}; "
        f"INSERT INTO o SELECT 'tumble', n FROM ({COUNTED.format('TABLE t', 'pt').replace('(*)', '(*) AS n')}); END;"
    )
    rows = (json.dumps({"k": k, "v": 1, "ts": "2024-01-01 00:00:00"}) + "\n" for k in ("a", "a", "b"))
    (tmp_path / "t" / "1.json").write_text("".join(rows), encoding="utf-8")
    job = StreamJob(plan.graph, plan.as_json_string(), Configuration(options), spark=spark).start()
    expected = [("session", 1), ("session", 2), ("tumble", 3)]
    end = time.monotonic() + 240
    try:
        while written(tmp_path / "o") != expected:
            assert time.monotonic() < end, written(tmp_path / "o")
            time.sleep(0.2)
    finally:
        job.stop()


def written(folder: Path) -> list[tuple[str, int]]:
    return sorted((each["q"], each["n"]) for each in written_rows(folder))
