"""Rows without an event time, where an operator goes by it: none is lost, and the error names table, column and row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import JobError
from rekindle.api.table_environment import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TABLES = """CREATE TABLE t (id INT, k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{t}', 'format' = 'json');
CREATE TABLE good (id INT, k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'filesystem', 'path' = '{good}', 'format' = 'json');
CREATE TABLE versions (id INT, k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'filesystem', 'path' = '{t}', 'format' = 'json');
CREATE TABLE o (x BIGINT) WITH ('connector' = 'blackhole');
CREATE VIEW behind AS SELECT g.id, g.k, t.ts FROM good g LEFT JOIN good t
    ON g.k = t.id AND t.ts BETWEEN g.ts - INTERVAL '1' SECOND AND g.ts"""
ROWS = [{"id": at, "k": at % 2, "ts": f"2020-01-01 00:00:0{at}"} for at in range(5)]
NULL = [*ROWS[:2], {"id": 2, "k": 0, "ts": None}, *ROWS[3:]]
WINDOW = "DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
GROUPED = "GROUP BY window_start, window_end"
TOP = "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS n FROM {}) WHERE n <= {}"
MATCH = """SELECT i FROM {} MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
    MEASURES A.id AS i PATTERN (A) DEFINE A AS A.id >= 0)"""
AS_OF = "JOIN {1} FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k"


@dataclass(frozen=True)
class Case:
    """What reads a time. Flink 2.3 fails for all of them at the WATERMARK, by the same words."""

    query: str
    """`{}`: the table with the NULL."""
    flink: str
    """What it does for a NULL that an outer join makes: a row of 1970 is late, or is there."""
    text: str = ""
    """Where the error points to; empty: the statement."""
    long: bool = True


CASES = (
    Case("SELECT id FROM {} ORDER BY ts", "a row of 1970", "ts", long=False),
    Case(TOP.format("k", "ts", "{}", 1), "a row of 1970, late", "ROW_NUMBER", long=False),
    Case(TOP.format("k", "ts DESC", "{}", 1), "a row of 1970", "ROW_NUMBER"),
    Case("SELECT l.id FROM {} AS l " + AS_OF.replace("{1}", "good"), "a row of 1970", "l.ts", long=False),
    Case("SELECT l.id FROM {} AS l LEFT " + AS_OF.replace("{1}", "good"), "a row of 1970", "l.ts"),
    Case("SELECT COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM {}", "late", "COUNT"),
    Case(MATCH, "late", "MATCH_RECOGNIZE"),
    Case("SELECT MINUTE(window_start) FROM TABLE(TUMBLE(TABLE {}, " + WINDOW, "dropped", "TUMBLE"),
    Case("SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE {}, " + WINDOW + " " + GROUPED, "fails", "TUMBLE"),
    Case("SELECT COUNT(*) FROM TABLE(SESSION(TABLE {}, " + WINDOW + " " + GROUPED, "fails", "SESSION"),
    Case("SELECT COUNT(*) FROM {} GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)", "late", "TUMBLE"),
    Case("SELECT COUNT(*) FROM {} GROUP BY SESSION(ts, INTERVAL '1' MINUTE)", "late", "SESSION"),
)


@pytest.fixture
def tables(tmp_path: Path) -> str:
    """The statements that make them."""
    for name, rows in (("t", NULL), ("good", ROWS)):
        (tmp_path / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return TABLES.format(t=tmp_path / "t.json", good=tmp_path / "good.json")


def environment(tables: str, **options: str) -> TableEnvironment:
    made = TableEnvironment.create({"parallelism.default": "1", **options})
    for statement in tables.split(";\n"):
        made.execute_sql(statement)
    return made


def failure(made: TableEnvironment, query: str) -> JobError:
    with pytest.raises(JobError) as raised:
        made.execute_sql(f"INSERT INTO o\n  {query}").await_()
    return raised.value


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_row_without_a_time_fails(spark: SparkSession, tables: str, tmp_path: Path, *, long: bool) -> None:
    made = environment(tables)
    for case in CASES:
        if case.long is long:
            query = case.query.format("t")
            error = failure(made, query)
            table = "default_catalog.default_database.t"
            assert error.message == f"RowTime field should not be null: column 'ts' is NULL in a row of table {table}"
            assert "WHERE ts IS NOT NULL" in str(error.hint), query
            assert f"; row of {tmp_path}/t.json, line 3" in str(error.where), query
            assert case.text in str(error.where), query


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_row_of_an_outer_join_fails(spark: SparkSession, tables: str, *, long: bool) -> None:
    """Operators hand it over without Spark; the time of a row that a join has padded is NULL."""
    made = environment(tables)
    for case in CASES:
        if case.long is long:
            error = failure(made, case.query.format("behind"))
            assert error.message == "RowTime field should not be null: column 'ts' is NULL", case.query
            assert case.text in str(error.where), case.query


def test_rows_that_are_left_out_do_not_fail(spark: SparkSession, tables: str) -> None:
    made = environment(tables)
    for query in ("SELECT id FROM t WHERE ts IS NOT NULL ORDER BY ts", "SELECT id FROM t"):
        made.execute_sql(f"INSERT INTO o {query}").await_()
    rows = made.execute_sql("SELECT id FROM t WHERE ts IS NOT NULL ORDER BY ts").collect()
    assert [row[0] for row in rows] == [0, 1, 3, 4]


def test_a_version_without_a_time_fails(spark: SparkSession, tables: str) -> None:
    error = failure(environment(tables), "SELECT l.id FROM good AS l " + AS_OF.replace("{1}", "versions"))
    assert "column 'ts' is NULL in a row of table default_catalog.default_database.versions" in error.message
