"""How large a statement may be: what is above is refused with the limit named, so that nothing compiles for hours, and
whatever compiles can be written as a plan, read again and run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression, InputRef, Literal, children
from planner.logical import (
    Aggregate,
    Filter,
    Join,
    Logical,
    Over,
    Project,
    Scan,
    SetKind,
    SetOperation,
    Sink,
    Unnest,
    Values,
    WatermarkAssigner,
    WindowTableFunction,
)
from planner.physical import Expand, WindowAggregate
from planner.tree import inputs, once_a_node

MAX_DEPTH = 200
"""Calls inside each other in one expression: pydantic reads and writes JSON that nests about 250 levels."""
MAX_PARTS = 100_000
"""Calls, columns and constants of all expressions of a statement together."""
MAX_LEVELS = 700
"""Operators one above the other."""
MAX_WAYS = 2_000
"""Ways of a row through UNION ALL, grouping sets and overlapping windows: Spark computes them side by side."""
MAX_NODES = 5_000
"""Nodes of a plan."""

Extent = tuple[int, int]
"""Depth and number of parts."""
_ONE: Extent = (1, 1)


def extent(expression: Expression, of: Callable[[InputRef], Extent] = lambda _: _ONE) -> Extent:
    """Depth and parts of an expression, written out; `of` tells what will stand for a column.

    What is shared is counted each time, but looked at once.
    """
    known: dict[int, Extent] = {}

    def extent_of(each: Expression) -> Extent | None:
        if isinstance(each, InputRef):
            return of(each)
        return _ONE if isinstance(each, Literal) else known.get(id(each))

    left = [expression]
    while left:
        each = left[-1]
        if extent_of(each) is not None:
            left.pop()
            continue
        below = children(each)
        open_ = [child for child in below if extent_of(child) is None]
        if open_:
            left.extend(open_)
            continue
        left.pop()
        found = [inner for child in below if (inner := extent_of(child)) is not None]
        known[id(each)] = (1 + max((depth for depth, _ in found), default=0), 1 + sum(parts for _, parts in found))
    return extent_of(expression) or _ONE


def check_expression(expression: Expression, position: Position | None) -> None:
    """SqlError for an expression that is too deep or too long."""
    depth, parts = extent(expression)
    if depth > MAX_DEPTH:
        raise SqlError(
            f"the expression nests {depth} calls in each other, more than {MAX_DEPTH}",
            position=position,
            hint="Compute parts of it as columns of a subquery or view.",
        )
    _check_parts(parts, position)


def _check_parts(parts: int, position: Position | None) -> None:
    if parts > MAX_PARTS:
        raise SqlError(
            f"the statement has {parts} calls, columns and constants when it is written out, more than {MAX_PARTS}",
            position=position,
            hint="Put constants in a table, or split the statement.",
        )


def check_plan(sinks: Iterable[Sink]) -> None:
    """SqlError for a logical plan that is too high, too wide or too long."""
    for sink in sinks:
        if _levels(sink.input) > MAX_LEVELS:
            raise SqlError(
                f"the query has {_levels(sink.input)} operators one above the other, more than {MAX_LEVELS}",
                position=sink.position,
                hint="Split it into several jobs with a table between them.",
            )
        if _ways(sink.input)[1] > MAX_WAYS:
            raise SqlError(
                f"rows go {_ways(sink.input)[1]} ways through UNION ALL, grouping sets or windows, more than "
                f"{MAX_WAYS}",
                position=sink.position,
                hint="Split the query into several INSERTs, or name fewer sets of keys.",
            )
        _check_parts(sum(_parts(each) for each in _nodes(sink.input)), sink.position)


def check_sets(count: int, keys: int, position: Position) -> None:
    """SqlError for more grouping sets than rows may go ways."""
    if count > MAX_WAYS:
        raise SqlError(
            f"GROUP BY names {count} sets of keys, more than {MAX_WAYS}", position=position, hint="Name fewer."
        )
    _check_parts(count * keys, position)


def _nodes(node: Logical) -> Iterable[Logical]:
    """Every operator once."""
    seen: set[int] = set()
    left = [node]
    while left:
        each = left.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            left.extend(inputs(each))


@once_a_node
def _levels(node: Logical) -> int:
    return 1 + max(map(_levels, inputs(node)), default=0)


@once_a_node
def _ways(node: Logical) -> tuple[int, int]:
    """Ways of a row since it last was part of a state, and the most of any operator up to here."""
    below = [_ways(each) for each in inputs(node)]
    most = max((each for _, each in below), default=1)
    here = sum(each for each, _ in below) or 1
    match node:
        case SetOperation(kind=SetKind.UNION):
            kept = node.all
        case Aggregate() | WindowAggregate():
            here, kept = here * max(1, len(node.grouping_sets)), False
        case Expand():
            here, kept = here * len(node.projects), True
        case WindowTableFunction():
            here, kept = here * _windows_of_a_row(node), True
        case Project() | Filter() | WatermarkAssigner() | Unnest():
            kept = True
        case _:
            kept = False
    return (here if kept else 1, max(most, here))


def _windows_of_a_row(node: WindowTableFunction) -> int:
    return max(1, -(-node.window.size // node.window.step)) if node.window.step > 0 else 1


@once_a_node
def _parts(node: Logical) -> int:
    match node:
        case Project():
            return sum(extent(each)[1] for each in node.expressions)
        case Filter() | Join():
            return extent(node.condition)[1]
        case Values():
            return sum(map(len, node.rows))
        case Expand():
            return sum(map(len, node.projects))
        case Scan():
            return sum(extent(each)[1] for each in node.predicates)
        case Aggregate() | WindowAggregate():
            return len(node.calls) + len(node.grouping) * max(1, len(node.grouping_sets))
        case Over():
            return sum(extent(arg)[1] for call in node.calls for arg in call.args)
        case _:
            return 1
