"""Lowers a deduplication."""

from __future__ import annotations

from execnodes.core.node import ExecNode
from execnodes.core.types import TimeKind
from planner.algebra import Deduplicate
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, listed, names_of


@lower_node.register
def _(node: Deduplicate, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.deduplicate import Deduplicate as ExecDeduplicate

    if not node.input.kinds.insert_only:
        return context.lower(node.ranked(), update_before)
    below = context.lower(node.input, True)
    by_arrival = below.output_type.fields[node.time_index].type.kind is TimeKind.PROCTIME
    names = names_of(below.output_type)
    mode = node.mode(update_before)
    return context.add(
        ExecDeduplicate(
            id=NEW,
            output_type=below.output_type,
            changelog_mode=mode,
            description=described(
                "Deduplicate",
                ("keep", "[LastRow]" if node.keep_last else "[FirstRow]"),
                ("key", listed(names[each] for each in node.keys)),
                ("order", "[PROCTIME]" if by_arrival else "[ROWTIME]"),
            ),
            unique_keys=node.keys,
            is_rowtime=not by_arrival,
            time_attribute_index=node.time_index,
            keep_last_row=node.keep_last,
            output_insert_only=not node.keep_last and not node.replaced,
            generate_update_before=mode.retract,
            state=(context.state("deduplicateState"),),
        ).put(node.place),
        [context.exchange(below, node.keys)],
    )
