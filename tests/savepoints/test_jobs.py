"""Savepoints of jobs that run: stops between micro-batches, drains, restores with another parallelism."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import JobError
from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors import collect
from rekindle.connectors.collect import clear, results
from rekindle.jobs.home import job_info
from rekindle.jobs.savepoint import take_savepoint
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import Manifest

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE TABLE events (kind INT, person ROW<ts TIMESTAMP(3)>, auction ROW<ts TIMESTAMP(3)>,
    bid ROW<price BIGINT, ts TIMESTAMP(3)>, ts AS COALESCE(bid.ts, auction.ts, person.ts),
    WATERMARK FOR ts AS ts - INTERVAL '4' SECOND)
  WITH ('connector' = 'nexmark', 'events.num' = '{events}', 'first-event.rate' = '1000',
        'out-of-orderness' = '4 s');
CREATE TABLE windows (w TIMESTAMP(3), c BIGINT) WITH ('connector' = 'collect', 'name' = '{name}-windows');
CREATE TABLE totals (k BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'collect', 'name' = '{name}-totals');
CREATE TABLE copies (kind INT, ts TIMESTAMP(3)) WITH ('connector' = 'collect', 'name' = '{name}-copies');
EXECUTE STATEMENT SET BEGIN
INSERT INTO windows SELECT window_start, COUNT(*)
  FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '2' SECOND))
  GROUP BY window_start, window_end;
INSERT INTO totals SELECT COALESCE(bid.price, 0) % 7, COUNT(*) FROM events GROUP BY COALESCE(bid.price, 0) % 7;
INSERT INTO copies SELECT kind, ts FROM events;
END;
"""
BATCH = 1500


@dataclass
class Runs:
    """One plan, run in pieces into the same collected tables."""

    spark: SparkSession
    folder: Path
    events: int

    def __post_init__(self) -> None:
        self.name = uuid.uuid4().hex
        environment = TableEnvironment.create({}, spark=self.spark)
        self.plan = environment.compile_script(SCRIPT.format(events=self.events, name=self.name))

    def start(self, job: str, savepoint: Path | None = None, parallelism: int = 2) -> StreamJob:
        environment = TableEnvironment.create(
            {
                "execution.job-dir": str(self.folder / job),
                "execution.micro-batch.max-rows": str(BATCH),
                "execution.state-recovery.path": str(savepoint or ""),
                "parallelism.default": str(parallelism),
                "table.exec.watermark.granularity": "row",
            },
            spark=self.spark,
        )
        return StreamJob(self.plan.graph, encode(self.plan.graph), environment.configuration, spark=self.spark).start()

    def rows(self, table: str) -> Counter[tuple[Any, ...]]:
        """Rows that stand in a table at the end, with how often."""
        found: Counter[tuple[Any, ...]] = Counter()
        for kind, row in results(f"{self.name}-{table}"):
            found[row] += 1 if kind in (0, 2) else -1
        return +found

    def totals(self) -> dict[object, object]:
        """The upserted table."""
        return {row[0]: row[1] for kind, row in results(f"{self.name}-totals") if kind in (0, 2)}

    def clear(self) -> None:
        for table in ("windows", "totals", "copies"):
            clear(f"{self.name}-{table}")


def wait_for_batches(job: StreamJob, count: int) -> None:
    deadline = time.monotonic() + 120
    while (job.folder.committed_batch() or 0) < count and not job.wait(0):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def position(manifest: Manifest) -> int:
    (text,) = manifest.positions.values()
    return int(json.loads(text)["n"])


@pytest.mark.long
def test_pieces_give_the_rows_of_one_run(spark: SparkSession, tmp_path: Path) -> None:
    events = 12 * BATCH
    whole = Runs(spark, tmp_path / "whole", events)
    whole.start("job").wait()
    cut = Runs(spark, tmp_path / "cut", events)
    first = cut.start("first")
    wait_for_batches(first, 2)
    first.stop(with_savepoint=tmp_path / "one")
    # Another process knows the job from its folder alone, and saves the same.
    again = take_savepoint(job_info(first.folder.path), tmp_path / "again")
    assert replace(again, states=()) == replace(read(tmp_path / "one"), states=())
    assert [each.rows for each in again.states] == [each.rows for each in read(tmp_path / "one").states]
    second = cut.start("second", tmp_path / "one", parallelism=3)
    wait_for_batches(second, 1)
    # What is noted but not committed when it stops comes again from the folder, and once only.
    second.stop()
    second = cut.start("second", parallelism=1)
    wait_for_batches(second, 3)
    second.stop(with_savepoint=tmp_path / "two")
    third = cut.start("third", tmp_path / "two")
    third.wait()
    assert [fate.fate for fate in third.fates] == ["restored"] * len(third.fates)
    assert 0 < position(read(tmp_path / "one")) < position(read(tmp_path / "two")) < events
    assert cut.rows("copies") == whole.rows("copies")
    assert cut.rows("windows") == whole.rows("windows")
    assert cut.totals() == whole.totals()
    whole.clear()
    cut.clear()


@pytest.mark.long
def test_a_restore_that_fails_half_way_begins_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = 4 * BATCH
    whole = Runs(spark, tmp_path / "whole", events)
    whole.start("job").wait()
    cut = Runs(spark, tmp_path / "cut", events)
    first = cut.start("first")
    wait_for_batches(first, 1)
    first.stop(with_savepoint=tmp_path / "savepoint")
    write = collect._Writer.write_rows

    def failing(self: collect._Writer, rows: pa.Table, batch_id: int) -> None:
        write(self, rows, batch_id)
        raise JobError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(collect._Writer, "write_rows", failing)
        with pytest.raises(JobError, match="the disk is full"):
            cut.start("second", tmp_path / "savepoint").wait()
    # The folder knows the savepoint, and that nothing has been committed since.
    cut.start("second").wait()
    assert cut.rows("copies") == whole.rows("copies")
    assert cut.rows("windows") == whole.rows("windows")
    assert cut.totals() == whole.totals()
    whole.clear()
    cut.clear()


def test_a_savepoint_of_a_running_job_is_of_one_batch(spark: SparkSession, tmp_path: Path) -> None:
    runs = Runs(spark, tmp_path, 0)
    job = runs.start("job")
    wait_for_batches(job, 2)
    manifest = job.savepoint(tmp_path / "savepoint")
    after = job.folder.committed_batch()
    wait_for_batches(job, (after or 0) + 1)
    job.stop(drain=True, with_savepoint=tmp_path / "drained")
    assert manifest == read(tmp_path / "savepoint")
    assert position(manifest) % BATCH == 0
    (totals,) = (state for state in manifest.states if state.name == "globalGroupAggregateState")
    counted = spark.read.parquet(*(str(tmp_path / "savepoint" / file) for file in totals.files))
    (column,) = (name for name, _ in totals.schema if name not in totals.key)
    assert counted.selectExpr(f"sum(`{column}`)").collect()[0][0] == position(manifest)
    drained = read(tmp_path / "drained")
    # Every row that was taken up is in two windows that have fired; none met the last watermark.
    assert sum(row[1] * n for row, n in runs.rows("windows").items()) == 2 * position(drained)
    assert {state.name: state.rows for state in drained.states}["windowAggregateState"] == 0
    assert 0 < drained.watermark < 4_000_000_000_000
    runs.clear()
