"""Queries of the caller's that run a job: with its sinks, and with the changes of its only sink handed over."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import PassingError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.file_sink import FileWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = """
CREATE TABLE a (k INT, v INT) WITH ('connector' = 'spark', 'spark.format' = 'json', 'spark.schema' = 'true',
  'spark.options.path' = '{folder}/a', 'spark.options.maxFilesPerTrigger' = '1');
CREATE TABLE b (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/b', 'format' = 'json');
CREATE TABLE kept (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/kept', 'format' = 'json');
"""
BOTH = "SELECT * FROM a UNION ALL SELECT * FROM b"
_PATIENCE = 60


class Callers:
    """Starts queries over one folder of input."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        for name in "ab":
            (folder / name).mkdir()

    def environment(self, job: str = "job") -> TableEnvironment:
        settings = {"execution.job-dir": str(self.folder / job), "execution.micro-batch.max-files": "1"}
        made = TableEnvironment.create(settings, spark=self.spark)
        made.execute_script(TABLES.replace("{folder}", str(self.folder)))
        return made

    def attached(self) -> Any:
        return self.environment().create_statement_set().add_insert_sql(f"INSERT INTO kept {BOTH}")

    def frame(self, query: str, job: str = "job") -> DataFrame:
        environment = self.environment(job)
        return environment.as_data_stream(environment.compile_plan_sql(query), changelog=True)

    def put(self, table: str, name: str, *rows: tuple[int, int]) -> None:
        hidden = self.folder / table / f".{name}"
        hidden.write_text("".join(json.dumps({"k": k, "v": v}) + "\n" for k, v in rows))
        hidden.rename(self.folder / table / f"{name}.json")

    def kept(self) -> list[tuple[int, int]]:
        found = (self.folder / "kept").glob("part-*")
        rows = [json.loads(line) for each in found for line in each.read_text().splitlines()]
        return sorted((row["k"], row["v"]) for row in rows)

    def take(self, frame: DataFrame, into: Callable[[DataFrame, int], None], checkpoint: str = "checkpoint") -> Any:
        writer = frame.writeStream.foreachBatch(into).option("checkpointLocation", str(self.folder / checkpoint))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination(_PATIENCE)
        return query


@pytest.fixture
def callers(spark: SparkSession, tmp_path: Path) -> Iterator[Callers]:
    yield Callers(spark, tmp_path)
    until(lambda: not spark.streams.active)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.spark
def test_attached_it_takes_what_there_is(callers: Callers) -> None:
    """Files and a stream; what has come since is taken by the next query."""
    expected = []
    for number in range(2):
        for table in "ab":
            for file in range(2):
                row = (number, file)
                callers.put(table, f"{number}-{file}", row)
                expected.append(row)
        writer = callers.attached().attach_as_data_stream()
        writer.trigger(availableNow=True).start().awaitTermination(_PATIENCE)
        assert callers.kept() == sorted(expected)


@pytest.mark.spark
def test_attached_it_goes_on_until_it_is_stopped(callers: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure ends the query; started again it goes on, and nothing comes twice."""
    write, failures = FileWriter.write, [PassingError("the disk is away")]

    def failing(self: FileWriter, *arguments: Any) -> None:
        write(self, *arguments)
        if failures:
            raise failures.pop()

    monkeypatch.setattr(FileWriter, "write", failing)
    callers.put("a", "0", (1, 1))
    writer = callers.attached().attach_as_data_stream().trigger(processingTime="50 milliseconds")
    query = writer.start()
    until(lambda: not query.isActive)
    assert "the disk is away" in str(query.exception())
    query = writer.start()
    until(lambda: callers.kept() == [(1, 1)])
    callers.put("a", "1", (2, 2))
    callers.put("b", "1", (3, 3))
    until(lambda: callers.kept() == [(1, 1), (2, 2), (3, 3)])
    query.stop()


@pytest.mark.spark
def test_changes_come_once(callers: Callers) -> None:
    """Again where the query has failed, and not where it has noted them; a checkpoint belongs to its job."""
    rows: list[tuple[Any, ...]] = []

    def takes(batch: DataFrame, _: int) -> None:
        rows.extend(sorted(map(tuple, batch.collect())))

    def fails(batch: DataFrame, _: int) -> None:
        takes(batch, 0)
        raise RuntimeError("broken")

    query = "SELECT k, SUM(v) AS s FROM a GROUP BY k"
    callers.put("a", "0", (1, 1), (2, 2))
    with pytest.raises(Exception, match="broken"):
        callers.take(callers.frame(query), fails)
    assert rows == [(1, 1, "+I"), (2, 2, "+I")]
    rows.clear()
    callers.put("a", "1", (1, 5))
    callers.take(callers.frame(query), takes)
    assert rows == [(1, 1, "+I"), (2, 2, "+I"), (1, 1, "-U"), (1, 6, "+U")]
    rows.clear()
    callers.take(callers.frame(query), takes)
    assert not rows
    callers.put("a", "2", (2, 1))
    callers.take(callers.frame(query), takes)
    assert rows == [(2, 2, "-U"), (2, 3, "+U")]
    with pytest.raises(Exception, match="handed over to a query with another checkpoint"):
        callers.take(callers.frame(query), takes, "other")
    with pytest.raises(Exception, match="the query's checkpoint is of the job"):
        callers.take(callers.frame(query, "second"), takes)


TYPES = """SELECT
  CAST(v AS TINYINT), CAST(v AS SMALLINT), CAST(v AS DOUBLE), CAST(v AS FLOAT), CAST(v AS DECIMAL(20, 3)),
  CAST(v AS STRING), v > 1, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.456', TO_TIMESTAMP_LTZ(v, 3),
  ARRAY[v, NULL], MAP['a', v], ROW(v, 'x'), X'00ff', TIME '01:02:03', CAST(NULL AS STRING), DATE '0001-01-01' FROM a"""


@pytest.mark.spark
def test_values_of_all_types(callers: Callers) -> None:
    """They are what the job has in a table."""
    found: list[Any] = []
    callers.put("a", "0", (1, 2))
    frame = callers.frame(TYPES.replace("FROM a", ", v FROM a"))
    callers.take(frame, lambda batch, _: found.extend(batch.drop("row_kind").collect()))
    settings = {"execution.runtime-mode": "batch"}
    environment = TableEnvironment.create(settings, spark=callers.spark)
    environment.execute_script(TABLES.replace("{folder}", str(callers.folder)))
    expected = environment.as_data_stream(environment.compile_plan_sql(TYPES.replace("FROM a", ", v FROM a")))
    assert frame.drop("row_kind").schema.simpleString() == expected.schema.simpleString()
    assert found == expected.collect()
