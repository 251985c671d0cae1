"""In mini-batches the first row of a key is given at once, and replaced by an older one that comes later."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.graph import ExecGraph
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


def first_rows_waited(old: ExecGraph) -> bool:
    """Whether first rows of a plan wait for the watermark, be it of a release that knew nothing else.

    A plan that is compiled from it lets them wait, too: state above such rows does not know how to take them back.
    """
    from execnodes.stream.deduplicate.v2 import Deduplicate as ExecDeduplicate

    found = (each for each in old.nodes if isinstance(each, ExecDeduplicate) and each.is_rowtime)
    return any(each.changelog_mode.insert_only for each in found)
