"""What a join cannot evaluate inside its operator goes above an inner join, or is computed below the others."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Expression, InputRef, input_indexes, transform
from execnodes.core.predicates import supported
from execnodes.functions import is_deterministic
from planner.algebra import Filter, Join, JoinType, Logical
from planner.algebra.predicates import TRUE, conjunction, conjuncts
from planner.algebra.tree import Sinks, rewrite
from planner.rules.push_join_expressions import compute_below


def split_join_conditions(sinks: Sinks) -> Sinks:
    """Leave only such conditions in joins as `execnodes.core.predicates` supports, where that is possible."""
    return rewrite(sinks, _split)


def _split(node: Logical) -> Logical:
    if not isinstance(node, Join):
        return node
    parts = conjuncts(node.condition)
    bounds = node.interval.conditions if node.interval is not None else ()
    light = [each for each in parts if each in bounds or supported(each)]
    heavy = [each for each in parts if each not in light]
    if not heavy:
        return node
    if node.kind is JoinType.INNER:
        return Filter(replace(node, condition=conjunction(light) or TRUE), conjunction(heavy) or TRUE)
    return compute_below(node, [side for each in heavy for side in _one_sided(each, len(node.left.type.fields))])


def _one_sided(condition: Expression, width: int) -> list[Expression]:
    """The largest parts that read columns of one side only, and are more than a column."""
    found: list[Expression] = []

    def visit(each: Expression) -> Expression | None:
        reads = input_indexes(each)
        if not reads or isinstance(each, InputRef):
            return each
        if (max(reads) < width or min(reads) >= width) and is_deterministic(each):
            found.append(each)
            return each
        return None

    transform(condition, visit)
    return found
