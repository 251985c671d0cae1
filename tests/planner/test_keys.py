"""Upsert keys of each operator."""

from __future__ import annotations

import pytest

from execnodes.core.expressions import Expression, InputRef
from execnodes.core.types import BIGINT, INT, STRING
from planner.algebra import JoinType, Logical, SetKind, SetOperation
from planner.algebra.join import join_keys
from planner.algebra.keys import smallest
from planner.algebra.project import injective_source
from planner.optimize import optimize
from tests.planner.hand_built import (
    aggregate,
    call,
    count,
    join,
    lit,
    numbered,
    project,
    ref,
    scan,
    sink,
    table,
    total,
    watermarked,
    where,
    windows,
)

T = scan()
K = scan("k", table(key=("k",)))
KV = scan("kv", table(key=("k", "v")))
W = watermarked()


def at(index: int, type: object = INT) -> InputRef:
    return InputRef.model_validate({"input_index": index, "type": type})


def on(left: int, right: int, type: object = STRING) -> Expression:
    return call("=", at(left, type), at(4 + right, type))


def last(node: Logical) -> Logical:
    over = numbered(node, 3, ascending=False)
    return where(over, call("=", ref(over, 4), lit(1, BIGINT)))


def keys(node: Logical) -> list[list[int]]:
    return sorted(sorted(each) for each in node.upsert_keys)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (T, []),
        (K, [[0]]),
        (KV, [[0, 1]]),
        (where(K, call(">", at(1), lit(3))), [[0]]),
        (project(K, ref(K, 1), ref(K, 0)), [[1]]),
        (project(K, ref(K, 1)), []),
        (project(K, ref(K, 0), ref(K, 0)), [[0], [1]]),
        (project(KV, ref(KV, 0), call("CAST", ref(KV, 1), type=BIGINT)), [[0, 1]]),
        (project(KV, ref(KV, 0), call("CAST", ref(KV, 1), type=STRING)), []),
        (aggregate(T, (0, 2), total(1)), [[0, 1]]),
        (aggregate(T, (), total(1)), [[]]),
        (aggregate(T, (0,)), [[0]]),
        (SetOperation(SetKind.UNION, (K, K), True, K.type), []),
        (windows(W), []),
        (join(K, T, JoinType.INNER, on(0, 0)), []),
        (join(K, K, JoinType.INNER, on(0, 0)), [[0], [4]]),
        (join(K, K, JoinType.LEFT, on(0, 0)), [[0]]),
        (join(K, K, JoinType.RIGHT, on(0, 0)), [[4]]),
        (join(K, K, JoinType.FULL, on(0, 0)), [[0, 4]]),
        (join(K, K, JoinType.SEMI, on(0, 0)), [[0]]),
        (join(K, K, JoinType.ANTI, on(0, 0)), [[0]]),
        (join(K, K, JoinType.INNER, on(1, 1, INT)), []),
        (join(KV, K, JoinType.LEFT, on(0, 0)), [[0, 1]]),
        (join(KV, KV, JoinType.INNER, on(0, 0)), [[0, 1, 4, 5]]),
    ],
)
def test_upsert_keys(node: Logical, expected: list[list[int]]) -> None:
    assert keys(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (last(W), [[0]]),
        (aggregate(windows(W), (4, 5, 0), count()), [[0, 2], [1, 2]]),
        (aggregate(T, (0, 2), total(1), grouping_sets=((0,), (2,))), []),
    ],
)
def test_upsert_keys_of_optimized_plans(node: Logical, expected: list[list[int]]) -> None:
    assert keys(optimize([sink(node)])[0].input) == expected


def test_the_smallest_key_has_fewest_columns_and_is_leftmost() -> None:
    assert smallest([frozenset({0, 1}), frozenset({3}), frozenset({2})]) == (2,)
    assert smallest([]) is None
    assert smallest([frozenset()]) == ()


@pytest.mark.parametrize(
    ("expression", "source"),
    [
        (at(2), 2),
        (call("CAST", at(2), type=BIGINT), 2),
        (call("CAST", at(2, BIGINT), type=INT), None),
        (call("CAST", at(2), type=INT.not_null()), 2),
        (call("+", at(2), lit(1), type=INT), None),
        (lit(1), None),
    ],
)
def test_what_passes_a_key_on(expression: Expression, source: int | None) -> None:
    assert injective_source(expression) == source


def test_join_conditions_split_into_keys_and_the_rest() -> None:
    unequal = call("<", at(1), at(5))
    null_safe = call("IS NOT DISTINCT FROM", at(6), at(2))
    other_type = call("=", at(1), at(4, STRING))
    condition = call("AND", on(0, 0), on(0, 0), call("AND", null_safe, unequal), other_type)
    pairs, rest = join_keys(join(T, T, JoinType.INNER, condition))
    assert pairs == ((0, 0, True), (2, 2, False))
    assert rest == (unequal, other_type)
