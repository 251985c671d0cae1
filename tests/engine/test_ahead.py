"""Frames that are built while the micro-batch before runs: the same rows, and none of them if it comes otherwise.

The files' names have blanks, for tasks would read other small files themselves, by a program that is built once.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors import collect
from rekindle.connectors.collect import results
from rekindle.engine.frames import Frames
from rekindle.engine.host import Moment
from rekindle.engine.intake import Ahead, Intake
from rekindle.engine.store.state_list import StateId
from rekindle.runtime.stream_job import StreamJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv' {more});
CREATE TABLE o (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'collect', 'name' = '{folder}');
INSERT INTO o SELECT k, COUNT(*) FROM t GROUP BY k
"""


def write(folder: Path, name: str, text: str, age: int) -> None:
    (folder / "t").mkdir(exist_ok=True)
    hidden = folder / "t" / f".{name}"
    hidden.write_text(text)
    os.utime(hidden, (1e9 - age, 1e9 - age))
    hidden.rename(folder / "t" / name)


def job(spark: SparkSession, folder: Path, more: str = "") -> StreamJob:
    options = {"execution.micro-batch.max-files": "1", "execution.job-dir": str(folder / "job")}
    environment = TableEnvironment.create(options, spark=spark)
    plan = environment.compile_script(SCRIPT.format(folder=folder, more=more))
    return StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=spark)


def changes(folder: Path) -> list[tuple[int, Any, Any]]:
    return [(kind, *row) for kind, row in results(str(folder))]


@pytest.fixture
def builders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the threads that have built frames of rows."""
    names: list[str] = []
    built = Intake._built

    def watched(self: Intake, positions: Any, *more: Any) -> Frames:
        if positions:
            names.append(threading.current_thread().name)
        return built(self, positions, *more)

    monkeypatch.setattr(Intake, "_built", watched)
    return names


def test_a_moment_travels_as_a_text() -> None:
    newest = {StateId("3_jöin", "left:State", 1): "a.segments", StateId("3_jöin", "left:State", 0): "b.segments"}
    for watermark in (None, -5, 2**40):
        moment = Moment((7, 2), watermark, 99, frozenset({"x", "y"}), newest, {("3_jöin", 1): -1})
        assert Moment.of_text(moment.text()) == moment


@pytest.mark.spark
def test_the_first_micro_batch_alone_waits_for_its_frames(
    spark: SparkSession, tmp_path: Path, builders: list[str]
) -> None:
    for number, text in enumerate(("a\nb\n", "b\n", "c\n")):
        write(tmp_path, f"{number} .csv", text, -number)
    job(spark, tmp_path).start().wait()
    added = [row for row in changes(tmp_path) if row[0] in (0, 2)]
    assert sorted(added) == [(0, "a", 1), (0, "b", 1), (0, "c", 1), (2, "b", 2)]
    assert len(builders) == 3
    assert len(set(builders)) > 1
    assert builders.count(builders[0]) == 1


@pytest.mark.spark
def test_a_file_that_comes_in_between_comes_first(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is older than one that waits, so that another micro-batch follows than was built for."""
    write(tmp_path, "0 .csv", "a\n", 5)
    write(tmp_path, "2 .csv", "c\n", 0)
    taken: list[bool] = []
    take, told = Ahead.take, collect._Writer.write_rows

    def taking(self: Ahead, positions: Any, *given: Any) -> Frames | None:
        frames = take(self, positions, *given)
        if positions:
            taken.append(frames is not None)
        return frames

    def write_between(self: Any, rows: Any, batch_id: int) -> None:
        if not (tmp_path / "t" / "1 .csv").exists():
            write(tmp_path, "1 .csv", "b\n", 2)
        told(self, rows, batch_id)

    monkeypatch.setattr(Ahead, "take", taking)
    monkeypatch.setattr(collect._Writer, "write_rows", write_between)
    running = job(spark, tmp_path, ", 'source.monitor-interval' = '100 ms'").start()
    while len(changes(tmp_path)) < 3:
        assert not running.wait(0.05)
    running.stop()
    assert [row[1] for row in changes(tmp_path)] == ["a", "b", "c"]
    assert taken == [False, False, True]


@pytest.mark.spark
def test_what_stands_in_their_way_is_told_at_their_turn(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "0 .csv", "a\n", 5)
    write(tmp_path, "1 .csv", "b\n", 0)
    told = collect._Writer.write_rows

    def remove(self: Any, rows: Any, batch_id: int) -> None:
        (tmp_path / "t" / "1 .csv").unlink(missing_ok=True)
        told(self, rows, batch_id)

    monkeypatch.setattr(collect._Writer, "write_rows", remove)
    with pytest.raises(ConnectorError, match="a file that this micro-batch is to read is gone") as caught:
        job(spark, tmp_path).start().wait()
    assert str(caught.value.where).endswith("1 .csv")
    assert changes(tmp_path) == [(0, "a", 1)]
