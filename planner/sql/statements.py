"""One statement after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from execnodes.core.errors import SqlError
from planner import statements as s
from planner.sql.create import create, function_body
from planner.sql.foreign import begins
from planner.sql.inserts import insert, statement_set
from planner.sql.plans import compile_plan, drop_plan, execute, explain, stop
from planner.sql.script import Script
from planner.sql.show import describe, show
from planner.sql.words import BEGINNINGS


def statements(script: Script) -> list[s.Statement]:
    """All statements up to the end; semicolons between."""
    found: list[s.Statement] = []
    while True:
        while script.accept(";"):
            pass
        if script.ended:
            return found
        found.append(statement(script))
        if not script.ended and not script.at(";"):
            raise script.error("expected the end of the statement", "Put a semicolon between statements.")


def statement(script: Script) -> s.Statement:
    """The next statement, with its text and position."""
    start, position = script.offset, script.here
    if script.at_query():
        found: s.Statement = s.QueryStatement(script.query())
    else:
        parse = _STARTS.get(script.token.text.upper()) if script.at_word() else None
        if parse is None:
            raise SqlError(
                f"{script.shown()} does not begin a statement",
                position=position,
                hint=begins(script.shown(), BEGINNINGS),
            )
        script.take()
        found = parse(script)
    return replace(found, text=script.source.text[start : script.end], position=position)


def _drop(script: Script) -> s.Statement:
    if script.accept("PLAN"):
        return drop_plan(script)
    temporary = script.accept("TEMPORARY")
    system = temporary and script.accept("SYSTEM")
    for kind in get_args(s.ObjectKind):
        if script.accept(kind):
            break
    else:
        raise script.unsupported(
            f"DROP {script.shown()}", "Write DROP TABLE, VIEW, FUNCTION, CATALOG, DATABASE or PLAN."
        )
    if_exists = script.accept("IF", "EXISTS")
    path = script.path("a name")
    cascade = script.accept("CASCADE")
    script.accept("RESTRICT")
    return s.Drop(kind, path, temporary, system, if_exists, cascade)


def _alter(script: Script) -> s.Statement:
    temporary = script.accept("TEMPORARY")
    system = temporary and script.accept("SYSTEM")
    if temporary or script.at("FUNCTION"):
        script.expect("FUNCTION")
        exists = script.accept("IF", "EXISTS")
        return s.AlterFunction(script.path("a function"), *function_body(script), temporary, system, exists)
    view = script.accept("VIEW")
    if not view and not script.accept("TABLE"):
        raise script.unsupported(f"ALTER {script.shown()}", "Write ALTER TABLE, ALTER VIEW or ALTER FUNCTION.")
    if_exists = script.accept("IF", "EXISTS")
    path = script.path("a table")
    kind: Literal["TABLE", "VIEW"] = "VIEW" if view else "TABLE"
    if script.accept("RENAME", "TO"):
        return s.AlterTable(path, kind, rename_to=script.path("a table"), if_exists=if_exists)
    if not view and script.accept("SET"):
        return s.AlterTable(path, kind, set_options=script.options(), if_exists=if_exists)
    if not view and script.accept("RESET"):
        keys = script.parenthesised(lambda: script.text("an option's key"))
        return s.AlterTable(path, kind, reset_options=keys, if_exists=if_exists)
    raise script.unsupported(
        f"ALTER {kind} … {script.shown()}", "Supported: RENAME TO, SET ('key' = 'value'), RESET ('key'); else drop it."
    )


def _use(script: Script) -> s.Statement:
    if script.at("MODULES"):
        raise script.unsupported("USE MODULES", "All system functions are always there.")
    if script.accept("CATALOG"):
        return s.Use("CATALOG", (script.identifier("a catalog"),))
    return s.Use("DATABASE", script.path("a database"))


def _set(script: Script) -> s.Statement:
    if not script.at_text():
        if script.at(";") or script.ended:
            return s.SetOption()
        raise script.error("expected an option's key in single quotes", "Write SET 'key' = 'value'.")
    key = script.text("an option's key")
    script.expect("=")
    return s.SetOption(key, script.text("an option's value"))


def _reset(script: Script) -> s.Statement:
    return s.ResetOption(script.take().text) if script.at_text() else s.ResetOption()


def _begin(script: Script) -> s.Statement:
    script.expect("STATEMENT", "SET")
    script.accept(";")
    return statement_set(script)


def _load(script: Script) -> s.Statement:
    script.expect("MODULE")
    name = script.identifier("a module")
    return s.LoadModule(name, script.options() if script.accept("WITH") else ())


def _unload(script: Script) -> s.Statement:
    script.expect("MODULE")
    return s.UnloadModule(script.identifier("a module"))


def _add(script: Script) -> s.Statement:
    script.expect("JAR")
    return s.AddJar(script.text("a file"))


_STARTS: dict[str, Callable[[Script], s.Statement]] = {
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
