"""SQL text to statements."""

from __future__ import annotations

from planner.grammar import statements as grammar
from planner.grammar.cursor import Cursor
from planner.grammar.lexer import Source
from planner.statements import Statement
from planner.syntax import Expr, Query


def parse(text: str) -> list[Statement]:
    """All statements of a script, in order; SqlError with its place in the script for anything else."""
    return grammar.script(Cursor(Source(text)))


def parse_query(text: str) -> Query:
    """One query, e.g. the stored text of a view."""
    from planner.grammar.query import query

    cursor = Cursor(Source(text))
    found = query(cursor)
    _at_end(cursor)
    return found


def parse_expression(text: str) -> Expr:
    """One expression."""
    from planner.grammar.expressions import expression

    cursor = Cursor(Source(text))
    found = expression(cursor)
    _at_end(cursor)
    return found


def _at_end(cursor: Cursor) -> None:
    cursor.accept(";")
    if cursor.index != len(cursor.tokens) - 1:
        raise cursor.error("expected the end of the text")
