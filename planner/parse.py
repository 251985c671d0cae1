"""SQL text to statements. The parser, and sqlglot with it, is imported when there is text to parse: plans need none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from execnodes.core.garbage import no_collection
from execnodes.core.recursion import room
from planner.statements import Statement
from planner.syntax import Expr, Query

if TYPE_CHECKING:
    from planner.sql.script import Script

T = TypeVar("T")


def parse(text: str) -> list[Statement]:
    """All statements of a script, in order; SqlError with its place in the script for anything else."""
    with no_collection():
        from planner.sql.statement_parser import statements

    return _read(text, statements)


def parse_query(text: str) -> Query:
    """One query, e.g. the stored text of a view."""
    return _read(text, lambda script: _whole(script, script.query()), is_stored=True)


def parse_expression(text: str) -> Expr:
    """One expression, e.g. the stored text of a computed column."""
    return _read(text, lambda script: _whole(script, script.expr()), is_stored=True)


def words(text: str) -> list[str]:
    """The keywords, names and marks of a script in upper case; "" for what stands in quotes."""
    from planner.sql.dialect import words

    return words(text)


def _read(text: str, read: Callable[[Script], T], *, is_stored: bool = False) -> T:
    from planner.sql.cursor import too_deep
    from planner.sql.dialect import script_of

    with no_collection():
        script = script_of(text, is_stored=is_stored)
        with room(too_deep):
            return read(script)


def _whole(script: Script, found: T) -> T:
    script.accept(";")
    if not script.ended:
        raise script.error("expected the end of the text")
    return found
