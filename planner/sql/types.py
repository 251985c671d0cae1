"""SQL types as written in DDL and casts."""

from __future__ import annotations

from difflib import get_close_matches

from execnodes.core import types as t
from execnodes.core.errors import SqlError
from execnodes.core.time_precision import MICROSECONDS, exceeds_microseconds
from execnodes.core.types import Field, LogicalType
from planner.sql import nodes
from planner.sql.cursor import Cursor
from planner.sql.literals import unit
from planner.sql.words import TYPES

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
_VARYING = {
    "CHAR": ("CHAR", "VARCHAR"), "CHARACTER": ("CHAR", "VARCHAR"), "BINARY": ("BINARY", "VARBINARY"),
}  # fmt: skip
"""What a word stands for alone, and in front of VARYING."""
_YEAR_MONTH = ("YEAR", "MONTH", "QUARTER")
_MOST_FRACTION = 9
_MOST_FRACTION_OF_TIME = 3
"""A TIME of more digits is one of milliseconds, as in Flink."""
_KNOWN = (
    "Types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), CHAR(n), VARCHAR(n), "
    "STRING, BINARY(n), VARBINARY(n), BYTES, DATE, TIME(p), TIMESTAMP(p), TIMESTAMP_LTZ(p), INTERVAL …, ARRAY<…>, "
    "MULTISET<…>, MAP<…, …>, ROW<name type, …>."
)


_FOREIGN = {
    **dict.fromkeys(("TEXT", "VARCHAR2", "NVARCHAR", "CLOB", "JSON", "JSONB", "UUID", "ENUM"), "STRING"),
    **dict.fromkeys(("DATETIME", "TIMESTAMP_NTZ"), "TIMESTAMP(3)"),
    **dict.fromkeys(("TIMESTAMPTZ",), "TIMESTAMP_LTZ(3)"),
    **dict.fromkeys(("LONG", "INT8", "INT64", "UINT64", "SERIAL"), "BIGINT"),
    **dict.fromkeys(("SHORT", "INT2", "INT16"), "SMALLINT"),
    **dict.fromkeys(("INT4", "INT32", "UINT32"), "INT"),
    **dict.fromkeys(("BYTE", "INT1"), "TINYINT"),
    **dict.fromkeys(("FLOAT8", "FLOAT64"), "DOUBLE"),
    **dict.fromkeys(("FLOAT4", "FLOAT32"), "FLOAT"),
    **dict.fromkeys(("BLOB", "BYTEA"), "BYTES"),
    **dict.fromkeys(("NUMBER", "MONEY", "BIGDECIMAL"), "DECIMAL(p, s)"),
    **dict.fromkeys(("BOOL", "BIT"), "BOOLEAN"),
    **dict.fromkeys(("STRUCT", "RECORD", "OBJECT"), "ROW<name type, …>"),
    **dict.fromkeys(("LIST",), "ARRAY<…>"),
}
"""Types of other systems, and Flink's."""


def _instead(word: str) -> str:
    if word in _FOREIGN:
        return f"Write {_FOREIGN[word]}."
    near = get_close_matches(word, TYPES, 1, 0.75)
    return f"{f'Did you mean {near[0]}? ' if near else ''}{_KNOWN}"


class Types(Cursor):
    """The part of the parser that reads types."""

    _nested = 0

    def type_node(self) -> nodes.Type:
        """As `logical_type`, in the form in which trees hold types."""
        token = self.token
        type_ = self.logical_type()
        if exceeds_microseconds(type_):
            raise SqlError(
                f"{type_}: a precision of more than 6 fractional digits is not supported",
                position=self.source.position(token.start),
                hint="Spark keeps microseconds: write a precision of 0 to 6.",
            )
        return self.expression(nodes.Type(this=type_), token)

    def logical_type(self) -> LogicalType:
        """A type, with NOT NULL or NULL behind it if written."""
        self._nested = self.deeper(self._nested)
        result = self._unsuffixed()
        self._nested -= 1
        depth = self._nested
        while self.at_any("ARRAY", "MULTISET"):
            depth = self.deeper(depth)
            result = t.array(result) if self.take().text.upper() == "ARRAY" else t.multiset(result)
        if self.accept("NOT", "NULL"):
            return result.not_null()
        if not self.at("NULL", "ON"):
            self.accept("NULL")
        return result

    def _unsuffixed(self) -> LogicalType:
        token, position = self.token, self.here
        if not self.at_word():
            raise self.error("expected a type")
        word = self.take().text.upper()
        if word in _PLAIN:
            if word == "DOUBLE":
                self.accept("PRECISION")
            return _PLAIN[word]
        if word in _VARYING:
            fixed, varying = _VARYING[word]
            word = varying if self.accept("VARYING") else fixed
        if word in t.SIZED:
            length = self._numbers(1)
            if length and not 1 <= length[0] <= t.MAX_LENGTH:
                raise SqlError(f"{word}({length[0]}): a length is 1 to {t.MAX_LENGTH}", position=position)
            return t.sized(t.SIZED[word], *length)
        if word in ("DECIMAL", "DEC", "NUMERIC"):
            given = self._numbers(2)
            try:
                return t.decimal(*given)
            except ValueError as bad:
                raise SqlError(str(bad), position=position) from bad
        if word == "TIME":
            precision = self._fraction(0)
            if self.accept("WITHOUT"):
                self.expect("TIME", "ZONE")
            return t.time(min(precision, _MOST_FRACTION_OF_TIME))
        if word in ("TIMESTAMP", "TIMESTAMP_LTZ"):
            return self._timestamp_type(word)
        if word == "INTERVAL":
            return self._interval_type()
        if word in ("ARRAY", "MULTISET"):
            element = self._in_angles()
            return t.array(element) if word == "ARRAY" else t.multiset(element)
        if word == "MAP":
            self.expect("<")
            key = self.logical_type()
            self.expect(",")
            value = self.logical_type()
            self.expect(">")
            return t.map_of(key, value)
        if word == "ROW":
            return self._row_type()
        raise SqlError(
            f"unknown type {token.text}",
            position=position,
            hint=_instead(word),
        )

    def _numbers(self, most: int) -> tuple[int, ...]:
        if not self.accept("("):
            return ()
        found = self.listed(lambda: self.whole_number("a length or precision"))
        if len(found) > most:
            raise self.error(f"expected at most {most} number(s)")
        self.expect(")")
        return found

    def _fraction(self, default: int) -> int:
        position = self.here
        given = self._numbers(1)
        if given and given[0] > _MOST_FRACTION:
            raise SqlError(
                f"a precision of {given[0]} fractional digits is not supported",
                position=position,
                hint="Write a precision of 0 to 9.",
            )
        return given[0] if given else default

    def _timestamp_type(self, word: str) -> LogicalType:
        precision = self._fraction(MICROSECONDS)
        if word == "TIMESTAMP_LTZ":
            return t.timestamp_ltz(precision)
        if self.accept("WITHOUT"):
            self.expect("TIME", "ZONE")
        elif self.at("WITH", "LOCAL") or self.at("WITH", "TIME"):
            if self.at("WITH", "TIME"):
                raise self.unsupported("TIMESTAMP WITH TIME ZONE", "Write TIMESTAMP_LTZ(p).")
            self.accept("WITH", "LOCAL")
            self.expect("TIME", "ZONE")
            return t.timestamp_ltz(precision)
        return t.timestamp(precision)

    def _interval_type(self) -> LogicalType:
        first, _ = self.unit()
        if self.accept("TO"):
            self.unit()
        return t.INTERVAL_YEAR_MONTH if first in _YEAR_MONTH else t.INTERVAL_DAY_TIME

    def unit(self) -> tuple[str, tuple[int, ...]]:
        """A unit of an interval, and what is given of how many digits may stand in it and behind its point."""
        position = self.here
        word = unit(self.identifier("a unit such as SECOND"), position)
        return word, self._numbers(2)

    def _in_angles(self) -> LogicalType:
        self.expect("<")
        inner = self.logical_type()
        self.expect(">")
        return inner

    def _row_type(self) -> LogicalType:
        if self.accept("<", ">") or self.accept("<>"):
            return t.row()
        closing = ")" if self.at("(") else ">"
        self.expect("(" if closing == ")" else "<")
        fields = self.listed(self._row_field)
        self.expect(closing)
        return t.row(*fields)

    def _row_field(self) -> Field:
        found = Field(self.identifier("a field's name"), self.logical_type())
        if self.at_text():
            self.take()
        return found
