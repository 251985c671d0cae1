"""ALTER TABLE and ALTER VIEW, CREATE OR REPLACE, modules; what SHOW CREATE says makes the same object again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import CatalogError, Position, SqlError
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import STRING
from planner import ddl
from planner.catalog.catalogs import Catalog, View
from planner.parse import parse
from planner.statements import Show
from rekindle.statements.show import create_statement, show

TABLE = """
CREATE TABLE t (
  a INT,
  b STRING COMMENT 'it''s',
  c AS UPPER(b) || 'x  y' || -- a comment
       'z',
  at TIMESTAMP_LTZ(3) METADATA FROM 'time''stamp' VIRTUAL,
  ts AS CAST(at AS TIMESTAMP(3)),
  p INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED
) PARTITIONED BY (p) WITH ('connector' = 'x', 'o' = 'it''s');
"""


def apply(text: str, catalog: Catalog | None = None) -> Catalog:
    """A catalog with the DDL of a script applied."""
    catalog = catalog or Catalog()
    for statement in parse(text):
        ddl.execute(statement, catalog, Configuration())
    return catalog


def altered(text: str) -> ResolvedTable:
    """The table above after ALTER TABLE t …."""
    found = apply(f"{TABLE} ALTER TABLE t {text}").get(("t",)).object
    assert isinstance(found, ResolvedTable)
    return found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ADD d INT", "a b c at ts p d"),
        ("ADD d INT NOT NULL COMMENT 'x' FIRST", "d a b c at ts p"),
        ("ADD (d INT AFTER a, e AS d + a AFTER d, f STRING METADATA VIRTUAL FIRST)", "f a d e b c at ts p"),
        ("MODIFY b CHAR(3) FIRST", "b a c at ts p"),
        ("MODIFY (b VARCHAR(3) AFTER c, c AS LOWER(b))", "a c b at ts p"),
        ("MODIFY a BIGINT", "a b c at ts p"),
        ("DROP c", "a b at ts p"),
        ("DROP (b, c)", "a at ts p"),
        ("RENAME a TO d", "d b c at ts p"),
        ("ADD `watermark` INT", "a b c at ts p watermark"),
    ],
)
def test_columns(text: str, names: str) -> None:
    assert " ".join(each.name for each in altered(text).table_schema.columns) == names


def test_parts() -> None:
    schema = altered("MODIFY a BIGINT").table_schema
    assert str(schema.columns[0].data_type) == "BIGINT NOT NULL"
    assert str(altered("MODIFY b CHAR(3)").table_schema.columns[2].data_type) == "CHAR(8)"
    key = altered("RENAME a TO d").table_schema.primary_key
    assert key is not None
    assert (key.name, key.columns) == ("k", ("d",))
    assert altered("DROP PRIMARY KEY").table_schema.primary_key is None
    assert altered("DROP CONSTRAINT k").table_schema.primary_key is None
    assert str(altered("DROP PRIMARY KEY").table_schema.columns[0].data_type) == "INT NOT NULL"
    key = altered("MODIFY PRIMARY KEY (b) NOT ENFORCED").table_schema.primary_key
    assert key is not None
    assert key.columns == ("b",)
    assert altered("DROP WATERMARK").table_schema.watermark_specs == ()
    assert (
        altered("MODIFY WATERMARK FOR ts AS ts").table_schema.watermark_specs[0].expression.serializable_string == "ts"
    )
    apply(
        TABLE
        + "ALTER TABLE t DROP WATERMARK; ALTER TABLE t ADD WATERMARK FOR ts AS ts; ALTER TABLE t DROP PRIMARY KEY;"
        "ALTER TABLE t ADD (d INT, CONSTRAINT q PRIMARY KEY (d) NOT ENFORCED); ALTER TABLE IF EXISTS u DROP a"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ADD a INT", "has a column 'a' already"),
        ("ADD d INT AFTER x", "has no column 'x'"),
        ("ADD d AS x + 1", "x"),
        ("ADD PRIMARY KEY (b) NOT ENFORCED", "has a primary key already"),
        ("ADD WATERMARK FOR ts AS ts", "has a watermark already"),
        ("MODIFY x INT", "has no column 'x'"),
        ("MODIFY b INT ARRAY", "UPPER"),
        ("DROP a", "'a' is a part of the primary key"),
        ("DROP b", "'b' is read by the computed column 'c'"),
        ("DROP ts", "'ts' is read by the watermark"),
        ("DROP p", "'p' is a partition key"),
        ("DROP (c, c)", "named twice"),
        ("DROP CONSTRAINT q", "its key is 'k'"),
        ("RENAME b TO d", "'b' is read by the computed column 'c'"),
        ("RENAME a TO b", "has a column 'b' already"),
        ("RENAME x TO y", "has no column 'x'"),
        ("RENAME p TO q", "'p' is a partition key"),
    ],
)
def test_refused(text: str, message: str) -> None:
    before = apply(TABLE)
    with pytest.raises(SqlError, match=message) as told:
        apply(f"ALTER TABLE t {text}", before)
    assert told.value.position == Position(1, 1)
    assert before.get(("t",)) == apply(TABLE).get(("t",))


@pytest.mark.parametrize(
    "text", ["ADD d", "ADD (d INT", "ADD PARTITION (p = 1)", "DROP PARTITION (p = 1)", "FOO", "RENAME a.b TO c"]
)
def test_not_read(text: str) -> None:
    with pytest.raises(SqlError):
        apply(f"{TABLE} ALTER TABLE t {text}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ALTER TABLE t ADD (e AS a + 1, f AS -1 + a)",
        "ALTER TABLE t ADD e AS 'a''b'",
        "ALTER TABLE t DROP c; ALTER TABLE t RENAME b TO `x``y`",
    ],
)
def test_show_create_makes_the_same_table(text: str) -> None:
    made = apply(TABLE + text)
    again = apply(create_statement("TABLE", ("t",), made))
    assert again.get(("t",)) == made.get(("t",))


@given(st.text(alphabet="ab' -*/\n", max_size=8), st.text(alphabet="ab'`\n", min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_show_create_of_any_text(text: str, name: str) -> None:
    literal, column = text.replace("'", "''"), name.replace("`", "``")
    made = apply(
        f"CREATE TABLE t (`{column}` INT COMMENT '{literal}', z AS '{literal}') COMMENT 'c{literal}' "
        f"WITH ('k' = '{literal}');"
        f"CREATE VIEW v (`{column}`) COMMENT '{literal}' AS SELECT '{literal}' FROM t"
    )
    again = apply(create_statement("TABLE", ("t",), made) + ";" + create_statement("VIEW", ("v",), made))
    assert [again.get((each,)) for each in "tv"] == [made.get((each,)) for each in "tv"]


def test_views_are_replaced() -> None:
    catalog = apply(TABLE + "CREATE VIEW v COMMENT 'x' AS SELECT a FROM t; CREATE VIEW w AS SELECT * FROM v")
    apply("ALTER VIEW v AS SELECT b FROM t", catalog)
    assert catalog.get(("v",)).object == View(
        "SELECT b FROM `default_catalog`.`default_database`.`t`", ("b",), "x", (STRING,)
    )
    apply("CREATE OR REPLACE VIEW v (k) AS SELECT a FROM t; CREATE OR REPLACE TEMPORARY VIEW u AS SELECT 1", catalog)
    found = catalog.get(("v",)).object
    assert isinstance(found, View)
    assert found.columns == ("k",)
    for text in ("ALTER VIEW v AS SELECT * FROM v", "CREATE OR REPLACE VIEW v AS SELECT * FROM w"):
        with pytest.raises(CatalogError, match="would read itself"):
            apply(text, catalog)
    with pytest.raises(CatalogError, match="is a table"):
        apply("CREATE OR REPLACE VIEW t AS SELECT 1", catalog)


def test_tables_are_replaced_by_queries() -> None:
    catalog = apply(TABLE)
    apply("CREATE OR REPLACE TABLE t WITH ('connector' = 'y') AS SELECT 1 AS n", catalog)
    found = catalog.get(("t",)).object
    assert isinstance(found, ResolvedTable)
    assert ([each.name for each in found.table_schema.columns], found.options) == (["n"], {"connector": "y"})


def test_show_columns() -> None:
    catalog = apply(TABLE + "CREATE VIEW v AS SELECT a, b FROM t")
    for text, names in (("t LIKE '_'", "abcp"), ("t NOT LIKE '_'", ["at", "ts"]), ("v", "ab")):
        (statement,) = parse(f"SHOW COLUMNS FROM {text}")
        assert isinstance(statement, Show)
        columns, rows = show(statement, catalog, Configuration())
        assert (columns[:2], [row[0] for row in rows]) == (("name", "type"), list(names))


def test_modules() -> None:
    catalog = apply("USE MODULES core")
    assert show(Show("MODULES"), catalog, Configuration())[1] == [("core",)]
    assert show(Show("FULL MODULES"), catalog, Configuration()) == (("module name", "used"), [("core", True)])
    for text, message in {
        "LOAD MODULE core": "loaded already",
        "LOAD MODULE hive WITH ('hive-version' = '3')": "no module 'hive'",
        "UNLOAD MODULE core": "cannot be unloaded",
        "UNLOAD MODULE x": "no module 'x'",
        "USE MODULES core, hive": "no module 'hive'",
        "USE MODULES core, core": "named twice",
    }.items():
        with pytest.raises(CatalogError, match=message):
            apply(text, catalog)
