"""What may stand behind a call: WITHIN GROUP, FILTER, OVER; window specifications and frames; ORDER BY."""

from __future__ import annotations

from dataclasses import replace

from planner.grammar import expressions as grammar
from planner.grammar.cursor import Cursor
from planner.syntax import Call, Expr, FrameBound, OrderItem, WindowSpec


def clauses(cursor: Cursor, call: Call) -> Call:
    """The call with the clauses behind it."""
    if cursor.accept("WITHIN", "GROUP"):
        cursor.expect("(")
        call = replace(call, order=order_by(cursor))
        cursor.expect(")")
    if cursor.at("IGNORE", "NULLS") or cursor.at("RESPECT", "NULLS"):
        raise cursor.unsupported(f"{cursor.token.upper} NULLS", "Filter NULLs with FILTER (WHERE … IS NOT NULL).")
    if cursor.at("FILTER", "("):
        cursor.expect("FILTER", "(", "WHERE")
        call = replace(call, filter=grammar.expression(cursor))
        cursor.expect(")")
    if cursor.accept("OVER"):
        call = replace(call, over=_over(cursor))
    return call


def _over(cursor: Cursor) -> WindowSpec:
    position = cursor.here
    if cursor.at("("):
        return specification(cursor)
    return WindowSpec(cursor.identifier("a window"), position=position)


def specification(cursor: Cursor) -> WindowSpec:
    """``( [name] [PARTITION BY …] [ORDER BY …] [ROWS | RANGE …] )``."""
    position = cursor.here
    cursor.expect("(")
    base = None
    if not cursor.at_any(")", "PARTITION", "ORDER", "ROWS", "RANGE"):
        base = cursor.identifier("a window")
    partition: tuple[Expr, ...] = ()
    if cursor.accept("PARTITION"):
        cursor.expect("BY")
        partition = cursor.listed(lambda: grammar.expression(cursor))
    order = order_by(cursor) if cursor.at("ORDER") else ()
    lower = upper = None
    rows = cursor.at("ROWS")
    if cursor.accept("ROWS") or cursor.accept("RANGE"):
        if cursor.accept("BETWEEN"):
            lower = _bound(cursor)
            cursor.expect("AND")
            upper = _bound(cursor)
        else:
            lower = _bound(cursor)
    if cursor.at("EXCLUDE"):
        raise cursor.unsupported("EXCLUDE in a window frame", "Leave it out.")
    cursor.expect(")")
    return WindowSpec(base, partition, order, rows, lower, upper, position=position)


def _bound(cursor: Cursor) -> FrameBound:
    position = cursor.here
    if cursor.accept("CURRENT"):
        cursor.expect("ROW")
        return FrameBound("CURRENT ROW", position=position)
    value = None if cursor.accept("UNBOUNDED") else grammar.additive(cursor)
    if cursor.accept("PRECEDING"):
        return FrameBound("PRECEDING", value, position=position)
    cursor.expect("FOLLOWING")
    return FrameBound("FOLLOWING", value, position=position)


def order_by(cursor: Cursor) -> tuple[OrderItem, ...]:
    """``ORDER BY expr [ASC | DESC] [NULLS FIRST | LAST], …``."""
    cursor.expect("ORDER", "BY")
    return cursor.listed(lambda: _item(cursor))


def _item(cursor: Cursor) -> OrderItem:
    position = cursor.here
    expr = grammar.expression(cursor)
    ascending = not cursor.accept("DESC")
    if ascending:
        cursor.accept("ASC")
    nulls_last: bool | None = None
    if cursor.accept("NULLS"):
        nulls_last = cursor.accept("LAST")
        if not nulls_last:
            cursor.expect("FIRST")
    return OrderItem(expr, ascending, nulls_last, position=position)
