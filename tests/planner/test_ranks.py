"""Top-N, LIMIT and ORDER BY in SQL: which nodes they are, what these keep, and the keys that sinks go by."""

from __future__ import annotations

from typing import TypeVar

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from execnodes.stream.deduplicate import Deduplicate
from execnodes.stream.limit import Limit
from execnodes.stream.rank import Rank
from execnodes.stream.sink import Sink
from execnodes.stream.sort_limit import SortLimit
from execnodes.stream.temporal_sort import TemporalSort
from execnodes.stream.window_deduplicate import WindowDeduplicate
from execnodes.stream.window_rank import WindowRank
from rekindle.api.table_environment import TableEnvironment

N = TypeVar("N", bound=ExecNode)
_JSON = "WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')"
TABLES = f"""
CREATE TABLE t (k STRING, v INT NOT NULL, w INT, ts TIMESTAMP(3), pt AS PROCTIME(),
    WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) {_JSON};
CREATE TABLE c (k STRING, v INT, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'debezium-json');
CREATE TABLE by_k (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE by_rank (k STRING, v BIGINT, n BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE of_k (k STRING, v BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE plain (k STRING, v BIGINT) WITH ('connector' = 'print');
"""
COUNTS = "(SELECT k, COUNT(*) AS v, MIN(w) AS low, SUM(w) AS total FROM t GROUP BY k)"
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


def top(condition: str, over: str, table: str = "t", columns: str = "k, v") -> str:
    return f"SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER ({over}) AS n FROM {table}) WHERE {condition}"


def nodes(insert: str) -> tuple[ExecNode, ...]:
    return TableEnvironment.create().compile_script(f"{TABLES}INSERT INTO {insert}").graph.nodes


def only(kind: type[N], insert: str) -> N:
    (found,) = (each for each in nodes(insert) if type(each) is kind)
    assert isinstance(found, kind)
    return found


@pytest.mark.parametrize(
    ("query", "strategy", "keys"),
    [
        (top("n <= 2", "PARTITION BY k ORDER BY v"), "AppendFast", ()),
        (top("n <= 2", "ORDER BY v DESC", COUNTS), "UpdateFast", (0,)),
        (top("n <= 2", "PARTITION BY k ORDER BY v DESC", COUNTS), "UpdateFast", (0,)),
        (top("n <= 2", "ORDER BY v DESC, k", f"(SELECT * FROM {COUNTS} WHERE k <> 'a')"), "UpdateFast", (0,)),
        (top("n <= 2", "ORDER BY v DESC", f"(SELECT * FROM {COUNTS} WHERE v < 9)"), "Retract", ()),
        (top("n <= 2", "ORDER BY v", COUNTS), "Retract", ()),
        (top("n <= 2", "ORDER BY total DESC", COUNTS), "Retract", ()),
        # A group's least value is NULL before it is anything, and comes first until then.
        (top("n <= 2", "ORDER BY low", COUNTS), "Retract", ()),
        (top("n <= 2", "ORDER BY low NULLS LAST", COUNTS), "UpdateFast", (0,)),
        (top("n <= 2", "PARTITION BY v ORDER BY k", COUNTS), "Retract", ()),
        (top("n <= 2", "PARTITION BY w ORDER BY v DESC", "c"), "Retract", ()),
        (top("n = 1", "PARTITION BY k ORDER BY ts DESC", "c"), "Retract", ()),
    ],
)
def test_a_top_n_keeps_what_it_needs(query: str, strategy: str, keys: tuple[int, ...]) -> None:
    found = only(Rank, f"plain {query}").rank_strategy
    assert (found.type, found.primary_keys) == (strategy, keys)


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        (Rank, top("n = 1", "PARTITION BY k ORDER BY v")),
        (Rank, top("n <= w", "PARTITION BY k ORDER BY ts")),
        (Rank, "SELECT k, v FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) BETWEEN 2 AND 5"),
        (Rank, "SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM t QUALIFY 2 >= n"),
        (Rank, "SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM t QUALIFY n <= 2 AND v > 0"),
        (Deduplicate, top("n < 2", "PARTITION BY k ORDER BY ts")),
        (Deduplicate, top("1 >= n", "PARTITION BY k ORDER BY pt DESC")),
        (WindowDeduplicate, top("n = 1", "PARTITION BY k, window_start, window_end ORDER BY ts", TUMBLE)),
        (WindowRank, top("n <= 2", "PARTITION BY window_start, window_end ORDER BY v", TUMBLE)),
        (Rank, top("n <= 2", "PARTITION BY window_end ORDER BY v", TUMBLE)),
        (SortLimit, "SELECT k, v FROM t ORDER BY v FETCH NEXT 3 ROWS ONLY"),
        (SortLimit, "SELECT k, v FROM t ORDER BY ts LIMIT 0"),
        (Limit, "SELECT k, v FROM c LIMIT 3"),
        (TemporalSort, "SELECT k, v FROM t ORDER BY ts, v DESC"),
        (TemporalSort, "SELECT k, v FROM t ORDER BY pt"),
    ],
)
def test_what_runs_as_what(kind: type[ExecNode], query: str) -> None:
    assert only(kind, f"plain {query}").key.name.startswith("stream-exec-")


def test_a_deduplication_by_arrival() -> None:
    found = only(Deduplicate, f"plain {top('n = 1', 'PARTITION BY k ORDER BY pt')}")
    assert (found.is_rowtime, found.keep_last_row, found.changelog_mode.insert_only) == (False, False, True)


def test_a_rank_that_is_not_read_is_not_computed() -> None:
    assert not only(Rank, f"plain {top('n <= 3', 'PARTITION BY k ORDER BY v')}").output_row_number
    assert only(Rank, f"of_k {top('n <= 3', 'ORDER BY v', COUNTS, 'k, v, n')}").output_row_number
    known = only(Rank, f"by_rank {top('n = 3', 'ORDER BY v', 't', 'k, v, n')} ON CONFLICT DO DEDUPLICATE")
    assert not known.output_row_number


UPPER = "(SELECT UPPER(k) AS k, v, ROW_NUMBER() OVER (PARTITION BY UPPER(k) ORDER BY ts DESC) AS n FROM t)"


@pytest.mark.parametrize(
    ("insert", "key"),
    [
        (f"by_k {top('n = 1', 'PARTITION BY k ORDER BY ts DESC')}", (0,)),
        (f"by_k {top('n = 1', 'PARTITION BY k ORDER BY pt DESC')}", (0,)),
        (f"by_k SELECT k, v FROM {UPPER} WHERE n = 1", (0,)),
        (f"by_k {top('n = 1', 'PARTITION BY k ORDER BY v DESC')}", (0,)),
        (f"by_k SELECT k, v FROM {COUNTS} ORDER BY v DESC LIMIT 1", (0,)),
        (f"by_k {top('n <= 2', 'ORDER BY v DESC', COUNTS)}", (0,)),
        (f"of_k {top('n <= 2', 'ORDER BY v DESC', COUNTS, 'k, v, n')}", (0,)),
        (f"by_rank {top('n <= 2', 'ORDER BY v DESC', COUNTS, 'k, v, n')}", (2,)),
    ],
)
def test_sinks_go_by_the_keys_of_ranks(insert: str, key: tuple[int, ...]) -> None:
    sink = only(Sink, insert)
    assert sink.input_upsert_key == key
    assert not sink.require_upsert_materialize
    assert not sink.input_changelog_mode.retract


def test_a_row_that_changes_its_partition_has_no_key_there() -> None:
    with pytest.raises(SqlError, match="the query has no key"):
        nodes(f"by_k {top('n <= 2', 'PARTITION BY w ORDER BY v', 'c')}")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT k, v FROM t QUALIFY v > 1", "QUALIFY expression must contain a window function"),
        ("SELECT k, ROW_NUMBER() OVER (ORDER BY v) AS n FROM t QUALIFY v = 1", "must contain a window function"),
        ("SELECT v, ROW_NUMBER() OVER (ORDER BY v) AS v FROM t QUALIFY v = 1", "Column 'v' is ambiguous"),
    ],
)
def test_qualify_goes_by_functions_over_windows(query: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        nodes(f"plain {query}")
