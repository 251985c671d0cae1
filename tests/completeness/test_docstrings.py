"""A docstring says what the name does not say already."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.completeness.tree import ROOT, sources, tree

HOUSES = ("execnodes", "planner", "plans", "rekindle")
_EMPTY = {"the", "a", "an", "of", "its", "it", "this", "to", "in", "for", "and", "or", "as", "all"}
"""Words that say nothing by themselves."""


def _stem(word: str) -> str:
    return re.sub(r"(ing|ies|es|ed|s|e|y)$", "", word)


def repeats(name: str, text: str) -> bool:
    """Whether a docstring holds no word but those of the name; forms of SQL in backticks say something."""
    named = {_stem(each) for each in re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", name).lower())}
    told = [each.lower() for each in re.findall(r"[A-Za-z]+", text)]
    return "`" not in text and all(each in _EMPTY or _stem(each) in named for each in told)


def documented(file: Path) -> Iterator[tuple[str, str]]:
    """Names of a module, its classes and functions, with their docstrings."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield file.stem if isinstance(node, ast.Module) else node.name, text


@pytest.mark.parametrize("house", HOUSES)
def test_docstrings_say_more_than_the_name(house: str) -> None:
    found = {
        f"{file.relative_to(ROOT)}: {name}: {text}"
        for file in sources(house)
        for name, text in documented(file)
        if repeats(name, text)
    }
    assert found == set()


def test_what_repeats_is_seen() -> None:
    assert repeats("list_agg", "LISTAGG.") is False
    assert repeats("round", "ROUND.")
    assert repeats("drop_table", "Drop the table.")
    assert repeats("OperandTypes", "Types of the operands.")
    assert not repeats("drop_table", "Drop the table, if there is one.")
    assert not repeats("operand", "``name => value``")
