"""Equalities of expressions in a join become equalities of columns, so that rows can be found by key."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Expression, InputRef, Literal, input_indexes, remap
from execnodes.core.types import Field, row
from planner.determinism import is_deterministic
from planner.logical import Join, JoinType, Logical, Project
from planner.tree import TRUE, Sinks, conjunction, conjuncts, is_call, pick, references, rewrite


def push_join_expressions(sinks: Sinks) -> Sinks:
    """Compute the sides of equalities below the join; a projection above restores the columns."""
    return rewrite(sinks, _push)


def _push(node: Logical) -> Logical:
    if not isinstance(node, Join):
        return node
    width = len(node.left.type.fields)
    left: list[Expression] = []
    right: list[Expression] = []
    parts = conjuncts(node.condition)
    for each in parts:
        for side in _sides(each, width):
            if not isinstance(side, InputRef):
                group = left if max(input_indexes(side)) < width else right
                if side not in group:
                    group.append(side)
    if not left and not right:
        return node
    new_width = width + len(left)
    at_right = len(node.right.type.fields)

    def moved(index: int) -> int:
        return index if index < width else index + len(left)

    def column(side: Expression) -> Expression:
        if side in left:
            return InputRef(input_index=width + left.index(side), type=side.type)
        if side in right:
            return InputRef(input_index=new_width + at_right + right.index(side), type=side.type)
        return remap(side, moved)

    condition: list[Expression] = []
    for each in parts:
        if isinstance(each, Call) and _sides(each, width):
            condition.append(each.model_copy(update={"operands": tuple(map(column, each.operands))}))
        else:
            condition.append(remap(each, moved))
    lefts, rights = _extend(node.left, left), _extend(node.right, [remap(each, lambda i: i - width) for each in right])
    semi = node.kind in (JoinType.SEMI, JoinType.ANTI)
    fields = list(node.type.fields)
    extra_left = lefts.type.fields[width:]
    extra_right = rights.type.fields[at_right:]
    joined_type = row(*fields[:width], *extra_left, *(() if semi else (*fields[width:], *extra_right)))
    joined = replace(node, left=lefts, right=rights, condition=conjunction(condition) or TRUE, type=joined_type)
    kept = range(width) if semi else (*range(width), *range(new_width, new_width + at_right))
    return Project(joined, references(joined_type, kept), pick(node.type, range(len(node.type.fields))))


def _sides(condition: Expression, width: int) -> tuple[Expression, ...]:
    """Both sides of an equality that has one side of left columns only and one of right columns only; else nothing."""
    if not isinstance(condition, Call) or not is_call(condition, "=", "IS NOT DISTINCT FROM"):
        return ()
    sides = condition.operands
    spans = [input_indexes(each) for each in sides]
    if any(isinstance(each, Literal) or not reads for each, reads in zip(sides, spans, strict=True)):
        return ()
    lefts = [max(reads) < width for reads in spans]
    rights = [min(reads) >= width for reads in spans]
    apart = (lefts[0] and rights[1]) or (rights[0] and lefts[1])
    return sides if apart and all(map(is_deterministic, sides)) else ()


def _extend(node: Logical, added: list[Expression]) -> Logical:
    if not added:
        return node
    names = {field.name for field in node.type.fields}
    fields = list(node.type.fields)
    for each in added:
        number = len(fields)
        while f"$f{number}" in names:
            number += 1
        names.add(f"$f{number}")
        fields.append(Field(f"$f{number}", each.type))
    return Project(node, (*references(node.type), *added), row(*fields))
