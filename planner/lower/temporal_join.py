"""Lowers joins with the versions of a table."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Expression, digest
from execnodes.core.node import ExecNode, StateMetadata
from planner.algebra import Join
from planner.algebra.columns import uniquely_named
from planner.algebra.join import find_key_pair
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
    """`keys` and `rest` as of `join_keys`.

    Versions are found by a key of theirs alone: an update that changes another column that is compared is the next
    version of that key, and no row says so under the former value of the column.
    """
    from execnodes.stream.temporal_join import TemporalJoin

    versions = find_versions(node.right, as_of[1])
    assert versions is not None, "refused by reject_temporal_joins"
    keys, compared = _divide(node, keys)
    spec = join_spec(node, keys, (*compared, *rest))
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


def _divide(node: Join, keys: Sequence[tuple[int, int, bool]]) -> tuple[list[tuple[int, int, bool]], list[Expression]]:
    """Return the equalities with a key of the versions, and all others as conditions."""
    asked = {right for _, right, _ in keys}
    key = min((each for each in node.right.upsert_keys if each and each <= asked), key=lambda each: sorted(each))
    found = [each for each in keys if each[1] in key]
    width = len(node.left.type.fields)
    pairs = ((each, find_key_pair(each, width)) for each in conjuncts(node.condition))
    return found, [each for each, pair in pairs if pair is not None and pair not in found]
