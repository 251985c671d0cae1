"""Functions OVER rows that a projection right above does not read are not computed.

As in Flink, where a projection takes in the one below it with its OVER. It is more than a saving: what drops late rows
is gone with it. Behind a filter, in a join or in a window table function OVER stays, read or not.
"""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Literal, input_indexes, remap
from execnodes.core.types import row
from planner.algebra import Logical, Over, Project, Window, WindowTableFunction
from planner.algebra.columns import references
from planner.algebra.tree import Sinks, rewrite
from planner.algebra.windows import Emission


def drop_unread_windows(sinks: Sinks) -> Sinks:
    """Of the windows of a SELECT those stay that its projection, merged with the one above, reads."""
    return rewrite(sinks, _drop)


def _drop(node: Logical) -> Logical:
    match node:
        case Project(input=Over()) if node.expressions:
            return _without_unread(node)
        case Project(input=WindowTableFunction(window=Window(emission=Emission())) as windows):
            return _below_windows_of_groups(node, windows)
        case _:
            # What else reads OVER keeps it.
            return node


def _without_unread(node: Project) -> Project:
    assert isinstance(node.input, Over)
    stack = [node.input, *node.input.others()]
    below = stack[-1].input
    read = _read(node)
    now = {at: at for at in range(len(below.type.fields))}
    for over in reversed(stack):
        first, last = len(over.input.type.fields), len(over.type.fields)
        if read.isdisjoint(range(first, last)):
            continue
        names = [*below.type.fields, *over.type.fields[first:]]
        now |= {at: len(below.type.fields) + at - first for at in range(first, last)}
        below = over if below is over.input else replace(over, input=below, type=row(*names))
    if below is node.input:
        return node
    return replace(node, input=below, expressions=tuple(remap(each, now.__getitem__) for each in node.expressions))


def _below_windows_of_groups(node: Project, windows: WindowTableFunction) -> Project:
    """GROUP BY TUMBLE(ts, …) is one projection with what the aggregate reads: its window is no table function."""
    inner = windows.input
    below = inner.input if isinstance(inner, Project) else inner
    if not isinstance(below, Over):
        return node
    read = _read(node) | {windows.time_index, *windows.window.partition}
    given = inner.expressions if isinstance(inner, Project) else references(inner.type)
    nothing = (Literal(value=None, type=each.type.with_nullable(True)) for each in given)
    kept = tuple(each if at in read else null for at, (each, null) in enumerate(zip(given, nothing, strict=True)))
    whole = Project(below, kept, inner.type)
    left = _without_unread(whole)
    return node if left is whole else replace(node, input=replace(windows, input=left))


def _read(node: Project) -> set[int]:
    return set[int]().union(*(input_indexes(each) for each in node.expressions))
