"""SQL text to statements. The parser, and sqlglot with it, is imported when there is text to parse: plans need none."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from planner.statements import Statement
from planner.syntax import Expr, Query

if TYPE_CHECKING:
    from planner.sql.script import Script

T = TypeVar("T")

_SHALLOW, _FRAMES = 20, 40
"""Levels of nesting that fit into Python's stack as it is; frames that a level takes at most."""


def parse(text: str) -> list[Statement]:
    """All statements of a script, in order; SqlError with its place in the script for anything else."""
    with _collecting_no_garbage():
        from planner.sql.statements import statements

    return _read(text, statements)


def parse_query(text: str) -> Query:
    """One query, e.g. the stored text of a view."""
    return _read(text, lambda script: _whole(script, script.query()))


def parse_expression(text: str) -> Expr:
    """One expression."""
    return _read(text, lambda script: _whole(script, script.expr()))


def words(text: str) -> list[str]:
    """The keywords, names and marks of a script in upper case; "" for what stands in quotes."""
    from planner.sql.dialect import words

    return words(text)


def _read(text: str, read: Callable[[Script], T]) -> T:
    from planner.sql.dialect import script_of

    with _collecting_no_garbage():
        script = script_of(text)
        with _room_for(script.depth):
            return read(script)


def _whole(script: Script, found: T) -> T:
    script.accept(";")
    if not script.ended:
        raise script.error("expected the end of the text")
    return found


@contextmanager
def _room_for(depth: int) -> Iterator[None]:
    """The parser recurses for each level of nesting; Python's own limit is for mistakes, the parser has a lower one."""
    before = sys.getrecursionlimit()
    if depth > _SHALLOW:
        sys.setrecursionlimit(before + depth * _FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


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
