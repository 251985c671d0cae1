"""docs/state.md shows what its commands print."""

from __future__ import annotations

import re

import pytest

from docs import state_page


def masked(page: str) -> str:
    """Without sizes of files, which depend on who writes them."""
    return re.sub(r"\b\d{1,3}(,\d{3})+\b", "N", page)


def test_the_page_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REKINDLE_DEBUG", raising=False)
    page = state_page.PAGE.read_text(encoding="utf-8")
    assert masked(state_page.render(page)) == masked(page), "run make goldens"
