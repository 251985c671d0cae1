"""Texts are read as Flink reads them: one query a grid."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from rekindle.api.table_environment import TableEnvironment
from tests.functions.flink.texts import GRIDS, Grid

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def environment(spark: SparkSession) -> TableEnvironment:
    return TableEnvironment.create({"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"}, spark=spark)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.name)
def test_texts_are_read_as_flink_reads_them(environment: TableEnvironment, grid: Grid) -> None:
    expected = grid.expected()
    columns = ", ".join(f"CAST({each} AS STRING)" for each in expected)
    wrong = []
    for _, row in environment.execute_sql(f"SELECT id, {columns} FROM {grid.view} AS t").collect_changes():
        for (expression, values), found in zip(expected.items(), row[1:], strict=True):
            if row[0] in values and found != values[row[0]]:
                wrong.append(f"{expression} {grid.rows[row[0]]}: {found!r}, Flink {values[row[0]]!r}")
    assert not wrong, "\n".join(wrong)
