"""Lowers sinks: in batch mode they only get inserts."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from planner.algebra import Sink
from planner.lower.batch.context import BatchContext
from planner.lower.context import NEW
from planner.lower.describe import described, listed, names_of
from planner.lower.sink import sink_place, sink_type
from planner.lower.table_specs import reference, table_name


def lower_sink(node: Sink, context: BatchContext) -> ExecNode:
    """The sink and all it needs."""
    from execnodes.batch.sink import BatchSink, DynamicTableSink

    if node.on_conflict is not None:
        raise SqlError(
            f"ON CONFLICT DO {node.on_conflict} has no meaning here: in batch mode a query only inserts rows",
            position=node.position,
            hint="Leave out ON CONFLICT.",
        )
    below = context.lower_batch(node.input)
    output = sink_type(node)
    return context.add(
        BatchSink(
            id=NEW,
            output_type=output,
            description=described(
                "Sink",
                ("table", f"[{table_name(node)}]"),
                ("fields", listed(names_of(output))),
                ("overwrite", "[true]" if node.overwrite else None),
            ),
            dynamic_table_sink=DynamicTableSink(table=reference(node), target_columns=node.target_columns),
            overwrite=node.overwrite,
        ).put(sink_place(node, context)),
        [below],
        share=False,
    )
