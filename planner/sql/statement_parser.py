"""One statement after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from execnodes.core.errors import SqlError
from planner import statements as s
from planner.sql.alter import alter
from planner.sql.create import create
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
            begins_one = script.at_any(*BEGINNINGS)
            hint = "Put a semicolon between statements." if begins_one else None
            raise script.error("expected the end of the statement", hint)


def statement(script: Script) -> s.Statement:
    """The next statement, with its text and position."""
    start, position = script.offset, script.here
    if script.at_query():
        found: s.Statement = s.QueryStatement(script.query())
    else:
        parse: Callable[[Script], s.Statement] | None = (
            _STARTS.get(script.token.text.upper()) if script.at_word() else None
        )
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


def _use(script: Script) -> s.Statement:
    if script.accept("MODULES"):
        return s.UseModules(script.listed(lambda: script.identifier("a module")))
    if script.accept("CATALOG"):
        return s.Use("CATALOG", (script.identifier("a catalog"),))
    return s.Use("DATABASE", script.path("a database"))


def _set(script: Script) -> s.Statement:
    if not script.at_text():
        if script.at(";") or script.ended:
            return s.SetOption()
        raise script.error("expected an option's key and a value", "Write SET 'key' = 'value'.")
    key = script.text("an option's key")
    script.expect("=")
    return s.SetOption(key, script.text("an option's value"))


def _reset(script: Script) -> s.Statement:
    return s.ResetOption(script.take().text) if script.at_text() else s.ResetOption()


def _begin(script: Script) -> s.Statement:
    script.expect("STATEMENT", "SET")
    script.accept(";")
    return s.BeginStatementSet() if script.ended else statement_set(script)


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
    "ALTER": alter,
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
    "END": lambda _: s.EndStatementSet(),
    "COMPILE": compile_plan,
    "STOP": stop,
    "LOAD": _load,
    "UNLOAD": _unload,
    "ADD": _add,
}
