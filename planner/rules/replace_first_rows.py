"""In mini-batches the first row of a key is given at once, and replaced by an older one that comes later."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.types import TimeKind
from planner.algebra import Deduplicate, Logical
from planner.algebra.tree import Sinks, rewrite


def replace_first_rows(sinks: Sinks) -> Sinks:
    """Let first rows by event time not wait for the watermark (Flink: RowTimeMiniBatchDeduplicateFunction)."""

    def at_once(node: Logical) -> Logical:
        if not isinstance(node, Deduplicate) or node.keep_last:
            return node
        by_arrival = node.input.type.fields[node.time_index].type.kind is TimeKind.PROCTIME
        return node if by_arrival else replace(node, replaced=True)

    return rewrite(sinks, at_once)
