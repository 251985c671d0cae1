"""Lowers what rows come from: scans, constants, compiled queries."""

from __future__ import annotations

from execnodes.connectors import source_changelog_mode
from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from planner.algebra import CompiledQuery, Scan, Values
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.batch.rows import calc_class
from planner.lower.constants import RowNodes, lower_values
from planner.lower.context import NEW
from planner.lower.describe import described, listed, names_of
from planner.lower.table_specs import reference, reject_nanoseconds, table_name


@lower_batch_node.register
def _(node: Scan, context: BatchContext) -> ExecNode:
    from execnodes.batch.table_source_scan import BatchTableSourceScan, ScanTableSource

    reject_nanoseconds(node, context.configuration)
    mode = source_changelog_mode(node.options)
    if not mode.insert_only:
        raise SqlError(
            f"batch mode reads tables of inserts only, but the source of {table_name(node)} gives changes ({mode})",
            hint="Run the statement in streaming mode: SET 'execution.runtime-mode' = 'streaming'.",
        )
    path = listed(node.identifier or ("*anonymous*",))
    return context.add(
        BatchTableSourceScan(
            id=NEW,
            output_type=node.type,
            description=described("TableSourceScan", ("table", f"[{path}]"), ("fields", listed(names_of(node.type)))),
            scan_table_source=ScanTableSource(table=reference(node)),
        ),
        [],
    )


@lower_batch_node.register
def _(node: CompiledQuery, context: BatchContext) -> ExecNode:
    """The query's nodes are in the graph already."""
    return context.builder.nodes[context.roots[id(node)]]


@lower_batch_node.register
def _(node: Values, context: BatchContext) -> ExecNode:
    from execnodes.batch.union import BatchUnion
    from execnodes.batch.values import BatchValues

    return lower_values(node, context, RowNodes(BatchValues, calc_class, BatchUnion))
