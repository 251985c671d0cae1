"""Subtasks share keys out evenly, and Spark sends each to a task of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from execnodes.engine.slot_frames import SUBTASK, TAG
from execnodes.lowering.stream import HASH
from rekindle.pipeline.subtasks import Subtasks, spark_hash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(("tasks", "groups", "subtasks"), [(2, 8, 2), (3, 8, 3), (16, 8, 8), (1, 128, 1)])
def test_a_number_stands_for_the_task_it_is_sent_to(tasks: int, groups: int, subtasks: int) -> None:
    for tag in (1, 7, 4711):
        numbers = Subtasks(tasks, groups).numbers(tag)
        assert [spark_hash(tag, number) % tasks for number in numbers] == list(range(subtasks))


@pytest.mark.spark
def test_spark_agrees(spark: SparkSession) -> None:
    subtasks = Subtasks(3, 8)
    rows = spark.range(400).selectExpr(
        f"CAST(id % 2 AS INT) * 6 + 1 AS {TAG}", f"IF(id < 8, NULL, xxhash64(id)) AS {HASH}"
    )
    spread = subtasks.spread([1, 7]).subtasks(pl.DataFrame(rows.toArrow()))
    again = spark.createDataFrame(spread.to_arrow(compat_level=pl.CompatLevel.oldest()))
    found = again.repartition(3, TAG, SUBTASK).selectExpr(
        "*",
        "spark_partition_id() AS task",
        f"hash({TAG}, {SUBTASK}) AS hashed",
        f"pmod(coalesce({HASH}, 0), 8) AS key_group",
    )
    placed = found.collect()
    for row in placed:
        assert row.task == row.key_group * 3 // 8
        assert row.rk_lane == subtasks.numbers(row.rk_tag)[row.task]
        assert row.hashed == spark_hash(row.rk_tag, row.rk_lane)
    assert {row.task for row in placed} == {0, 1, 2}
