"""SQL text to statements. The parser, and sqlglot with it, is imported when there is text to parse: plans need none."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from execnodes.core.recursion import room
from planner.statements import Statement
from planner.syntax import Expr, Query

if TYPE_CHECKING:
    from planner.sql.script import Script

T = TypeVar("T")


def parse(text: str) -> list[Statement]:
    """All statements of a script, in order; SqlError with its place in the script for anything else."""
    with _collecting_no_garbage():
        from planner.sql.statements import statements

    return _read(text, statements)


def parse_query(text: str) -> Query:
    """One query, e.g. the stored text of a view."""
    return _read(text, lambda script: _whole(script, script.query()))


def parse_expression(text: str) -> Expr:
    """One expression, e.g. the stored text of a computed column."""
    return _read(text, lambda script: _whole(script, script.expr()))


def words(text: str) -> list[str]:
    """The keywords, names and marks of a script in upper case; "" for what stands in quotes."""
    from planner.sql.dialect import words

    return words(text)


def _read(text: str, read: Callable[[Script], T]) -> T:
    from planner.sql.cursor import too_deep
    from planner.sql.dialect import script_of

    with _collecting_no_garbage():
        script = script_of(text)
        with room(too_deep):
            return read(script)


def _whole(script: Script, found: T) -> T:
    script.accept(";")
    if not script.ended:
        raise script.error("expected the end of the text")
    return found


@contextmanager
def _collecting_no_garbage() -> Iterator[None]:
    """Sqlglot makes many objects, and none of them is garbage before the text is read: looking for it takes a third."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
