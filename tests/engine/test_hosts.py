"""Which operators share a call of Python, and which rows stay in it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.hosts import Hosts, Size, hosts_of
from rekindle.pipeline.record import record
from rekindle.pipeline.ways import plan_ways

TABLES = """
CREATE TABLE t (k STRING, n INT, a ARRAY<INT>) WITH ('connector' = 'datagen');
CREATE TABLE few (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE more (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
"""
ONE_PHASE = {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}
"""Where pre-aggregations would be in the way of what a test shows."""


def hosts(query: str, size: Size = Size.FEW, options: Mapping[str, str] | None = None) -> Hosts:
    environment = TableEnvironment.create(options)
    environment.execute_script(TABLES)
    graph = environment.compile_plan_sql(query).graph
    return hosts_of(plan_ways(record(graph)), size)


def sizes(found: Hosts) -> list[int]:
    return [len(host.members) for host in found.hosts]


TWO_SINKS = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO few SELECT k, COUNT(*) FROM t GROUP BY k;
INSERT INTO more SELECT k, SUM(n) FROM t WHERE n > 1 GROUP BY k;
END
"""
ONE_SINK = "INSERT INTO few SELECT k, COUNT(*) FROM t GROUP BY k"
VALUES = "INSERT INTO few SELECT k, COUNT(*) FROM (SELECT k, n FROM t GROUP BY k, n) GROUP BY k"
COMPUTED = "INSERT INTO few SELECT k, COUNT(*) FROM (SELECT MAX(n) AS m, k FROM t GROUP BY k) GROUP BY k, m + 1"
FILTERED = "INSERT INTO few SELECT k, c FROM (SELECT k, COUNT(*) AS c FROM t GROUP BY k) WHERE c > 1 GROUP BY k, c"
NESTED = "INSERT INTO few SELECT k, COUNT(*) FROM (SELECT a, k FROM t GROUP BY a, k) GROUP BY k, a"
BESIDE = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO few SELECT k, COUNT(*) FROM t GROUP BY k;
INSERT INTO more SELECT k, SUM(n) OVER (PARTITION BY k ORDER BY PROCTIME()) FROM t;
END
"""


def test_a_pre_aggregation_stands_in_the_call_of_its_aggregation() -> None:
    assert sizes(hosts(ONE_SINK)) == [2]
    assert sizes(hosts(ONE_SINK, Size.LARGE)) == [1, 1]


def test_chains_beside_each_other_share_a_call() -> None:
    assert sizes(hosts(TWO_SINKS)) == [4]
    assert sizes(hosts(TWO_SINKS, Size.LARGE)) == [2, 2]


def test_pre_aggregations_run_where_rows_are_read_and_not_in_the_call_of_operators_of_keys() -> None:
    assert sizes(hosts(BESIDE)) == [3]
    assert sizes(hosts(BESIDE, Size.LARGE)) == [1, 1, 1]


def test_rows_stay_in_the_call_where_all_are_in_one_task() -> None:
    found = hosts(VALUES, options=ONE_PHASE)
    assert sizes(found) == [2]
    (handed,) = found.hosts[0].handed
    assert handed.keys is not None
    (key,) = handed.keys
    assert key in dict(handed.slots)


def test_rows_go_to_the_task_of_their_key_in_between() -> None:
    found = hosts(VALUES, Size.LARGE, options=ONE_PHASE)
    assert sizes(found) == [1, 1]
    assert not found.handed


@pytest.mark.parametrize("query", [COMPUTED, FILTERED, NESTED], ids=("computed", "filtered", "nested"))
def test_rows_that_spark_computes_something_of_leave_the_call(query: str) -> None:
    found = hosts(query, options=ONE_PHASE)
    assert sizes(found) == [1, 1]
    assert not found.handed
