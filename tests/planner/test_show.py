"""SHOW … FROM another catalog or database, and its patterns."""

from __future__ import annotations

import pytest

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from planner.catalog.catalogs import Catalog
from planner.parse import parse
from planner.statements import Show
from rekindle.statements.show import show
from tests.planner.test_ddl import apply


@pytest.mark.parametrize(
    ("clause", "names"),
    [
        ("DATABASES", ["default_database"]),
        ("DATABASES FROM c0", ["d1", "default"]),
        ("DATABASES IN c0 LIKE 'd_'", ["d1"]),
        ("DATABASES FROM c0 NOT LIKE 'D1'", ["d1", "default"]),
        ("DATABASES FROM c0 ILIKE 'D1'", ["d1"]),
        ("DATABASES FROM c0 NOT ILIKE 'D1'", ["default"]),
        ("TABLES FROM c0.d1", ["t1", "v1"]),
        ("TABLES IN c0.d1 NOT LIKE 't%'", ["v1"]),
        ("VIEWS FROM c0.d1", ["v1"]),
        ("USER FUNCTIONS FROM c0.d1", ["f1"]),
        ("USER FUNCTIONS", []),
        ("USER FUNCTIONS IN c0.d1 ILIKE 'F_'", ["f1"]),
        ("FUNCTIONS FROM c0.d1 LIKE 'ABS'", []),
        ("FUNCTIONS FROM c0.d1 ILIKE 'ABS'", ["abs"]),
        ("CATALOGS ILIKE 'C%'", ["c0"]),
    ],
)
def test_show_lists_what_is_named(clause: str, names: list[str]) -> None:
    _, rows = show(_shown(f"SHOW {clause}"), _two_catalogs(), Configuration())
    assert [name for (name,) in rows] == names


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("DATABASES FROM nope", "catalog 'nope' does not exist"),
        ("DATABASES FROM c0.d1", "too many parts"),
        ("TABLES FROM nope.d1", "catalog 'nope' does not exist"),
        ("TABLES FROM c0.nope", "database 'nope' does not exist in 'c0'"),
        ("TABLES FROM c0.d1.t1", "too many parts"),
        ("VIEWS FROM c0.nope", "database 'nope' does not exist in 'c0'"),
        ("FUNCTIONS FROM c0.nope", "database 'nope' does not exist in 'c0'"),
        ("CATALOGS FROM c0", "SHOW CATALOGS FROM is not supported"),
        ("TABLES ILIKE 'x'", "ILIKE"),
    ],
)
def test_show_refuses_what_is_not_there(clause: str, message: str) -> None:
    catalog = _two_catalogs()
    with pytest.raises(RekindleError, match=message):
        show(_shown(f"SHOW {clause}"), catalog, Configuration())


def _shown(text: str) -> Show:
    (statement,) = parse(text)
    assert isinstance(statement, Show)
    return statement


def _two_catalogs() -> Catalog:
    return apply(
        "CREATE CATALOG c0 WITH ('type' = 'generic_in_memory'); CREATE DATABASE c0.d1; CREATE TABLE c0.d1.t1 (a INT);"
        "CREATE VIEW c0.d1.v1 AS SELECT * FROM c0.d1.t1;"
        "CREATE TEMPORARY FUNCTION c0.d1.f1 AS 'tests.user_functions.examples.f' LANGUAGE PYTHON"
    )
