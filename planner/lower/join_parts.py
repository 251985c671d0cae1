"""What the lowerings of joins of all kinds have in common."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Expression
from execnodes.core.join_spec import JoinSpec
from execnodes.core.node import ExecNode
from execnodes.core.types import Field, LogicalType, row
from planner.algebra import Join, JoinType
from planner.algebra.columns import uniquely_named
from planner.algebra.predicates import conjunction

TITLES = {
    JoinType.INNER: "InnerJoin",
    JoinType.LEFT: "LeftOuterJoin",
    JoinType.RIGHT: "RightOuterJoin",
    JoinType.FULL: "FullOuterJoin",
    JoinType.SEMI: "LeftSemiJoin",
    JoinType.ANTI: "LeftAntiJoin",
}


def join_spec(node: Join, keys: Sequence[tuple[int, int, bool]], rest: Sequence[Expression]) -> JoinSpec:
    """What a join of any kind asks of two rows; `keys` and `rest` as of `join_keys`."""
    return JoinSpec(
        join_type=node.kind.value,
        left_keys=tuple(left for left, _, _ in keys),
        right_keys=tuple(right for _, right, _ in keys),
        filter_nulls=tuple(strict for _, _, strict in keys),
        non_equi_condition=conjunction(rest),
    )


def both_sides(left: ExecNode, right: ExecNode) -> LogicalType:
    """Columns that a condition is over, each with a name of its own."""
    return uniquely_named(row(*left.output_type.fields, *right.output_type.fields))


def keep_event_times(node: Join) -> LogicalType:
    """All other times are plain values: those of processing were of the rows that came in."""
    fields = enumerate(node.type.fields)
    return row(*(each if at in node.event_times else Field(each.name, each.type.regular()) for at, each in fields))
