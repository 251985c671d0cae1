"""UNION becomes UNION ALL and DISTINCT; INTERSECT and EXCEPT become a null-safe semi or anti join and DISTINCT.

INTERSECT ALL and EXCEPT ALL number equal rows on both sides and compare the numbers, too.
"""

from __future__ import annotations

from functools import reduce

from execnodes.core.errors import Position
from execnodes.core.expressions import Call, InputRef, Literal
from execnodes.core.types import BIGINT, BOOLEAN, Field, LogicalType, row
from planner.algebra import (
    Aggregate,
    Join,
    JoinType,
    Logical,
    Over,
    OverCall,
    Project,
    SetKind,
    SetOperation,
    SortKey,
)
from planner.algebra.columns import references
from planner.algebra.predicates import TRUE, conjunction
from planner.algebra.tree import Sinks, rewrite


def expand_set_operations(sinks: Sinks) -> Sinks:
    """Leave only flat UNION ALLs."""
    return rewrite(sinks, _expand)


def _expand(node: Logical) -> Logical:
    if not isinstance(node, SetOperation):
        return node
    if node.kind is SetKind.UNION:
        flat = SetOperation(SetKind.UNION, tuple(_members(node)), True, node.type)
        return flat if node.all else _distinct(flat, node.type)
    kind = JoinType.SEMI if node.kind is SetKind.INTERSECT else JoinType.ANTI

    def combined(left: Logical, right: Logical) -> Logical:
        if not node.all:
            return _distinct(_match(left, right, kind), node.type)
        matched = _match(_numbered(left, node.position), _numbered(right, node.position), kind)
        return Project(matched, references(node.type), node.type)

    return reduce(combined, node.inputs[1:], node.inputs[0])


def _members(node: SetOperation) -> list[Logical]:
    members: list[Logical] = []
    for each in node.inputs:
        nested = isinstance(each, SetOperation) and each.kind is SetKind.UNION and each.all
        members += each.inputs if isinstance(each, SetOperation) and nested else [each]
    return members


def _distinct(node: Logical, type: LogicalType) -> Aggregate:
    return Aggregate(node, tuple(range(len(type.fields))), (), type)


def _numbered(node: Logical, position: Position | None) -> Over:
    """The rows with a number among those that equal them, in order of arrival."""
    fields, number = node.type.fields, BIGINT.not_null()
    constant = Literal(value=0, type=number)
    ordered = Project(node, (*references(node.type), constant), row(*fields, Field("$order", number)))
    calls = (OverCall("ROW_NUMBER", "$ROW_NUMBER$1", (), number),)
    numbered = row(*ordered.type.fields, Field("$number", number))
    return Over(ordered, tuple(range(len(fields))), (SortKey(len(fields)),), calls, numbered, True, position=position)


def _match(left: Logical, right: Logical, kind: JoinType) -> Join:
    width = len(left.type.fields)
    equalities = []
    for index, (mine, its) in enumerate(zip(left.type.fields, right.type.fields, strict=True)):
        sides = (InputRef(input_index=index, type=mine.type), InputRef(input_index=width + index, type=its.type))
        equalities.append(Call(internal_name="$IS NOT DISTINCT FROM$1", operands=sides, type=BOOLEAN.not_null()))
    return Join(left, right, kind, conjunction(equalities) or TRUE, left.type)
