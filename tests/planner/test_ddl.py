"""DDL applied to a catalog: resolved tables, views with names in full, temporary objects, catalogs and databases."""

from __future__ import annotations

import pytest

from execnodes.core.errors import CatalogError, SqlError
from execnodes.core.expressions import input_indexes
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import INT, TimeKind, char
from planner import ddl
from planner.catalog.catalogs import Catalog, View
from planner.parse import parse
from rekindle.api.table_environment import TableEnvironment


def apply(text: str, catalog: Catalog | None = None) -> Catalog:
    """A catalog with the DDL of a script applied."""
    catalog = catalog or Catalog()
    for statement in parse(text):
        ddl.execute(statement, catalog, Configuration())
    return catalog


def table(catalog: Catalog, *path: str) -> ResolvedTable:
    """A table of a catalog."""
    found = catalog.get(path).object
    assert isinstance(found, ResolvedTable)
    return found


FULL = """
CREATE TABLE t (
  id INT COMMENT 'the key',
  m MAP<STRING, ROW<a INT>>,
  at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  `offset` BIGINT METADATA,
  ts AS CAST(at AS TIMESTAMP(3)),
  WATERMARK FOR ts AS ts  -  INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'all of it' PARTITIONED BY (id) WITH ('connector' = 'x', 'password' = '${env:SECRET}');
"""


def test_create_table_in_full() -> None:
    found = table(apply(FULL), "t")
    schema = found.table_schema
    assert [(c.name, str(c.data_type), c.kind) for c in schema.columns] == [
        ("id", "INT NOT NULL", "PHYSICAL"),
        ("m", "MAP<STRING, ROW<`a` INT>>", "PHYSICAL"),
        ("at", "TIMESTAMP_LTZ(3)", "METADATA"),
        ("offset", "BIGINT", "METADATA"),
        ("ts", "TIMESTAMP(3) *ROWTIME*", "COMPUTED"),
    ]
    assert [c.name for c in schema.writable] == ["id", "m", "offset"]
    assert schema.columns[2].metadata_key == "timestamp"
    assert schema.columns[0].comment == "the key"
    assert schema.watermark_specs[0].expression.serializable_string == "ts - INTERVAL '5' SECOND"
    assert schema.primary_key is not None
    assert (schema.primary_key.name, schema.primary_key.columns) == ("pk", ("id",))
    assert (found.comment, found.partition_keys) == ("all of it", ("id",))
    assert found.options == {"connector": "x", "password": "${env:SECRET}"}


def test_types_without_length() -> None:
    made = apply(
        "CREATE TABLE t (a VARCHAR, b VARBINARY, c CHAR, d BINARY, e ROW<x VARCHAR>) WITH ('connector' = 'x');"
        "CREATE TABLE l WITH ('connector' = 'y') LIKE t;"
        "ALTER TABLE l ADD g CHAR VARYING;"
    )
    expected = ["STRING", "BYTES", "CHAR(1)", "BINARY(1)", "ROW<`x` STRING>"]
    for name, types in (("t", expected), ("l", [*expected, "STRING"])):
        assert [str(column.data_type) for column in table(made, name).table_schema.columns] == types


@pytest.mark.parametrize(
    ("clause", "columns", "options", "watermarks", "key"),
    [
        ("", ["id", "m", "at", "offset", "ts", "b"], {"connector": "y", "password": "${env:SECRET}"}, 1, True),
        ("(EXCLUDING ALL)", ["id", "m", "b"], {"connector": "y"}, 0, False),
        ("(EXCLUDING ALL INCLUDING GENERATED INCLUDING METADATA INCLUDING WATERMARKS)",
         ["id", "m", "at", "offset", "ts", "b"], {"connector": "y"}, 1, False),
        ("(EXCLUDING CONSTRAINTS EXCLUDING OPTIONS)",
         ["id", "m", "at", "offset", "ts", "b"], {"connector": "y"}, 1, False),
    ],
)  # fmt: skip
def test_like(clause: str, columns: list[str], options: dict[str, str], watermarks: int, key: bool) -> None:
    found = table(apply(FULL + f"CREATE TABLE l (b INT) WITH ('connector' = 'y') LIKE t {clause}"), "l")
    assert [column.name for column in found.table_schema.columns] == columns
    assert found.options == options
    assert len(found.table_schema.watermark_specs) == watermarks
    assert (found.table_schema.primary_key is not None) is key


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("CREATE TABLE l (PRIMARY KEY (id) NOT ENFORCED) LIKE t", "both tables have constraints"),
        ("CREATE TABLE l WITH ('connector' = 'y') LIKE t (INCLUDING OPTIONS)", "both tables give the option"),
        ("CREATE TABLE l LIKE v", "LIKE takes a table"),
        ("CREATE TABLE l (id STRING) LIKE t", "has a column 'id' already"),
        ("CREATE TABLE l LIKE t (EXCLUDING METADATA)", "reads the column 'at', which LIKE leaves out"),
    ],
)
def test_like_refused(clause: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        apply(FULL + "CREATE VIEW v AS SELECT id FROM t;" + clause)


def test_what_like_takes_over_is_typed_by_the_new_key() -> None:
    text = """
      CREATE TABLE a (k INT, ts TIMESTAMP(3), n AS k + 1, WATERMARK FOR ts AS ts);
      CREATE TABLE b (PRIMARY KEY (k, ts) NOT ENFORCED) LIKE a;
      CREATE TABLE c (k INT, ts TIMESTAMP(3), n AS k + 1, WATERMARK FOR ts AS ts, PRIMARY KEY (k, ts) NOT ENFORCED)
    """
    catalog = apply(text)
    assert table(catalog, "b") == table(catalog, "c")


def test_an_expression_behind_like_that_no_longer_holds_is_told_at_like() -> None:
    text = """
      CREATE FUNCTION g AS 'tests.user_functions.examples:shout' LANGUAGE PYTHON;
      CREATE TABLE a (k STRING, n AS g(k));
      DROP FUNCTION g;
      CREATE TABLE b LIKE a
    """
    with pytest.raises(SqlError, match="function g") as told:
        apply(text)
    assert told.value.position is not None
    assert told.value.position.line == 5


def test_like_adds_what_the_base_table_lacks() -> None:
    text = """
    CREATE TABLE a (k INT NOT NULL, ts TIMESTAMP(3));
    CREATE TABLE b (WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED) PARTITIONED BY (k) LIKE a
    """
    found = table(apply(text), "b")
    assert len(found.table_schema.watermark_specs) == 1
    assert found.table_schema.primary_key is not None
    assert found.partition_keys == ("k",)


def test_like_counts_the_columns_it_keeps() -> None:
    text = """
    CREATE TABLE a (x INT METADATA, y INT, z AS y + 1, w AS y + 2);
    CREATE TABLE b (w AS y + 3, v INT) LIKE a (EXCLUDING METADATA OVERWRITING GENERATED)
    """
    columns = table(apply(text), "b").table_schema.columns
    assert [column.name for column in columns] == ["y", "z", "w", "v"]
    read = [input_indexes(column.expression.rex_node) for column in columns if column.expression]
    assert read == [{0}, {0}]


def test_create_table_as() -> None:
    catalog = apply(FULL)
    (statement,) = parse("CREATE TABLE c WITH ('connector' = 'y') AS SELECT id, ts FROM t")
    result = ddl.execute(statement, catalog, Configuration())
    assert result.insert is not None
    assert result.insert.target == ("c",)
    columns = table(catalog, "c").table_schema.columns
    assert [(c.name, str(c.data_type)) for c in columns] == [("id", "INT NOT NULL"), ("ts", "TIMESTAMP(3)")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE a (p AS PROCTIME(), WATERMARK FOR p AS p)", "processing-time attribute 'p'"),
        ("CREATE TABLE a (x INT, p AS PROCTIME()); ALTER TABLE a ADD WATERMARK FOR p AS p", "attribute 'p'"),
        (
            "CREATE TABLE a (t TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR t AS p)",
            "the watermark of 't' is TIMESTAMP_LTZ",
        ),
        ("CREATE TABLE a (t TIMESTAMP(3), u TIMESTAMP(6), WATERMARK FOR t AS u)", "precision is above 3"),
        ("CREATE TABLE a (t TIMESTAMP(6), WATERMARK FOR t AS t)", "watermark column 't' is TIMESTAMP"),
        ("CREATE TABLE a (t TIMESTAMP(3), WATERMARK FOR t AS NULL)", "the watermark of 't' is NULL"),
        ("CREATE TABLE a (t TIMESTAMP(3), WATERMARK FOR t AS 'x')", "the watermark of 't' is CHAR"),
        ("CREATE TABLE a (r ROW<t TIMESTAMP(3)>, WATERMARK FOR r.t AS r.t)", "'r.t', which is no column"),
        ("CREATE TABLE a (x INT, PRIMARY KEY (x, x) NOT ENFORCED)", "contains duplicate columns"),
        ("CREATE TABLE a (x INT, c AS x + 1, PRIMARY KEY (c) NOT ENFORCED)", "'c' is not a physical column"),
        ("CREATE TABLE a (x INT, c AS x + 1) PARTITIONED BY (c)", "partition key 'c' is not a physical"),
        ("CREATE TABLE a (x INT, m INT METADATA) PARTITIONED BY (m)", "partition key 'm' is not a physical"),
        ("CREATE TABLE a (m INT METADATA FROM 'k', n INT METADATA FROM 'k')", "both from the metadata key 'k'"),
        ("CREATE TABLE a (m INT METADATA, n INT METADATA FROM 'm')", "both from the metadata key 'm'"),
        ("CREATE TABLE a (x INT); CREATE TABLE b (y INT) LIKE a (INCLUDING ALL EXCLUDING ALL)", "LIKE names ALL twice"),
    ],
)
def test_tables_that_flink_refuses(text: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        apply(text)


def test_repeated_events_need_a_primary_key() -> None:
    columns = "(k INT, v INT{}) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = '{}')"
    environment = TableEnvironment.create({"table.exec.source.cdc-events-duplicate": "true"})
    environment.execute_sql(f"CREATE TABLE plain {columns.format('', 'json')}")
    environment.execute_sql(f"CREATE TABLE keyed {columns.format(', PRIMARY KEY (k) NOT ENFORCED', 'debezium-json')}")
    environment.execute_sql(f"CREATE TABLE bare {columns.format('', 'debezium-json')}")
    environment.compile_script("SELECT * FROM plain")
    environment.compile_script("SELECT * FROM keyed")
    with pytest.raises(SqlError, match="bare' is a changelog source without PRIMARY KEY"):
        environment.compile_script("SELECT * FROM bare")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("(y, x)", "y STRING, x INT"),
        ("(w INT, v STRING)", "w INT, v STRING, x INT, y STRING"),
        ("(x BIGINT, n INT)", "n INT, x BIGINT, y STRING"),
        ("(c AS x + 1)", "c INT, x INT, y STRING"),
        ("(c AS x + 1, y STRING, w STRING)", "c INT, w STRING, x INT, y STRING"),
        ("(m INT METADATA VIRTUAL)", "m INT, x INT, y STRING"),
    ],
)
def test_create_table_as_matches_by_name(columns: str, found: str) -> None:
    catalog = apply("CREATE TABLE q (x INT, y STRING) WITH ('connector' = 'x')")
    (statement,) = parse(f"CREATE TABLE c {columns} WITH ('connector' = 'y') AS SELECT x, y FROM q")
    result = ddl.execute(statement, catalog, Configuration())
    assert ", ".join(f"{c.name} {c.data_type}" for c in table(catalog, "c").table_schema.columns) == found
    assert result.insert is not None
    assert result.insert.columns == ("x", "y")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("(y, x, z)", "must name the query's columns x, y"),
        ("(y)", "must name the query's columns x, y"),
        ("(Y, X)", "must name the query's columns x, y"),
        ("(y, w INT)", "column y has no type"),
        ("(x TINYINT)", "incompatible types for sink column 'x'.* INT, while .* TINYINT"),
        ("(x INT NOT NULL)", "incompatible types for sink column 'x'.* INT, while .* INT NOT NULL"),
        ("(w INT NOT NULL)", "column 'w' has no default value"),
        ("(x AS 1)", "a column named 'x' already exists in the query"),
        ("(PRIMARY KEY (x) NOT ENFORCED)", "Column 'x' is nullable"),
    ],
)
def test_create_table_as_refuses_what_flink_refuses(columns: str, message: str) -> None:
    catalog = apply("CREATE TABLE q (x INT, y STRING) WITH ('connector' = 'x')")
    with pytest.raises(SqlError, match=message):
        apply(f"CREATE TABLE c {columns} WITH ('connector' = 'y') AS SELECT x, y FROM q", catalog)
    assert catalog.find(("c",)) is None


def test_create_table_as_with_column_order() -> None:
    catalog = apply(FULL)
    (statement,) = parse("CREATE TABLE c (ts, id) WITH ('connector' = 'y') AS SELECT id, ts FROM t")
    result = ddl.execute(statement, catalog, Configuration())
    assert [c.name for c in table(catalog, "c").table_schema.columns] == ["ts", "id"]
    assert result.insert is not None


def test_view_text_has_names_in_full_but_not_those_of_with() -> None:
    catalog = apply(
        FULL + "CREATE VIEW v (a, b) COMMENT 'c' AS WITH t2 AS (SELECT id FROM t) SELECT t2.id, 't' FROM t2, t AS x"
    )
    view = catalog.get(("v",)).object
    assert view == View(
        "WITH t2 AS (SELECT id FROM `default_catalog`.`default_database`.`t`) "
        "SELECT t2.id, 't' FROM t2, `default_catalog`.`default_database`.`t` AS x",
        ("a", "b"),
        "c",
        (INT.not_null(), char(1).not_null()),
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELECT * FROM t", "SELECT `t`.`a`, `t`.`x y`, `t`.`r` FROM {t}"),
        ("SELECT u.*, a + 1 AS c FROM t AS u", "SELECT `u`.`a`, `u`.`x y`, `u`.`r`, a + 1 AS c FROM {t} AS u"),
        ("SELECT t.r.* FROM t", "SELECT `t`.`r`.`f` FROM {t}"),
        ("SELECT * FROM (SELECT * FROM t)",
         "SELECT `a`, `x y`, `r` FROM (SELECT `t`.`a`, `t`.`x y`, `t`.`r` FROM {t})"),
        ("SELECT * FROM t JOIN t AS u USING (a)",
         "SELECT `a`, `t`.`x y`, `t`.`r`, `u`.`x y`, `u`.`r` FROM {t} JOIN {t} AS u USING (a)"),
        ("WITH w AS (SELECT * FROM t) SELECT * FROM w UNION ALL SELECT * FROM (SELECT a, `x y`, r FROM t)",
         "WITH w AS (SELECT `t`.`a`, `t`.`x y`, `t`.`r` FROM {t}) SELECT `w`.`a`, `w`.`x y`, `w`.`r` FROM w "
         "UNION ALL SELECT `a`, `x y`, `r` FROM (SELECT a, `x y`, r FROM {t})"),
        ("SELECT COUNT(*) FROM t WHERE a IN (SELECT u.a FROM (SELECT * FROM t) AS u)",
         "SELECT COUNT(*) FROM {t} WHERE a IN (SELECT u.a FROM (SELECT `t`.`a`, `t`.`x y`, `t`.`r` FROM {t}) AS u)"),
    ],
)  # fmt: skip
def test_view_text_has_columns_for_stars(query: str, text: str) -> None:
    table_text = "CREATE TABLE t (a INT, `x y` INT, r ROW<f INT>) WITH ('connector' = 'x');"
    for kind in ("", "TEMPORARY "):
        view = apply(f"{table_text} /* é */ CREATE {kind}VIEW v AS {query}").get(("v",)).object
        assert isinstance(view, View)
        assert view.text == text.replace("{t}", "`default_catalog`.`default_database`.`t`")


def test_view_reads_its_own_database() -> None:
    catalog = apply(FULL + "CREATE VIEW v AS SELECT id FROM t; CREATE DATABASE d")
    apply("USE d; CREATE VIEW w AS SELECT * FROM default_catalog.default_database.v", catalog)
    assert catalog.get(("w",)).identifier == ("default_catalog", "d", "w")


def test_temporary_shadows_permanent() -> None:
    catalog = apply("CREATE TABLE t (a INT); CREATE TEMPORARY TABLE t (b INT)")
    assert [c.name for c in table(catalog, "t").table_schema.columns] == ["b"]
    with pytest.raises(CatalogError, match="temporary object"):
        apply("DROP TABLE t", catalog)
    apply("DROP TEMPORARY TABLE t", catalog)
    assert [c.name for c in table(catalog, "t").table_schema.columns] == ["a"]


def test_if_not_exists_and_if_exists() -> None:
    catalog = apply("CREATE TABLE t (a INT); CREATE TABLE IF NOT EXISTS t (b INT); DROP VIEW IF EXISTS t")
    assert [c.name for c in table(catalog, "t").table_schema.columns] == ["a"]
    assert catalog.list_objects("TABLE") == ["t"]


def test_alter_and_rename() -> None:
    catalog = apply(FULL + "ALTER TABLE t SET ('a' = 'b'); ALTER TABLE t RESET ('password'); ALTER TABLE t RENAME TO u")
    assert table(catalog, "u").options == {"connector": "x", "a": "b"}
    assert catalog.find(("t",)) is None
    with pytest.raises(CatalogError, match="'connector' cannot be reset"):
        apply("ALTER TABLE u RESET ('connector')", catalog)


def test_catalogs_and_databases() -> None:
    catalog = apply(
        "CREATE CATALOG c WITH ('type' = 'generic_in_memory'); CREATE DATABASE c.d; USE CATALOG c; USE d;"
        "CREATE TABLE t (a INT)"
    )
    assert catalog.get(("c", "d", "t")).identifier == ("c", "d", "t")
    for refused in ("DROP CATALOG c", "DROP DATABASE d", "CREATE DATABASE d", "USE x", "DROP DATABASE x"):
        with pytest.raises(CatalogError):
            apply(refused, catalog)
    apply("USE CATALOG default_catalog", catalog)
    with pytest.raises(CatalogError, match="not empty"):
        apply("DROP DATABASE c.d", catalog)
    apply("DROP DATABASE c.d CASCADE; DROP CATALOG c", catalog)
    assert list(catalog.catalogs) == ["default_catalog"]


def test_functions() -> None:
    catalog = apply(
        "CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON; CREATE TEMPORARY SYSTEM FUNCTION g AS 'm.g' LANGUAGE PYTHON"
    )
    assert catalog.list_functions() == ["f", "g"]
    apply("DROP FUNCTION f; DROP TEMPORARY SYSTEM FUNCTION g; DROP FUNCTION IF EXISTS f", catalog)
    assert catalog.list_functions() == []
    with pytest.raises(CatalogError, match="does not exist"):
        apply("DROP FUNCTION f", catalog)


def test_watermark_on_a_physical_column_is_the_rowtime() -> None:
    found = table(apply("CREATE TABLE t (ts TIMESTAMP(0), WATERMARK FOR ts AS ts)"), "t")
    assert found.table_schema.columns[0].data_type.kind is TimeKind.ROWTIME
