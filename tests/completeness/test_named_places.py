"""Files and modules that texts name are there: pages, comments and docstrings outlive moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.completeness.tree import HOUSES, ROOT, sources

FOLDERS = (*HOUSES, "docs", "tests", "releases", "benchmarks", "examples")
_FILE = re.compile(rf"(?<![\w/.~-])((?:{'|'.join(FOLDERS)})/[\w/.-]*\.(?:py|md|toml))")
_MODULE = re.compile(rf"`((?:{'|'.join(HOUSES)})(?:\.\w+)+)`")
_TO_COME = {"docs/decisions/NNNN-title.md", "planner.py", "rekindle.py"}
"""What CONTRIBUTING says is to be written, and files of users."""
PAGES = sorted(chain(ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"), (ROOT / "docs").rglob("*.toml")))


def missing(text: str, folder: Path) -> Iterator[str]:
    """What a text names and is not there."""
    for name in _FILE.findall(text):
        if name not in _TO_COME and not (ROOT / name).exists() and not (folder / name).exists():
            yield name
    yield from (name for name in _MODULE.findall(text) if name not in _TO_COME and not _found(name))


def _found(name: str) -> bool:
    """A module, or a name that stands in one."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:size])
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if file.exists():
            rest = parts[size:]
            return not rest or re.search(rf"\b{rest[0]}\b", file.read_text(encoding="utf-8")) is not None
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_what_is_there(page: Path) -> None:
    assert list(missing(page.read_text(encoding="utf-8"), page.parent)) == []


@pytest.mark.parametrize("house", HOUSES)
def test_sources_name_what_is_there(house: str) -> None:
    found = {str(file): list(missing(file.read_text(encoding="utf-8"), file.parent)) for file in sources(house)}
    assert {file: names for file, names in found.items() if names} == {}


def test_what_is_gone_is_seen() -> None:
    text = "`planner.grammar.parse` of planner/grammar/parse.py, `planner.optimize`, `execnodes.core.node.ExecNode`"
    assert list(missing(text, ROOT)) == ["planner/grammar/parse.py", "planner.grammar.parse"]
