"""Savepoints of a job that is stopped meanwhile, by one or by several: whoever was promised one has it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.jobs.status import State, read_status
from rekindle.runtime import stream_job
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints import segments
from rekindle.savepoints.contents import read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE t (k INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100',
  'fields.k.min' = '1', 'fields.k.max' = '9');
CREATE TABLE a (k INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO a SELECT k, COUNT(*) FROM t GROUP BY k;
"""


class Held:
    """Savepoints that are begun, and then wait to be written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self._write = segments.take_of_entry
        monkeypatch.setattr(stream_job, "take_of_entry", self)

    def __call__(self, *arguments: object) -> object:
        self.begun.set()
        assert self.go_on.wait(60)
        return self._write(*arguments)  # type: ignore[arg-type]  # as they came


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Iterator[StreamJob]:
    """One that runs, and has committed a micro-batch."""
    options = {"execution.job-dir": str(tmp_path / "job"), "parallelism.default": "1"}
    environment = TableEnvironment.create(options, spark=spark)
    graph = environment.compile_script(SCRIPT).graph
    running = StreamJob(graph, encode(graph), environment.configuration, spark=spark).start()
    while running.folder.committed_batch() is None:
        assert not running.wait(0.1)
    yield running
    running.stop()


@pytest.mark.spark
def test_a_second_stop_takes_no_savepoint_away(job: StreamJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, target = Held(monkeypatch), tmp_path / "savepoint"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(job.stop, with_savepoint=target)
        assert held.begun.wait(60)
        second = pool.submit(job.stop)
        held.go_on.set()
        first.result(60)
        second.result(60)
    assert read(target).states[0].rows > 0
    status = read_status(tmp_path / "job")
    assert status is not None
    assert (status.state, status.savepoint) == (State.STOPPED, str(target))


@pytest.mark.spark
def test_a_stop_while_a_savepoint_is_taken(job: StreamJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, early, late = Held(monkeypatch), tmp_path / "early", tmp_path / "late"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(job.savepoint, early)
        assert held.begun.wait(60)
        second = pool.submit(job.stop, with_savepoint=late)
        held.go_on.set()
        second.result(60)
        assert first.result(60).states[0].rows == read(early).states[0].rows > 0
    assert read(late).states[0].rows > 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["early", "job", "late"]
