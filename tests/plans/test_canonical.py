"""Queries that say the same in another way go on with the state; what differs in truth does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans.compatibility.canonical import canonical
from tests.check.plans import compared, states

SUM = "SELECT k, SUM(v) AS s FROM t WHERE {} GROUP BY k"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT k, COUNT(1) FROM t GROUP BY k"),
        ("SELECT k, COUNT('x, (') FROM t GROUP BY k", "SELECT k, COUNT(*) FROM t GROUP BY k"),
        (SUM.format("v > 1"), SUM.format("1 < v")),
        (SUM.format("v >= 1 OR w = 2"), SUM.format("2 = w OR 1 <= v")),
        (SUM.format("v = 1 OR (w = 2 OR v = 3)"), SUM.format("(v = 3 OR v = 1) OR w = 2")),
        (SUM.format("(v <> 1 AND w > 2) OR k = 'a, b)'"), SUM.format("'a, b)' = k OR (2 < w AND 1 <> v)")),
        (SUM.format("NOT (NOT (v > 1 OR w > 1))"), SUM.format("w > 1 OR v > 1")),
        (SUM.format("v + w > 1"), SUM.format("1 < w + v")),
        ("SELECT k, SUM(v * w) AS s FROM t GROUP BY k", "SELECT k, SUM(w * v) AS s FROM t GROUP BY k"),
        ("SELECT k, SUM(CAST(v AS BIGINT)) AS s FROM t GROUP BY k", "SELECT k, SUM(v) AS s FROM t GROUP BY k"),
    ],
)
def test_one_meaning(old: str, new: str) -> None:
    found = compared(old, new)
    assert found.verdict == "full", [each.reason for each in states(found)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT k, COUNT(v) FROM t GROUP BY k"),
        ("SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT k, COUNT(CAST(NULL AS INT)) FROM t GROUP BY k"),
        ("SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT k, COUNT(DISTINCT 1) FROM t GROUP BY k"),
        (SUM.format("v > 1"), SUM.format("1 > v")),
        (SUM.format("v - w > 1"), SUM.format("w - v > 1")),
        (SUM.format("v > 1 OR w > 2"), SUM.format("v > 2 OR w > 1")),
        (SUM.format("k = 'a, b'"), SUM.format("k = 'b, a'")),
        ("SELECT k, SUM(CAST(v AS INT)) AS s FROM t GROUP BY k", "SELECT k, SUM(v) AS s FROM t GROUP BY k"),
    ],
)
def test_two_meanings(old: str, new: str) -> None:
    assert compared(old, new).verdict != "full"


@given(st.text(alphabet='$+AND1(){}[]," \\tv', max_size=60))
def test_any_text_has_a_form_and_the_form_is_its_own(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == once
