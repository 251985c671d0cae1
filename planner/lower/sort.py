"""Lowers ORDER BY and LIMIT."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.types import TimeKind
from planner.algebra import Sort
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, names_of
from planner.lower.ordering import shown, sort_spec
from planner.lower.rank import BATCH, lower_limit


@lower_node.register
def _(node: Sort, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.temporal_sort import TemporalSort

    if node.fetch is not None:
        return lower_limit(node, node.fetch, context, update_before)
    if node.offset:
        hint = f"Say how many rows: LIMIT n OFFSET {node.offset}. {BATCH}"
        raise SqlError("OFFSET without LIMIT is not supported in streams", position=node.position, hint=hint)
    _require_time(node)
    below, first = context.lower(node.input, True), node.order[0].index
    return context.add(
        TemporalSort(
            id=NEW,
            output_type=node.type,
            description=described("TemporalSort", ("orderBy", shown(node.order, names_of(below.output_type)))),
            order_by=sort_spec(node.order),
            # By processing time nothing is kept.
            state=(StateMetadata(index=0, name="temporalSortState"),) if first in node.input.event_times else (),
        ),
        [context.exchange(below, ())],
    )


def _require_time(node: Sort) -> None:
    """A stream can be sorted as far as time has passed."""
    first = node.order[0]
    column = node.type.fields[first.index]
    hint = f"Add LIMIT, or order by the column of the WATERMARK first. {BATCH}"
    if first.index not in node.input.event_times and column.type.kind is not TimeKind.PROCTIME:
        what = f"ORDER BY {column.name} without LIMIT is not supported in streams: it is no time attribute"
        raise SqlError(what, position=node.position, hint=hint)
    if not first.ascending:
        what = f"ORDER BY {column.name} DESC without LIMIT is not supported in streams: the newest row never comes"
        raise SqlError(what, position=node.position, hint=hint)
    if not node.input.kinds.insert_only:
        what = "ORDER BY without LIMIT is not supported in streams over rows that are updated"
        raise SqlError(what, position=node.position, hint=f"Add LIMIT. {BATCH}")
