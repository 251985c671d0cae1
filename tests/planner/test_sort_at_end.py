"""ORDER BY any column without LIMIT, where Flink's option allows it: the node, and what is refused."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from execnodes.stream.sort import Sort
from execnodes.stream.temporal_sort import TemporalSort
from rekindle.api.table_environment import TableEnvironment

ALLOWED = "SET '__table.exec.sort.non-temporal.enabled__' = 'true';\n"
COLUMNS = "(k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
FILES = "'connector' = 'filesystem', 'path' = 't', 'format' = 'json'"
TABLES = f"""
CREATE TABLE t {COLUMNS} WITH ({FILES});
CREATE TABLE endless {COLUMNS} WITH ({FILES}, 'source.monitor-interval' = '1 s');
CREATE TABLE plain (k STRING, v BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO plain
"""


def nodes(query: str, before: str = ALLOWED) -> set[type]:
    return {type(each) for each in TableEnvironment.create().compile_script(before + TABLES + query).graph.nodes}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, v FROM t ORDER BY v",
        "SELECT k, v FROM t ORDER BY ts DESC",
        "SELECT k, COUNT(*) AS c FROM t GROUP BY k ORDER BY c DESC",
        "VALUES ('a', 2), ('b', 1) ORDER BY 2",
    ],
)
def test_rows_come_at_the_end(query: str) -> None:
    assert Sort in nodes(query)
    with pytest.raises(SqlError, match="is not supported in streams"):
        nodes(query, "")


def test_a_time_attribute_goes_by_time_all_the_same() -> None:
    found = nodes("SELECT k, v FROM t ORDER BY ts, v")
    assert TemporalSort in found
    assert Sort not in found


def test_a_table_without_end_is_named() -> None:
    join = "SELECT a.k, b.v FROM t AS a JOIN endless AS b ON a.k = b.k ORDER BY b.v"
    with pytest.raises(SqlError) as caught:
        nodes(join)
    assert caught.value.message == (
        "ORDER BY without LIMIT gives its rows when the input has ended, but default_catalog.default_database.endless "
        "has no end"
    )
    assert caught.value.position is not None
    assert "add LIMIT" in str(caught.value.hint)


def test_offset_alone_stays_refused_as_in_flink() -> None:
    with pytest.raises(SqlError, match="OFFSET without LIMIT"):
        nodes("SELECT k, v FROM t ORDER BY v OFFSET 2 ROWS")
