"""Texts that are put into texts do not grow without end: long ones become columns on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execnodes.core.types import BIGINT, Field, row
from execnodes.lowering.stream import Branch, Rows
from rekindle import TableEnvironment
from rekindle.pipeline.record import record
from tests.planner.test_limits import compiled, nested

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPE = row(Field("a", BIGINT))


def doubled(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"({each} + {each})" for each in columns)


def length(branch: Branch) -> int:
    made = sum(len(each.text) for layer in branch.made for each in layer)
    return made + sum(map(len, branch.columns)) + len(branch.condition or "")


@pytest.mark.parametrize("filtered", [False, True])
def test_a_column_used_twice_again_and_again_grows_with_the_steps(filtered: bool) -> None:
    rows = Rows(TYPE, (Branch(1, ("c0",)),))
    for _ in range(100):
        if filtered:
            rows = rows.where(lambda branch: f"{branch.columns[0]} > 1")
        rows = rows.project(TYPE, doubled)
    (branch,) = rows.branches
    assert length(branch) < 1_500_000  # 2 ** 100 without columns on the way
    names = [each.name for layer in branch.made for each in layer]
    assert len(names) == len(set(names))


def test_short_texts_stay_in_each_other() -> None:
    rows = Rows(TYPE, (Branch(1, ("c0",)),)).project(TYPE, doubled).project(TYPE, doubled)
    assert rows.branches == (Branch(1, ("((c0 + c0) + (c0 + c0))",)),)


def test_what_is_made_of_filtered_rows_is_made_of_them_alone() -> None:
    rows = Rows(TYPE, (Branch(1, ("c0",)),)).where(lambda branch: "(c0 <> 0)")
    long = rows.project(TYPE, lambda columns: tuple(f"(7 / {each}{' + 0' * 2000})" for each in columns))
    (branch,) = long.project(TYPE, lambda columns: columns).branches
    (condition,), (column,) = branch.made
    assert condition.text == "(c0 <> 0)"
    assert column.text.startswith(f"CASE WHEN {condition.name} THEN (7 / c0")
    assert branch.columns == (column.name,)
    assert branch.condition == condition.name


@pytest.mark.spark
def test_spark_computes_them(spark: SparkSession) -> None:
    environment = TableEnvironment.create(spark=spark)
    environment.execute_sql("CREATE VIEW t AS SELECT * FROM (VALUES (CAST(1 AS BIGINT)), (0)) AS v(a)")
    text = nested(24, lambda inner: f"SELECT a + a AS a FROM ({inner}) WHERE a <> 0", "SELECT a FROM t")
    assert [tuple(values) for _, values in environment.execute_sql(text).collect_changes()] == [(2**24,)]


def test_stored_plans_of_many_steps_are_lowered() -> None:
    text = nested(40, lambda inner: f"SELECT a + b AS a, a - b AS b FROM ({inner})", "SELECT a, b FROM t")
    (sink,) = record(compiled(text)).sinks
    assert sum(map(length, sink.rows.branches)) < 1_500_000
