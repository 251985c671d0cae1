"""UNION becomes UNION ALL and DISTINCT; INTERSECT and EXCEPT become a null-safe semi or anti join and DISTINCT."""

from __future__ import annotations

from functools import reduce

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, InputRef
from execnodes.core.types import BOOLEAN, LogicalType
from planner.algebra import Aggregate, Join, JoinType, Logical, SetKind, SetOperation
from planner.algebra.predicates import TRUE, conjunction
from planner.algebra.tree import Sinks, rewrite


def expand_set_operations(sinks: Sinks) -> Sinks:
    """Leave only flat UNION ALLs; SqlError for INTERSECT ALL and EXCEPT ALL."""
    return rewrite(sinks, _expand)


def _expand(node: Logical) -> Logical:
    if not isinstance(node, SetOperation):
        return node
    if node.kind is SetKind.UNION:
        flat = SetOperation(SetKind.UNION, tuple(_members(node)), True, node.type)
        return flat if node.all else _distinct(flat, node.type)
    if node.all:
        hint = f"Write {node.kind}, which removes duplicates."
        raise SqlError(f"{node.kind} ALL is not supported yet", position=node.position, hint=hint)
    kind = JoinType.SEMI if node.kind is SetKind.INTERSECT else JoinType.ANTI
    return reduce(lambda left, right: _distinct(_match(left, right, kind), node.type), node.inputs[1:], node.inputs[0])


def _members(node: SetOperation) -> list[Logical]:
    members: list[Logical] = []
    for each in node.inputs:
        nested = isinstance(each, SetOperation) and each.kind is SetKind.UNION and each.all
        members += each.inputs if isinstance(each, SetOperation) and nested else [each]
    return members


def _distinct(node: Logical, type: LogicalType) -> Aggregate:
    return Aggregate(node, tuple(range(len(type.fields))), (), type)


def _match(left: Logical, right: Logical, kind: JoinType) -> Join:
    width = len(left.type.fields)
    equalities = []
    for index, (mine, its) in enumerate(zip(left.type.fields, right.type.fields, strict=True)):
        sides = (InputRef(input_index=index, type=mine.type), InputRef(input_index=width + index, type=its.type))
        equalities.append(Call(internal_name="$IS NOT DISTINCT FROM$1", operands=sides, type=BOOLEAN.not_null()))
    return Join(left, right, kind, conjunction(equalities) or TRUE, left.type)
