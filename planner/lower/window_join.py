"""Lowers joins of windows."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import digest
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.windowing import Windowing
from planner.algebra import Join, Logical
from planner.algebra.columns import uniquely_named
from planner.algebra.join import JoinedWindows, find_key_pair, join_keys
from planner.algebra.predicates import conjunction, conjuncts
from planner.lower.context import NEW, Context
from planner.lower.describe import described, listed, names_of
from planner.lower.join_parts import TITLES, both_sides, join_spec, keep_event_times
from planner.lower.window import shown_window, window_spec


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
        ).put(node.place),
        [context.exchange(left, spec.left_keys), context.exchange(right, spec.right_keys)],
    )


def _attached(node: Logical, bounds: tuple[int, int]) -> Windowing:
    about = node.window_columns[bounds[1]]
    return Windowing(
        strategy="WindowAttached",
        window=window_spec(replace(about.window, partition=())),
        time_attribute_type=about.time_type,
        window_start=bounds[0],
        window_end=bounds[1],
    )
