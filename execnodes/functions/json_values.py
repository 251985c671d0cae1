"""JSON of values, as JSON_OBJECT, JSON_ARRAY and JSON_STRING write it since 1.3."""

from __future__ import annotations

from collections.abc import Callable

from execnodes.core.types import INTEGERS, TEXTS, LogicalType, Root, timestamp
from execnodes.functions.cast_texts import print_text
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal
from execnodes.lowering.stream import quote

_EXPONENT = text_literal("^(-?)([0-9])[.]([0-9]+)E(-?[0-9]+)$")


Time = Callable[[Scope, str, LogicalType], str]
"""JSON of a timestamp."""


def written_short(scope: Scope, text: str, t: LogicalType) -> str:
    """As `written`, but the fraction of a timestamp has as many digits as it needs: ``.45``; since 2.0."""
    return written(scope, text, t, _short_time)


def written(scope: Scope, text: str, t: LogicalType, time: Time | None = None) -> str:
    """JSON of what `text` gives; NULL if it is NULL. Keys are sorted, times in the form of ISO, bytes in base 64."""
    time = time or _time
    match t.root:
        case Root.BOOLEAN | Root.DECIMAL:
            return f"CAST({text} AS STRING)"
        case root if root in INTEGERS:
            return f"CAST({text} AS STRING)"
        case Root.FLOAT | Root.DOUBLE:
            return scope.share(f"CAST(CAST({text} AS DOUBLE) AS STRING)", _number)
        case Root.NULL:
            return "CAST(NULL AS STRING)"
        case Root.BINARY | Root.VARBINARY:
            return f"""concat('"', base64({text}), '"')"""
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return time(scope, text, t)
        case Root.ARRAY:
            member = scope.fresh()
            members = f"transform({text}, {member} -> {_or_null(scope, member, t.element, time)})"
            return f"concat('[', array_join({members}, ','), ']')"
        case Root.MAP | Root.MULTISET:
            return _map(scope, text, t, time)
        case Root.ROW:
            return scope.share(text, lambda row: _row(scope, row, t, time))
        case _:
            # Texts, dates, times of day and intervals stand in quotes.
            return scope.share(text if t.root in TEXTS else print_text(scope, text, t), quoted)


def quoted(text: str) -> str:
    """A text as JSON: the only member of a list, without the brackets."""
    listed = f"to_json(array({text}))"
    return f"if({text} IS NULL, NULL, substring({listed}, 2, char_length({listed}) - 2))"


def _or_null(scope: Scope, text: str, t: LogicalType, time: Time) -> str:
    return f"coalesce({written(scope, text, t, time)}, 'null')"


def _number(shown: str) -> str:
    """As Java's BigDecimal prints a DOUBLE: with an exponent if digits do not reach the point, or below 10^-6."""
    sign, first, rest, exponent = (f"regexp_extract({shown}, {_EXPONENT}, {group})" for group in range(1, 5))
    power = f"CAST({exponent} AS INT)"
    large = (
        f"concat({sign}, {first}, left({rest}, {power}),"
        f" if(char_length({rest}) > {power}, concat('.', substring({rest}, {power} + 1)), ''))"
    )
    small = f"concat({sign}, '0.', repeat('0', - {power} - 1), {first}, {rest})"
    return (
        f"""CASE WHEN {shown} IN ('NaN', 'Infinity', '-Infinity') THEN concat('"', {shown}, '"')"""
        f" WHEN NOT rlike({shown}, {_EXPONENT}) THEN {shown} WHEN {power} BETWEEN -6 AND -1 THEN {small}"
        f" WHEN {power} < 0 THEN {shown} WHEN char_length({rest}) < {power} THEN replace({shown}, 'E', 'E+')"
        f" ELSE {large} END"
    )


def _time(scope: Scope, text: str, t: LogicalType) -> str:
    """Zeros at the end of the fraction stay out by threes; an instant is shown in UTC."""
    cut = f"regexp_replace({_digits(scope, text, t)}, '[.]0+$', '')"
    groups = f"regexp_replace({cut}, {text_literal('([.](?:[0-9]{3})*?)(?:000)+$')}, '$1')"
    return f"""concat('"', {groups}, '{_zone(t)}"')"""


def _short_time(scope: Scope, text: str, t: LogicalType) -> str:
    cut = f"regexp_replace({_digits(scope, text, t)}, '[.]?0+$', '')" if t.precision else _digits(scope, text, t)
    return f"""concat('"', {cut}, '{_zone(t)}"')"""


def _digits(scope: Scope, text: str, t: LogicalType) -> str:
    """A timestamp with all digits of its fraction, an instant in UTC."""
    local = f"CAST({text} AS TIMESTAMP_NTZ)" if t.root is Root.TIMESTAMP_LTZ else text
    return f"replace({print_text(scope, local, timestamp(t.precision))}, ' ', 'T')"


def _zone(t: LogicalType) -> str:
    return "Z" if t.root is Root.TIMESTAMP_LTZ else ""


def _map(scope: Scope, text: str, t: LogicalType, time: Time) -> str:
    entry = scope.fresh()
    key_type, value_type = (t.element, None) if t.root is Root.MULTISET else (t.key, t.element)
    key = quoted(print_text(scope, f"{entry}.key", key_type))
    value = (
        f"CAST({entry}.value AS STRING)" if value_type is None else _or_null(scope, f"{entry}.value", value_type, time)
    )
    return (
        f"concat('{{', array_join(transform(array_sort(map_entries({text})),"
        f" {entry} -> concat({key}, ':', {value})), ','), '}}')"
    )


def _row(scope: Scope, row: str, t: LogicalType, time: Time) -> str:
    fields = sorted(t.fields, key=lambda field: field.name)
    members = (
        f"concat({quoted(text_literal(f.name))}, ':', {_or_null(scope, f'{row}.{quote(f.name)}', f.type, time)})"
        for f in fields
    )
    return f"if({row} IS NULL, NULL, concat('{{', concat_ws(',', {', '.join(members)}), '}}'))"
