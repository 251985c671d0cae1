"""The prompt: when a statement is whole, and what may come next."""

from __future__ import annotations

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.completion import candidates, is_complete
from rekindle.cli.prompt import is_ready


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("SELECT 'a;\nb';", True),
        ("SELECT `a;", False),
        ("SELECT 1 /* ;", False),
        ("SELECT 1 -- ;", False),
        ('SELECT "a";', True),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END;", True),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT CASE WHEN a THEN 1 END;", False),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT CASE WHEN a THEN 1 END; END;", True),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1 END;", True),
        ("nonsense;", True),
        ("", False),
    ],
)
def test_whole_statements(text: str, whole: bool) -> None:
    assert is_complete(text) is whole


@pytest.mark.parametrize(("text", "ready"), [("quit", True), (" help ; ", True), ("\n", True), ("quite", False)])
def test_words_need_no_semicolon(text: str, ready: bool) -> None:
    assert is_ready(text) is ready


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    made = TableEnvironment.create()
    made.execute_sql("CREATE TABLE orders (region STRING, `order` INT) WITH ('connector' = 'datagen')")
    made.execute_sql("CREATE TABLE clicks (page STRING) WITH ('connector' = 'datagen')")
    made.execute_sql("CREATE VIEW big AS SELECT region FROM orders")
    return made


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("SELECT * FROM ", {"orders", "clicks", "big", "default_database"}, {"region", "SELECT"}),
        ("select * from OR", {"orders"}, {"clicks", "ORDER"}),
        ("INSERT INTO cl", {"clicks"}, {"CLOSE"}),
        ("SELECT re", {"region"}, {"page"}),
        ("SELECT o", {"orders", "`order`", "ORDER", "OR"}, set()),
        ("SELECT page FROM clicks WHERE p", {"page", "POWER"}, {"region"}),
        ("SELECT region FROM big WHERE r", {"region"}, {"page"}),
        ("SELECT coal", {"COALESCE"}, set()),
        ("SHOW JO", {"JOBS", "JOIN"}, set()),
        ("SET 'table.dml", {"table.dml-sync"}, {"pipeline.name"}),
        ("RESET 'pipe", {"pipeline.name"}, set()),
        ("SELECT ", set(), {"region", "SELECT"}),
    ],
)
def test_candidates(environment: TableEnvironment, text: str, some: set[str], none: set[str]) -> None:
    found = {name for name, _, _ in candidates(text, environment.catalog)}
    assert some <= found
    assert not none & found


def test_candidates_replace_the_word_that_was_begun(environment: TableEnvironment) -> None:
    assert ("clicks", 2, "table") in set(candidates("SELECT * FROM cl", environment.catalog))
    assert ("table.dml-sync", 9, "option") in set(candidates("SET 'table.dml", environment.catalog))
