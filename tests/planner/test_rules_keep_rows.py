"""Whatever the plan: after all rules it has the same types and gives the same rows."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.expressions import Expression, InputRef
from execnodes.core.types import INT
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical, Project, SetKind, SetOperation
from planner.optimize import optimize
from tests.planner.hand_built import (
    aggregate,
    at,
    call,
    count,
    join,
    lit,
    project,
    ref,
    scan,
    sink,
    where,
)
from tests.planner.interpreter import run

T = scan()
U = scan("u")


def same(node: Logical, column: int) -> Expression:
    field = node.type.fields[column]
    return call("=", ref(node, column), at(column + len(node.type.fields), field.type))


def compare(node: Logical, column: int) -> Expression:
    """A condition on one column that is TRUE, FALSE or unknown."""
    integer = node.type.fields[column].type.with_nullable(True) == INT
    return call(">", ref(node, column), lit(1)) if integer else call("IS NOT NULL", ref(node, column))


def added(node: Logical, column: int) -> Expression:
    integer = node.type.fields[column].type.with_nullable(True) == INT
    return call("+", ref(node, column), lit(1), type=INT) if integer else ref(node, column)


def joined(kind: JoinType) -> Callable[[Logical, int], Logical]:
    def build(node: Logical, column: int) -> Logical:
        on = call("AND", same(node, column), compare(node, column // 2))
        return join(node, U, kind, same_as(node, column)) if column % 2 else join(node, node, kind, on)

    return build


def same_as(node: Logical, column: int) -> Expression:
    """The first INT column of the node equals one of U; or a condition on U alone."""
    width = len(node.type.fields)
    for index, field in enumerate(node.type.fields):
        if field.type == INT:
            return call("AND", call("=", added(node, index), at(width + 1)), call(">", at(width + 2), lit(column % 3)))
    return call(">", at(width + 1), lit(0))


BUILDERS: list[Callable[[Logical, int], Logical]] = [
    lambda node, c: where(node, compare(node, c)),
    lambda node, c: project(node, *(ref(node, (i + c) % len(node.type.fields)) for i in range(len(node.type.fields)))),
    lambda node, c: project(node, added(node, c), ref(node, 0)),
    lambda node, c: SetOperation(SetKind.UNION, (node, node), True, node.type),
    lambda node, c: SetOperation(SetKind.UNION, (node, node), False, node.type),
    lambda node, c: SetOperation(SetKind.INTERSECT, (node, where(node, compare(node, c))), False, node.type),
    lambda node, c: SetOperation(SetKind.EXCEPT, (node, where(node, compare(node, c))), False, node.type),
    lambda node, c: aggregate(node, (c,), count()),
    *map(joined, JoinType),
]
CELL = st.none() | st.integers(0, 3)
ROWS = st.lists(
    st.fixed_dictionaries({"k": st.sampled_from(["a", "b", None]), "v": CELL, "w": CELL, "ts": st.none()}), max_size=4
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(BUILDERS) - 1), st.integers(0, 30)), max_size=5), ROWS, ROWS)
def test_rules_keep_types_and_rows(
    steps: list[tuple[int, int]], t: list[dict[str, object]], u: list[dict[str, object]]
) -> None:
    node: Logical = T
    for builder, column in steps:
        if len(node.type.fields) < 13:
            node = BUILDERS[builder](node, column % len(node.type.fields))
    plan = optimize([sink(node)])[0].input
    assert [each.type for each in plan.type.fields] == [each.type for each in node.type.fields]
    assert optimize([sink(node)])[0].input == plan
    for each in walk(plan):
        check_references(each)
    tables = {"t": t, "u": u}
    assert run(plan, tables) == run(node, tables)


def walk(node: Logical) -> list[Logical]:
    return [node, *(each for below in node.inputs for each in walk(below))]


def check_references(node: Logical) -> None:
    """Columns exist and have the type that the reference says."""
    from execnodes.core.expressions import walk as walk_expression

    match node:
        case Project():
            expressions, fields = node.expressions, node.input.type.fields
        case Filter():
            expressions, fields = (node.condition,), node.input.type.fields
        case Join():
            expressions, fields = (node.condition,), (*node.left.type.fields, *node.right.type.fields)
        case _:
            return
    for expression in expressions:
        for each in walk_expression(expression):
            if isinstance(each, InputRef):
                assert fields[each.input_index].type.same_values(each.type)


def test_plans_without_columns_keep_one_to_count() -> None:
    counted = optimize([sink(aggregate(project(T, ref(T, 1)), (), count()))])[0].input
    assert isinstance(counted, Aggregate)
    assert len(counted.input.type.fields) == 1
