"""Lowers what rows come from: scans, watermarks, constants, and the state behind upsert sources."""

from __future__ import annotations

from execnodes.core.changelog import RowKind
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, InputRef, digest
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.types import Field, LogicalType, row
from planner.algebra import CompiledQuery, Normalize, Scan, Values, WatermarkAssigner
from planner.algebra.columns import references
from planner.lower.constants import RowNodes, lower_values
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, listed, names_of
from planner.lower.rows import calc, calc_class
from planner.lower.table_specs import reference, reject_nanoseconds


@lower_node.register
def _(node: Scan, context: Context, update_before: bool) -> ExecNode:
    """A consumer that finds rows by key gets the rows of a changelog source without -U."""
    from execnodes.stream.table_source_scan import FilterPushDown, ScanTableSource, TableSourceScan

    reject_nanoseconds(node, context.configuration)
    table = reference(node)
    names = names_of(node.type)
    abilities = (FilterPushDown(predicates=node.predicates),) if node.predicates else ()
    filters = [f"filter={listed(digest(each, names) for each in node.predicates)}"] if abilities else []
    path = listed([*(node.identifier or ("*anonymous*",)), *filters])
    scan = context.add(
        TableSourceScan(
            id=NEW,
            output_type=node.type,
            changelog_mode=node.source_mode,
            description=described("TableSourceScan", ("table", f"[{path}]"), ("fields", listed(names))),
            scan_table_source=ScanTableSource(table=table, abilities=abilities),
        ),
        [],
    )
    return scan if update_before else _without_update_before(scan, context)


def _without_update_before(source: ExecNode, context: Context) -> ExecNode:
    from execnodes.stream.drop_update_before import DropUpdateBefore

    mode = source.changelog_mode
    if not mode.retract:
        return source
    kept = mode.without(RowKind.UPDATE_BEFORE)
    return context.add(
        DropUpdateBefore(
            id=NEW,
            output_type=source.output_type,
            changelog_mode=kept,
            description="DropUpdateBefore",
        ),
        [source],
    )


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
    from execnodes import functions

    columns = [f"c{at}" for at in range(len(below.output_type.fields))]
    return functions.lower(expression, columns, zone) != functions.lower(expression, columns, "UTC")


def _assigner(
    node: WatermarkAssigner, context: Context, below: ExecNode, watermark: Expression, type: LogicalType
) -> ExecNode:
    from execnodes.stream.watermark_assigner import WatermarkAssigner as ExecWatermarkAssigner

    names = names_of(below.output_type)
    by_row = context.configuration.get_option("table.exec.lateness.granularity") == "row"
    return context.add(
        ExecWatermarkAssigner(
            id=NEW,
            output_type=type,
            changelog_mode=below.changelog_mode,
            description=described(
                "WatermarkAssigner",
                ("rowtime", listed([names[node.time_index]])),
                ("watermark", listed([digest(watermark, names)])),
            ),
            watermark_expr=watermark,
            rowtime_field_index=node.time_index,
            state=(StateMetadata(index=0, name="watermarkState"),) if by_row else (),
        ),
        [below],
    )


@lower_node.register
def _(node: Normalize, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.changelog_normalize import ChangelogNormalize

    below = context.exchange(context.lower(node.input, False), node.keys)
    names = names_of(below.output_type)
    return context.add(
        ChangelogNormalize(
            id=NEW,
            output_type=below.output_type,
            changelog_mode=node.mode(update_before),
            description=described(
                "ChangelogNormalize",
                ("key", listed(names_of(below.output_type, node.keys))),
                ("condition", None if node.condition is None else listed([digest(node.condition, names)])),
            ),
            unique_keys=node.keys,
            generate_update_before=update_before,
            filter_condition=node.condition,
            state=(context.state("changelogNormalizeState"),),
        ),
        [below],
    )


@lower_node.register
def _(node: Values, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.union import Union
    from execnodes.stream.values import Values as ExecValues

    return lower_values(node, context, RowNodes(ExecValues, calc_class, Union))
