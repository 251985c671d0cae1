"""What a `match` does with all that it does not name is no guess: it fails, or says why it is right."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSES = ("execnodes", "planner", "plans", "rekindle")
ROOT = Path(__file__).parents[2]


def guesses(text: str) -> Iterator[int]:
    """Lines of each ``case _`` that neither raises at once nor begins with a comment."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.match_case) or not _takes_all(node):
            continue
        first, line = node.body[0], node.pattern.lineno
        fails = isinstance(first, ast.Raise) or ast.unparse(first).startswith("assert_never(")
        if not fails and not lines[line].lstrip().startswith("# "):
            yield line


def _takes_all(case: ast.match_case) -> bool:
    pattern = case.pattern
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None and case.guard is None


@pytest.mark.parametrize("house", HOUSES)
def test_no_match_guesses(house: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in (ROOT / house).rglob("*.py")
        for line in guesses(path.read_text(encoding="utf-8"))
    }
    assert found == set(), "name what may come, raise, assert_never, or say in a comment why the default is right"


def test_a_guess_is_seen() -> None:
    text = """
match node:
    case Scan():
        return 1
    case {}
        {}
"""
    assert list(guesses(text.format("_:", "return 0"))) == [5]
    assert list(guesses(text.format("_:", "# Of all the others.\n        return 0"))) == []
    assert list(guesses(text.format("_:", "raise ValueError"))) == []
    assert list(guesses(text.format("_ as other:", "assert_never(other)"))) == []
    assert list(guesses(text.format("_ if node:", "return 0"))) == []
    assert list(guesses(text.format("other:", "return other"))) == [5]
