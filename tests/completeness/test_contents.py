"""The docstring of a house is its table of contents: what it names is there, and what is there it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.completeness.tree import HOUSES, ROOT

NOT_NAMED = {"__init__", "__main__", "__pycache__", "moved", "py"}


def contents(package: Path) -> tuple[set[str], set[str]]:
    """Words in backticks that stand in its docstring, and its modules and folders."""
    words = re.findall(r"`([a-z_0-9]+)`", ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or "")
    there = {each.stem for each in package.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()}
    return set(words), there - NOT_NAMED


def packages() -> list[Path]:
    return sorted(each.parent for house in HOUSES for each in (ROOT / house).rglob("__init__.py"))


@pytest.mark.parametrize("package", packages(), ids=lambda each: str(each.relative_to(ROOT)))
def test_a_house_that_names_some_of_its_modules_names_all(package: Path) -> None:
    named, there = contents(package)
    assert not named & there or there - named == set()


@pytest.mark.parametrize("package", packages(), ids=lambda each: str(each.relative_to(ROOT)))
def test_what_a_house_names_is_there(package: Path) -> None:
    named, _ = contents(package)
    there = {each.stem for each in package.iterdir()}
    source = (package / "__init__.py").read_text().split('"""', 2)[2]
    assert [name for name in named if name not in there and name not in source] == []
