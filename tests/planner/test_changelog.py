"""Changelog modes: what each operator emits for a consumer with and without need of -U."""

from __future__ import annotations

import pytest

from execnodes.core.types import BIGINT, STRING
from planner.algebra import JoinType, Logical, SetKind, SetOperation
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
CDC = scan("cdc", table(key=("k",), format="debezium-json"))
UPSERT = scan("up", table(key=("k",), connector="upserts"))
W = watermarked()
COUNTED = aggregate(T, (0,), count())
KEY = call("=", ref(T, 0), call("CAST", lit("a", STRING), type=STRING))


def dedup(node: Logical, ascending: bool) -> Logical:
    over = numbered(node, 3, ascending)
    return where(over, call("=", ref(over, 4), lit(1, BIGINT)))


def self_join(node: Logical, kind: JoinType) -> Logical:
    width = len(node.type.fields)
    right = ref(node, 0).model_copy(update={"input_index": width})
    return join(node, node, kind, call("=", ref(node, 0), right))


@pytest.mark.parametrize(
    ("node", "mode"),
    [
        (T, "I"),
        (where(T, call(">", ref(T, 1), lit(1))), "I"),
        (CDC, "I,UB,UA,D"),
        (project(CDC, ref(CDC, 1)), "I,UB,UA,D"),
        (UPSERT, "I,UB,UA,D"),
        (COUNTED, "I,UB,UA"),
        (aggregate(T, (0,)), "I,UB,UA"),
        (aggregate(COUNTED, (), total(1)), "I,UB,UA,D"),
        (SetOperation(SetKind.UNION, (T, T), True, T.type), "I"),
        (SetOperation(SetKind.UNION, (T, CDC), True, T.type), "I,UB,UA,D"),
        (self_join(T, JoinType.INNER), "I"),
        (self_join(T, JoinType.SEMI), "I"),
        (self_join(COUNTED, JoinType.INNER), "I,UB,UA"),
        (self_join(T, JoinType.LEFT), "I,UB,UA,D"),
        (self_join(T, JoinType.ANTI), "I,UB,UA,D"),
        (dedup(W, True), "I"),
        (dedup(W, False), "I,UB,UA,D"),
        (aggregate(windows(W), (4, 5), count()), "I"),
        (aggregate(windows(W), (5,), count()), "I,UB,UA"),
    ],
)
def test_modes_with_update_before(node: Logical, mode: str) -> None:
    assert str(optimize([sink(node)])[0].input.mode(True)) == mode


@pytest.mark.parametrize(
    ("node", "can"),
    [
        (T, True),
        (CDC, True),
        (COUNTED, True),
        (project(COUNTED, ref(COUNTED, 1)), True),
        (where(COUNTED, call(">", ref(COUNTED, 1), lit(1))), False),
        (where(CDC, KEY), True),
        (where(CDC, call(">", ref(CDC, 1), lit(1))), False),
        (dedup(W, False), True),
        (self_join(T, JoinType.LEFT), True),
        (self_join(COUNTED, JoinType.INNER), False),
        (SetOperation(SetKind.UNION, (T, COUNTED), True, COUNTED.type), True),
    ],
)
def test_who_can_leave_out_update_before(node: Logical, can: bool) -> None:
    plan = optimize([sink(node)])[0].input
    assert plan.can_omit_update_before is can
    assert not plan.mode(False).retract
