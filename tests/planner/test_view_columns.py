"""A view keeps the columns that it was made with, whatever becomes of its tables."""

from __future__ import annotations

import pytest

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from planner.bind import build_query
from planner.catalog.catalogs import Catalog, View
from planner.parse import parse_query
from planner.statements import Describe
from rekindle.statements.show import describe
from tests.planner.test_ddl import apply

TABLE = "CREATE TABLE o (a INT, b STRING) WITH ('connector' = 'x');"
VIEWS = {
    "permanent": "CREATE VIEW v AS SELECT * FROM o",
    "temporary": "CREATE TEMPORARY VIEW v AS SELECT o.* FROM o",
    "of a view": "CREATE VIEW u AS SELECT * FROM o; CREATE VIEW v AS SELECT * FROM u",
    "column list": "CREATE VIEW v (a, b) AS SELECT * FROM o",
    "altered": "CREATE VIEW v AS SELECT 1 AS x; ALTER VIEW v AS SELECT * FROM o",
    "subquery": "CREATE VIEW v AS SELECT * FROM (SELECT * FROM o)",
}


def _columns(catalog: Catalog, query: str) -> list[str]:
    plan = build_query(parse_query(query), catalog, Configuration())
    return [f"{field.name} {field.type}" for field in plan.type.fields]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize(
    "change",
    ["ALTER TABLE o MODIFY b STRING FIRST", "ALTER TABLE o ADD c INT FIRST", "ALTER TABLE o MODIFY a BIGINT",
     "ALTER TABLE o MODIFY (b STRING FIRST, a STRING)"],
)  # fmt: skip
def test_columns_stay_when_the_table_changes(view: str, change: str) -> None:
    catalog = apply(TABLE + view)
    apply(change, catalog)
    assert _columns(catalog, "SELECT * FROM v") == ["a INT", "b STRING"]
    assert _columns(catalog, "SELECT b, a FROM v") == ["b STRING", "a INT"]
    _, rows = describe(Describe(("v",)), catalog, Configuration())
    assert [row[:2] for row in rows] == [("a", "INT"), ("b", "STRING")]


@pytest.mark.parametrize("change", ["ALTER TABLE o DROP a", "DROP TABLE o"])
def test_a_view_that_lost_what_it_reads_is_named(change: str) -> None:
    catalog = apply(TABLE + VIEWS["permanent"])
    apply(change, catalog)
    with pytest.raises(RekindleError, match=r"not found") as caught:
        _columns(catalog, "SELECT b FROM v")
    assert caught.value.where == "view `default_catalog`.`default_database`.`v`"
    assert caught.value.hint is not None
    _, rows = describe(Describe(("v",)), catalog, Configuration())
    assert [row[0] for row in rows] == ["a", "b"]


def test_views_of_earlier_releases_are_read() -> None:
    catalog = apply(TABLE)
    stored = View("SELECT * FROM `default_catalog`.`default_database`.`o`", ("a", "b"))
    catalog.create(("v",), stored)
    assert _columns(catalog, "SELECT * FROM v") == ["a INT", "b STRING"]
    apply("ALTER TABLE o ADD c INT FIRST", catalog)
    assert _columns(catalog, "SELECT * FROM v") == ["a INT", "b STRING"]
    _, rows = describe(Describe(("v",)), catalog, Configuration())
    assert [row[:2] for row in rows] == [("a", "INT"), ("b", "STRING")]
    apply("ALTER TABLE o DROP (a, c)", catalog)
    with pytest.raises(RekindleError, match="the view has 2 columns, its query gives 1") as caught:
        _columns(catalog, "SELECT * FROM v")
    assert caught.value.where == "view `default_catalog`.`default_database`.`v`"
