"""A join FOR SYSTEM_TIME AS OF processing time is a lookup join: each row asks the table for the rows of its keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from execnodes.connectors import lookup_problem
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, InputRef, input_indexes, substitute, user_calls
from execnodes.core.types import TEXTS
from execnodes.functions import is_deterministic
from planner.algebra import Filter, Join, JoinType, Logical, LookupJoin, Project, Scan, WatermarkAssigner
from planner.algebra.columns import references
from planner.algebra.predicates import conjunction, conjuncts, is_call
from planner.algebra.tree import Sinks, rewrite
from planner.lower.table_specs import table_name


@dataclass(frozen=True)
class _Versions:
    """The right side of such a join."""

    table: Scan
    conditions: tuple[Expression, ...]
    columns: tuple[Expression, ...]
    """What the join reads; as the conditions, over the table's columns."""


def recognise_lookup_joins(sinks: Sinks) -> Sinks:
    """SqlError where the right side is no table that can be looked up, or no key of it is asked for."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    if not isinstance(node, Join) or not node.looks_up:
        return node
    versions = _versions(node.right, node)
    problem = lookup_problem(versions.table.options)
    if problem is not None:
        connector = versions.table.options.get("connector", "")
        raise SqlError(
            f"rows of table {table_name(versions.table)} with connector '{connector}' cannot be looked up",
            position=node.position,
            hint=problem,
        )
    keys, rest = _divide(conjuncts(node.condition), len(node.left.type.fields), versions)
    if not keys:
        raise SqlError(
            f"the lookup join with {table_name(versions.table)} requires an equality condition on a column of it",
            position=node.position,
            hint="Compare a column of it with '=' to a value of the same type: ON l.key = r.key.",
        )
    varying = [each for each in (*rest, *versions.conditions, *versions.columns) if not _can_be_asked(each)]
    if varying:
        raise SqlError(
            "a condition or column of a lookup join calls a Python function, or one that differs at each call",
            position=node.position,
            hint="Call it on the result of the join, in a query around it.",
        )
    return LookupJoin(
        node.left,
        versions.table,
        tuple(keys.items()),
        conjunction(versions.conditions),
        versions.columns,
        conjunction(rest),
        node.kind is JoinType.LEFT,
        node.type,
        node.position,
    )


def _divide(
    conditions: Iterable[Expression], width: int, versions: _Versions
) -> tuple[dict[int, Expression], list[Expression]]:
    """Return the value that each key column is looked up by, and the conditions that found rows are held to.

    A column is looked up by one value; further equalities of it are such conditions. A constant is a key only of a
    column without another value: the filter of the table has its equality anyway.
    """
    keys, rest = dict[int, Expression](), list[Expression]()
    for each in conditions:
        column, value = _key(each, width, versions) or (None, None)
        if column is None or value is None or keys.setdefault(column, value) != value:
            rest.append(each)
    constants = dict(filter(None, map(_constant_key, versions.conditions)))
    return {**keys, **{column: value for column, value in constants.items() if column not in keys}}, rest


def _versions(right: Logical, node: Join) -> _Versions:
    """What is selected and computed of the one table on the right side, whose watermark nobody asks."""
    columns: tuple[Expression, ...] = references(right.type)
    conditions = list[Expression]()
    while not isinstance(right, Scan):
        match right:
            case Project(input=input, expressions=expressions):
                columns = tuple(substitute(each, expressions) for each in columns)
                conditions = [substitute(each, expressions) for each in conditions]
                right = input
            case Filter(input=input, condition=condition):
                conditions += conjuncts(condition)
                right = input
            case WatermarkAssigner(input=input):
                right = input
            case _:
                raise SqlError(
                    "FOR SYSTEM_TIME AS OF is supported for tables, and for views that only filter and project one",
                    position=node.position,
                    hint="Join the query without FOR SYSTEM_TIME AS OF, or keep its result in a table of its own.",
                )
    return _Versions(right, tuple(conditions), columns)


def _key(condition: Expression, width: int, versions: _Versions) -> tuple[int, Expression] | None:
    """A column of the table, and the value over the left side that it must be equal to."""
    if not isinstance(condition, Call) or not is_call(condition, "="):
        return None
    for value, column in (condition.operands, condition.operands[::-1]):
        if not isinstance(column, InputRef) or column.input_index < width:
            continue
        stored = versions.columns[column.input_index - width]
        reads = input_indexes(value)
        if isinstance(stored, InputRef) and reads and max(reads) < width and _alike(value, stored):
            return stored.input_index, value
    return None


def _constant_key(condition: Expression) -> tuple[int, Expression] | None:
    if not isinstance(condition, Call) or not is_call(condition, "="):
        return None
    for value, column in (condition.operands, condition.operands[::-1]):
        constant = not input_indexes(value) and _can_be_asked(value)
        if constant and isinstance(column, InputRef) and _alike(value, column):
            return column.input_index, value
    return None


def _alike(value: Expression, column: InputRef) -> bool:
    """Whether the table finds what is equal to the value: of one type, or texts of whatever length."""
    mine, its = (each.type.regular().with_nullable(True) for each in (value, column))
    return mine == its or {mine.root, its.root} <= set(TEXTS)


def _can_be_asked(expression: Expression) -> bool:
    return next(user_calls(expression), None) is None and is_deterministic(expression)
