"""Lowers joins of rows whose event times are not too far apart."""

from __future__ import annotations

from execnodes.core.expressions import Expression, digest
from execnodes.core.interval_join_spec import IntervalJoinSpec, WindowBounds
from execnodes.core.node import ExecNode, StateMetadata
from planner.algebra import Join
from planner.algebra.columns import uniquely_named
from planner.algebra.intervals import Interval
from planner.algebra.predicates import conjunction, conjuncts
from planner.lower.context import NEW, Context
from planner.lower.describe import described, listed, names_of
from planner.lower.join_parts import TITLES, both_sides, join_spec, keep_event_times


def lower_interval_join(
    node: Join,
    interval: Interval,
    keys: tuple[tuple[int, int, bool], ...],
    rest: tuple[Expression, ...],
    context: Context,
) -> ExecNode:
    """`keys` and `rest` as of `join_keys`, without the conditions of the interval."""
    from execnodes.stream.interval_join import IntervalJoin

    spec = join_spec(node, keys, rest)
    left, right = context.lower(node.left, True), context.lower(node.right, True)
    bounds = WindowBounds(
        is_event_time=True,
        left_lower_bound=interval.lower,
        left_upper_bound=interval.upper,
        left_time_index=interval.left,
        right_time_index=interval.right,
    )
    where = conjunction(conjuncts(node.condition))
    output = uniquely_named(keep_event_times(node))
    return context.add(
        IntervalJoin(
            id=NEW,
            output_type=output,
            description=described(
                "IntervalJoin",
                ("joinType", f"[{TITLES[node.kind]}]"),
                ("windowBounds", _show(bounds)),
                ("where", f"[{'true' if where is None else digest(where, names_of(both_sides(left, right)))}]"),
                ("select", listed(names_of(output))),
            ),
            interval_join_spec=IntervalJoinSpec(join_spec=spec, window_bounds=bounds),
            state=tuple(StateMetadata(index=at, name=name) for at, name in enumerate(("leftState", "rightState"))),
        ),
        [context.exchange(left, spec.left_keys), context.exchange(right, spec.right_keys)],
    )


def _show(bounds: WindowBounds) -> str:
    """As Flink shows them; its event times are row times."""
    properties = bounds.model_dump(by_alias=True, exclude={"is_event_time"})
    return listed(["isRowTime=true", *(f"{name}={value}" for name, value in properties.items())])
