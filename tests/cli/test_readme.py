"""The tables of README.md are those the code gives."""

from __future__ import annotations

from docs import support_tables


def test_support_tables_are_up_to_date() -> None:
    page = support_tables.PAGE.read_text(encoding="utf-8")
    assert support_tables.inserted(page) == page, "run make goldens"
