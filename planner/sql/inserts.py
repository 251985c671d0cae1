"""INSERT, statement sets, and what EXPLAIN and COMPILE PLAN take."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from planner import statements as s
from planner.sql.script import Script
from planner.syntax import Expr


def insert(script: Script) -> s.Insert:
    """INSERT; the word is taken."""
    overwrite = script.accept("OVERWRITE")
    if not overwrite:
        script.expect("INTO")
    script.accept("TABLE")
    position = script.here
    target = script.path("a table")
    given = script.hints()
    partition: tuple[tuple[str, Expr], ...] = ()
    if script.accept("PARTITION"):
        partition = script.parenthesised(lambda: _partition_value(script))
    columns: tuple[str, ...] = ()
    if script.at("(") and not script.at_query():
        columns = script.parenthesised(lambda: script.identifier("a column"))
    body = script.query()
    conflict = _on_conflict(script)
    return s.Insert(target, body, columns, conflict, overwrite, partition, given, position)


def _partition_value(script: Script) -> tuple[str, Expr]:
    name = script.identifier("a partition column")
    script.expect("=")
    return name, script.expr()


def _on_conflict(script: Script) -> s.ConflictStrategy | None:
    if not script.accept("ON"):
        return None
    script.expect("CONFLICT", "DO")
    strategies: tuple[s.ConflictStrategy, ...] = get_args(s.ConflictStrategy)
    for strategy in strategies:
        if script.accept(strategy):
            return strategy
    raise script.error("expected DEDUPLICATE, NOTHING or ERROR behind ON CONFLICT DO")


def statement_set(script: Script) -> s.StatementSet:
    """``BEGIN INSERT …; INSERT …; END``; BEGIN is taken."""
    found: list[s.Insert] = []
    while True:
        while script.accept(";"):
            pass
        if script.accept("END"):
            break
        start, position = script.offset, script.here
        if not script.accept("INSERT"):
            raise script.error("expected INSERT or END in the statement set")
        each = insert(script)
        found.append(replace(each, text=script.source.text[start : script.end], position=position))
        if not script.at(";") and not script.at("END"):
            raise script.error("expected ; behind the INSERT")
    if not found:
        raise script.error("the statement set has no INSERT")
    return s.StatementSet(tuple(found))


def body(script: Script) -> s.Body:
    """What EXPLAIN and COMPILE PLAN take: INSERT, a statement set or a query."""
    start, position = script.offset, script.here
    found: s.Body
    if script.accept("INSERT"):
        found = insert(script)
    elif script.accept("STATEMENT", "SET", "BEGIN"):
        found = statement_set(script)
    elif script.at_query():
        found = s.QueryStatement(script.query())
    else:
        raise script.error("expected INSERT, STATEMENT SET BEGIN or a query")
    return replace(found, text=script.source.text[start : script.end], position=position)
