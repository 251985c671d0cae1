"""Lowers a deduplication by event time."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from planner.algebra import Deduplicate
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, listed, names_of


@lower_node.register
def _(node: Deduplicate, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.deduplicate import Deduplicate as ExecDeduplicate

    below = context.lower(node.input, True)
    if not below.changelog_mode.insert_only:
        raise SqlError(
            "ROW_NUMBER over rows that are updated is not supported yet",
            position=node.position,
            hint="Deduplicate an append-only table, before it is aggregated or joined.",
        )
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
                ("order", "[ROWTIME]"),
            ),
            unique_keys=node.keys,
            is_rowtime=True,
            time_attribute_index=node.time_index,
            keep_last_row=node.keep_last,
            generate_update_before=mode.retract,
            state=(context.state("deduplicateState"),),
        ),
        [context.exchange(below, node.keys)],
    )
