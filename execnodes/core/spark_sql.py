"""Types and constants of the SQL dialect as Spark SQL text."""

from __future__ import annotations

from execnodes.core.expressions import Value
from execnodes.core.lowering import quote
from execnodes.core.types import INTERVALS, TEXTS, LogicalType, Root

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
            return _NAMES[t.root]


def literal(value: Value, type: LogicalType) -> str:
    """A constant in the JSON form of `expressions.Value`; ValueError if `type` has no constants."""
    if value is None:
        return f"CAST(NULL AS {spark_type(type)})"
    if type.root in TEXTS:
        return text_literal(str(value))
    if type.root in INTERVALS:
        return integer(int(value), "L" if type.root is Root.INTERVAL_DAY_TIME else "")
    match type.root:
        case Root.BOOLEAN:
            return "TRUE" if value else "FALSE"
        case Root.TINYINT:
            return integer(int(value), "Y")
        case Root.SMALLINT:
            return integer(int(value), "S")
        case Root.INT:
            return integer(int(value), "")
        case Root.BIGINT:
            return integer(int(value), "L")
        case Root.DECIMAL | Root.DOUBLE | Root.FLOAT:
            return f"CAST('{value}' AS {spark_type(type)})"
        case Root.DATE:
            return f"DATE '{value}'"
        case Root.TIME:
            return str(millis_of_day(str(value)))
        case Root.TIMESTAMP:
            return f"TIMESTAMP_NTZ '{value}'"
        case Root.TIMESTAMP_LTZ:
            return f"TIMESTAMP '{str(value).removesuffix('Z')}Z'"
        case Root.BINARY | Root.VARBINARY:
            return f"X'{value}'"
        case _:
            raise ValueError(f"there are no constants of type {type}")


def integer(value: int, suffix: str) -> str:
    """A whole number; in parentheses when negative, so that no ``--`` can come about."""
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", "$": "\\u0024"}


def text_literal(value: str) -> str:
    """A text constant; ``$`` is escaped too, since Spark replaces ``${name}`` before it parses."""
    return "'" + "".join(_ESCAPES.get(each, each) for each in value) + "'"


def millis_of_day(text: str) -> int:
    """Milliseconds of a time such as ``12:34:56.789``."""
    clock, _, fraction = text.partition(".")
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + int(fraction.ljust(3, "0")[:3])
