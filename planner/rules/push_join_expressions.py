"""Equalities of expressions in a join become equalities of columns, so that rows can be found by key."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Expression, InputRef, Literal, input_indexes, remap, transform
from execnodes.core.types import Field, row
from execnodes.functions import is_deterministic
from planner.algebra import Join, JoinType, Logical, Project
from planner.algebra.columns import references
from planner.algebra.join import joined_type
from planner.algebra.predicates import conjuncts, is_call
from planner.algebra.tree import Sinks, rewrite


def push_join_expressions(sinks: Sinks) -> Sinks:
    """Compute the sides of equalities below the join; a projection above restores the columns."""
    return rewrite(sinks, _push)


def _push(node: Logical) -> Logical:
    if not isinstance(node, Join):
        return node
    width = len(node.left.type.fields)
    sides = (side for each in conjuncts(node.condition) for side in _sides(each, width))
    return compute_below(node, [side for side in sides if not isinstance(side, InputRef)])


def compute_below(node: Join, parts: list[Expression]) -> Logical:
    """The join with these parts of its condition, each of one side, computed as columns below it."""
    if not parts:
        return node
    width, at_right = len(node.left.type.fields), len(node.right.type.fields)
    unique = [each for at, each in enumerate(parts) if each not in parts[:at]]
    left = [each for each in unique if max(input_indexes(each)) < width]
    right = [each for each in unique if each not in left]
    new_width = width + len(left)

    def moved(each: Expression) -> Expression | None:
        if each in left:
            return InputRef(input_index=width + left.index(each), type=each.type)
        if each in right:
            return InputRef(input_index=new_width + at_right + right.index(each), type=each.type)
        if isinstance(each, InputRef) and each.input_index >= width:
            return each.model_copy(update={"input_index": each.input_index + len(left)})
        return None

    lefts = _extend(node.left, left)
    rights = _extend(node.right, [remap(each, lambda index: index - width) for each in right])
    semi = node.kind in (JoinType.SEMI, JoinType.ANTI)
    fields = node.type.fields
    # What is computed of a side that is padded may be NULL above the join.
    added = joined_type(lefts.type, rights.type, node.kind).fields
    behind = () if semi else (*fields[width:], *added[new_width + at_right :])
    type = row(*fields[:width], *added[width:new_width], *behind)
    condition = transform(node.condition, moved)
    joined = replace(node, left=lefts, right=rights, condition=condition, type=type)
    kept = range(width) if semi else (*range(width), *range(new_width, new_width + at_right))
    return Project(joined, references(type, kept), node.type)


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
