"""What README.md and docs/ show is what the code gives."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from docs import evolution_table, life_of_a_query, pictures, pyflink_page, python_page, support_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = pictures.README.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_support_tables_are_up_to_date() -> None:
    page = support_tables.PAGE.read_text(encoding="utf-8")
    assert support_tables.inserted(page) == page, "run make goldens"


def test_the_table_of_changes_is_up_to_date() -> None:
    page = evolution_table.PAGE.read_text(encoding="utf-8")
    assert evolution_table.inserted(page) == page, "run make goldens"


def test_the_page_of_the_python_api_is_up_to_date() -> None:
    assert python_page.PAGE.read_text(encoding="utf-8") == python_page.render(), "run make goldens"


def test_the_page_of_names_of_pyflink_is_up_to_date() -> None:
    assert pyflink_page.PAGE.read_text(encoding="utf-8") == pyflink_page.render(), "run make goldens"


@pytest.mark.spark
def test_the_life_of_a_query_is_up_to_date(spark: SparkSession) -> None:
    page = life_of_a_query.PAGE.read_text(encoding="utf-8")
    assert life_of_a_query.inserted(page) == page, "run make goldens"


def test_the_terminal_shows_what_the_example_prints(tmp_path: Path) -> None:
    shown = list(pictures.lines(tmp_path))
    assert "verdict: full" in shown
    picture = (pictures.PICTURES / "terminal.svg").read_text(encoding="utf-8")
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", picture.partition('-matrix">')[2])
    drawn = html.unescape("".join(texts)).replace("\xa0", " ")
    assert "".join(drawn.split()) == "".join("".join(shown).split()), "run make goldens"


def test_readme_stays_short() -> None:
    assert len(pictures.README.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    places = [unquote(link.partition("#")[0]) for link in links if "://" not in link]
    assert [place for place in places if place and not (page.parent / place).exists()] == []


def test_the_index_of_the_docs_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"]({name})" not in index} == set()
