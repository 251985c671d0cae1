"""Which lookup joins are taken, and what they ask of the table, is as Flink 2.3 has it (asked by EXPLAIN)."""

from __future__ import annotations

import pytest

from execnodes.common.lookups import LookupNode
from execnodes.core.errors import SqlError
from execnodes.core.expressions import digest
from rekindle import TableEnvironment

DDL = """
CREATE TABLE a (k BIGINT, v INT, s STRING, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE changing (k BIGINT, v INT, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'debezium-json');
CREATE TABLE d (id BIGINT, name STRING, age INT, loud AS UPPER(name), PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = 'x', 'table' = 'd');
CREATE TABLE copied WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv', 'lookup.cache' = 'FULL')
  LIKE d (EXCLUDING ALL);
CREATE TABLE files WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv') LIKE d (EXCLUDING ALL);
CREATE TABLE made (id BIGINT) WITH ('connector' = 'datagen');
CREATE VIEW dear AS SELECT id, CONCAT(name, '!') AS name FROM d WHERE age > 2;
CREATE VIEW fifth AS SELECT id, name, age FROM d WHERE id = CAST(5 AS BIGINT);
CREATE VIEW twice AS SELECT id, id AS again, name FROM d;
CREATE VIEW counted AS SELECT id, COUNT(*) AS c FROM d GROUP BY id;
"""
LOOKUP = "SELECT a.k, x.name FROM a JOIN d FOR SYSTEM_TIME AS OF a.pt AS x ON "


def lookups(query: str, mode: str = "streaming", strategy: str = "IGNORE") -> list[LookupNode]:
    options = {
        "execution.runtime-mode": mode,
        "table.optimizer.non-deterministic-update.strategy": strategy,
    }
    made = TableEnvironment.create(options)
    made.execute_script(DDL)
    return [each for each in made.compile_plan_sql(query).graph.nodes if isinstance(each, LookupNode)]


def shown(node: LookupNode, query_columns: tuple[str, ...]) -> tuple[str, str, str, str]:
    """Kind of join, keys, conditions of the table and of the join."""
    stored = tuple(each.name for each in node.temporal_table.output_type.fields)
    keys = ", ".join(f"{stored[each.column]}={digest(each.value, query_columns)}" for each in node.lookup_keys)
    conditions = (node.filter_on_temporal_table, node.join_condition)
    names = tuple(each.name for each in node.output_type.fields)
    texts = ["" if each is None else digest(each, at) for each, at in zip(conditions, (stored, names), strict=True)]
    return node.join_type, keys, texts[0], texts[1]


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"{LOOKUP}a.k = x.id", ("INNER", "id=k", "", "")),
        (f"{LOOKUP}x.id = a.k AND x.age > 3", ("INNER", "id=k", "(age > 3)", "")),
        (
            f"{LOOKUP}a.k = x.id AND x.age > 3 AND a.v > 5 AND a.v < x.age".replace("a JOIN", "a LEFT JOIN"),
            ("LEFT", "id=k", "(age > 3)", "((v > 5) AND (v < age))"),
        ),
        (f"{LOOKUP}MOD(a.k, 10) = x.id", ("INNER", "id=CAST(MOD(k, 10) AS BIGINT)", "", "")),
        (f"{LOOKUP}a.v = x.id", ("INNER", "id=CAST(v AS BIGINT)", "", "")),
        (
            f"{LOOKUP}x.id = CAST(5 AS BIGINT)",
            ("INNER", "id=CAST(5 AS BIGINT NOT NULL)", "(id = CAST(5 AS BIGINT NOT NULL))", ""),
        ),
        (
            "SELECT a.k, x.name FROM a, d FOR SYSTEM_TIME AS OF a.pt AS x WHERE a.k = x.id AND x.age > 3",
            ("INNER", "id=k", "(age > 3)", ""),
        ),
        (
            f"{LOOKUP}a.k = x.id WHERE x.age > 3".replace("a JOIN", "a LEFT JOIN"),
            ("INNER", "id=k", "(age > 3)", ""),
        ),
        (
            "SELECT t.k FROM (SELECT k, PROCTIME() AS p FROM a) AS t JOIN d FOR SYSTEM_TIME AS OF t.p ON t.k = d.id",
            ("INNER", "id=k", "", ""),
        ),
        (
            "SELECT a.k, y.name FROM a JOIN d /*+ OPTIONS('source.busy-timeout' = '1 s') */ FOR SYSTEM_TIME AS OF a.pt "
            "AS y (i, name, b, c) ON a.k = y.i",
            ("INNER", "id=k", "", ""),
        ),
        (
            "SELECT a.k, x.name FROM a JOIN copied FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.id",
            ("INNER", "id=k", "", ""),
        ),
        (
            "SELECT a.k, x.name FROM a LEFT JOIN dear FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.id AND a.s <> x.name",
            ("LEFT", "id=k", "(age > 2)", "(s <> name)"),
        ),
        (f"{LOOKUP}a.k = x.id AND x.loud = a.s", ("INNER", "id=k", "", "(loud = s)")),
    ],
)
def test_what_is_asked_of_the_table(query: str, expected: tuple[str, ...], mode: str) -> None:
    (node,) = lookups(query, mode)
    columns = tuple(each.name for each in node.output_type.fields)
    assert shown(node, columns) == expected


FIVE = "(id = CAST(5 AS BIGINT NOT NULL))"


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
@pytest.mark.parametrize(
    ("query", "keys", "where", "condition"),
    [
        (f"{LOOKUP}a.k = x.id AND x.id = CAST(5 AS BIGINT)", "id=k", FIVE, ""),
        (f"{LOOKUP}x.id = CAST(5 AS BIGINT) AND a.k = x.id", "id=k", FIVE, ""),
        (f"{LOOKUP}a.k = x.id".replace("JOIN d ", "JOIN fifth "), "id=k", FIVE, ""),
        (f"{LOOKUP}a.k = x.id AND a.k + 1 = x.id", "id=k", "", "((k + 1) = id)"),
        (f"{LOOKUP}a.k = x.id AND a.v = x.age AND x.age = 3", "id=k, age=v", "(age = 3)", ""),
        (f"{LOOKUP}a.k = x.id AND a.v = x.age AND a.v + 1 = x.age", "id=k, age=v", "", "((v + 1) = age)"),
        (f"{LOOKUP}a.k = x.id AND x.id = a.k AND a.k = x.id", "id=k", "", ""),
        (f"{LOOKUP}a.k = x.id AND x.age = 3", "id=k, age=3", "(age = 3)", ""),
        (
            f"{LOOKUP}a.k = x.id AND a.k + 1 = x.again".replace("JOIN d ", "JOIN twice "),
            "id=k",
            "",
            "((k + 1) = again)",
        ),
    ],
)
def test_all_equalities_of_a_column_are_asked(
    query: str, keys: str, where: str, condition: str, kind: str, mode: str
) -> None:
    (node,) = lookups(query.replace("a JOIN", f"a {kind} JOIN"), mode)
    columns = tuple(each.name for each in node.output_type.fields)
    assert shown(node, columns) == (kind, keys, where, condition)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("x.id = CAST(5 AS BIGINT)", ("id=k", FIVE, "")), ("a.k + 1 = x.id", ("id=(k + 1)", "", "(k = id)"))],
)
def test_an_equality_in_where_is_asked_too(condition: str, expected: tuple[str, ...]) -> None:
    for kind in ("INNER", "LEFT"):
        (node,) = lookups(f"{LOOKUP}a.k = x.id WHERE {condition}".replace("a JOIN", f"a {kind} JOIN"))
        columns = tuple(each.name for each in node.output_type.fields)
        assert shown(node, columns) == ("INNER", *expected)


def test_several_tables_one_behind_the_other() -> None:
    query = (
        "SELECT a.k, x.name, y.name FROM a JOIN d FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.id "
        "LEFT JOIN copied FOR SYSTEM_TIME AS OF a.pt AS y ON x.age = y.age"
    )
    assert [each.join_type for each in lookups(query)] == ["INNER", "LEFT"]


def test_only_columns_that_are_read_are_asked_for() -> None:
    (node,) = lookups("SELECT a.v FROM a JOIN d FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.id")
    assert [each.name for each in node.temporal_table.output_type.fields] == ["id"]
    assert node.projection_on_temporal_table == ()


def test_event_time_goes_on_and_the_kind_of_rows() -> None:
    window = (
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT a.ts, x.name FROM a JOIN d FOR SYSTEM_TIME AS OF a.pt "
        "AS x ON a.k = x.id), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    )
    assert len(lookups(window)) == 1
    (node,) = lookups("SELECT c.k, x.name FROM changing AS c JOIN d FOR SYSTEM_TIME AS OF c.pt AS x ON c.k = x.id")
    assert node.changelog_mode.retract


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"{LOOKUP}a.k > x.id", "requires an equality condition"),
        (f"{LOOKUP}TRUE", "requires an equality condition"),
        (f"{LOOKUP}a.k = x.age", "requires an equality condition"),
        (f"{LOOKUP}a.k = x.id OR a.v = x.age", "requires an equality condition"),
        (f"{LOOKUP}a.k IS NOT DISTINCT FROM x.id", "requires an equality condition"),
        (f"{LOOKUP}a.k = x.id".replace("a JOIN", "a RIGHT JOIN"), "RIGHT JOIN"),
        (f"{LOOKUP}a.k = x.id".replace("a JOIN", "a FULL JOIN"), "FULL JOIN"),
        (f"{LOOKUP}a.k = x.id".replace("a.pt", "a.ts"), "versions with an event time, and d has none"),
        (f"{LOOKUP}a.k = x.id".replace("a.pt", "PROCTIME()"), "requires a time attribute of the left side"),
        (f"{LOOKUP}a.k = x.id".replace("a.pt", "a.pt + INTERVAL '1' SECOND"), "requires a time attribute"),
        (f"{LOOKUP}a.k = x.id".replace("a.pt", "a.v"), "requires a time attribute"),
        (f"{LOOKUP}a.k = x.id AND RAND() > a.v", "one that differs at each call"),
        (f"{LOOKUP}a.k = x.id".replace("JOIN d ", "JOIN files "), "'filesystem' cannot be looked up"),
        ("SELECT a.k FROM a JOIN changing FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.k", "cannot be looked up"),
        ("SELECT a.k FROM a JOIN made FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.id", "'datagen' cannot be looked up"),
        ("SELECT a.k FROM a JOIN counted FOR SYSTEM_TIME AS OF a.pt AS x ON a.k = x.id", "views that only filter"),
        ("SELECT name FROM d FOR SYSTEM_TIME AS OF PROCTIME()", "only for the right table of a JOIN"),
        ("SELECT k FROM a WHERE k IN (SELECT id FROM d FOR SYSTEM_TIME AS OF a.pt)", "requires an equality"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_place(query: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        lookups(query)
    assert caught.value.position is not None
    assert caught.value.hint


def test_updates_may_find_other_rows_than_before() -> None:
    query = "SELECT c.k, x.name FROM changing AS c JOIN d FOR SYSTEM_TIME AS OF c.pt AS x ON c.k = x.id"
    with pytest.raises(SqlError, match="finds other rows when a row is taken back"):
        lookups(query, strategy="TRY_RESOLVE")
    assert lookups(f"{LOOKUP}a.k = x.id", strategy="TRY_RESOLVE")


def test_views_keep_what_is_looked_up() -> None:
    made = TableEnvironment.create()
    made.execute_script(f"{DDL} CREATE VIEW enriched AS {LOOKUP}a.k = x.id;")
    nodes = made.compile_plan_sql("SELECT * FROM enriched").graph.nodes
    assert any(isinstance(each, LookupNode) for each in nodes)
