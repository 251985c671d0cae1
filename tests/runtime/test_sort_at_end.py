"""ORDER BY at the end of inputs that have no event time: the order of the sink's rows, and inputs without an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import PlanError
from rekindle.api.table_environment import TableEnvironment
from rekindle.spark.releases import named
from rekindle.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALLOWED = {"__table.exec.sort.non-temporal.enabled__": "true"}


@pytest.mark.spark
def test_rows_come_in_order(spark: SparkSession) -> None:
    environment = TableEnvironment.create(ALLOWED, spark=prepare(spark, 2, {}))
    values = ", ".join(f"({at * 37 % 101}, 'v{at}')" for at in range(100))
    given = environment.execute_sql(f"SELECT * FROM (VALUES {values}) AS t(n, s) ORDER BY n DESC").collect_changes()
    assert [row[0] for _, row in given] == sorted((at * 37 % 101 for at in range(100)), reverse=True)


@pytest.mark.spark
def test_a_data_stream_without_end_is_refused_when_it_runs(spark: SparkSession) -> None:
    session = prepare(spark, 2, {})
    environment = TableEnvironment.create(ALLOWED, spark=session)
    endless = named(session.readStream, "rates").format("rate").load()
    rates = environment.from_data_stream(endless, uid="rates")
    environment.create_temporary_view("rates", rates)
    with pytest.raises(PlanError) as caught:
        environment.execute_sql("SELECT `value` FROM rates ORDER BY `value`").print()
    assert "but a source below has no end" in str(caught.value)
