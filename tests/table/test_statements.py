"""Statements about catalogs, tables and statement sets in a session that runs no job."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import CatalogError, SqlError
from rekindle.api.table_environment import TableEnvironment

TABLES = """
CREATE TABLE t (
  a INT COMMENT 'the a', c AS a + 1, f ROW<x INT, `y z` STRING>
) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE k (a INT) WITH ('connector' = 'blackhole');
CREATE TABLE m (a INT, e TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL COMMENT 'meta') WITH ('connector' = 'kafka');
CREATE VIEW v AS SELECT a FROM t;
"""


@pytest.fixture
def session() -> TableEnvironment:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"})
    environment.execute_script(TABLES)
    return environment


def test_comments_and_options_of_catalogs(session: TableEnvironment, tmp_path: Path) -> None:
    for kind in ("'generic_in_memory'", f"'file', 'path' = '{tmp_path}/c'"):
        session.execute_script(f"""
            CREATE CATALOG c COMMENT 'mine' WITH ('type' = {kind}); CREATE DATABASE c.d WITH ('a' = '1');
            ALTER CATALOG c SET ('default-database' = 'default'); ALTER DATABASE c.d SET ('b' = '2', 'a' = '3')
        """)
        assert session.catalog.database("c", "d").options == (("a", "3"), ("b", "2"))
        text = session.execute_sql("SHOW CREATE CATALOG c").rows[0][0]
        assert text.startswith("CREATE CATALOG `c`\nCOMMENT 'mine'\nWITH (\n  'default-database' = 'default',\n")
        session.execute_script("ALTER CATALOG c COMMENT ''; ALTER CATALOG c RESET ('default-database', 'nothing')")
        facts = dict(session.execute_sql("DESCRIBE CATALOG EXTENDED c").rows)
        assert (facts["comment"], facts.get("option:default-database")) == ("", None)
        assert "d" in session.catalog.list_databases("c")
        for change in ("SET ('type' = 'file')", "RESET ('type')"):
            with pytest.raises(CatalogError, match="type of catalog 'c' cannot change"):
                session.execute_sql(f"ALTER CATALOG c {change}")
        session.execute_sql("DROP CATALOG c")


def test_what_makes_a_view_is_no_table(session: TableEnvironment) -> None:
    assert session.execute_sql("SHOW CREATE VIEW v").rows[0][0].startswith("CREATE VIEW ")
    assert session.execute_sql("SHOW CREATE TABLE k").rows[0][0].startswith("CREATE TABLE ")
    for statement, found in (("SHOW CREATE TABLE v", "`v` is a view"), ("SHOW CREATE VIEW k", "`k` is a table")):
        with pytest.raises(CatalogError, match=found):
            session.execute_sql(statement)
    session.execute_sql("RESET 'table.resources.download-dir'")


def test_comments_of_columns(session: TableEnvironment) -> None:
    extras = {row[0]: (row[4], row[6]) for name in ("t", "m") for row in session.execute_sql(f"DESCRIBE {name}").rows}
    assert extras["c"] == ("AS a + 1", None)
    assert extras["e"] == ("METADATA FROM 'timestamp' VIRTUAL", "meta")
    assert session.execute_sql("SHOW COLUMNS FROM t LIKE 'a'").rows == [("a", "INT", True, None, None, None, "the a")]
    assert len(session.execute_sql("SHOW COLUMNS FROM k").rows[0]) == 6


@pytest.mark.parametrize(
    ("sql", "title"),
    [
        ("SHOW TABLES", "table name"), ("SHOW VIEWS", "view name"), ("SHOW DATABASES", "database name"),
        ("SHOW CATALOGS", "catalog name"), ("SHOW FUNCTIONS", "function name"),
        ("SHOW USER FUNCTIONS", "function name"), ("SHOW MODULES", "module name"),
        ("SHOW CURRENT CATALOG", "current catalog name"), ("SHOW CURRENT DATABASE", "current database name"),
    ],
)  # fmt: skip
def test_titles_are_those_of_flink(session: TableEnvironment, sql: str, title: str) -> None:
    assert session.execute_sql(sql).columns == (title,)


def test_a_view_is_described_as_it_was_made(session: TableEnvironment) -> None:
    before = session.execute_sql("DESCRIBE v").rows
    session.execute_script("DROP TABLE t; CREATE TABLE t (b STRING) WITH ('connector' = 'datagen')")
    assert session.execute_sql("DESCRIBE v").rows == session.execute_sql("SHOW COLUMNS FROM v").rows == before


def test_explain_takes_what_would_be_executed(session: TableEnvironment) -> None:
    plain = session.execute_sql("EXPLAIN INSERT INTO k SELECT a FROM t").rows
    for text in (
        "EXECUTE INSERT INTO k SELECT a FROM t",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO k SELECT a FROM t; END",
    ):
        assert session.execute_sql(f"EXPLAIN {text}").rows == plain
    created = session.execute_sql("EXPLAIN CREATE TABLE k2 WITH ('connector' = 'blackhole') AS SELECT a FROM t").rows
    assert created == [(plain[0][0].replace("database.k]", "database.k2]"),)]
    assert ("k2",) not in session.execute_sql("SHOW TABLES").rows


def test_a_script_of_create_table_as_is_compiled(session: TableEnvironment) -> None:
    plan = session.compile_script("CREATE TABLE k3 WITH ('connector' = 'blackhole') AS SELECT a AS b FROM t")
    assert "database.k3], fields=[b]" in plan.explain()


def test_a_constant_beside_an_array_keeps_its_type(session: TableEnvironment) -> None:
    rows = ", ".join(f"(CAST({value} AS DECIMAL(38, 18)), ARRAY[1])" for value in ("'1.5'", "2"))
    assert "union" in session.compile_plan_sql(f"VALUES {rows}").as_json_string()


def test_a_statement_set_may_come_in_pieces(session: TableEnvironment) -> None:
    session.execute_sql("BEGIN STATEMENT SET;")
    with pytest.raises(SqlError, match="only INSERTs"):
        session.execute_sql("SHOW TABLES")
    with pytest.raises(SqlError, match="has no INSERT"):
        session.execute_sql("END")
    with pytest.raises(SqlError, match="no statement set is open"):
        session.execute_sql("END;")
    session.execute_sql("BEGIN STATEMENT SET")
    for value in ("a", "a + 1"):
        assert session.execute_sql(f"INSERT INTO k SELECT {value} FROM t").job is None
    assert len(session.open_inserts or ()) == 2


@pytest.mark.parametrize(
    ("text", "type_"),
    [("f['x']", "INT"), ("f[1]", "INT"), ("f['y z']", "STRING"), ("t.f[2]", "STRING")],
)
def test_fields_of_rows_by_name_and_number(session: TableEnvironment, text: str, type_: str) -> None:
    session.execute_sql(f"CREATE VIEW x AS SELECT {text} AS x FROM t")
    assert session.execute_sql("DESCRIBE x").rows == [("x", type_, True, None, None, None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [("f['Y']", "has no field 'Y'"), ("f[3]", "constant name"), ("f[0]", "constant name"), ("f[a]", "constant name")],
)
def test_fields_that_rows_do_not_have(session: TableEnvironment, text: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        session.compile_plan_sql(f"SELECT {text} FROM t")
