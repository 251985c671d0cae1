"""Statements compiled for batch mode: which nodes come out, in which order joins stand, what is refused."""

from __future__ import annotations

import pytest

from execnodes.core.errors import ConnectorError, PlanError, SqlError
from execnodes.core.graph import ExecGraph
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment

DDL = """
CREATE TABLE a (x INT, y INT, n STRING) WITH ('connector' = 'filesystem', 'path' = '/a', 'format' = 'json');
CREATE TABLE b (x INT, y INT, n STRING) WITH ('connector' = 'filesystem', 'path' = '/b', 'format' = 'json');
CREATE TABLE c (x INT, y INT, n STRING) WITH ('connector' = 'filesystem', 'path' = '/c', 'format' = 'json');
CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '/t', 'format' = 'json');
CREATE TABLE endless (x INT) WITH ('connector' = 'datagen');
CREATE TABLE changes (x INT) WITH ('connector' = 'filesystem', 'path' = '/d', 'format' = 'debezium-json');
CREATE TABLE keyed (x INT PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'blackhole');
"""


def compiled(sql: str, **options: str) -> ExecGraph:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch", **options})
    return environment.compile_script(DDL + sql).graph


def kinds(sql: str) -> list[str]:
    return [node.key.name.removeprefix("batch-exec-") for node in compiled(sql).nodes]


CASES = [
    ("SELECT x FROM a WHERE y > 1", ["table-source-scan", "calc", "sink"]),
    ("VALUES (1), (2)", ["values", "sink"]),
    ("SELECT x FROM a UNION ALL SELECT x FROM b", ["table-source-scan", "table-source-scan", "union", "sink"]),
    ("SELECT COUNT(*) FROM a", ["table-source-scan", "exchange", "hash-aggregate", "sink"]),
    ("SELECT x FROM a ORDER BY x", ["table-source-scan", "exchange", "sort", "sink"]),
    ("SELECT x FROM a ORDER BY x LIMIT 3", ["table-source-scan", "exchange", "sort-limit", "sink"]),
    ("SELECT x FROM a ORDER BY x OFFSET 2 ROWS", ["table-source-scan", "exchange", "sort", "limit", "sink"]),
    ("SELECT x FROM a LIMIT 3", ["table-source-scan", "exchange", "limit", "sink"]),
    ("SELECT a.n FROM a JOIN b ON a.x < b.x", ["table-source-scan"] * 2 + ["nested-loop-join", "calc", "sink"]),
    (
        "SELECT a.x FROM a JOIN b ON a.x = b.x",
        ["table-source-scan", "table-source-scan", "exchange", "exchange", "hash-join", "calc", "sink"],
    ),
    (
        "SELECT x, COUNT(*) FROM a GROUP BY ROLLUP (x)",
        ["table-source-scan", "expand", "exchange", "hash-aggregate", "calc", "sink"],
    ),
    (
        "SELECT n, rk FROM (SELECT n, RANK() OVER (PARTITION BY x ORDER BY y) AS rk FROM a) WHERE rk <= 2",
        ["table-source-scan", "exchange", "rank", "calc", "sink"],
    ),
    (
        "SELECT n, SUM(x) OVER (PARTITION BY n ORDER BY y) FROM a",
        ["table-source-scan", "exchange", "over-aggregate", "calc", "sink"],
    ),
    (
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end",
        ["table-source-scan", "window-table-function", "calc", "exchange", "hash-aggregate", "calc", "sink"],
    ),
]


@pytest.mark.parametrize(("sql", "expected"), CASES, ids=[sql for sql, _ in CASES])
def test_a_query_becomes_these_nodes(sql: str, expected: list[str]) -> None:
    found = kinds(sql)
    assert sorted(found) == sorted(expected)
    assert found[-1] == "sink"


@pytest.mark.parametrize(
    ("condition", "start", "end"),
    [("rn = 1", 1, 1), ("rn < 4", 1, 3), ("2 <= rn AND rn <= 5", 2, 5), ("rn > 1 AND rn < 9 AND rn <= 3", 2, 3)],
)
def test_bounds_of_a_row_number_are_ranks(condition: str, start: int, end: int) -> None:
    query = "SELECT n FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY x ORDER BY y DESC) AS rn FROM a) WHERE "
    (rank,) = [node for node in compiled(query + condition).nodes if node.key.name == "batch-exec-rank"]
    written = rank.model_dump()
    assert (written["rank_start"], written["rank_end"], written["partition_fields"]) == (start, end, (0,))


def test_the_newest_row_of_a_key_wins_a_tie() -> None:
    query = "SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {}) AS rn FROM t) WHERE rn = 1"
    for direction, latest in (("DESC", True), ("ASC", False)):
        (rank,) = [node for node in compiled(query.format(direction)).nodes if "rank" in node.key.name]
        assert rank.model_dump()["latest_first"] is latest


def test_joins_are_put_in_an_order_without_crosses() -> None:
    query = "SELECT a.n, b.n, c.n FROM a, b, c WHERE a.x = c.x AND c.y = b.y"
    graph = compiled(query)
    joins = [node for node in graph.nodes if node.key.name.endswith("join")]
    assert [join.key.name for join in joins] == ["batch-exec-hash-join"] * 2
    assert "where=[(x = x0)]" in joins[0].description
    written = kinds("SELECT a.n, b.n, c.n FROM a, b, c WHERE a.x = b.x AND b.y = c.y")
    assert "nested-loop-join" not in written
    assert "nested-loop-join" in kinds("SELECT a.n FROM a, b")


def test_plans_of_a_stream_do_not_change() -> None:
    names = {node.key.name for node in compiled("SELECT x FROM a", **{"execution.runtime-mode": "streaming"}).nodes}
    assert all(name.startswith("stream-exec-") for name in names)


def test_no_source_may_be_endless() -> None:
    with pytest.raises(ConnectorError, match="has no end") as caught:
        compiled("SELECT x FROM endless")
    assert "number-of-rows" in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT x FROM changes", "reads tables of inserts only"),
        ("INSERT INTO keyed SELECT x FROM a ON CONFLICT DO DEDUPLICATE", "in batch mode a query only inserts"),
        ("SELECT SUM(DISTINCT x) OVER (ORDER BY y) FROM a", "DISTINCT with OVER is not supported"),
    ],
)
def test_what_batch_cannot_is_refused(sql: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        compiled(sql)
    assert caught.value.hint


def test_modes_do_not_mix() -> None:
    batch = encode(compiled("SELECT x FROM a WHERE x > 1"))
    with pytest.raises(PlanError, match="do not mix"):
        load(batch.replace("batch-exec-calc_1", "stream-exec-calc_1"))


def test_only_some_sinks_can_be_overwritten() -> None:
    with pytest.raises(ConnectorError, match="cannot replace") as caught:
        compiled("INSERT OVERWRITE keyed SELECT x FROM a")
    assert "filesystem" in str(caught.value)
    with pytest.raises(SqlError, match="no meaning for a stream"):
        compiled("INSERT OVERWRITE a SELECT * FROM b", **{"execution.runtime-mode": "streaming"})
