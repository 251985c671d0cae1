"""Where an OVER that nobody reads is computed all the same: where Flink 2.3 computes it, for it drops late rows."""

from __future__ import annotations

import pytest

from rekindle import TableEnvironment

TABLES = """
CREATE TABLE ev (id BIGINT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/ev', 'format' = 'json');
CREATE TABLE other (id BIGINT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/other', 'format' = 'json');
CREATE VIEW o AS SELECT *, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM ev;
CREATE VIEW less AS SELECT id, k, v, ts FROM o;
"""
TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
BY = "GROUP BY k, window_start, window_end"

DROPPED = (
    "SELECT id FROM o",
    "SELECT 1 FROM o",
    "SELECT k, COUNT(*) FROM o GROUP BY k",
    "SELECT SUM(v) FROM o",
    "SELECT k FROM o GROUP BY k HAVING COUNT(*) > 1",
    "SELECT DISTINCT k FROM o",
    "SELECT k, COUNT(*) FROM o GROUP BY GROUPING SETS ((k), ())",
    "SELECT id FROM o UNION ALL SELECT id FROM other",
    "SELECT id FROM o INTERSECT SELECT id FROM other",
    "SELECT x.id FROM (SELECT id FROM o) x JOIN other ON x.id = other.id",
    "SELECT id FROM other WHERE id IN (SELECT id FROM o)",
    "SELECT id FROM other WHERE EXISTS (SELECT 1 FROM o WHERE o.id = other.id)",
    "SELECT k, COUNT(*) FROM o GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND)",
    "SELECT COUNT(*) FROM o GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)",
    f"SELECT k, COUNT(*) FROM {TUMBLE.format('less')} {BY}",
    "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM ev)",
)
KEPT = (
    "SELECT id FROM o WHERE v > 1",
    "SELECT id FROM o WHERE k = 'a'",
    "SELECT id FROM o WHERE s > 1",
    "SELECT COUNT(*) FROM o",
    "SELECT k, COUNT(*) FROM o WHERE v > 1 GROUP BY k",
    "SELECT COUNT(*) FROM o WHERE v > 1 GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)",
    "SELECT id FROM (SELECT id, s FROM o UNION ALL SELECT id, v FROM other)",
    "SELECT o.id FROM o JOIN other ON o.id = other.id",
    "SELECT id FROM o WHERE id IN (SELECT id FROM other)",
    "SELECT id, x FROM o CROSS JOIN UNNEST(ARRAY[v, v]) AS t (x)",
    "SELECT id FROM (SELECT * FROM o LIMIT 3)",
    f"SELECT k, COUNT(*) FROM {TUMBLE.format('o')} {BY}",
    f"SELECT id, window_start FROM {TUMBLE.format('o')}",
    "SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE o PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) " + BY,
    "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM o) WHERE n <= 2",
)


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    return environment


@pytest.mark.parametrize("query", DROPPED)
def test_is_not_computed(environment: TableEnvironment, query: str) -> None:
    assert "OverAggregate" not in environment.explain_sql(query)


@pytest.mark.parametrize("query", KEPT)
def test_is_computed(environment: TableEnvironment, query: str) -> None:
    assert "OverAggregate" in environment.explain_sql(query)


def test_windows_that_nobody_reads_do_not_count(environment: TableEnvironment) -> None:
    """A stream has one window a SELECT: of two, one of which is read, one is left."""
    two = "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS a, COUNT(*) OVER (ORDER BY ts) AS b FROM ev"
    assert environment.explain_sql(f"SELECT id, a FROM ({two})").count("OverAggregate") == 1
    assert "partitionBy" not in environment.explain_sql(f"SELECT id, b FROM ({two})").split("OverAggregate")[1]
