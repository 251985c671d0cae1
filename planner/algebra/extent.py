"""How large an expression is when it is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from execnodes.core.expressions import Expression, InputRef, Literal, children

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


def parts_of(expressions: Iterable[Expression]) -> int:
    """Calls, columns and constants of expressions together."""
    return sum(extent(each)[1] for each in expressions)
