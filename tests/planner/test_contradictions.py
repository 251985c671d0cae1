"""Conditions that no row meets: those that Flink 2.3 finds, and never one that some row meets."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BOOLEAN, INT
from planner.algebra.contradictions import never_true
from rekindle import TableEnvironment
from tests.planner.hand_built import at, call
from tests.planner.interpreter import value

DDL = """
CREATE TABLE t (a INT, s STRING, b BOOLEAN, d DECIMAL(10, 2), f DOUBLE, ts TIMESTAMP(3), dy DATE)
  WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')
"""
NEVER = (
    "FALSE",
    "CAST(NULL AS BOOLEAN)",
    "NOT TRUE",
    "1 = 2",
    "NOT 1 < 2",
    "a = CAST(NULL AS INT)",
    "NOT a <> CAST(NULL AS INT)",
    "a NOT IN (1, CAST(NULL AS INT))",
    "a > 5 AND a < 1",
    "5 < a AND 1 > a",
    "a >= 5 AND a < 5",
    "a BETWEEN 5 AND 1",
    "a = 1 AND a = 2",
    "a = 1 AND a <> 1",
    "a <> a",
    "a < a",
    "a + 1 > a + 1",
    "a IS NULL AND a > 3",
    "a IS NULL AND a IS NOT NULL",
    "a IN (1, 2) AND a = 3",
    "a IN (1, 2) AND a NOT IN (1, 2)",
    "a IN (1, 2) AND a > 2",
    "s = 'a' AND s = 'b'",
    "s > 'b' AND s < 'a'",
    "UPPER(s) = 'A' AND UPPER(s) = 'B'",
    "f > 2e0 AND f < 1e0",
    "dy > DATE '2024-01-02' AND dy < DATE '2024-01-01'",
    "ts = TIMESTAMP '2024-01-01 00:00:00' AND ts = TIMESTAMP '2024-01-01 00:00:00.001'",
    "(a = 1 AND a = 2) OR (a = 3 AND a = 4)",
    "(a < 1 OR a > 5) AND a = 3",
    "NOT (a > 1 OR a <= 1)",
    "b AND NOT b",
    "b AND b = FALSE",
    "a > 1 AND NOT (a > 1)",
    "s LIKE '%x' AND NOT s LIKE '%x'",
)
PERHAPS = (
    "TRUE",
    "a = a",
    "a IN (1, CAST(NULL AS INT))",
    # Of integers, too, there may be one between two.
    "a > 5 AND a < 6",
    "a > 5 AND CAST(a AS BIGINT) < 1",
    "a <= 5 AND a >= 5",
    "a IN (1, 2) AND a = 2",
    "a > 5 OR a < 1",
    "(a < 1 OR a > 5) AND a = 7",
    "s > 'a\U0001f600' AND s < 'a\ufffd'",
    # Each call gives another value.
    "RAND() > 2 AND RAND() < 1",
    "RAND() <> RAND()",
)


def is_one_row(condition: str) -> bool:
    """Whether the planner knows what an aggregate over the rows gives."""
    environment = TableEnvironment.create()
    environment.execute_sql(DDL)
    return "Values(tuples=[[{0}]])" in environment.explain_sql(f"SELECT COUNT(*) FROM t WHERE {condition}")


@pytest.mark.parametrize("condition", NEVER)
def test_what_no_row_meets(condition: str) -> None:
    assert is_one_row(condition)


@pytest.mark.parametrize("condition", PERHAPS)
def test_what_a_row_may_meet(condition: str) -> None:
    assert not is_one_row(condition)


def constants() -> st.SearchStrategy[Expression]:
    return st.sampled_from([Literal(value=each, type=INT) for each in (None, 0, 1, 2)])


def comparisons() -> st.SearchStrategy[Expression]:
    column = st.sampled_from([at(0), at(1)])
    names = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds(call, names, column, constants()),
        st.builds(call, names, constants(), column),
        st.builds(call, names, column, column),
        st.builds(call, names, constants(), constants()),
        st.builds(call, st.sampled_from(["IN", "NOT IN"]), column, constants(), constants()),
        st.builds(call, st.sampled_from(["IS NULL", "IS NOT NULL"]), column),
        st.sampled_from([at(2, BOOLEAN), *(Literal(value=each, type=BOOLEAN) for each in (None, False, True))]),
    )


def combined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(call, st.sampled_from(["AND", "OR"]), parts, parts),
        st.builds(call, st.just("AND"), parts, parts, parts),
        st.builds(call, st.just("NOT"), parts),
    )


@settings(max_examples=500)
@given(st.recursive(comparisons(), combined, max_leaves=8))
def test_no_row_meets_what_none_is_said_to_meet(condition: Call) -> None:
    numbers = (None, -1, 0, 1, 2, 3)
    met = any(value(condition, row) is True for row in product(numbers, numbers, (None, False, True)))
    assert not (met and never_true(condition))
