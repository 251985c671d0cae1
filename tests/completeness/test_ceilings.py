"""What the house style bans becomes less, and never more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.completeness.ceilings import compare, count, count_all, read, totals


def test_no_count_rises() -> None:
    counts = count_all()
    print(totals(counts))
    assert list(compare(counts, read())) == [], "counts may only fall (python -m tests.completeness.ceilings)"


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("banned in messages", 'raise ValueError("x is no table")'),
        ("banned in messages", 'def f(name):\n    return f"there is no {name}"'),
        ("banned in docstrings", '"""Goes on behind it."""'),
        ("banned in docstrings", "x = 1  # Nobody asks."),
        ("participle functions", "def joined(rows): ..."),
        ("participle functions", "def _shown(x): ..."),
        ("short docstrings", 'def f():\n    """Those of it."""'),
        ("id() as key", "x = {id(y): 1}"),
        ("small helpers of one use", "def f():\n    return _g()\n\ndef _g():\n    return 1"),
        ("files over 400 lines", "x = 1\n" * 401),
    ],
)
def test_each_is_seen(tmp_path: Path, measure: str, text: str) -> None:
    file = tmp_path / "m.py"
    file.write_text(text)
    assert count(file)[measure] > 0


@pytest.mark.parametrize(
    "text",
    [
        'raise ValueError("table x does not exist")',
        '"""Return the rows of the join."""',
        'x = said("newest", "newest of what is no more")',
        "class A:\n    @property\n    def joined(self): ...",
        "def f():\n    return _g() + _g()\n\ndef _g():\n    return 1",
    ],
)
def test_what_is_fine_is_not_counted(tmp_path: Path, text: str) -> None:
    file = tmp_path / "m.py"
    file.write_text(text)
    assert {measure for measure, number in count(file).items() if number} <= {"lines"}


def test_a_new_file_begins_at_zero() -> None:
    known = {"short docstrings": {"planner/a.py": 2}, "lines": {"planner": 10}}
    now = {"short docstrings": {"planner/a.py": 1, "planner/b.py": 1}, "lines": {"planner": 4, "plans": 6}}
    assert list(compare(now, known)) == ["short docstrings: planner/b.py has 1, at most 0"]


def test_the_product_does_not_grow() -> None:
    assert list(compare({"lines": {"plans": 11}}, {"lines": {"planner": 10}})) == [
        "lines: the product has 11, at most 10"
    ]
