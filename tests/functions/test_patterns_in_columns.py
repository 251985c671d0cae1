"""Regular expressions that stand in columns and may be none: Flink's answers."""

from __future__ import annotations

from typing import Any

import pytest

from execnodes.core.expressions import Call, Expression
from tests.functions.evaluator import Columns, Evaluator, f

C = Columns(id="INT", s="STRING", p="STRING")
PATTERNS = ("(", "o+", "*", "[a", None, "", "(o", "o\\")
ROWS = [{"id": at, "s": "foobar", "p": p} for at, p in enumerate(PATTERNS, 1)]
ROWS += [{"id": 9, "s": None, "p": "("}, {"id": -1, "s": "foobar", "p": "(o)"}]

ANSWERS: dict[str, tuple[Expression, list[Any]]] = {
    "$REGEXP$3": (
        f("REGEXP", C.s, C.p),
        [False, True, False, False, None, False, False, False, None, True],
    ),
    "$REGEXP_REPLACE$3": (
        f("REGEXP_REPLACE", C.s, C.p, "X"),
        [None, "fXbar", None, None, None, "XfXoXoXbXaXrX", None, None, None, "fXXbar"],
    ),
    "$REGEXP_EXTRACT$3": (
        f("REGEXP_EXTRACT", C.s, C.p),
        [None, "oo", None, None, None, "", None, None, None, "o"],
    ),
    "$REGEXP_EXTRACT_ALL$3": (
        f("REGEXP_EXTRACT_ALL", C.s, C.p, 0),
        [None, ["oo"], None, None, None, [""] * 7, None, None, None, ["o", "o"]],
    ),
    "$REGEXP_COUNT$3": (f("REGEXP_COUNT", C.s, C.p), [None, 1, None, None, None, 7, None, None, None, 2]),
    "$REGEXP_INSTR$3": (f("REGEXP_INSTR", C.s, C.p), [None, 2, None, None, None, 1, None, None, None, 2]),
    "$REGEXP_SUBSTR$3": (
        f("REGEXP_SUBSTR", C.s, C.p),
        [None, "oo", None, None, None, "", None, None, None, "o"],
    ),
}
GROUPS: list[tuple[Expression, list[Any]]] = [
    (f("REGEXP_EXTRACT", C.s, "(o+)", C.id), ["oo", *[None] * 9]),
    (f("REGEXP_EXTRACT_ALL", C.s, "(o)", C.id), [["o", "o"], *[None] * 9]),
]


@pytest.mark.spark
def test_patterns_that_are_none_and_groups_that_are_missing(evaluate: Evaluator) -> None:
    asked = [*ANSWERS.values(), *GROUPS]
    found = evaluate([each for each, _ in asked], ROWS, C)
    assert [list(each) for each in zip(*found, strict=True)] == [answers for _, answers in asked]


@pytest.mark.spark
def test_what_fails_in_the_expression_of_a_pattern_fails_the_job(evaluate: Evaluator) -> None:
    broken = f("CONCAT", "a", f("CAST", f("/", C.id, f("-", C.id, C.id)), to="STRING"))
    with pytest.raises(Exception, match=r"(?i)division"):
        evaluate([f("REGEXP_COUNT", C.s, broken)], ROWS, C)


@pytest.mark.parametrize("name", ANSWERS)
def test_patterns_of_columns_are_of_version_3(name: str) -> None:
    call, _ = ANSWERS[name]
    assert isinstance(call, Call)
    assert call.internal_name == name


def test_constant_patterns_stay_what_they_were() -> None:
    """Plans and states of others go on."""
    calls = [f("REGEXP_COUNT", C.s, "a"), f("REGEXP_COUNT", C.s, "("), f("REGEXP_EXTRACT", C.s, "(a)", 1)]
    names = [each.internal_name for each in calls if isinstance(each, Call)]
    assert names == ["$REGEXP_COUNT$1", "$REGEXP_COUNT$2", "$REGEXP_EXTRACT$1"]
