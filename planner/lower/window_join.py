"""Lowers joins of windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Expression, digest
from execnodes.core.join_spec import JoinSpec
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.types import Field, LogicalType, row
from execnodes.core.windowing import Windowing
from planner.algebra import Join, JoinType, Logical
from planner.algebra.columns import uniquely_named
from planner.algebra.join import JoinedWindows, find_key_pair, join_keys
from planner.algebra.predicates import conjunction, conjuncts
from planner.lower.context import NEW, Context
from planner.lower.describe import described, listed, names_of
from planner.lower.window import shown_window, window_spec

TITLES = {
    JoinType.INNER: "InnerJoin",
    JoinType.LEFT: "LeftOuterJoin",
    JoinType.RIGHT: "RightOuterJoin",
    JoinType.FULL: "FullOuterJoin",
    JoinType.SEMI: "LeftSemiJoin",
    JoinType.ANTI: "LeftAntiJoin",
}


def lower_window_join(node: Join, windows: JoinedWindows, context: Context) -> ExecNode:
    """Rows of a window and key meet when the watermark has passed the window."""
    from execnodes.stream.window_join import WindowJoin

    pairs, rest = join_keys(node)
    bounds = {(*each, strict) for each in zip(windows.left, windows.right, strict=True) for strict in (True, False)}
    keys = [each for each in pairs if each not in bounds]
    spec = join_spec(node, keys, rest)
    left, right = context.lower(node.left, True), context.lower(node.right, True)
    windowings = _attached(node.left, windows.left), _attached(node.right, windows.right)
    width = len(node.left.type.fields)
    where = conjunction([each for each in conjuncts(node.condition) if find_key_pair(each, width) not in bounds])
    output = uniquely_named(keep_event_times(node))
    return context.add(
        WindowJoin(
            id=NEW,
            output_type=output,
            description=described(
                "WindowJoin",
                ("leftWindow", f"[{shown_window(windowings[0], left)}]"),
                ("rightWindow", f"[{shown_window(windowings[1], right)}]"),
                ("joinType", f"[{TITLES[node.kind]}]"),
                ("where", f"[{'true' if where is None else digest(where, names_of(both_sides(left, right)))}]"),
                ("select", listed(names_of(output))),
            ),
            join_spec=spec,
            left_windowing=windowings[0],
            right_windowing=windowings[1],
            state=tuple(StateMetadata(index=at, name=name) for at, name in enumerate(("leftState", "rightState"))),
        ),
        [context.exchange(left, spec.left_keys), context.exchange(right, spec.right_keys)],
    )


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


def _attached(node: Logical, bounds: tuple[int, int]) -> Windowing:
    about = node.window_columns[bounds[1]]
    return Windowing(
        strategy="WindowAttached",
        window=window_spec(replace(about.window, partition=())),
        time_attribute_type=about.time_type,
        window_start=bounds[0],
        window_end=bounds[1],
    )
