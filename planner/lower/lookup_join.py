"""Lowers lookup joins, of streams and of batch mode."""

from __future__ import annotations

from typing import Any

from execnodes.core.expressions import digest
from execnodes.core.node import ExecNode
from planner.algebra import LookupJoin
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, listed, names_of
from planner.lower.table_specs import reference, reject_nanoseconds, table_name


@lower_node.register
def _(node: LookupJoin, context: Context, update_before: bool) -> ExecNode:
    """The input must carry -U: rows that were joined to the former row are taken back one by one."""
    from execnodes.stream.lookup_join import LookupJoin as ExecLookupJoin

    reject_nanoseconds(node.table, context.configuration)
    below = context.lower(node.input, True)
    return context.add(ExecLookupJoin(id=NEW, changelog_mode=below.changelog_mode, **_properties(node)), [below])


@lower_batch_node.register
def _(node: LookupJoin, context: BatchContext) -> ExecNode:
    from execnodes.batch.lookup_join import BatchLookupJoin

    return context.add(BatchLookupJoin(id=NEW, **_properties(node)), [context.lower_batch(node.input)])


def _properties(node: LookupJoin) -> dict[str, Any]:
    from execnodes.common.lookups import LookupKey, LookupTableSource, TemporalTable

    names, stored = names_of(node.input.type), names_of(node.table.type)
    both = names_of(node.type)
    shown = [f"{stored[column]}={digest(value, names)}" for column, value in node.keys]
    where = None if node.filter is None else f"[{digest(node.filter, stored)}]"
    condition = None if node.condition is None else f"[{digest(node.condition, both)}]"
    return {
        "output_type": node.type,
        "description": described(
            "LookupJoin",
            ("table", f"[{table_name(node.table)}]"),
            ("joinType", f"[{'LeftOuterJoin' if node.left else 'InnerJoin'}]"),
            ("lookup", listed(shown)),
            ("where", where),
            ("joinCondition", condition),
            ("select", listed(both)),
        ),
        "join_type": "LEFT" if node.left else "INNER",
        "temporal_table": TemporalTable(
            lookup_table_source=LookupTableSource(table=reference(node.table)), output_type=node.table.type
        ),
        "lookup_keys": tuple(LookupKey(column=column, value=value) for column, value in node.keys),
        "filter_on_temporal_table": node.filter,
        "projection_on_temporal_table": node.project,
        "join_condition": node.condition,
    }
