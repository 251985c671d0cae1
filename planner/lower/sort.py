"""Lowers ORDER BY and LIMIT."""

from __future__ import annotations

from execnodes.connectors import is_bounded
from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.options import NON_TEMPORAL_SORT
from execnodes.core.types import TimeKind
from planner.algebra import Scan, Sort
from planner.algebra.lost_times import explain_lost_time
from planner.algebra.tree import leaves
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, names_of
from planner.lower.ordering import shown, sort_spec
from planner.lower.rank import BATCH, lower_limit


@lower_node.register
def _(node: Sort, context: Context, update_before: bool) -> ExecNode:
    if node.fetch is not None:
        return lower_limit(node, node.fetch, context, update_before)
    if node.offset:
        hint = f"Say how many rows: LIMIT n OFFSET {node.offset}. {BATCH}"
        raise SqlError("OFFSET without LIMIT is not supported in streams", position=node.position, hint=hint)
    by_time = node.order[0].ascending and _is_time(node)
    if not by_time and context.configuration.flag(NON_TEMPORAL_SORT):
        return _at_end(node, context)
    _require_time(node)
    return _by_time(node, context)


def _by_time(node: Sort, context: Context) -> ExecNode:
    from execnodes.stream.temporal_sort import TemporalSort

    below, first = context.lower(node.input, True), node.order[0].index
    return context.add(
        TemporalSort(
            id=NEW,
            output_type=node.type,
            description=described("TemporalSort", ("orderBy", shown(node.order, names_of(below.output_type)))),
            order_by=sort_spec(node.order),
            # By processing time nothing is kept.
            state=(StateMetadata(index=0, name="temporalSortState"),) if first in node.input.event_times else (),
        ).put(node.place),
        [context.exchange(below, ())],
    )


def _at_end(node: Sort, context: Context) -> ExecNode:
    from execnodes.stream.sort import Sort as ExecSort

    for each in leaves(node):
        if isinstance(each, Scan) and not is_bounded(each.options):
            name = ".".join(each.identifier or ("a table without a name",))
            raise SqlError(
                f"ORDER BY without LIMIT gives its rows when the input has ended, but {name} has no end",
                position=node.position,
                hint="Bound the table by its options, add LIMIT, or order by the column of the WATERMARK first.",
            )
    below = context.lower(node.input, True)
    return context.add(
        ExecSort(
            id=NEW,
            output_type=node.type,
            description=described("Sort", ("orderBy", shown(node.order, names_of(below.output_type)))),
            order_by=sort_spec(node.order),
            state=(StateMetadata(index=0, name="sortState"),),
        ),
        [context.exchange(below, ())],
    )


def _is_time(node: Sort) -> bool:
    """Whether a time attribute comes first."""
    first = node.order[0].index
    return first in node.input.event_times or node.type.fields[first].type.kind is TimeKind.PROCTIME


def _require_time(node: Sort) -> None:
    """A stream can be sorted as far as time has passed."""
    first = node.order[0]
    column = node.type.fields[first.index]
    name = column.name if node.place is None else node.place.text
    hint = f"Add LIMIT, or order by the column of the WATERMARK first. {BATCH}"
    if not _is_time(node):
        what = f"ORDER BY {name} without LIMIT is not supported in streams: it is not a time attribute"
        lost = explain_lost_time(node.input, first.index, name)
        raise SqlError(what, position=node.position, hint=lost + hint)
    if not first.ascending:
        what = f"ORDER BY {name} DESC without LIMIT is not supported in streams: the newest row never comes"
        raise SqlError(what, position=node.position, hint=hint)
    if not node.input.kinds.insert_only:
        what = "ORDER BY without LIMIT is not supported in streams over rows that are updated"
        raise SqlError(what, position=node.position, hint=f"Add LIMIT. {BATCH}")
