"""UNION, INTERSECT, EXCEPT."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef
from execnodes.core.types import LogicalType
from execnodes.functions import cast, common_type
from planner import syntax as s
from planner.algebra import Logical, SetKind, SetOperation
from planner.bind.builder import Builder, Expected
from planner.bind.missing_comma import guess_missing_comma
from planner.bind.source import project, refs, row_of


def build_set_operation(builder: Builder, node: s.SetOperation, expected: Expected) -> Logical:
    """The operation over inputs of one row type; a chain of UNION ALL becomes one node."""
    members = _members(node)
    inputs = [builder.body(each, None, expected) for each in members]
    first = inputs[0].type.fields
    for member, other in zip(members[1:], inputs[1:], strict=True):
        if more := len(other.type.fields) - len(first):
            raise SqlError(
                f"the inputs of {node.kind} have {len(first)} and {len(other.type.fields)} columns",
                position=node.position,
                hint=guess_missing_comma(builder, members[0] if more > 0 else member, abs(more)),
            )
    types = [_column_type(node, i, [each.type.fields[i].type for each in inputs]) for i in range(len(first))]
    type_ = row_of([field.name for field in first], types)
    return SetOperation(SetKind(node.kind), tuple(_as(each, type_) for each in inputs), node.all, type_, node.position)


def _members(node: s.SetOperation) -> list[s.Body]:
    if node.kind != "EXCEPT" and isinstance(node.left, s.SetOperation):
        left = node.left
        if left.kind == node.kind and left.all == node.all:
            return [*_members(left), node.right]
    return [node.left, node.right]


def _column_type(node: s.SetOperation, index: int, types: list[LogicalType]) -> LogicalType:
    found = common_type(types)
    if found is None:
        shown = " and ".join(str(t) for t in types)
        raise SqlError(
            f"column {index + 1} of {node.kind} is {shown}, which have no common type",
            position=node.position,
            hint="CAST one of them.",
        )
    return found


def _as(plan: Logical, type_: LogicalType) -> Logical:
    """The plan with columns of these types; nullability is left to the plan."""
    pairs = list(zip(refs(plan.type), type_.fields, strict=True))
    if all(_fits(ref, field.type) for ref, field in pairs):
        return plan
    expressions = [ref if _fits(ref, field.type) else cast(ref, field.type, explicit=True) for ref, field in pairs]
    return project(plan, expressions, [field.name for field in type_.fields])


def _fits(ref: Expression, type_: LogicalType) -> bool:
    return isinstance(ref, InputRef) and ref.type.same_values(type_)
