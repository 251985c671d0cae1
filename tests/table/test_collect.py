"""Rows of results in Python: what they are, and that they come while their job runs."""

from __future__ import annotations

import datetime
import io
import threading
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from rekindle import Row, RowKind, TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES = """
SELECT k, TIME '01:02:03' AS t, INTERVAL '1' DAY AS i, INTERVAL '14' MONTH AS m, MAP['a', TIME '00:00:01'] AS mp,
    ROW(k, ROW('x', TIME '00:00:02')) AS r, ARRAY[ROW(k)] AS a,
    CAST(1.5 AS DECIMAL(3, 1)) AS d, DATE '2024-01-02' AS dt,
    CAST(NULL AS TIME) AS n
FROM (VALUES (1), (1)) AS v(k)
"""


class Sink(io.StringIO):
    """Text that is printed; `seen` is set once rows are in it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if "| +I |" in text:
            self.seen.set()
        return written


def test_rows_of_statements() -> None:
    result = TableEnvironment.create().execute_sql("SHOW CURRENT DATABASE")
    with result.collect() as rows:
        row = rows.next()
        assert row[0] == row[result.columns[0]] == "default_database"
        assert row.get_row_kind() is RowKind.INSERT
        assert list(rows) == []
    assert list(result.collect()) == [Row("default_database")]


def test_a_closed_iterator_has_no_more_rows() -> None:
    rows = TableEnvironment.create().execute_sql("SHOW CURRENT DATABASE").collect()
    rows.close()
    assert list(rows) == []


@pytest.mark.spark
def test_values_are_those_of_python(spark: SparkSession) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    result = env.execute_sql(VALUES)
    row, again = result.collect()
    assert row == again
    assert (row.k, row.t, row.i, row.m) == (1, datetime.time(1, 2, 3), datetime.timedelta(days=1), 14)
    assert row.mp == {"a": datetime.time(0, 0, 1)}
    assert row.r[1][0] == "x"
    assert row.r[1][1] == datetime.time(0, 0, 2)
    assert isinstance(row.a[0], Row)
    assert (row.d, row.dt, row.n) == (Decimal("1.5"), datetime.date(2024, 1, 2), None)
    frame = env.sql_query(VALUES).to_pandas()
    assert (len(frame), frame["t"][0], frame["mp"][0]) == (2, row.t, row.mp)


@pytest.mark.spark
def test_rows_of_a_stream_come_while_it_runs_until_it_is_closed(spark: SparkSession) -> None:
    env = TableEnvironment.create(spark=spark)
    env.execute_sql("CREATE TABLE g (k INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5')")
    result = env.execute_sql("SELECT 1 AS one, COUNT(*) AS n FROM g")
    assert result.job is not None
    with result.collect() as rows:
        first = next(rows)
        kinds = [first.get_row_kind(), next(rows).get_row_kind(), next(rows).get_row_kind()]
        assert not result.job.has_ended
    assert first.one == 1
    assert kinds == [RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER]
    assert result.job.has_ended
    assert list(rows) == []

    printed, shown = env.execute_sql("SELECT 'x' AS word FROM g"), Sink()
    thread = threading.Thread(target=printed.print, args=(shown,), daemon=True)
    thread.start()
    assert shown.seen.wait(60)
    assert printed.job is not None
    printed.job.stop()
    thread.join(60)
    assert shown.getvalue().rstrip().rsplit("\n", 1)[-1].startswith("Received a total of")
