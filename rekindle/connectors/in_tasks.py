"""Rows that tasks read themselves, in place of Spark: few of them, by a program that is built before they are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rekindle.spark.workers import settle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_READS = "rekindle.reads"
"""Property of Spark's jobs: what their tasks read, by the source's uid."""


@runtime_checkable
class ToldToTasks(Protocol):
    """Positions of a source whose tasks can read it themselves (see `SourceRequest.in_tasks`)."""

    def told(self, start: Any, end: Any) -> Any | None:
        """What a task is told to read between two positions, as JSON; None if only Spark can read it."""
        ...


ReadColumns = Callable[[Any, int, int], "Iterator[pa.Table]"]
"""Reads what a task is told (see `SourceConnector.columns`): the part of one task, by its number, of so many."""


def tell_tasks(spark: SparkSession, reads: Mapping[str, Any]) -> None:
    """Say what the tasks of this thread's jobs read: what `told` gave, by the source's uid."""
    spark.sparkContext.setLocalProperty(_READS, json.dumps(reads))


def told_to_task(uid: str) -> Any:
    """What the task that asks is told to read of a source."""
    from pyspark import TaskContext

    task = TaskContext.get()
    text = None if task is None else task.getLocalProperty(_READS)
    assert text is not None
    return json.loads(text)[uid]


def frame_of_tasks(
    spark: SparkSession, uid: str, read: Callable[[Any], Iterator[pa.RecordBatch]], ddl: str
) -> DataFrame:
    """The rows that `read`, which is given what the tasks are told, makes in one task; `ddl`: their columns."""
    return frame_of_shares(spark, uid, partial(_all_of, read), ddl, 1)


def _all_of(
    read: Callable[[Any], Iterator[pa.RecordBatch]], told: Any, task: int, tasks: int
) -> Iterator[pa.RecordBatch]:
    return read(told)


def frame_of_shares(
    spark: SparkSession,
    uid: str,
    read: Callable[[Any, int, int], Iterator[pa.RecordBatch]],
    ddl: str,
    tasks: int,
) -> DataFrame:
    """The same of several tasks: `read` is given what they are told, the number of its task, and how many there are."""
    return spark.range(0, tasks, 1, tasks).mapInArrow(_Reading(uid, read, tasks), ddl)


def number_in(batches: Iterator[pa.RecordBatch]) -> int:
    """That of a task of a range which has a number a task; its partition may have another one in a union of frames."""
    (number,) = (number for batch in batches for number in batch.column(0).to_pylist())
    return int(number)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The body of a mapInArrow."""

    uid: str
    read: Callable[[Any, int, int], Iterator[pa.RecordBatch]]
    tasks: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = number_in(batches)
        yield from self.read(told_to_task(self.uid), number, self.tasks)
        settle()
