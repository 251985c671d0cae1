"""Lowers joins with the versions of a table."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Expression, digest
from execnodes.core.node import ExecNode, StateMetadata
from planner.algebra import Join
from planner.algebra.columns import uniquely_named
from planner.algebra.predicates import conjunction, conjuncts
from planner.algebra.versions import find_versions
from planner.lower.context import NEW, Context
from planner.lower.describe import described, listed, names_of
from planner.lower.join_parts import TITLES, both_sides, join_spec, keep_event_times


def lower_temporal_join(
    node: Join,
    as_of: tuple[int, int],
    keys: Sequence[tuple[int, int, bool]],
    rest: Sequence[Expression],
    context: Context,
) -> ExecNode:
    """`keys` and `rest` as of `join_keys`."""
    from execnodes.stream.temporal_join import TemporalJoin

    versions = find_versions(node.right, as_of[1])
    assert versions is not None, "refused by reject_temporal_joins"
    spec = join_spec(node, keys, rest)
    left, right = context.lower(node.left, True), context.lower(versions.rows, False)
    where = conjunction(conjuncts(node.condition))
    output = uniquely_named(keep_event_times(node))
    return context.add(
        TemporalJoin(
            id=NEW,
            output_type=output,
            changelog_mode=left.changelog_mode,
            description=described(
                "TemporalJoin",
                ("joinType", f"[{TITLES[node.kind]}]"),
                ("where", f"[{'true' if where is None else digest(where, names_of(both_sides(left, right)))}]"),
                ("select", listed(names_of(output))),
            ),
            join_spec=spec,
            is_temporal_function_join=False,
            left_time_attribute_index=as_of[0],
            right_time_attribute_index=as_of[1],
            newest_rows_only=versions.keys is not None,
            state=(
                StateMetadata(index=0, name="leftState"),
                context.state("rightState", node.ttl[1], index=1),
                *([] if left.changelog_mode.insert_only else [context.state("givenState", node.ttl[0], index=2)]),
            ),
        ).put(node.place),
        [context.exchange(left, spec.left_keys), context.exchange(right, spec.right_keys)],
    )
