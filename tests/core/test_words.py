"""Words for people."""

from __future__ import annotations

import re

import pytest

from execnodes.core.words import counted
from tests.completeness.tree import sources


@pytest.mark.parametrize(("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (2000, "2,000 rows")])
def test_one_and_several(number: int, text: str) -> None:
    assert counted(number, "row") == text


def test_irregular() -> None:
    assert [counted(at, "entry", "entries") for at in (1, 2)] == ["1 entry", "2 entries"]


def test_nobody_says_1_rows() -> None:
    """A number in front of a plural goes through `counted`, unless "of the" says that there are several."""
    plural = re.compile(r"(?<!of the )\{len\([^{}]*\)\} (?!is\b|was\b)\w+s\b")
    found = [(str(path), text) for path in sources("rekindle", "plans") for text in plural.findall(path.read_text())]
    assert not found
