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


NEVER_NULL = """
CREATE TABLE n (k STRING, v BIGINT {}) WITH ('connector' = 'filesystem', 'path' = '/nowhere/n', 'format' = 'json');
SELECT k, COUNT({}) AS c FROM n GROUP BY k"""


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (("NOT NULL", "v"), ("NOT NULL", "*"), "full"),
        (("NOT NULL", "v"), ("", "v"), "full"),
        (("", "v"), ("NOT NULL", "v"), "full"),
        (("", "v"), ("", "*"), "incompatible"),
    ],
)
def test_what_is_never_null_is_counted_as_rows_are(old: tuple[str, str], new: tuple[str, str], verdict: str) -> None:
    assert compared(NEVER_NULL.format(*old), NEVER_NULL.format(*new)).verdict == verdict


def test_inputs_of_a_union_are_known_by_their_rows_in_any_words() -> None:
    union = "SELECT k, SUM(v) AS s FROM (SELECT k, v FROM t WHERE {} UNION ALL SELECT k, w AS v FROM r) GROUP BY k"
    assert compared(union.format("v > 1 AND w = 2"), union.format("2 = w AND 1 < v")).verdict == "full"
    assert compared(union.format("v > 1"), union.format("v > 2")).verdict == "incompatible"
    # The same rows twice, of which columns are swapped: the sum of one is not that of the other.
    swapped = (
        "SELECT a, SUM({}) AS s FROM (SELECT v AS a, w AS b FROM t UNION ALL SELECT w AS a, v AS b FROM t) GROUP BY a"
    )
    assert compared(swapped.format("a"), swapped.format("b")).verdict == "incompatible"


@given(st.text(alphabet='$+AND1(){}[]," \\tv', max_size=60))
def test_any_text_has_a_form_and_the_form_is_its_own(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == once
