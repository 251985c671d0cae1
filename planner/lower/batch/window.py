"""Lowers window table functions; what groups by their columns is an ordinary aggregate."""

from __future__ import annotations

from execnodes.core.node import ExecNode
from execnodes.core.windowing import Windowing
from planner.algebra import WindowTableFunction
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.describe import described, names_of
from planner.lower.window import window_spec


@lower_batch_node.register
def _(node: WindowTableFunction, context: BatchContext) -> ExecNode:
    from execnodes.batch.window_table_function import BatchWindowTableFunction

    below = context.lower_batch(node.input)
    column = node.input.type.fields[node.time_index]
    windowing = Windowing(
        strategy="TimeAttribute",
        window=window_spec(node.window),
        time_attribute_type=column.type.regular(),
        time_attribute_index=node.time_index,
    )
    name = names_of(below.output_type)[node.time_index]
    shown = f"[{windowing.window.kind}(time_col=[{name}], {windowing.window})]"
    description = described("WindowTableFunction", ("window", shown))
    return context.add(
        BatchWindowTableFunction(
            id=NEW,
            output_type=node.type,
            description=description,
            windowing=windowing,
        ).put(node.place),
        [below],
    )
