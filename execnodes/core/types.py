"""Flink's logical types: what a column may hold, written as Flink prints a `DataType` (``DECIMAL(6, 2) NOT NULL``).

One text form serves plans, error messages and `schema.json`; `parse_type` reads it back.
Source of names, defaults and limits: Flink's `LogicalTypeRoot` and the SQL data types page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

MAX_LENGTH = 2147483647
"""Length of STRING and BYTES."""


class Root(StrEnum):
    """Kind of a type, apart from its parameters."""

    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BOOLEAN = "BOOLEAN"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DECIMAL = "DECIMAL"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP_LTZ"
    INTERVAL_DAY_TIME = "INTERVAL SECOND"
    """A duration in milliseconds."""
    INTERVAL_YEAR_MONTH = "INTERVAL MONTH"
    """A number of months."""
    ARRAY = "ARRAY"
    MULTISET = "MULTISET"
    MAP = "MAP"
    ROW = "ROW"
    NULL = "NULL"
    """The type of a bare NULL literal."""


INTEGERS = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT)
NUMERICS = (*INTEGERS, Root.DECIMAL, Root.FLOAT, Root.DOUBLE)
TEXTS = (Root.CHAR, Root.VARCHAR)
BINARIES = (Root.BINARY, Root.VARBINARY)
TIMESTAMPS = (Root.TIMESTAMP, Root.TIMESTAMP_LTZ)
LONG_DIGITS = 18
"""Most digits of a DECIMAL that fit a number of 64 bits."""
NESTED = (Root.ARRAY, Root.MULTISET, Root.MAP, Root.ROW)
INTERVALS = (Root.INTERVAL_DAY_TIME, Root.INTERVAL_YEAR_MONTH)


class TimeKind(StrEnum):
    """Whether a timestamp is a time attribute."""

    REGULAR = ""
    ROWTIME = "*ROWTIME*"
    PROCTIME = "*PROCTIME*"


@dataclass(frozen=True, slots=True)
class Field:
    """A named field of a ROW; also a column of a table."""

    name: str
    type: LogicalType


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A type with its parameters; make one with the functions below, not by hand."""

    root: Root
    nullable: bool = True
    length: int = 0
    """Of CHAR, VARCHAR, BINARY, VARBINARY: in code points or bytes."""
    precision: int = 0
    """Of DECIMAL: digits; of TIME and TIMESTAMPs: fractional digits."""
    scale: int = 0
    """Of DECIMAL: digits behind the point."""
    kind: TimeKind = TimeKind.REGULAR
    children: tuple[LogicalType, ...] = ()
    """Element of an ARRAY or MULTISET; key and value of a MAP."""
    fields: tuple[Field, ...] = ()
    """Of a ROW."""

    def __str__(self) -> str:
        text = _parameters(self)
        kind = f" {self.kind}" if self.kind else ""
        return text + ("" if self.nullable else " NOT NULL") + kind

    @property
    def element(self) -> LogicalType:
        """Element type of an ARRAY or MULTISET, value type of a MAP."""
        return self.children[-1]

    @property
    def key(self) -> LogicalType:
        """Key type of a MAP."""
        return self.children[0]

    def with_nullable(self, nullable: bool) -> LogicalType:
        """The same type with that nullability."""
        return self if nullable == self.nullable else replace(self, nullable=nullable)

    def not_null(self) -> LogicalType:
        """The same type, NOT NULL."""
        return self.with_nullable(False)

    def regular(self) -> LogicalType:
        """The same type, no longer a time attribute."""
        return replace(self, kind=TimeKind.REGULAR) if self.kind else self

    @property
    def is_time_attribute(self) -> bool:
        """True for event-time (and processing-time) attributes."""
        return self.kind is not TimeKind.REGULAR

    def same_values(self, other: LogicalType) -> bool:
        """Equal apart from top-level nullability and time attribute."""
        return self is other or self._values == other._values

    @property
    def _values(self) -> tuple[object, ...]:
        return self.root, self.length, self.precision, self.scale, self.children, self.fields

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any) -> LogicalType:
            return value if isinstance(value, LogicalType) else parse_type(value)

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="always")
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "title": "LogicalType", "examples": ["INT NOT NULL", "TIMESTAMP(3) *ROWTIME*"]}


def _parameters(t: LogicalType) -> str:
    match t.root:
        case Root.VARCHAR if t.length == MAX_LENGTH:
            return "STRING"
        case Root.VARBINARY if t.length == MAX_LENGTH:
            return "BYTES"
        case Root.CHAR | Root.VARCHAR | Root.BINARY | Root.VARBINARY:
            return f"{t.root}({t.length})"
        case Root.DECIMAL:
            return f"DECIMAL({t.precision}, {t.scale})"
        case Root.TIME | Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return f"{t.root}({t.precision})"
        case Root.ARRAY | Root.MULTISET | Root.MAP:
            return f"{t.root}<{', '.join(map(str, t.children))}>"
        case Root.ROW:
            return f"ROW<{', '.join(f'`{_escape(f.name)}` {f.type}' for f in t.fields)}>"
        case _:
            # Without parameters.
            return str(t.root)


def _escape(name: str) -> str:
    return name.replace("`", "``")


BOOLEAN = LogicalType(Root.BOOLEAN)
TINYINT = LogicalType(Root.TINYINT)
SMALLINT = LogicalType(Root.SMALLINT)
INT = LogicalType(Root.INT)
BIGINT = LogicalType(Root.BIGINT)
FLOAT = LogicalType(Root.FLOAT)
DOUBLE = LogicalType(Root.DOUBLE)
DATE = LogicalType(Root.DATE)
STRING = LogicalType(Root.VARCHAR, length=MAX_LENGTH)
BYTES = LogicalType(Root.VARBINARY, length=MAX_LENGTH)
NULL = LogicalType(Root.NULL)
INTERVAL_DAY_TIME = LogicalType(Root.INTERVAL_DAY_TIME)
INTERVAL_YEAR_MONTH = LogicalType(Root.INTERVAL_YEAR_MONTH)


def char(length: int) -> LogicalType:
    """CHAR(length)."""
    return LogicalType(Root.CHAR, length=length)


def sized(root: Root, length: int | None = None) -> LogicalType:
    """A type of texts or bytes; without a length what varies is the longest, CHAR and BINARY have one place."""
    default = MAX_LENGTH if root in (Root.VARCHAR, Root.VARBINARY) else 1
    return LogicalType(root, length=default if length is None else length)


def varchar(length: int) -> LogicalType:
    """VARCHAR(length); what varies from the CHAR(0) of '' on has length 1, since there is no VARCHAR(0)."""
    return LogicalType(Root.VARCHAR, length=max(length, 1))


def decimal(precision: int = 10, scale: int = 0) -> LogicalType:
    """DECIMAL(precision, scale); 1 <= precision <= 38, 0 <= scale <= precision."""
    if not 1 <= precision <= 38 or not 0 <= scale <= precision:
        raise ValueError(f"DECIMAL({precision}, {scale}): precision must be 1 to 38 and scale 0 to precision")
    return LogicalType(Root.DECIMAL, precision=precision, scale=scale)


def time(precision: int = 0) -> LogicalType:
    """TIME(precision): time of day; Flink keeps milliseconds at most."""
    return LogicalType(Root.TIME, precision=precision)


def timestamp(precision: int = 6, kind: TimeKind = TimeKind.REGULAR) -> LogicalType:
    """TIMESTAMP(precision): a local date and time; 0 to 6 fractional digits (Spark keeps microseconds)."""
    return LogicalType(Root.TIMESTAMP, precision=precision, kind=kind)


def timestamp_ltz(precision: int = 6, kind: TimeKind = TimeKind.REGULAR) -> LogicalType:
    """TIMESTAMP_LTZ(precision): an instant, shown in the session's zone."""
    return LogicalType(Root.TIMESTAMP_LTZ, precision=precision, kind=kind)


def array(element: LogicalType) -> LogicalType:
    """ARRAY<element>."""
    return LogicalType(Root.ARRAY, children=(element,))


def multiset(element: LogicalType) -> LogicalType:
    """MULTISET<element>: element to its count."""
    return LogicalType(Root.MULTISET, children=(element,))


def map_of(key: LogicalType, value: LogicalType) -> LogicalType:
    """MAP<key, value>."""
    return LogicalType(Root.MAP, children=(key, value))


def row(*fields: Field) -> LogicalType:
    """ROW<fields>; also the type of a node's output."""
    return LogicalType(Root.ROW, fields=fields)


_TOKEN = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([A-Za-z_]+)|(\d+)|(\*[A-Z]+\*)|([<>(),]))", re.ASCII)
_SIMPLE = {
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "INTEGER": INT,
    "BIGINT": BIGINT,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "DATE": DATE,
    "STRING": STRING,
    "BYTES": BYTES,
    "NULL": NULL,
}
SIZED = {root.value: root for root in (Root.CHAR, Root.VARCHAR, Root.BINARY, Root.VARBINARY)}
_INTERVALS = {"SECOND": INTERVAL_DAY_TIME, "MONTH": INTERVAL_YEAR_MONTH}
_LONGEST_NUMBER = 10
_MOST_FRACTION = 9
_DEEPEST = 50
_DEFAULT_PRECISION = {"TIME": 0, "TIMESTAMP": 6, "TIMESTAMP_LTZ": 6}


def parse_type(text: object) -> LogicalType:
    """Read the text form of a type, e.g. ``ROW<`a` INT NOT NULL, `b` ARRAY<STRING>>``; ValueError if it is none."""
    if not isinstance(text, str):
        raise ValueError(f"a type is a text such as 'INT NOT NULL', not {text!r}")
    return _parsed(text)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 200 else f"{text[:200]!r}…"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> LogicalType:
    tokens = list(_tokens(text))
    result, rest = _type(tokens, 0, text)
    if rest != len(tokens):
        raise ValueError(f"{_shown(text)} is not a type: unexpected {_shown(tokens[rest][1])}")
    return result


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{_shown(text)} is not a type: cannot read {_shown(text[at:])}")
        at = match.end()
        if match[1] is not None:
            yield "name", match[1].replace("``", "`")
        elif match[2] is not None:
            yield "word", match[2]
        elif match[3] is not None:
            yield "number", match[3]
        else:
            yield "mark", match[4] or match[5]


def _type(tokens: list[tuple[str, str]], at: int, text: str, depth: int = 0) -> tuple[LogicalType, int]:
    def peek(offset: int = 0) -> tuple[str, str]:
        return tokens[at + offset] if at + offset < len(tokens) else ("end", "")

    def expect(mark: str) -> None:
        nonlocal at
        if peek() != ("mark", mark):
            raise ValueError(f"{_shown(text)} is not a type: expected {mark!r}")
        at += 1

    def numbers(most: int = 1) -> list[int]:
        nonlocal at
        if peek() != ("mark", "("):
            return []
        found: list[int] = []
        while not found or (len(found) < most and peek() == ("mark", ",")):
            at += 1
            if peek()[0] != "number" or len(peek()[1]) > _LONGEST_NUMBER:
                raise ValueError(f"{_shown(text)} is not a type: a number is wrong")
            found.append(int(peek()[1]))
            at += 1
        expect(")")
        return found

    def inner() -> LogicalType:
        nonlocal at
        if depth == _DEEPEST:
            raise ValueError(f"{_shown(text)} is nested more than {_DEEPEST} deep")
        result, at = _type(tokens, at, text, depth + 1)
        return result

    kind, word = peek()[0], peek()[1].upper()
    if kind != "word":
        raise ValueError(f"{_shown(text)} is not a type")
    at += 1
    if word in _SIMPLE:
        result = _SIMPLE[word]
    elif word in SIZED:
        result = sized(SIZED[word], *numbers())
        # The type of '' is CHAR(0), that of X'' BINARY(0).
        if result.length > MAX_LENGTH or (result.length < 1 and result.root not in (Root.CHAR, Root.BINARY)):
            raise ValueError(f"{result}: the length must be 1 to {MAX_LENGTH}")
    elif word in ("DECIMAL", "DEC", "NUMERIC"):
        given = numbers(2)
        result = decimal(given[0] if given else 10, given[1] if len(given) > 1 else 0)
    elif word in _DEFAULT_PRECISION:
        given = numbers()
        result = LogicalType(Root(word), precision=given[0] if given else _DEFAULT_PRECISION[word])
        if result.precision > _MOST_FRACTION:
            raise ValueError(f"{result}: the precision must be 0 to {_MOST_FRACTION}")
    elif word == "INTERVAL":
        if peek()[0] != "word" or peek()[1].upper() not in _INTERVALS:
            raise ValueError(f"{_shown(text)} is not a type: an INTERVAL in a plan is one of SECOND or MONTH")
        result = _INTERVALS[peek()[1].upper()]
        at += 1
    elif word in ("ARRAY", "MULTISET"):
        expect("<")
        result = LogicalType(Root(word), children=(inner(),))
        expect(">")
    elif word == "MAP":
        expect("<")
        key = inner()
        expect(",")
        result = map_of(key, inner())
        expect(">")
    elif word == "ROW":
        expect("<")
        fields: list[Field] = []
        while peek() != ("mark", ">"):
            if fields:
                expect(",")
            kind, name = peek()
            if kind not in ("name", "word"):
                raise ValueError(f"{_shown(text)} is not a type: expected the name of a field")
            at += 1
            fields.append(Field(name, inner()))
        expect(">")
        result = row(*fields)
    else:
        raise ValueError(f"{_shown(text)} is not a type: unknown name {_shown(word)}")
    if (peek()[1].upper(), peek(1)[1].upper()) == ("NOT", "NULL") and peek()[0] == peek(1)[0] == "word":
        at += 2
        result = result.not_null()
    if peek() in (("mark", TimeKind.ROWTIME), ("mark", TimeKind.PROCTIME)):
        if result.root not in TIMESTAMPS:
            raise ValueError(f"{result} cannot be a time attribute")
        result = replace(result, kind=TimeKind(peek()[1]))
        at += 1
    return result, at
