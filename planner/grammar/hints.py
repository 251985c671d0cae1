"""Hints: ``/*+ OPTIONS('key' = 'value'), STATE_TTL('t' = '1d') */``."""

from __future__ import annotations

from planner.grammar.cursor import Cursor
from planner.grammar.lexer import Kind
from planner.syntax import Hint


def hints(cursor: Cursor) -> tuple[Hint, ...]:
    """All hints at this place; none if there is no ``/*+``."""
    found: list[Hint] = []
    while cursor.accept("/*+"):
        while not cursor.accept("*/"):
            found.append(_hint(cursor))
            cursor.accept(",")
    return tuple(found)


def _hint(cursor: Cursor) -> Hint:
    position, name = cursor.here, cursor.identifier("a hint").upper()
    options: tuple[tuple[str, str | None], ...] = ()
    if cursor.at("(", ")"):
        cursor.expect("(", ")")
    elif cursor.at("("):
        options = cursor.parenthesised(lambda: _option(cursor))
    return Hint(name, options, position=position)


def _option(cursor: Cursor) -> tuple[str, str | None]:
    if cursor.token.kind is Kind.TEXT:
        key = cursor.text("a key")
    else:
        key = ".".join(cursor.path("a key or a table"))
    return key, cursor.text("a value") if cursor.accept("=") else None
