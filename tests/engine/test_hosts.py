"""Which operators share a call of Python, and which rows stay in it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.hosts import Hosts, Size, hosts_of
from rekindle.pipeline.record import record
from rekindle.pipeline.ways import Pipeline, plan_ways

TABLES = """
CREATE TABLE t (k STRING, n INT, a ARRAY<INT>) WITH ('connector' = 'datagen');
CREATE TABLE exact (d DECIMAL(38, 2), e DECIMAL(18, 2)) WITH ('connector' = 'datagen');
CREATE TABLE wide (d DECIMAL(38, 2), n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE narrow (e DECIMAL(18, 2), n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE few (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE more (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
"""
ONE_PHASE = {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}
"""Where pre-aggregations would be in the way of what a test shows."""


def hosts(query: str, size: Size = Size.FEW, options: Mapping[str, str] | None = None) -> Hosts:
    pipeline = planned(query, options)
    return hosts_of(pipeline, size)


def planned(query: str, options: Mapping[str, str] | None = None) -> Pipeline:
    environment = TableEnvironment.create(options)
    environment.execute_script(TABLES)
    return plan_ways(record(environment.compile_plan_sql(query).graph))


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
    found = hosts(TWO_SINKS, Size.LARGE)
    assert [(len(host.members), host.native) for host in found.hosts] == [(1, True), (1, True), (2, False)]


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


WIDE_KEY = "INSERT INTO wide SELECT d, COUNT(*) FROM (SELECT d, e FROM exact GROUP BY d, e) GROUP BY d"
NARROW_KEY = "INSERT INTO narrow SELECT e, COUNT(*) FROM (SELECT d, e FROM exact GROUP BY d, e) GROUP BY e"


def test_keys_that_spark_writes_in_another_way_leave_the_call() -> None:
    """A hash in a large micro-batch and in a small one are the same: 0.05 is 005 to Spark, and 5 to a call."""
    assert not hosts(WIDE_KEY, options=ONE_PHASE).handed
    assert hosts(NARROW_KEY, options=ONE_PHASE).handed


def reading(query: str, size: Size = Size.FEW, options: Mapping[str, str] | None = None) -> bool:
    """Whether a call reads the one source, if it can be read so."""
    pipeline = planned(query, options)
    found = hosts_of(pipeline, size, pipeline.record.sources)
    handed = {each.origin for host in found.hosts for each in host.handed}
    assert found.reading == handed & pipeline.record.sources.keys()
    return bool(found.reading)


TWO_AGGREGATES = TWO_SINKS.replace(" WHERE n > 1", "")
LATER = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO few SELECT t.k, t.n FROM t JOIN (SELECT MAX(n) + 1 AS n FROM t) AS m ON t.n = m.n;
END
"""
STRAIGHT = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO few SELECT k, COUNT(*) FROM t GROUP BY k;
INSERT INTO more SELECT k, n FROM t;
END
"""


@pytest.mark.parametrize("size", [Size.FEW, Size.SMALL])
def test_a_source_is_read_in_the_call_that_takes_its_columns(size: Size) -> None:
    assert reading(ONE_SINK, size)
    assert reading(ONE_SINK, size, ONE_PHASE)
    assert reading(TWO_AGGREGATES, size)


@pytest.mark.parametrize(
    "query",
    [TWO_SINKS, COMPUTED.replace("MAX(n)", "MAX(n + 1)"), NESTED, LATER, STRAIGHT, WIDE_KEY],
    ids=("filtered", "computed", "nested", "by calls of two depths", "by a sink", "a wide key"),
)
@pytest.mark.parametrize("size", Size)
def test_spark_reads_what_others_take_too_or_what_it_computes(query: str, size: Size) -> None:
    assert not reading(query, size, ONE_PHASE)


def test_spark_reads_what_is_exchanged() -> None:
    assert not reading(ONE_SINK, Size.LARGE, ONE_PHASE)


MIXED = "INSERT INTO few SELECT k, COUNT(*) FROM (SELECT k FROM t UNION ALL SELECT 'x' FROM exact) GROUP BY k"


def test_several_tasks_read_what_they_fold() -> None:
    assert reading(ONE_SINK, Size.LARGE)
    assert reading(TWO_AGGREGATES, Size.LARGE)
    assert not reading(TWO_SINKS, Size.LARGE)
    # Tasks have other parts of what Spark reads.
    assert reading(MIXED, Size.FEW)
    assert not reading(MIXED, Size.LARGE)


def test_which_operators_rows_come_from() -> None:
    found = planned(BESIDE).operators_above
    assert not any(found.values())
    chain = planned(VALUES, ONE_PHASE).operators_above
    first, second = sorted(chain, key=lambda uid: len(chain[uid]))
    assert chain == {first: frozenset(), second: frozenset({first})}
