"""A column of the input with the name of one that a window function adds: ambiguous where it is read, as in Flink."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle import TableEnvironment

DDL = """
CREATE TABLE t (a INT, `{column}` {type}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE o (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
"""
WINDOWS = (
    "TUMBLE({data}, DESCRIPTOR({time}), INTERVAL '10' SECOND)",
    "HOP({data}, DESCRIPTOR({time}), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "CUMULATE({data}, DESCRIPTOR({time}), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "SESSION({data}, DESCRIPTOR({time}), INTERVAL '10' SECOND)",
)
COLUMNS = ("window_start", "window_end", "window_time")
READING = (
    "SELECT * FROM {table}",
    "SELECT x.* FROM {table} AS x",
    "SELECT {column} FROM {table}",
    "SELECT x.{column} FROM {table} AS x",
    "SELECT a FROM {table} WHERE {column} IS NULL",
    "SELECT COUNT(*) FROM {table} GROUP BY {column}",
    "SELECT a FROM {table} ORDER BY {column}",
    "SELECT 1 FROM {table} AS x JOIN o ON x.{column} IS NULL AND x.a = o.a",
)
OTHERWISE = (
    "SELECT a FROM {table}",
    "SELECT COUNT(*) FROM {table}",
    "SELECT d FROM {table} AS x (a, b, c, d, e, f)",
    "SELECT 1 FROM {table} AS x JOIN o ON x.a = o.a",
)


def compile_query(query: str, table: str, column: str, mode: str, type: str = "TIMESTAMP(3)") -> None:
    made = TableEnvironment.create({"execution.runtime-mode": mode})
    made.execute_script(DDL.format(column=column, type=type))
    made.compile_plan_sql(query.format(table=f"TABLE({table})", column=column))


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("query", READING)
def test_a_name_of_two_columns_is_ambiguous(query: str, column: str) -> None:
    with pytest.raises(SqlError, match=f"Column '{column}' is ambiguous") as caught:
        compile_query(query, WINDOWS[0].format(data="TABLE t", time="ts"), column, "streaming")
    assert caught.value.position is not None
    assert "subquery" in (caught.value.hint or "")


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("window", WINDOWS)
def test_it_is_ambiguous_with_every_window(window: str, mode: str) -> None:
    with pytest.raises(SqlError, match="Column 'window_start' is ambiguous"):
        compile_query(READING[0], window.format(data="TABLE t", time="ts"), "window_start", mode, "STRING")
    inner = "(SELECT a, window_start, window_time FROM TABLE({}) GROUP BY a, window_start, window_end, window_time)"
    nested = window.format(data=inner.format(WINDOWS[0].format(data="TABLE o", time="ts")), time="window_time")
    with pytest.raises(SqlError, match="Column 'window_start' is ambiguous"):
        compile_query("SELECT window_start FROM {table}", nested, "x", mode)
    compile_query("SELECT a, window_end FROM {table}", nested, "x", mode)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("query", OTHERWISE)
def test_what_does_not_read_it_is_accepted(query: str, column: str) -> None:
    compile_query(query, WINDOWS[0].format(data="TABLE t", time="ts"), column, "streaming")


def test_names_in_other_case_are_other_columns() -> None:
    compile_query("SELECT * FROM {table}", WINDOWS[0].format(data="TABLE t", time="ts"), "WINDOW_START", "streaming")


def test_the_column_is_renamed_as_the_hint_says() -> None:
    data = "(SELECT a, ts, window_start AS window_start_ FROM t)"
    compile_query("SELECT * FROM {table}", WINDOWS[0].format(data=data, time="ts"), "window_start", "streaming")
