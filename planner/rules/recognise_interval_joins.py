"""A join whose condition bounds the time between its rows is an interval join, which no node can run yet."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, InputRef, walk
from execnodes.core.types import TimeKind
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical, Project
from planner.algebra.predicates import MIRRORED, conjuncts, function_name
from planner.algebra.tree import Sinks, rewrite


@dataclass(frozen=True)
class _Bound:
    """A comparison of a time attribute of the left input with one of the right."""

    sign: str
    """With the left one first."""
    by_processing_time: bool


def recognise_interval_joins(sinks: Sinks) -> Sinks:
    """SqlError for each: as a regular join it would keep all rows for ever, and give other rows where rows are late."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    """As Flink tells one: an equality of two time attributes, or a lower and an upper bound of one by the other."""
    if not isinstance(node, Join) or node.kind in (JoinType.SEMI, JoinType.ANTI) or node.is_window_join:
        return node
    calls = (each for each in conjuncts(node.condition) if isinstance(each, Call))
    bounds = [bound for each in calls if (bound := _find_bound(each, node)) is not None]
    if sorted(each.sign[0] for each in bounds) not in (["<", ">"], ["="]):
        return node
    kinds = {each.by_processing_time for each in bounds}
    if len(kinds) > 1:
        raise SqlError(
            "an interval join cannot have one bound in processing time and the other in event time",
            position=node.position,
            hint="Bound the time between the rows by columns of one kind.",
        )
    raise SqlError(
        "an interval join (a range between the time attributes of both sides) is not supported yet",
        position=node.position,
        hint="CAST one time attribute to TIMESTAMP(3) in a subquery, (SELECT *, CAST(… AS TIMESTAMP(3)) AS t FROM …), "
        "and join by that column: a regular join keeps all rows, or those within 'table.exec.state.ttl'.",
    )


def _find_bound(condition: Call, node: Join) -> _Bound | None:
    """What a comparison of two expressions with one time attribute each, of the same kind and different sides, says."""
    sign = function_name(condition)
    if sign not in MIRRORED:
        return None
    width = len(node.left.type.fields)
    sides = [_time_attributes(each, node) for each in condition.operands]
    if any(len(each) != 1 for each in sides):
        return None
    (first, by_processing_time), (second, also) = sides[0][0], sides[1][0]
    if by_processing_time is not also or (first < width) is (second < width):
        return None
    return _Bound(sign if first < width else MIRRORED[sign], by_processing_time)


def _time_attributes(expression: Expression, node: Join) -> list[tuple[int, bool]]:
    """Columns that are time attributes, and whether they are processing times."""
    width = len(node.left.type.fields)
    found = []
    for each in walk(expression):
        if isinstance(each, InputRef):
            side: Logical = node.left if each.input_index < width else node.right
            at = each.input_index - (0 if each.input_index < width else width)
            if at in side.event_times:
                found.append((each.input_index, False))
            elif _is_processing_time(side, at):
                found.append((each.input_index, True))
    return found


def _is_processing_time(node: Logical, column: int) -> bool:
    """The result of an aggregate function is no time attribute, though MAX has the type of its argument."""
    while isinstance(node, Project | Filter):
        if isinstance(node, Project):
            expression = node.expressions[column]
            if not isinstance(expression, InputRef):
                break
            column = expression.input_index
        node = node.input
    if isinstance(node, Aggregate) and column >= len(node.grouping):
        return False
    return node.type.fields[column].type.kind is TimeKind.PROCTIME
