"""Types and constants of the SQL dialect as Spark SQL text."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import assert_never

from execnodes.core.constants import constant
from execnodes.core.expressions import Value
from execnodes.core.types import LogicalType, Root
from execnodes.lowering.stream import quote

_NAMES = {
    Root.CHAR: "STRING",
    Root.VARCHAR: "STRING",
    Root.BOOLEAN: "BOOLEAN",
    Root.BINARY: "BINARY",
    Root.VARBINARY: "BINARY",
    Root.TINYINT: "TINYINT",
    Root.SMALLINT: "SMALLINT",
    Root.INT: "INT",
    Root.BIGINT: "BIGINT",
    Root.FLOAT: "FLOAT",
    Root.DOUBLE: "DOUBLE",
    Root.DATE: "DATE",
    Root.TIME: "INT",
    Root.TIMESTAMP: "TIMESTAMP_NTZ",
    Root.TIMESTAMP_LTZ: "TIMESTAMP",
    Root.INTERVAL_DAY_TIME: "BIGINT",
    Root.INTERVAL_YEAR_MONTH: "INT",
    Root.NULL: "VOID",
}


def spark_type(t: LogicalType) -> str:
    """DDL text of the Spark type that holds values of `t`."""
    match t.root:
        case Root.DECIMAL:
            return f"DECIMAL({t.precision}, {t.scale})"
        case Root.ARRAY:
            return f"ARRAY<{spark_type(t.element)}>"
        case Root.MAP:
            return f"MAP<{spark_type(t.key)}, {spark_type(t.element)}>"
        case Root.MULTISET:
            return f"MAP<{spark_type(t.element)}, INT>"
        case Root.ROW:
            return f"STRUCT<{', '.join(f'{quote(f.name)}: {spark_type(f.type)}' for f in t.fields)}>"
        case _:
            # Without parameters; the table has each of them.
            return _NAMES[t.root]


def literal(value: Value, type: LogicalType) -> str:
    """A constant in the JSON form of `expressions.Value`; ValueError if it is none of `type`.

    What is written is the value that was read, never its text: nothing in a plan can become SQL.
    """
    match constant(value, type):
        case None:
            return f"CAST(NULL AS {spark_type(type)})"
        case bool(truth):
            return "TRUE" if truth else "FALSE"
        case int(number):
            return integer(number, _SUFFIXES[type.root])
        case str(text):
            return text_literal(text)
        case Decimal() as number if type.root is Root.DECIMAL:
            return f"CAST('{number:f}' AS {spark_type(type)})"
        case Decimal() | float() as number:
            return f"CAST('{number}' AS {spark_type(type)})"
        case bytes(octets):
            return f"X'{octets.hex()}'"
        case datetime() as moment if type.root is Root.TIMESTAMP:
            return f"TIMESTAMP_NTZ '{moment.isoformat(' ')}'"
        case datetime() as moment:
            return f"TIMESTAMP '{moment.isoformat(' ')}Z'"
        case date() as day:
            return f"DATE '{day.isoformat()}'"
        case time() as clock:
            return str(millis_of_day(clock))
        case _ as other:
            assert_never(other)


_SUFFIXES = {
    Root.TINYINT: "Y",
    Root.SMALLINT: "S",
    Root.INT: "",
    Root.BIGINT: "L",
    Root.INTERVAL_DAY_TIME: "L",
    Root.INTERVAL_YEAR_MONTH: "",
}


def integer(value: int, suffix: str) -> str:
    """A whole number; in parentheses when negative, so that no ``--`` can come about."""
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\u0000", "$": "\\u0024"}


def text_literal(value: str) -> str:
    """A text constant; ``$`` is escaped too, since Spark replaces ``${name}`` before it parses."""
    return "'" + "".join(_ESCAPES.get(each, each) for each in value) + "'"


def millis_of_day(clock: time) -> int:
    """Milliseconds since midnight; what is finer is cut."""
    return ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1000 + clock.microsecond // 1000
