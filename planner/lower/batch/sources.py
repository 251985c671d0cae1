"""Lowers what rows come from: scans, constants, compiled queries."""

from __future__ import annotations

from execnodes.core.connectors import source_changelog_mode
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, Literal, digest
from execnodes.core.node import ExecNode
from execnodes.core.types import BOOLEAN, Field, LogicalType, row
from planner.describe import described, listed, names_of, selected
from planner.logical import Scan, Values
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.tables import reference, table_name
from planner.physical import CompiledQuery
from planner.rules.normalize_changelog import scan_options


@lower_batch_node.register
def _(node: Scan, context: BatchContext) -> ExecNode:
    mode = source_changelog_mode(scan_options(node))
    if not mode.insert_only:
        raise SqlError(
            f"batch mode reads tables of inserts only, but the source of {table_name(node)} gives changes ({mode})",
            hint="Run the statement in streaming mode: SET 'execution.runtime-mode' = 'streaming'.",
        )
    path = listed(node.identifier or ("*anonymous*",))
    return context.make_batch(
        "table-source-scan",
        [],
        node.type,
        described("TableSourceScan", ("table", f"[{path}]"), ("fields", listed(names_of(node.type)))),
        scan_table_source={"table": reference(node)},
    )


@lower_batch_node.register
def _(node: CompiledQuery, context: BatchContext) -> ExecNode:
    """The query's nodes are in the graph already."""
    return context.builder.nodes[context.roots[id(node)]]


@lower_batch_node.register
def _(node: Values, context: BatchContext) -> ExecNode:
    """Rows that hold more than literals are computed, each from a row without content."""
    literals = [tuple(each for each in values if isinstance(each, Literal)) for values in node.rows]
    if [len(each) for each in literals] == [len(each) for each in node.rows]:
        return _constants(context, tuple(literals), node.type)
    one = _constants(
        context, ((Literal(value=True, type=BOOLEAN.not_null()),),), row(Field("ZERO", BOOLEAN.not_null()))
    )
    computed = [_computed(context, one, values, node.type) for values in node.rows]
    if len(computed) == 1:
        return computed[0]
    description = described("Union", ("all", "[true]"), ("union", listed(names_of(node.type))))
    return context.make_batch("union", computed, node.type, description)


def _constants(context: BatchContext, tuples: tuple[tuple[Literal, ...], ...], type: LogicalType) -> ExecNode:
    shown = listed(f"{{{', '.join(digest(each, ()) for each in values)}}}" for values in tuples)
    return context.make_batch("values", [], type, described("Values", ("tuples", f"[{shown}]")), tuples=tuples)


def _computed(context: BatchContext, one: ExecNode, values: tuple[Expression, ...], type: LogicalType) -> ExecNode:
    description = described("Calc", ("select", selected(values, type, names_of(one.output_type))))
    return context.make_batch("calc", [one], type, description, projection=values)
