"""Where in the SQL stands what can fail while a plan runs, for the error when it does.

A place takes no part in what an expression or a node is: those that differ in nothing else are equal. In Spark SQL it
is a short number (`mark`); the process that lowered the plan knows what the number stands for. Inside `one_lowering`
equal parts of a statement have one number, so that they stay equal texts, which Spark computes once. What fails in
Python workers says its place itself (`told`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from threading import Lock

LONGEST = 200
"""Characters of an expression's text."""
ROW = "concat('[row]' /* rk_row */)"
"""Text in Spark SQL of the row that failed. A source that knows where its rows are from puts that into its place (see
`row_text`); otherwise it stays and says nothing. Nothing that a user writes becomes a comment."""
_MARK = re.compile(r"\s*\[at (\d+|\{[0-9a-f]+\})\]\[row([^\]]*)\]\s*$")


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place in a script; equal to every other one, and to none at all."""

    statement: str
    """E.g. ``INSERT INTO shop.db.sales``; empty for a query of its own."""
    line: int
    """From 1; 0: the statement as a whole is all that is known."""
    column: int
    text: str = ""
    """The expression, shortened; empty for the statement itself."""

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Place)

    def __hash__(self) -> int:
        return hash(None)

    def __str__(self) -> str:
        parts = [self.statement, f"line {self.line}, column {self.column}" if self.line else ""]
        where = ", ".join(each for each in parts if each)
        return f"{where}: {self.text}" if self.text else where


_Key = tuple[str, int, int, str]

_statement: ContextVar[str] = ContextVar("statement", default="")
_node: ContextVar[Place | None] = ContextVar("node", default=None)
_first: ContextVar[dict[tuple[str, str], Place] | None] = ContextVar("first", default=None)
_numbers: dict[_Key, int] = {}
_places: list[Place] = []
_lock = Lock()


@contextmanager
def within(statement: str) -> Iterator[None]:
    """What is built meanwhile belongs to a statement; of nested ones the inner counts, e.g. a view's."""
    token = _statement.set(statement)
    try:
        yield
    finally:
        _statement.reset(token)


def place(line: int, column: int, text: str = "") -> Place:
    """A place in the statement that is being built."""
    return Place(_statement.get(), line, column, text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


@contextmanager
def one_lowering() -> Iterator[None]:
    """Equal texts of one statement that are lowered meanwhile have one place: the first of them."""
    token = _first.set({})
    try:
        yield
    finally:
        _first.reset(token)


@contextmanager
def of_node(found: Place | None) -> Iterator[None]:
    """What a node lowers meanwhile stands there, unless it has a place of its own."""
    token = _node.set(found)
    try:
        yield
    finally:
        _node.reset(token)


def node_place() -> Place | None:
    """The place of the node that is being lowered."""
    return _node.get()


def number(found: Place) -> int:
    """What stands for a place in this process: no two places have the same."""
    first = _first.get()
    if first is not None and len(found.text) < LONGEST:
        found = first.setdefault((found.statement, found.text), found)
    with _lock:
        known = _numbers.setdefault(astuple(found), len(_places))
        if known == len(_places):
            _places.append(found)
    return known


def mark(found: Place | None) -> str:
    """What a failure's message ends in, to be told by `explain`."""
    return "" if found is None else f" [at {number(found)}]"


def numbered(number: int) -> str:
    """What a message ends in, for workers that were given what `number` gave."""
    return f" [at {number}][row]"


def told(found: Place | None) -> str:
    """As `mark`, but it needs no table: for workers, which know the place itself."""
    return "" if found is None else f" [at {{{json.dumps(astuple(found)).encode().hex()}}}][row]"


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


def explain(message: str) -> tuple[str, Place | None, str]:
    """A message without its mark, the place that this stands for, and the origin of the row if it is known."""
    match = _MARK.search(message)
    if match is None:
        return message, None, ""
    return message[: match.start()], _meant(match[1]), match[2]


def _meant(text: str) -> Place | None:
    if text.startswith("{"):
        return Place(*json.loads(bytes.fromhex(text[1:-1])))
    at = int(text)
    return _places[at] if at < len(_places) else None
