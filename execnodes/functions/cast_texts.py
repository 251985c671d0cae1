"""Casts to texts: how each type prints."""

from __future__ import annotations

from execnodes.core.types import BINARIES, MAX_LENGTH, TEXTS, LogicalType, Root
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal
from execnodes.lowering.stream import quote


def print_value(scope: Scope, text: str, source: LogicalType, target: LogicalType) -> str:
    """`text` as a CHAR or VARCHAR: CHAR is padded with blanks, both are cut."""
    printed = print_text(scope, text, source)
    if target.root is Root.CHAR:
        return printed if source.root is Root.CHAR and source.length == target.length else _pad(printed, target.length)
    if target.length == MAX_LENGTH or (source.root in TEXTS and source.length <= target.length):
        return printed
    return f"left({printed}, {target.length})"


def _pad(text: str, length: int) -> str:
    return f"rpad({text}, {length}, ' ')"


def print_text(scope: Scope, text: str, source: LogicalType) -> str:
    """`text` in the notation of its type."""
    match source.root:
        case Root.CHAR | Root.VARCHAR:
            return text
        case Root.BOOLEAN:
            return f"upper(CAST({text} AS STRING))"
        case Root.DECIMAL if source.scale > 6:
            return _plain_decimal(scope, text, source)
        case Root.TIME:
            clock = f"date_format(timestamp_millis({text}), {text_literal('HH:mm:ss' + _fraction(source, 3))})"
            return f"regexp_replace({clock}, '(\\\\.\\\\d+?)0+$', '$1')" if source.precision else clock
        case Root.TIMESTAMP:
            return f"date_format(CAST({text} AS TIMESTAMP), {_pattern(source)})"
        case Root.TIMESTAMP_LTZ:
            return f"date_format(from_utc_timestamp({text}, {scope.zone_text}), {_pattern(source)})"
        case Root.INTERVAL_YEAR_MONTH:
            return scope.share(text, _months)
        case Root.INTERVAL_DAY_TIME:
            return scope.share(text, _duration)
        case Root.ARRAY:
            return _array(scope, text, source)
        case Root.MAP | Root.MULTISET:
            return _map(scope, text, source)
        case Root.ROW:
            return scope.share(text, lambda row: _row(scope, row, source))
        case _:
            # Spark writes numbers and bytes as Flink does.
            return f"CAST({text} AS STRING)"


def _fraction(t: LogicalType, most: int) -> str:
    digits = min(t.precision, most)
    return "." + "S" * digits if digits else ""


def _pattern(t: LogicalType) -> str:
    return text_literal("yyyy-MM-dd HH:mm:ss" + _fraction(t, 9))


def _plain_decimal(scope: Scope, text: str, t: LogicalType) -> str:
    """Spark prints small decimals with an exponent; here digits are always written out."""

    def body(x: str) -> str:
        small = f"lpad(CAST(CAST(abs({x}) * 1{'0' * t.scale}BD AS DECIMAL(38, 0)) AS STRING), {t.scale}, '0')"
        return f"if(abs({x}) < 0.000001, concat(if({x} < 0, '-0.', '0.'), {small}), CAST({x} AS STRING))"

    return scope.share(text, body)


def _months(x: str) -> str:
    years = f"CAST(abs({x}) div 12 AS STRING)"
    return f"concat(if({x} < 0, '-', '+'), {years}, '-', lpad(CAST(abs({x}) % 12 AS STRING), 2, '0'))"


def _duration(x: str) -> str:
    days = f"CAST(abs({x}) div 86400000 AS STRING)"
    clock = f"date_format(timestamp_millis(abs({x}) % 86400000), 'HH:mm:ss.SSS')"
    return f"concat(if({x} < 0, '-', '+'), {days}, ' ', {clock})"


def _member(scope: Scope, text: str, t: LogicalType) -> str:
    return f"coalesce({print_text(scope, text, t)}, 'NULL')"


def _array(scope: Scope, text: str, t: LogicalType) -> str:
    member = scope.fresh()
    printed = f"transform({text}, {member} -> {_member(scope, member, t.element)})"
    return f"concat('[', array_join({printed}, ', '), ']')"


def _map(scope: Scope, text: str, t: LogicalType) -> str:
    entry = scope.fresh()
    counted = t.root is Root.MULTISET
    key = _member(scope, f"{entry}.key", t.element if counted else t.key)
    value = f"CAST({entry}.value AS STRING)" if counted else _member(scope, f"{entry}.value", t.element)
    entries = f"transform(map_entries({text}), {entry} -> concat({key}, '=', {value}))"
    return f"concat('{{', array_join({entries}, ', '), '}}')"


def _row(scope: Scope, row: str, t: LogicalType) -> str:
    parts = ", ', ', ".join(_member(scope, f"{row}.{quote(f.name)}", f.type) for f in t.fields)
    return f"if({row} IS NULL, NULL, concat('(', {parts}, ')'))"


def resize_binary(scope: Scope, text: str, source: LogicalType, target: LogicalType) -> str:
    """`text` as BINARY, padded with zero bytes and cut, or as VARBINARY, cut."""
    binary = text if source.root in BINARIES else f"CAST({text} AS BINARY)"
    if target.root is Root.BINARY:
        return f"rpad({binary}, {target.length}, X'00')"
    if target.length == MAX_LENGTH or (source.root in BINARIES and source.length <= target.length):
        return binary
    return f"CAST(left({binary}, {target.length}) AS {spark_type(target)})"
