"""Conditions go into sources and into the normalization of changelogs, where nothing else reads the same rows."""

from __future__ import annotations

import json

import pytest

from rekindle.api.table_environment import TableEnvironment

TABLES = """
CREATE TABLE p (a INT, b STRING, d STRING, at TIMESTAMP(3)) PARTITIONED BY (d)
  WITH ('connector' = 'filesystem', 'path' = '/p', 'format' = 'parquet');
CREATE TABLE j (a INT, b STRING, d STRING) PARTITIONED BY (d)
  WITH ('connector' = 'filesystem', 'path' = '/j', 'format' = 'json');
CREATE TABLE w (a INT, at TIMESTAMP(3), WATERMARK FOR at AS at)
  WITH ('connector' = 'filesystem', 'path' = '/w', 'format' = 'parquet');
CREATE TABLE g (a INT) WITH ('connector' = 'datagen');
CREATE TABLE c (id INT NOT NULL, v INT, s STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '/c', 'format' = 'debezium-json');
SET 'table.exec.source.cdc-events-duplicate' = 'true';
"""


def inside(*queries: str) -> tuple[list[str], list[str]]:
    """What scans and normalizations filter by, and what is left to calcs, as descriptions say it."""
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    if len(queries) == 1:
        plan = environment.compile_plan_sql(queries[0])
    else:
        environment.execute_sql("CREATE TABLE o (a INT) WITH ('connector' = 'blackhole')")
        inserts = " ".join(f"INSERT INTO o {query};" for query in queries)
        plan = environment.compile_plan_sql(f"EXECUTE STATEMENT SET BEGIN {inserts} END")
    nodes = json.loads(plan.as_json_string())["nodes"]
    pushed = [
        each["description"].partition(f"{name}=[")[2].partition("]")[0]
        for each in nodes
        for name, present in (
            ("filter", each.get("scanTableSource", {}).get("abilities")), ("condition", each.get("filterCondition"))
        )
        if present
    ]  # fmt: skip
    left = [each["description"].partition("where=[")[2].partition("]")[0] for each in nodes if each.get("condition")]
    return pushed, left


@pytest.mark.parametrize(
    ("query", "pushed", "left"),
    [
        ("SELECT b FROM p WHERE a > 3 AND d = 'x'", ["(a > 3), (d = 'x')"], []),
        ("SELECT b FROM p WHERE a > 3 OR NOT (b IS NULL)", ["((a > 3) OR NOT(IS NULL(b)))"], []),
        ("SELECT b FROM p WHERE 3 < a AND UPPER(b) = 'Q'", ["(3 < a)"], ["(UPPER(b) = 'Q')"]),
        ("SELECT b FROM p WHERE a BETWEEN 1 AND 3", ["(a >= 1), (a <= 3)"], []),
        ("SELECT b FROM (SELECT a + 1 AS a, b FROM p) WHERE b = 'x' AND a > 3", ["(b = 'x')"], ["((a + 1) > 3)"]),
        ("SELECT b FROM j WHERE a > 3 AND d = 'x'", ["(d = 'x')"], ["(a > 3)"]),
        ("SELECT a FROM w WHERE a > 3", [], ["(a > 3)"]),
        ("SELECT a FROM g WHERE a > 3", [], ["(a > 3)"]),
        ("SELECT s FROM c WHERE v > 3 AND UPPER(s) = 'Q'", ["(v > 3)"], ["(UPPER(s) = 'Q')"]),
        ("SELECT x.a FROM p AS x JOIN p AS y ON x.a = y.a WHERE x.a > 3 AND y.a > 3", ["(a > 3)"], []),
    ],
)
def test_one_query(query: str, pushed: list[str], left: list[str]) -> None:
    assert inside(query) == (pushed, left)


def test_what_is_shared_is_read_in_full() -> None:
    assert inside("SELECT a FROM p WHERE a > 3", "SELECT a FROM p WHERE a < 2") == ([], ["(a > 3)", "(a < 2)"])
    assert inside("SELECT a FROM p WHERE a > 3", "SELECT a FROM p WHERE a > 3") == (["(a > 3)"], [])
    assert inside("SELECT v FROM c WHERE v > 3", "SELECT v FROM c") == ([], ["(v > 3)"])
