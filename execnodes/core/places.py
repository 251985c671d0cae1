"""Where in the SQL an expression stands that can fail, for the error when it does.

A place takes no part in what an expression is: expressions that differ in nothing else are equal. In Spark SQL it is a
short number (`mark`), so that equal parts of a statement stay equal texts, which Spark computes once; the process that
lowered the plan knows what the number stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LONGEST = 200
"""Characters of an expression's text."""
ROW = "concat('[r', 'ow]')"
"""Text in Spark SQL of the row that failed. A source that knows where its rows are from puts that into its place (see
`row_text`); otherwise it stays and says nothing. No constant of a user reads so: its quotes are escaped."""
_MARK = re.compile(r"\s*\[at (\d+)\]\[row([^\]]*)\]\s*$")


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place in a script; equal to every other one, and to none at all."""

    statement: str
    """E.g. ``INSERT INTO shop.db.sales``; empty for a query of its own."""
    line: int
    column: int
    text: str
    """The expression, shortened."""

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Place)

    def __hash__(self) -> int:
        return hash(None)

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}: {self.text}"
        return f"{self.statement}, {where}" if self.statement else where


_statement: ContextVar[str] = ContextVar("statement", default="")
_numbers: dict[tuple[str, str, int, int], int] = {}
_places: list[Place] = []


@contextmanager
def within(statement: str) -> Iterator[None]:
    """What is built meanwhile belongs to a statement; of nested ones the inner counts, e.g. a view's."""
    token = _statement.set(statement)
    try:
        yield
    finally:
        _statement.reset(token)


def place(line: int, column: int, text: str) -> Place:
    """A place in the statement that is being built."""
    return Place(_statement.get(), line, column, text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def mark(found: Place | None) -> str:
    """What a failure's message ends in, to be told by `explain`; equal for equal texts of one statement."""
    if found is None:
        return ""
    exact = (0, 0) if len(found.text) < LONGEST else (found.line, found.column)
    number = _numbers.setdefault((found.statement, found.text, *exact), len(_places))
    # A statement that comes again, edited, has its expressions elsewhere: what was lowered last is what fails.
    _places[number : number + 1] = [found]
    return f" [at {number}]"


def row_text(origin: str) -> str:
    """What to put for `ROW` where `origin`, a text in Spark SQL, says which row it is, in letters and digits."""
    return f"concat('[row', {origin}, ']')"


_row: ContextVar[str] = ContextVar("row", default=ROW)


@contextmanager
def over_rows_from(origin: str) -> Iterator[None]:
    """What is lowered meanwhile reads rows of which `origin` says where they are from, as for `row_text`."""
    token = _row.set(row_text(origin))
    try:
        yield
    finally:
        _row.reset(token)


def row() -> str:
    """Text in Spark SQL of the row that failed."""
    return _row.get()


def explain(message: str) -> tuple[str, str | None, str]:
    """A message without its mark, the place that this stands for, and the origin of the row if it is known."""
    match = _MARK.search(message)
    if match is None:
        return message, None, ""
    number = int(match[1])
    return message[: match.start()], str(_places[number]) if number < len(_places) else None, match[2]
