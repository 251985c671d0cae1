"""Sessions that are grouped by GROUPING SETS are found among the copies of rows that these make.

So Flink does: where a set leaves out a column that sessions are found by, that column is NULL, and a session is one of
all its rows. Conditions on rows stand below, too.
"""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Expression, InputRef, input_indexes, remap
from execnodes.core.types import row
from planner.algebra import Expand, Filter, Logical, Project, WindowAggregate, WindowTableFunction
from planner.algebra.columns import references
from planner.algebra.tree import Sinks, rewrite


def open_sessions_behind_sets(sinks: Sinks) -> Sinks:
    """Move the table function SESSION from below an Expand to above it."""
    return rewrite(sinks, _open)


def _open(node: Logical) -> Logical:
    if not isinstance(node, WindowAggregate) or not isinstance(node.input, Expand):
        return node
    moved = _behind(node.input, set(node.grouping))
    return node if moved is None else replace(node, input=moved)


def _behind(expand: Expand, keys: set[int]) -> Logical | None:
    """The same columns, of sessions that are found behind the Expand; None where it reads no session."""
    top = expand.input
    expressions: tuple[Expression, ...] = references(top.type)
    if isinstance(top, Project):
        expressions, top = top.expressions, top.input
    condition = None
    if isinstance(top, Filter):
        condition, top = top.condition, top.input
    if not isinstance(top, WindowTableFunction) or top.window.kind != "SESSION":
        return None
    below, width = top.input, len(top.input.type.fields)
    read = set() if condition is None else input_indexes(condition)
    windows = {
        at: each.input_index
        for at, each in enumerate(expressions)
        if isinstance(each, InputRef) and each.input_index >= width
    }
    for at, each in enumerate(expressions):
        read |= set() if at in windows else input_indexes(each)
    if any(each >= width for each in read):
        return None
    if condition is not None:
        below = Filter(below, condition)
    plain = [at for at in range(len(expressions)) if at not in windows]
    raw = (top.time_index, *top.window.partition)
    computed = (*(expressions[at] for at in plain), *references(below.type, raw))
    names = (*(expand.input.type.fields[at] for at in plain), *(below.type.fields[each] for each in raw))
    source = Project(below, computed, row(*names))
    there = {at: place for place, at in enumerate(plain)}
    sources = [_source(expand, column) for column in range(len(expand.type.fields))]
    copied = [column for column, at in enumerate(sources) if at not in windows]
    rest = [InputRef(input_index=len(plain) + at, type=names[len(plain) + at].type) for at in range(len(raw))]
    projects = tuple(
        (*(remap(some[column], there.__getitem__) for column in copied), *rest) for some in expand.projects
    )
    fields = (*(expand.type.fields[column] for column in copied), *names[len(plain) :])
    copies = Expand(source, projects, row(*fields))
    grouped = {
        expressions[at]: copied.index(column)
        for column, at in enumerate(sources)
        if column in keys and at is not None and column in copied
    }
    partition = tuple(
        grouped.get(InputRef(input_index=each, type=below.type.fields[each].type), len(copied) + 1 + at)
        for at, each in enumerate(top.window.partition)
    )
    session = replace(
        top,
        input=copies,
        window=replace(top.window, partition=partition),
        time_index=len(copied),
        type=row(*fields, *top.type.fields[width:]),
    )
    restored = tuple(
        len(fields) + windows[at] - width if at is not None and at in windows else copied.index(column)
        for column, at in enumerate(sources)
    )
    return Project(session, references(session.type, restored), expand.type)


def _source(expand: Expand, column: int) -> int | None:
    """The column of the input that the copies have there, those that have one."""
    found = (some[column] for some in expand.projects)
    return next((each.input_index for each in found if isinstance(each, InputRef)), None)
