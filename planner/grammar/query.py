"""Queries: WITH, set operations, SELECT, VALUES, ORDER BY and LIMIT."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from planner.grammar import expressions as grammar
from planner.grammar import relations, windows
from planner.grammar.cursor import Cursor
from planner.grammar.hints import hints
from planner.grammar.lexer import Kind
from planner.syntax import (
    Body,
    Expr,
    GroupingSets,
    Query,
    Select,
    SelectItem,
    SetOperation,
    TableName,
    Values,
    WindowSpec,
    WithItem,
)

_MOST_CUBE = 12


def at_query(cursor: Cursor, offset: int = 0) -> bool:
    """True if a query starts `offset` tokens on, perhaps in parentheses."""
    while cursor.ahead(offset).upper == "(" and cursor.ahead(offset).kind is Kind.MARK:
        offset += 1
    token = cursor.ahead(offset)
    return token.kind is Kind.WORD and token.upper in ("SELECT", "WITH", "VALUES")


def parenthesised(cursor: Cursor) -> Query:
    """``( query )``."""
    cursor.expect("(")
    found = query(cursor)
    cursor.expect(")")
    return found


def query(cursor: Cursor) -> Query:
    """``[WITH …] body [ORDER BY …] [LIMIT …] [OFFSET …] [FETCH …]``."""
    position = cursor.here
    with_items: tuple[WithItem, ...] = ()
    if cursor.accept("WITH"):
        if cursor.at("RECURSIVE"):
            raise cursor.unsupported("WITH RECURSIVE", "Write the steps as views.")
        with_items = cursor.listed(lambda: _with_item(cursor))
    body = _union(cursor)
    order = windows.order_by(cursor) if cursor.at("ORDER") else ()
    offset, fetch = _limits(cursor)
    plain = not (with_items or order or offset or fetch is not None)
    if plain and isinstance(body, Query):
        return body
    return Query(body, with_items, order, offset, fetch, position=position)


def _with_item(cursor: Cursor) -> WithItem:
    position, name = cursor.here, cursor.identifier("a name for the query")
    columns = cursor.parenthesised(lambda: cursor.identifier("a column")) if cursor.at("(") else ()
    cursor.expect("AS")
    return WithItem(name, columns, parenthesised(cursor), position=position)


def _limits(cursor: Cursor) -> tuple[int, int | None]:
    offset, fetch = 0, None
    while True:
        if cursor.accept("LIMIT"):
            if cursor.accept("ALL"):
                continue
            fetch = cursor.whole_number("the number of rows")
            if cursor.accept(","):
                offset, fetch = fetch, cursor.whole_number("the number of rows")
        elif cursor.accept("OFFSET"):
            offset = cursor.whole_number("the number of rows")
            if not cursor.accept("ROWS"):
                cursor.accept("ROW")
        elif cursor.accept("FETCH"):
            if not cursor.accept("FIRST"):
                cursor.expect("NEXT")
            fetch = 1 if cursor.at_any("ROW", "ROWS") else cursor.whole_number("the number of rows")
            if not cursor.accept("ROWS"):
                cursor.expect("ROW")
            cursor.expect("ONLY")
        else:
            return offset, fetch


def _union(cursor: Cursor) -> Body:
    position, left = cursor.here, _intersect(cursor)
    while cursor.at_any("UNION", "EXCEPT", "MINUS"):
        kind = cursor.advance().upper
        keep = _keeps_duplicates(cursor)
        right = _intersect(cursor)
        left = SetOperation("UNION" if kind == "UNION" else "EXCEPT", keep, left, right, position=position)
    return left


def _intersect(cursor: Cursor) -> Body:
    position, left = cursor.here, _term(cursor)
    while cursor.accept("INTERSECT"):
        keep = _keeps_duplicates(cursor)
        left = SetOperation("INTERSECT", keep, left, _term(cursor), position=position)
    return left


def _keeps_duplicates(cursor: Cursor) -> bool:
    keep = cursor.accept("ALL")
    if not keep:
        cursor.accept("DISTINCT")
    return keep


def _term(cursor: Cursor) -> Body:
    position = cursor.here
    if cursor.at("("):
        return parenthesised(cursor)
    if cursor.accept("VALUES"):
        return Values(cursor.listed(lambda: _values_row(cursor)), position=position)
    if cursor.accept("TABLE"):
        start = cursor.token.start
        parts = cursor.path("a table")
        return TableName(parts, span=(start, cursor.ahead(-1).end), position=position)
    if cursor.at("SELECT"):
        return _select(cursor)
    raise cursor.error("expected SELECT, VALUES or WITH")


def _values_row(cursor: Cursor) -> tuple[Expr, ...]:
    if cursor.at("ROW", "("):
        cursor.advance()
    if cursor.at("(") and not at_query(cursor):
        return cursor.parenthesised(lambda: grammar.expression(cursor))
    return (grammar.expression(cursor),)


def _select(cursor: Cursor) -> Select:
    position = cursor.here
    cursor.expect("SELECT")
    given = hints(cursor)
    if cursor.at("STREAM"):
        raise cursor.unsupported("SELECT STREAM", "Write SELECT.")
    distinct = cursor.accept("DISTINCT")
    if not distinct:
        cursor.accept("ALL")
    items = cursor.listed(lambda: _select_item(cursor))
    relation = relations.relations(cursor) if cursor.accept("FROM") else None
    where = grammar.expression(cursor) if cursor.accept("WHERE") else None
    group = _group_by(cursor) if cursor.at("GROUP") else None
    having = grammar.expression(cursor) if cursor.accept("HAVING") else None
    named = cursor.listed(lambda: _named_window(cursor)) if cursor.accept("WINDOW") else ()
    qualify = grammar.expression(cursor) if cursor.accept("QUALIFY") else None
    return Select(items, relation, where, group, having, qualify, distinct, named, given, position=position)


def _select_item(cursor: Cursor) -> SelectItem:
    position, expr = cursor.here, grammar.expression(cursor)
    return SelectItem(expr, relations.alias_name(cursor), position=position)


def _named_window(cursor: Cursor) -> tuple[str, WindowSpec]:
    name = cursor.identifier("a window")
    cursor.expect("AS")
    return name, windows.specification(cursor)


def _group_by(cursor: Cursor) -> tuple[Expr | GroupingSets, ...]:
    cursor.expect("GROUP", "BY")
    if cursor.at_any("ALL", "DISTINCT"):
        raise cursor.unsupported(f"GROUP BY {cursor.token.upper}", "Name the keys.")
    return cursor.listed(lambda: _group_item(cursor))


def _group_item(cursor: Cursor) -> Expr | GroupingSets:
    position = cursor.here
    if cursor.at("(", ")"):
        cursor.expect("(", ")")
        return GroupingSets(((),), position=position)
    sets = _grouping_sets(cursor)
    return grammar.expression(cursor) if sets is None else GroupingSets(sets, position=position)


def _grouping_sets(cursor: Cursor) -> tuple[tuple[Expr, ...], ...] | None:
    position = cursor.here
    if cursor.at("GROUPING", "SETS", "("):
        cursor.expect("GROUPING", "SETS")
        members = cursor.parenthesised(lambda: _grouping_sets(cursor) or (_grouping_set(cursor),))
        return tuple(each for member in members for each in member)
    if cursor.at("ROLLUP", "("):
        cursor.advance()
        keys = cursor.parenthesised(lambda: _grouping_set(cursor))
        return tuple(_flat(keys[:length]) for length in range(len(keys), -1, -1))
    if cursor.at("CUBE", "("):
        cursor.advance()
        keys = cursor.parenthesised(lambda: _grouping_set(cursor))
        if len(keys) > _MOST_CUBE:
            raise SqlError(f"CUBE over {len(keys)} keys makes 2^{len(keys)} sets", position=position)
        masks = range(2 ** len(keys) - 1, -1, -1)
        return tuple(_flat(tuple(k for i, k in enumerate(reversed(keys)) if mask >> i & 1)[::-1]) for mask in masks)
    return None


def _grouping_set(cursor: Cursor) -> tuple[Expr, ...]:
    if cursor.accept("(", ")"):
        return ()
    if cursor.at("(") and not at_query(cursor):
        return cursor.parenthesised(lambda: grammar.expression(cursor))
    return (grammar.expression(cursor),)


def _flat(keys: tuple[tuple[Expr, ...], ...]) -> tuple[Expr, ...]:
    return tuple(each for key in keys for each in key)
