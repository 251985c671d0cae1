"""A join whose condition bounds the time between its rows is an interval join, which no node can run yet."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, InputRef, walk
from planner.algebra import Join, JoinType, Logical
from planner.algebra.predicates import conjuncts, function_name
from planner.algebra.tree import Sinks, rewrite

_COMPARISONS = frozenset({"=", "<", "<=", ">", ">="})


def recognise_interval_joins(sinks: Sinks) -> Sinks:
    """SqlError for each: as a regular join it would keep all rows for ever, and give other rows where rows are late."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    """As Flink tells one: an equality of two event times, or two comparisons that bound one by the other."""
    if not isinstance(node, Join) or node.kind in (JoinType.SEMI, JoinType.ANTI):
        return node
    timed = [each for each in conjuncts(node.condition) if isinstance(each, Call) and _timed(each, node)]
    operators = [function_name(each) for each in timed]
    if (len(operators) == 2 and "=" not in operators) or operators == ["="]:
        raise SqlError(
            "an interval join (a range between the time attributes of both sides) is not supported yet",
            position=node.position,
            hint="CAST one time attribute to TIMESTAMP(3): the join then keeps all rows, without a limit in time.",
        )
    return node


def _timed(condition: Call, node: Join) -> bool:
    """A comparison of two expressions with one event time each, of different sides."""
    if function_name(condition) not in _COMPARISONS:
        return False
    sides = [_event_times(each, node) for each in condition.operands]
    width = len(node.left.type.fields)
    return all(len(each) == 1 for each in sides) and (sides[0][0] < width) != (sides[1][0] < width)


def _event_times(expression: Expression, node: Join) -> list[int]:
    width = len(node.left.type.fields)
    found = []
    for each in walk(expression):
        if isinstance(each, InputRef):
            side: Logical = node.left if each.input_index < width else node.right
            if each.input_index - (0 if each.input_index < width else width) in side.event_times:
                found.append(each.input_index)
    return found
