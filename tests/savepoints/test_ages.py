"""Rows that a savepoint hands over are as old as they were; those of a state that had no TTL begin to age."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from plans.format.load import load
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.restore import Restore, prepare
from tests.savepoints.saved import AGGREGATES, TWO, column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ages(spark: SparkSession, restore: Restore, step: OperatorRecord) -> list[int | None]:
    rows = restore.rows(spark, step)
    assert rows is not None
    return [each[0] for each in rows.select("rk_written").sort("rk_written").collect()]


@pytest.mark.spark
def test_restored_rows_are_as_old_as_they_were(spark: SparkSession) -> None:
    graph = load((AGGREGATES / PLAN).read_text(encoding="utf-8"))
    restore = prepare(AGGREGATES, graph, drop_unclaimed=False, drop=frozenset())
    operators = (each for each in record(graph).steps.values() if isinstance(each, OperatorRecord))
    step = next(each for each in operators if each.operator.uid == TWO)
    titles = [each.title for each in restore.manifest.states if each.uid == TWO]
    written = sorted(age for title in titles for age in column(AGGREGATES, title, "rk_written"))
    assert len(titles) > 1
    assert None not in written
    assert ages(spark, restore, step) == written
    kept = {at: replace(each, state=replace(each.state, ttl_ms=0)) for at, each in restore.kept.items()}
    assert ages(spark, replace(restore, kept=kept), step) == [None] * len(written)
