"""Refuses what no node can run yet, with the place in the SQL text and a way round where there is one."""

from __future__ import annotations

from typing import NoReturn

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from planner.algebra import Over, Sort, Unnest
from planner.lower.context import Context, lower_node
from planner.rules.recognise_deduplication import numbers_by_event_time, partitions_by_window

BATCH = "Batch mode has it: SET 'execution.runtime-mode' = 'batch'."
"""For what streams do not run yet and batch queries do."""


@lower_node.register
def _(node: Over, context: Context, update_before: bool) -> ExecNode:
    names = [each.name.upper() for each in node.calls]
    if any(name in ("RANK", "DENSE_RANK") for name in names):
        _refuse(node, "RANK and DENSE_RANK are not supported in streams yet", BATCH)
    if "ROW_NUMBER" not in names:
        _refuse(
            node,
            f"aggregates OVER a window of rows ({', '.join(dict.fromkeys(names))}) are not supported in streams yet",
            BATCH,
        )
    if partitions_by_window(node):
        what = "ROW_NUMBER within windows (PARTITION BY window_start, window_end) is not supported in streams yet"
        _refuse(node, what, BATCH)
    if numbers_by_event_time(node):
        _refuse(
            node,
            "ROW_NUMBER by event time is only supported as a deduplication in streams",
            f"Keep the first or last row of a key: wrap the query and filter its row number with = 1. {BATCH}",
        )
    _refuse(
        node,
        "Top-N (ROW_NUMBER that is not ordered by one event-time attribute alone) is not supported in streams yet",
        f"{BATCH} In a stream deduplicate by event time (ORDER BY ts, row number = 1), or use MIN or MAX.",
    )


@lower_node.register
def _(node: Sort, context: Context, update_before: bool) -> ExecNode:
    what = "ORDER BY" if node.fetch is None and node.order else "LIMIT"
    _refuse(node, f"{what} is not supported in streams yet", f"{BATCH} Or leave it out, and sort or cut what is read.")


@lower_node.register
def _(node: Unnest, context: Context, update_before: bool) -> ExecNode:
    _refuse(
        node, "UNNEST is not supported yet", "Read members by index, e.g. xs[1], or unnest before the table is read."
    )


def _refuse(node: Over | Sort | Unnest, what: str, hint: str | None = None) -> NoReturn:
    raise SqlError(what, position=node.position, hint=hint)
