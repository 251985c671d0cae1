"""Lowers joins: by keys where the condition has equalities, else pair by pair."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, digest, input_indexes, title, user_calls
from execnodes.core.node import ExecNode
from execnodes.core.types import row
from planner.algebra import Join
from planner.algebra.columns import uniquely_named
from planner.algebra.join import join_keys
from planner.algebra.predicates import conjunction, conjuncts
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.describe import described, listed, names_of
from planner.lower.join_parts import TITLES, join_spec


@lower_batch_node.register
def _(node: Join, context: BatchContext) -> ExecNode:
    from execnodes.batch.hash_join import BatchHashJoin
    from execnodes.batch.nested_loop_join import BatchNestedLoopJoin

    if node.as_of is not None:
        raise SqlError(
            "a temporal join by event time is not supported in batch mode",
            position=node.position,
            hint="Run it as a stream ('execution.runtime-mode' = 'streaming'): it ends with its input.",
        )
    pairs, rest = join_keys(node)
    left, right = context.lower_batch(node.left), context.lower_batch(node.right)
    names = names_of(uniquely_named(row(*left.output_type.fields, *right.output_type.fields)))
    condition = conjunction(conjuncts(node.condition))
    _refuse_python(node, condition, len(left.output_type.fields))
    shown = (
        ("joinType", f"[{TITLES[node.kind]}]"),
        ("where", f"[{'true' if condition is None else digest(condition, names)}]"),
        ("select", listed(names_of(uniquely_named(node.type)))),
    )
    if not pairs:
        return context.add(
            BatchNestedLoopJoin(
                id=NEW,
                output_type=node.type,
                description=described("NestedLoopJoin", *shown),
                join_type=node.kind.value,
                condition=condition,
                single_row_join=any(frozenset() in each.upsert_keys for each in (node.left, node.right)),
            ),
            [left, right],
        )
    spec = join_spec(node, pairs, rest)
    return context.add(
        BatchHashJoin(
            id=NEW,
            output_type=node.type,
            description=described("HashJoin", *shown),
            join_spec=spec,
        ),
        [
            context.exchange(left, spec.left_keys, node.position),
            context.exchange(right, spec.right_keys, node.position),
        ],
    )


def _refuse_python(node: Join, condition: Expression | None, width: int) -> None:
    """Spark calls Python functions of both sides' columns only behind an inner join."""
    if node.kind == "INNER" or condition is None:
        return
    for each in user_calls(condition):
        reads = input_indexes(each)
        if reads and min(reads) < width <= max(reads):
            raise SqlError(
                f"the condition of this {node.kind} join calls {title(each)} with columns of both sides",
                position=node.position,
                hint="Write an inner join, or call the function with columns of one side and compare the results.",
            )
