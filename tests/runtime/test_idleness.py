"""Idle sources: who holds back the watermark, as a state machine, and of a running job."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.idleness import Idleness
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.stream_job import StreamJob
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_silent_source_is_lifted_to_the_least_of_the_others() -> None:
    found = Idleness({1: 5.0, 2: 5.0, 3: 5.0}, 0.0)
    found.gave(1, 2, 100, 3.0)
    found.gave(2, 1, 70, 4.0)
    assert found.lift(4.9) == {}
    assert found.lift(5.0) == {3: 70}
    assert found.lift(5.5) == {}
    found.gave(2, 1, 90, 6.0)
    assert found.lift(6.0) == {3: 90}


def test_a_source_that_gives_rows_again_counts_again() -> None:
    found = Idleness({1: 5.0, 2: 5.0}, 0.0)
    found.gave(1, 1, 100, 4.0)
    assert found.lift(5.0) == {2: 100}
    found.gave(1, 1, 200, 6.0)
    found.gave(2, 1, 50, 6.0)
    assert found.lift(6.0) == {}
    found.gave(1, 1, 300, 10.0)
    assert found.lift(11.0) == {2: 300}


@pytest.mark.parametrize("timeouts", [{1: 5.0, 2: 5.0}, {1: 5.0, 2: 0.0}])
def test_nothing_moves_without_rows_of_all_that_are_not_idle(timeouts: dict[int, float]) -> None:
    """All are idle, or one that never is has not begun; rows that do not move the watermark are rows."""
    found = Idleness(timeouts, 0.0)
    found.gave(1, 3, 100, 1.0)
    assert found.lift(60.0) == {}
    found.gave(2, 1, None, 60.0)
    assert found.lift(61.0) == {}
    found.gave(2, 1, 40, 62.0)
    assert found.lift(62.0) == {}
    found.gave(2, 1, 170, 63.0)
    assert found.lift(64.0) == {1: 170}


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
    """Attached it is watched like a job; as rows for a query with a checkpoint elsewhere it cannot be."""
    for name in ("busy", "quiet"):
        (tmp_path / name).mkdir()
    rows = (json.dumps({"k": "a", "ts": f"2024-01-01 00:{each:02}:30"}) + "\n" for each in (1, 1, 2))
    (tmp_path / "busy" / "1.json").write_text("".join(rows), encoding="utf-8")
    options = {"table.exec.source.idle-timeout": "1 s", "execution.job-dir": str(tmp_path / "job")}
    environment = TableEnvironment.create(options, spark=spark)
    script = SQL.replace("{dir}", str(tmp_path))
    plan = environment.compile_script(script)
    query = environment.attach_as_data_stream(plan).trigger(processingTime="200 milliseconds").start()
    try:
        _until(lambda: any(each["m"] == "00:01" for each in written_rows(tmp_path / "counts")))
    finally:
        query.stop()
    select = script.partition("INSERT INTO counts ")[2].rstrip().removesuffix(";")
    environment.execute_sql(f"SET 'execution.job-dir' = '{tmp_path / 'rows'}'")
    with pytest.raises(PlanError, match=r"table\.exec\.source\.idle-timeout"):
        environment.as_data_stream(environment.compile_plan_sql(select), changelog=True)


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
