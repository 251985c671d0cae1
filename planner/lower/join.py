"""Lowers joins: those in time, of windows and of intervals, let rows go by the watermark; all others are regular."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, digest
from execnodes.core.node import ExecNode
from execnodes.core.predicates import supported
from planner.algebra import Join
from planner.algebra.columns import uniquely_named
from planner.algebra.join import join_keys
from planner.algebra.keys import Key
from planner.algebra.predicates import conjunction, conjuncts
from planner.lower.aggregate import regular
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, listed, names_of
from planner.lower.interval_join import lower_interval_join
from planner.lower.join_parts import TITLES, both_sides, join_spec
from planner.lower.temporal_join import lower_temporal_join
from planner.lower.window_join import lower_window_join


@lower_node.register
def _(node: Join, context: Context, update_before: bool) -> ExecNode:
    """Both inputs must carry -U: a row that is updated takes its former matches with it."""
    from execnodes.stream.join import Join as ExecJoin

    interval = node.interval
    pairs, rest = join_keys(node if interval is None else replace(node, condition=interval.rest_of(node.condition)))
    _refuse_heavy_condition(node, rest)
    if node.as_of is not None:
        return lower_temporal_join(node, node.as_of, pairs, rest, context)
    if interval is not None:
        return lower_interval_join(node, interval, pairs, rest, context)
    if node.joined_windows is not None and node.is_window_join:
        return lower_window_join(node, node.joined_windows, context)
    _refuse_window_join(node)
    spec = join_spec(node, pairs, rest)
    left = context.exchange(context.lower(node.left, True), spec.left_keys)
    right = context.exchange(context.lower(node.right, True), spec.right_keys)
    keys = [each.upsert_keys for each in (node.left, node.right)]
    names = names_of(both_sides(left, right))
    where = conjunction(conjuncts(node.condition))
    output = uniquely_named(regular(node.type))
    return context.add(
        ExecJoin(
            id=NEW,
            output_type=output,
            changelog_mode=node.mode(update_before or any(each.changelog_mode.retract for each in (left, right))),
            description=described(
                "Join",
                ("joinType", f"[{TITLES[node.kind]}]"),
                ("where", f"[{'true' if where is None else digest(where, names)}]"),
                ("select", listed(names_of(output))),
                ("leftInputSpec", f"[{_input_spec(keys[0], spec.left_keys)}]"),
                ("rightInputSpec", f"[{_input_spec(keys[1], spec.right_keys)}]"),
            ),
            join_spec=spec,
            left_upsert_keys=tuple(sorted(tuple(sorted(each)) for each in keys[0])),
            right_upsert_keys=tuple(sorted(tuple(sorted(each)) for each in keys[1])),
            state=(context.state("leftState", node.ttl[0]), context.state("rightState", node.ttl[1], index=1)),
        ),
        [left, right],
    )


def _input_spec(keys: frozenset[Key], join_columns: tuple[int, ...]) -> str:
    if any(key <= set(join_columns) for key in keys):
        return "JoinKeyContainsUniqueKey"
    return "HasUniqueKey" if keys else "NoUniqueKey"


def _refuse_window_join(node: Join) -> None:
    """INTERSECT and EXCEPT join rows of windows as they would any others where a window join cannot."""
    windows = node.joined_windows
    if windows is None or not windows.strict:
        return
    if not windows.by_event_time:
        raise SqlError(
            "a join of windows by processing time is not supported",
            position=node.position,
            hint="Make the windows by the column of a WATERMARK.",
        )
    raise SqlError(
        "a join of windows requires inputs that only add rows, and one of these updates them",
        position=node.position,
        hint="Join before the rows are updated, or aggregate the windows first.",
    )


def _refuse_heavy_condition(node: Join, rest: tuple[Expression, ...]) -> None:
    if not all(map(supported, rest)):
        raise SqlError(
            f"the condition of this {node.kind} join compares columns of both sides in a way that is not supported yet",
            position=node.position,
            hint="Write an inner join, or compare plain columns: compute what is needed in a subquery on each side.",
        )
