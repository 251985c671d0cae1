"""FROM: tables, subqueries, joins, table functions, UNNEST and their aliases."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import Position
from planner.grammar import expressions as grammar
from planner.grammar import query
from planner.grammar.cursor import RESERVED, Cursor
from planner.grammar.hints import hints
from planner.grammar.lexer import Kind
from planner.syntax import (
    Alias,
    Argument,
    Derived,
    Descriptor,
    Join,
    JoinKind,
    Name,
    Relation,
    TableArgument,
    TableFunction,
    TableName,
    Unnest,
)


def relations(cursor: Cursor) -> Relation:
    """Everything behind FROM; a comma is a cross join."""
    position, left = cursor.here, _joined(cursor)
    while cursor.accept(","):
        left = Join(left, _joined(cursor), "CROSS", position=position)
    return left


def _joined(cursor: Cursor) -> Relation:
    left = _relation(cursor)
    while True:
        position = cursor.here
        natural = cursor.accept("NATURAL")
        kind = _join_kind(cursor)
        if kind is None:
            if natural:
                raise cursor.error("expected JOIN behind NATURAL")
            return left
        right = _relation(cursor)
        join = Join(left, right, kind, natural=natural, position=position)
        if cursor.accept("ON"):
            join = replace(join, condition=grammar.expression(cursor))
        elif cursor.accept("USING"):
            join = replace(join, using=cursor.parenthesised(lambda: cursor.identifier("a column")))
        elif not natural and kind != "CROSS" and not isinstance(right, Unnest):
            raise cursor.error("expected ON or USING behind a join", "A join without condition is CROSS JOIN.")
        left = join


def _join_kind(cursor: Cursor) -> JoinKind | None:
    if cursor.accept("JOIN") or cursor.accept("INNER", "JOIN"):
        return "INNER"
    if cursor.accept("CROSS", "JOIN"):
        return "CROSS"
    for kind in ("LEFT", "RIGHT", "FULL"):
        if cursor.at(kind) and cursor.ahead(1).upper in ("JOIN", "OUTER", "SEMI", "ANTI"):
            cursor.advance()
            if cursor.at_any("SEMI", "ANTI"):
                raise cursor.unsupported(f"{kind} {cursor.token.upper} JOIN", "Write [NOT] EXISTS (SELECT …).")
            cursor.accept("OUTER")
            cursor.expect("JOIN")
            return "LEFT" if kind == "LEFT" else "RIGHT" if kind == "RIGHT" else "FULL"
    if cursor.at_any("SEMI", "ANTI") and cursor.ahead(1).upper == "JOIN":
        raise cursor.unsupported(f"{cursor.token.upper} JOIN", "Write [NOT] EXISTS (SELECT …).")
    return None


def _relation(cursor: Cursor) -> Relation:
    position = cursor.here
    lateral = cursor.accept("LATERAL")
    if cursor.at("UNNEST", "("):
        return _unnest(cursor, position)
    if cursor.at("TABLE", "("):
        cursor.expect("TABLE", "(")
        found = table_function(cursor)
        if lateral:
            raise cursor.unsupported(f"LATERAL TABLE({found.name}(…))", "Use UNNEST for collections.", position)
        cursor.expect(")")
        return _aliased(cursor, found)
    if cursor.at("("):
        return _parenthesised(cursor, position, lateral)
    if lateral:
        raise cursor.error("expected UNNEST, TABLE or ( behind LATERAL")
    if cursor.ahead(1).upper == "(" and cursor.token.kind is Kind.WORD and cursor.token.upper not in RESERVED:
        return _aliased(cursor, table_function(cursor))
    table = table_name(cursor)
    if cursor.at("FOR", "SYSTEM_TIME"):
        raise cursor.unsupported("a temporal join (FOR SYSTEM_TIME AS OF)", "Write a regular or an interval join.")
    return _aliased(cursor, table)


def table_name(cursor: Cursor) -> TableName:
    """A table with its hints, no alias."""
    position, start = cursor.here, cursor.token.start
    parts = cursor.path("a table")
    end = cursor.ahead(-1).end
    return TableName(parts, None, hints(cursor), (start, end), position=position)


def _parenthesised(cursor: Cursor, position: Position, lateral: bool) -> Relation:
    if query.at_query(cursor, 1):
        if lateral:
            raise cursor.unsupported("LATERAL (SELECT …)", "Write a join, or ROW_NUMBER() for a Top-N.", position)
        return _aliased(cursor, Derived(query.parenthesised(cursor), position=position))
    cursor.expect("(")
    inner = relations(cursor)
    cursor.expect(")")
    if cursor.at("AS"):
        raise cursor.unsupported("an alias of a join in parentheses", "Write (SELECT * FROM …) AS alias.")
    return inner


def _aliased(cursor: Cursor, relation: TableName | Derived | TableFunction) -> Relation:
    if cursor.at_any("TABLESAMPLE", "MATCH_RECOGNIZE", "PIVOT", "UNPIVOT"):
        raise cursor.unsupported(cursor.token.upper, "Write it with GROUP BY, OVER or joins.")
    found = alias(cursor)
    if cursor.at_any("MATCH_RECOGNIZE", "TABLESAMPLE"):
        raise cursor.unsupported(cursor.token.upper, "Write it with GROUP BY, OVER or joins.")
    return replace(relation, alias=found) if found else relation


def alias_name(cursor: Cursor) -> str | None:
    """``[AS] name``."""
    if cursor.accept("AS"):
        return cursor.identifier("an alias")
    token = cursor.token
    if token.kind is Kind.NAME or (token.kind is Kind.WORD and token.upper not in RESERVED):
        return cursor.identifier("an alias")
    return None


def alias(cursor: Cursor) -> Alias | None:
    """``[AS] name [(column, …)]``."""
    position, name = cursor.here, alias_name(cursor)
    if name is None:
        return None
    columns = cursor.parenthesised(lambda: cursor.identifier("a column")) if cursor.at("(") else ()
    return Alias(name, columns, position=position)


def _unnest(cursor: Cursor, position: Position) -> Unnest:
    cursor.expect("UNNEST", "(")
    collection = grammar.expression(cursor)
    cursor.expect(")")
    ordinality = cursor.accept("WITH", "ORDINALITY")
    return Unnest(collection, ordinality, alias(cursor), position=position)


def table_function(cursor: Cursor) -> TableFunction:
    """``f(argument, …)``."""
    position, name = cursor.here, ".".join(cursor.path("a table function"))
    cursor.expect("(")
    args = () if cursor.at(")") else cursor.listed(lambda: _argument(cursor))
    cursor.expect(")")
    return TableFunction(name, args, position=position)


def _argument(cursor: Cursor) -> Argument:
    position, name = cursor.here, None
    if cursor.ahead(1).upper == "=>":
        name = cursor.advance().text.upper()
        cursor.expect("=>")
    if cursor.at("TABLE"):
        return Argument(_table_argument(cursor), name, position=position)
    if cursor.at("DESCRIPTOR", "("):
        cursor.advance()
        columns = cursor.parenthesised(lambda: _column(cursor))
        return Argument(Descriptor(columns, position=position), name, position=position)
    if cursor.at("(") and query.at_query(cursor, 1):
        inner = Derived(query.parenthesised(cursor), position=position)
        return Argument(_partitioned(cursor, inner, position), name, position=position)
    return Argument(grammar.expression(cursor), name, position=position)


def _column(cursor: Cursor) -> Name:
    position = cursor.here
    return Name((cursor.identifier("a column"),), position=position)


def _table_argument(cursor: Cursor) -> TableArgument:
    position = cursor.here
    cursor.expect("TABLE")
    if cursor.at("("):
        return _partitioned(cursor, Derived(query.parenthesised(cursor), position=position), position)
    return _partitioned(cursor, table_name(cursor), position)


def _partitioned(cursor: Cursor, relation: TableName | Derived, position: Position) -> TableArgument:
    if not cursor.accept("PARTITION"):
        return TableArgument(relation, position=position)
    cursor.expect("BY")
    if cursor.at("("):
        return TableArgument(relation, cursor.parenthesised(lambda: grammar.expression(cursor)), position=position)
    keys = [grammar.expression(cursor)]
    while cursor.at(",") and not _next_argument(cursor):
        cursor.advance()
        keys.append(grammar.expression(cursor))
    return TableArgument(relation, tuple(keys), position=position)


def _next_argument(cursor: Cursor) -> bool:
    return cursor.ahead(2).upper == "=>" or (cursor.ahead(1).upper == "DESCRIPTOR" and cursor.ahead(2).upper == "(")
