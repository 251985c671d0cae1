"""SQL types as written in DDL and casts."""

from __future__ import annotations

from execnodes.core import types as t
from execnodes.core.errors import SqlError
from execnodes.core.types import Field, LogicalType, Root
from planner.grammar.cursor import Cursor
from planner.grammar.lexer import Kind

_PLAIN = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.TINYINT,
    "SMALLINT": t.SMALLINT,
    "INT": t.INT,
    "INTEGER": t.INT,
    "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT,
    "REAL": t.FLOAT,
    "DOUBLE": t.DOUBLE,
    "DATE": t.DATE,
    "STRING": t.STRING,
    "BYTES": t.BYTES,
    "NULL": t.NULL,
}
_SIZED = {"CHAR": Root.CHAR, "VARCHAR": Root.VARCHAR, "BINARY": Root.BINARY, "VARBINARY": Root.VARBINARY}
_YEAR_MONTH = ("YEAR", "MONTH", "QUARTER")
_MOST_FRACTION = 6


def parse_type(cursor: Cursor) -> LogicalType:
    """A type, with NOT NULL or NULL behind it if written."""
    result = _unsuffixed(cursor)
    while cursor.at_any("ARRAY", "MULTISET"):
        result = t.array(result) if cursor.advance().upper == "ARRAY" else t.multiset(result)
    if cursor.accept("NOT", "NULL"):
        return result.not_null()
    if not cursor.at("NULL", "ON"):
        cursor.accept("NULL")
    return result


def _unsuffixed(cursor: Cursor) -> LogicalType:
    token, position = cursor.token, cursor.here
    if token.kind is not Kind.WORD:
        raise cursor.error("expected a type")
    word = cursor.advance().upper
    if word in _PLAIN:
        if word == "DOUBLE":
            cursor.accept("PRECISION")
        return _PLAIN[word]
    if word == "CHARACTER":
        word = "VARCHAR" if cursor.accept("VARYING") else "CHAR"
    if word in _SIZED:
        length = _numbers(cursor, 1)
        if length and length[0] < 1:
            raise SqlError(f"{word}({length[0]}): a length is 1 or more", position=position)
        return LogicalType(_SIZED[word], length=length[0] if length else 1)
    if word in ("DECIMAL", "DEC", "NUMERIC"):
        given = _numbers(cursor, 2)
        try:
            return t.decimal(*given)
        except ValueError as bad:
            raise SqlError(str(bad), position=position) from bad
    if word == "TIME":
        return t.time(_fraction(cursor, 0))
    if word in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _timestamp(cursor, word)
    if word == "INTERVAL":
        return _interval(cursor)
    if word in ("ARRAY", "MULTISET"):
        element = _between(cursor)
        return t.array(element) if word == "ARRAY" else t.multiset(element)
    if word == "MAP":
        cursor.expect("<")
        key = parse_type(cursor)
        cursor.expect(",")
        value = parse_type(cursor)
        cursor.expect(">")
        return t.map_of(key, value)
    if word == "ROW":
        return _row(cursor)
    raise SqlError(
        f"unknown type {token.text}",
        position=position,
        hint="Types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), CHAR(n), VARCHAR(n), "
        "STRING, BINARY(n), VARBINARY(n), BYTES, DATE, TIME(p), TIMESTAMP(p), TIMESTAMP_LTZ(p), INTERVAL …, ARRAY<…>, "
        "MULTISET<…>, MAP<…, …>, ROW<name type, …>.",
    )


def _numbers(cursor: Cursor, most: int) -> tuple[int, ...]:
    if not cursor.accept("("):
        return ()
    found = cursor.listed(lambda: cursor.whole_number("a length or precision"))
    if len(found) > most:
        raise cursor.error(f"expected at most {most} number(s)")
    cursor.expect(")")
    return found


def _fraction(cursor: Cursor, default: int) -> int:
    position = cursor.here
    given = _numbers(cursor, 1)
    if given and given[0] > _MOST_FRACTION:
        raise SqlError(
            f"a precision of {given[0]} fractional digits is not supported",
            position=position,
            hint="Spark keeps microseconds: write a precision of 0 to 6.",
        )
    return given[0] if given else default


def _timestamp(cursor: Cursor, word: str) -> LogicalType:
    precision = _fraction(cursor, _MOST_FRACTION)
    if word == "TIMESTAMP_LTZ":
        return t.timestamp_ltz(precision)
    if cursor.accept("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    elif cursor.at("WITH", "LOCAL") or cursor.at("WITH", "TIME"):
        if cursor.at("WITH", "TIME"):
            raise cursor.unsupported("TIMESTAMP WITH TIME ZONE", "Write TIMESTAMP_LTZ(p).")
        cursor.accept("WITH", "LOCAL")
        cursor.expect("TIME", "ZONE")
        return t.timestamp_ltz(precision)
    return t.timestamp(precision)


def _interval(cursor: Cursor) -> LogicalType:
    first = cursor.identifier("a unit such as SECOND").upper()
    _numbers(cursor, 2)
    if cursor.accept("TO"):
        cursor.identifier("a unit such as SECOND")
        _numbers(cursor, 2)
    return t.INTERVAL_YEAR_MONTH if first.removesuffix("S") in _YEAR_MONTH else t.INTERVAL_DAY_TIME


def _between(cursor: Cursor) -> LogicalType:
    cursor.expect("<")
    inner = parse_type(cursor)
    cursor.expect(">")
    return inner


def _row(cursor: Cursor) -> LogicalType:
    if cursor.accept("<", ">") or cursor.accept("<>"):
        return t.row()
    closing = ")" if cursor.at("(") else ">"
    cursor.expect("(" if closing == ")" else "<")
    fields = cursor.listed(lambda: _field(cursor))
    cursor.expect(closing)
    return t.row(*fields)


def _field(cursor: Cursor) -> Field:
    found = Field(cursor.identifier("a field's name"), parse_type(cursor))
    if cursor.token.kind is Kind.TEXT:
        cursor.advance()
    return found
