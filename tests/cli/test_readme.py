"""The tables of README.md and of docs/query-evolution.md are those the code gives."""

from __future__ import annotations

from docs import evolution_table, support_tables


def test_support_tables_are_up_to_date() -> None:
    page = support_tables.PAGE.read_text(encoding="utf-8")
    assert support_tables.inserted(page) == page, "run make goldens"


def test_the_table_of_changes_is_up_to_date() -> None:
    page = evolution_table.PAGE.read_text(encoding="utf-8")
    assert evolution_table.inserted(page) == page, "run make goldens"
