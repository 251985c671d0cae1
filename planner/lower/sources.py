"""Lowers what rows come from: scans, watermarks, constants, and the state behind upsert sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execnodes.core.changelog import INSERT_ONLY, RowKind
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, InputRef, digest
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.types import Field, LogicalType, row
from planner.algebra import CompiledQuery, Normalize, Scan, Values, WatermarkAssigner
from planner.columns import references
from planner.describe import described, listed, names_of
from planner.lower.constants import lower_values
from planner.lower.context import Context, lower_node
from planner.lower.rows import calc
from planner.lower.tables import reference


@lower_node.register
def _(node: Scan, context: Context, update_before: bool) -> ExecNode:
    """A consumer that finds rows by key gets the rows of a changelog source without -U."""
    table = reference(node)
    names = names_of(node.type)
    abilities = ({"type": "FilterPushDown", "predicates": node.predicates},) if node.predicates else ()
    filters = [f"filter={listed(digest(each, names) for each in node.predicates)}"] if abilities else []
    path = listed([*(node.identifier or ("*anonymous*",)), *filters])
    scan = context.make(
        "stream-exec-table-source-scan",
        [],
        node.type,
        node.source_mode,
        described("TableSourceScan", ("table", f"[{path}]"), ("fields", listed(names))),
        scan_table_source={"table": table, "abilities": abilities},
    )
    return scan if update_before else _without_update_before(scan, context)


def _without_update_before(source: ExecNode, context: Context) -> ExecNode:
    mode = source.changelog_mode
    if not mode.retract:
        return source
    kept = mode.without(RowKind.UPDATE_BEFORE)
    return context.make("stream-exec-drop-update-before", [source], source.output_type, kept, "DropUpdateBefore")


@lower_node.register
def _(node: CompiledQuery, context: Context, update_before: bool) -> ExecNode:
    """The query's nodes are in the graph already; they cannot be made to give more than they do."""
    root = context.builder.nodes[context.roots[id(node)]]
    if not update_before:
        return _without_update_before(root, context)
    if not root.changelog_mode.retract:
        raise SqlError(
            f"{root.description} of a compiled plan gives updates without -U, which are needed here",
            where=f"node {root.id} ({root.key})",
            hint="Write the rows into a sink that finds rows by key, or write the query in SQL again.",
        )
    return root


@lower_node.register
def _(node: WatermarkAssigner, context: Context, update_before: bool) -> ExecNode:
    """A watermark that depends on the time zone is computed by a calc, which keeps the zone; the assigner does not."""
    below = context.lower(node.input, update_before)
    if not _by_zone(node.watermark, below, context.configuration.get_option("table.local-time-zone")):
        return _assigner(node, context, below, node.watermark, node.type)
    fields = node.type.fields
    added = Field("rk_watermark", node.watermark.type)
    wide = row(*below.output_type.fields, added)
    computed = calc(context, below, (*references(below.output_type), node.watermark), None, wide)
    reached = InputRef(input_index=len(fields), type=added.type)
    assigned = _assigner(node, context, computed, reached, row(*fields, added))
    return calc(context, assigned, references(node.type), None, node.type)


def _by_zone(expression: Expression, below: ExecNode, zone: str) -> bool:
    if zone == "UTC" or not isinstance(expression, Call):
        return False
    # Scalar functions are looked up only here: most programs have no zone.
    from execnodes.core import functions

    columns = [f"c{at}" for at in range(len(below.output_type.fields))]
    return functions.lower(expression, columns, zone) != functions.lower(expression, columns, "UTC")


def _assigner(
    node: WatermarkAssigner, context: Context, below: ExecNode, watermark: Expression, type: LogicalType
) -> ExecNode:
    names = names_of(below.output_type)
    by_row = context.configuration.get_option("table.exec.lateness.granularity") == "row"
    return context.make(
        "stream-exec-watermark-assigner",
        [below],
        type,
        below.changelog_mode,
        described(
            "WatermarkAssigner",
            ("rowtime", listed([names[node.time_index]])),
            ("watermark", listed([digest(watermark, names)])),
        ),
        watermark_expr=watermark,
        rowtime_field_index=node.time_index,
        state=(StateMetadata(index=0, name="watermarkState"),) if by_row else (),
    )


@lower_node.register
def _(node: Normalize, context: Context, update_before: bool) -> ExecNode:
    below = context.exchange(context.lower(node.input, False), node.keys)
    names = names_of(below.output_type)
    return context.make(
        "stream-exec-changelog-normalize",
        [below],
        below.output_type,
        node.mode(update_before),
        described(
            "ChangelogNormalize",
            ("key", listed(names_of(below.output_type, node.keys))),
            ("condition", None if node.condition is None else listed([digest(node.condition, names)])),
        ),
        unique_keys=node.keys,
        generate_update_before=update_before,
        filter_condition=node.condition,
        state=(context.state("changelogNormalizeState"),),
    )


@lower_node.register
def _(node: Values, context: Context, update_before: bool) -> ExecNode:
    def make(name: str, inputs: Sequence[ExecNode], output: LogicalType, description: str, **fields: Any) -> ExecNode:
        return context.make(f"stream-exec-{name}", inputs, output, INSERT_ONLY, description, **fields)

    return lower_values(node, make)
