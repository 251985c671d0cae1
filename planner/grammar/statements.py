"""One statement after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from execnodes.core.errors import SqlError
from planner import statements as s
from planner.grammar import expressions as grammar
from planner.grammar import query
from planner.grammar.create import create, function_body
from planner.grammar.cursor import Cursor
from planner.grammar.hints import hints
from planner.grammar.lexer import Kind
from planner.grammar.plans import compile_plan, drop_plan, execute, explain, stop
from planner.grammar.show import describe, show
from planner.syntax import Expr


def script(cursor: Cursor) -> list[s.Statement]:
    """All statements up to the end; semicolons between."""
    found: list[s.Statement] = []
    while True:
        while cursor.accept(";"):
            pass
        if cursor.ended:
            return found
        found.append(statement(cursor))
        if not cursor.ended and not cursor.at(";"):
            raise cursor.error("expected the end of the statement", "Put a semicolon between statements.")


def statement(cursor: Cursor) -> s.Statement:
    """The next statement, with its text and position."""
    start, position = cursor.token.start, cursor.here
    if query.at_query(cursor):
        found: s.Statement = s.QueryStatement(query.query(cursor))
    else:
        parse = _STARTS.get(cursor.token.upper) if cursor.token.kind is Kind.WORD else None
        if parse is None:
            raise SqlError(
                f"{cursor.shown()} does not begin a statement",
                position=position,
                hint=f"Known: {', '.join(BEGINNINGS)}.",
            )
        cursor.advance()
        found = parse(cursor)
    return replace(found, text=cursor.source.text[start : cursor.ahead(-1).end], position=position)


def insert(cursor: Cursor) -> s.Insert:
    """INSERT; the word is taken."""
    overwrite = cursor.accept("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    cursor.accept("TABLE")
    position = cursor.here
    target = cursor.path("a table")
    given = hints(cursor)
    partition: tuple[tuple[str, Expr], ...] = ()
    if cursor.accept("PARTITION"):
        partition = cursor.parenthesised(lambda: _partition_value(cursor))
    columns: tuple[str, ...] = ()
    if cursor.at("(") and not query.at_query(cursor):
        columns = cursor.parenthesised(lambda: cursor.identifier("a column"))
    body = query.query(cursor)
    conflict = _on_conflict(cursor)
    return s.Insert(target, body, columns, conflict, overwrite, partition, given, position)


def _partition_value(cursor: Cursor) -> tuple[str, Expr]:
    name = cursor.identifier("a partition column")
    cursor.expect("=")
    return name, grammar.expression(cursor)


def _on_conflict(cursor: Cursor) -> s.ConflictStrategy | None:
    if not cursor.accept("ON"):
        return None
    cursor.expect("CONFLICT", "DO")
    strategies: tuple[s.ConflictStrategy, ...] = get_args(s.ConflictStrategy)
    for strategy in strategies:
        if cursor.accept(strategy):
            return strategy
    raise cursor.error("expected DEDUPLICATE, NOTHING or ERROR behind ON CONFLICT DO")


def statement_set(cursor: Cursor) -> s.StatementSet:
    """``BEGIN INSERT …; INSERT …; END``; BEGIN is taken."""
    found: list[s.Insert] = []
    while True:
        while cursor.accept(";"):
            pass
        if cursor.accept("END"):
            break
        start, position = cursor.token.start, cursor.here
        if not cursor.accept("INSERT"):
            raise cursor.error("expected INSERT or END in the statement set")
        each = insert(cursor)
        found.append(replace(each, text=cursor.source.text[start : cursor.ahead(-1).end], position=position))
        if not cursor.at(";") and not cursor.at("END"):
            raise cursor.error("expected ; behind the INSERT")
    if not found:
        raise cursor.error("the statement set has no INSERT")
    return s.StatementSet(tuple(found))


def body(cursor: Cursor) -> s.Body:
    """What EXPLAIN and COMPILE PLAN take: INSERT, a statement set or a query."""
    start, position = cursor.token.start, cursor.here
    found: s.Body
    if cursor.accept("INSERT"):
        found = insert(cursor)
    elif cursor.accept("STATEMENT", "SET", "BEGIN"):
        found = statement_set(cursor)
    elif query.at_query(cursor):
        found = s.QueryStatement(query.query(cursor))
    else:
        raise cursor.error("expected INSERT, STATEMENT SET BEGIN or a query")
    return replace(found, text=cursor.source.text[start : cursor.ahead(-1).end], position=position)


def _drop(cursor: Cursor) -> s.Statement:
    if cursor.accept("PLAN"):
        return drop_plan(cursor)
    temporary = cursor.accept("TEMPORARY")
    system = temporary and cursor.accept("SYSTEM")
    for kind in get_args(s.ObjectKind):
        if cursor.accept(kind):
            break
    else:
        raise cursor.unsupported(
            f"DROP {cursor.shown()}", "Write DROP TABLE, VIEW, FUNCTION, CATALOG, DATABASE or PLAN."
        )
    if_exists = cursor.accept("IF", "EXISTS")
    path = cursor.path("a name")
    cascade = cursor.accept("CASCADE")
    cursor.accept("RESTRICT")
    return s.Drop(kind, path, temporary, system, if_exists, cascade)


def _alter(cursor: Cursor) -> s.Statement:
    temporary = cursor.accept("TEMPORARY")
    system = temporary and cursor.accept("SYSTEM")
    if temporary or cursor.at("FUNCTION"):
        cursor.expect("FUNCTION")
        exists = cursor.accept("IF", "EXISTS")
        return s.AlterFunction(cursor.path("a function"), *function_body(cursor), temporary, system, exists)
    view = cursor.accept("VIEW")
    if not view and not cursor.accept("TABLE"):
        raise cursor.unsupported(f"ALTER {cursor.shown()}", "Write ALTER TABLE, ALTER VIEW or ALTER FUNCTION.")
    if_exists = cursor.accept("IF", "EXISTS")
    path = cursor.path("a table")
    kind: Literal["TABLE", "VIEW"] = "VIEW" if view else "TABLE"
    if cursor.accept("RENAME", "TO"):
        return s.AlterTable(path, kind, rename_to=cursor.path("a table"), if_exists=if_exists)
    if not view and cursor.accept("SET"):
        return s.AlterTable(path, kind, set_options=cursor.options(), if_exists=if_exists)
    if not view and cursor.accept("RESET"):
        keys = cursor.parenthesised(lambda: cursor.text("an option's key"))
        return s.AlterTable(path, kind, reset_options=keys, if_exists=if_exists)
    raise cursor.unsupported(
        f"ALTER {kind} … {cursor.shown()}", "Supported: RENAME TO, SET ('key' = 'value'), RESET ('key'); else drop it."
    )


def _use(cursor: Cursor) -> s.Statement:
    if cursor.at("MODULES"):
        raise cursor.unsupported("USE MODULES", "All system functions are always there.")
    if cursor.accept("CATALOG"):
        return s.Use("CATALOG", (cursor.identifier("a catalog"),))
    return s.Use("DATABASE", cursor.path("a database"))


def _set(cursor: Cursor) -> s.Statement:
    if cursor.token.kind is not Kind.TEXT:
        if cursor.at(";") or cursor.token.kind is Kind.END:
            return s.SetOption()
        raise cursor.error("expected an option's key in single quotes", "Write SET 'key' = 'value'.")
    key = cursor.text("an option's key")
    cursor.expect("=")
    return s.SetOption(key, cursor.text("an option's value"))


def _reset(cursor: Cursor) -> s.Statement:
    return s.ResetOption(cursor.advance().text) if cursor.token.kind is Kind.TEXT else s.ResetOption()


def _begin(cursor: Cursor) -> s.Statement:
    cursor.expect("STATEMENT", "SET")
    cursor.accept(";")
    return statement_set(cursor)


def _load(cursor: Cursor) -> s.Statement:
    cursor.expect("MODULE")
    name = cursor.identifier("a module")
    return s.LoadModule(name, cursor.options() if cursor.accept("WITH") else ())


def _unload(cursor: Cursor) -> s.Statement:
    cursor.expect("MODULE")
    return s.UnloadModule(cursor.identifier("a module"))


def _add(cursor: Cursor) -> s.Statement:
    cursor.expect("JAR")
    return s.AddJar(cursor.text("a file"))


_STARTS: dict[str, Callable[[Cursor], s.Statement]] = {
    "CREATE": create,
    "DROP": _drop,
    "ALTER": _alter,
    "USE": _use,
    "SHOW": show,
    "DESCRIBE": describe,
    "DESC": describe,
    "EXPLAIN": explain,
    "SET": _set,
    "RESET": _reset,
    "INSERT": insert,
    "EXECUTE": execute,
    "BEGIN": _begin,
    "COMPILE": compile_plan,
    "STOP": stop,
    "LOAD": _load,
    "UNLOAD": _unload,
    "ADD": _add,
}
BEGINNINGS = ("SELECT", "WITH", "VALUES", *sorted(_STARTS))
"""The words a statement may begin with."""
