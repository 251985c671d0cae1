"""The life of a job in micro-batches over segments: stopped, drained, gone on with, saved while it runs, restarted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError, PassingError, StateError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.file_sink import FileWriter
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.contents import read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE ticks (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem',
  'path' = '{folder}/input', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE windows (ws TIMESTAMP(3), k INT, n BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/windows', 'format' = 'json');
INSERT INTO windows SELECT window_start, k, COUNT(*)
  FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k;
"""
_PATIENCE = 60.0


class Jobs:
    """Starts jobs over one folder of input, and sees what has landed."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.started: list[StreamJob] = []
        (folder / "input").mkdir()

    def start(self, name: str = "job", **options: str) -> StreamJob:
        settings = {"execution.job-dir": str(self.folder / name), "parallelism.default": "2", **options}
        environment = TableEnvironment.create(settings, spark=self.spark)
        plan = environment.compile_script(SCRIPT.format(folder=self.folder))
        job = StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=self.spark)
        self.started.append(job)
        return job.start()

    def put(self, name: str, *minutes: int) -> None:
        hidden = self.folder / "input" / f".{name}"
        hidden.write_text("".join(f"1,2024-01-01 00:{minute:02}:00\n" for minute in minutes))
        hidden.rename(self.folder / "input" / f"{name}.csv")

    def landed(self) -> list[tuple[int, int]]:
        """(minute, rows) of the windows that are out."""
        found = (self.folder / "windows").glob("part-*")
        rows = [json.loads(line) for each in found for line in each.read_text().splitlines()]
        return sorted((int(row["ws"][14:16]), row["n"]) for row in rows)


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(spark, tmp_path)
    yield made
    for each in made.started:
        if not each.has_ended:
            each.stop()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.spark
def test_stopped_gone_on_with_and_drained(jobs: Jobs) -> None:
    jobs.put("a", 0, 0, 1)
    job = jobs.start()
    assert not job.ends_by_itself
    until(lambda: jobs.landed() == [(0, 2)])
    job.stop()
    jobs.put("b", 1, 2)
    job = jobs.start()
    until(lambda: jobs.landed() == [(0, 2), (1, 2)])
    # What is out is committed a moment later.
    until(lambda: job.progress() is not None and bool(job.batches()))
    progress = job.progress()
    assert progress is not None
    assert (progress.rows, progress.watermark) == (2, "2024-01-01T00:02:00.000+00:00")
    assert [rows for name, rows in progress.state_rows.items() if "window" in name] == [1]
    job.stop(drain=True)
    assert jobs.landed() == [(0, 2), (1, 2), (2, 1)]


@pytest.mark.spark
def test_a_savepoint_while_it_runs_and_one_at_its_end(jobs: Jobs) -> None:
    jobs.put("a", 0, 1)
    job = jobs.start()
    # What is out is committed a moment later.
    until(lambda: job.progress() is not None)
    job.savepoint(jobs.folder / "running")
    with pytest.raises(StateError, match="the folder exists already"):
        job.savepoint(jobs.folder / "running")
    job.stop(with_savepoint=jobs.folder / "ended")
    for name in ("running", "ended"):
        manifest = read(jobs.folder / name)
        assert [(each.rows, each.uid) for each in manifest.states if each.rows]
        assert manifest.watermark == 1_704_067_260_000
    jobs.put("b", 1, 2)
    job = jobs.start("other", **{"execution.state-recovery.path": str(jobs.folder / "running")})
    until(lambda: jobs.landed() == [(0, 1), (1, 2)])
    assert {each.fate for each in job.fates} == {"restored"}


@pytest.mark.spark
def test_a_failure_that_passes_is_no_end(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    write, failures = FileWriter.write, [PassingError("away for a moment"), PassingError("and again")]

    def failing(self: FileWriter, *arguments: Any) -> None:
        if failures:
            raise failures.pop()
        write(self, *arguments)

    monkeypatch.setattr(FileWriter, "write", failing)
    jobs.put("a", 0, 1)
    strategy = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "3"}
    job = jobs.start(**strategy, **{"restart-strategy.fixed-delay.delay": "10 ms"})
    until(lambda: jobs.landed() == [(0, 1)])
    assert not failures
    job.stop()


@pytest.mark.spark
def test_files_that_change_are_told_of(jobs: Jobs) -> None:
    jobs.put("a", 0, 1)
    job = jobs.start()
    until(lambda: jobs.landed() == [(0, 1)])
    jobs.put("a", 0, 1, 2)
    with pytest.raises(ConnectorError, match="a file that has been read has 66 bytes now, not 44"):
        job.wait(_PATIENCE)
    jobs.put("a", 0, 1)
    jobs.put("b", 2)
    # Data that was moved with its job is not read again.
    (jobs.folder / "input").rename(jobs.folder / "elsewhere")
    (jobs.folder / "input").symlink_to(jobs.folder / "elsewhere")
    jobs.start()
    until(lambda: jobs.landed() == [(0, 1), (1, 1)])
