"""Casts to numbers and to BOOLEAN."""

from __future__ import annotations

from execnodes.core.types import INTEGERS, NUMERICS, TEXTS, LogicalType, Root
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal


def checked(scope: Scope, text: str, converted: str, kind: str, target: str) -> str:
    """`converted`, but a failure where it is NULL and `text` is not."""
    fails = scope.failure(f"cannot read as {kind}: ", text)
    return f"coalesce({converted}, if({text} IS NULL, CAST(NULL AS {target}), {fails}))"


def to_number(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """Integers wrap, approximate numbers saturate, decimals round half up and are NULL on overflow."""
    made = spark_type(target)
    if source.root not in TEXTS:
        if source.root is Root.DECIMAL and target.root in INTEGERS:
            # BigDecimal.longValue: the digits before the point, low 64 bits
            return f"CAST(CAST({text} AS BIGINT) AS {made})"
        return f"CAST({text} AS {made})"

    def body(t: str) -> str:
        converted = _read_decimal(t, target) if target.root is Root.DECIMAL else f"CAST({t} AS {made})"
        return checked(scope, t, converted, str(target.with_nullable(True)), made) if strict else converted

    return scope.share(text, body)


_SHORT_DECIMAL = 18
_ODD_DECIMAL = r"^[ \n\t]*([+-]?)([0-9]*[.]?[0-9]*)[^0-9. \n\t]?[ \n\t]*$"


def _read_decimal(text: str, target: LogicalType) -> str:
    """Short texts may end in one character that is no digit: it is skipped, and no digits at all are zero."""
    made = spark_type(target)
    plain = f"CAST({text} AS {made})"
    if target.precision > _SHORT_DECIMAL:
        return plain
    pattern = text_literal(_ODD_DECIMAL)
    digits = f"CAST(regexp_replace({text}, {pattern}, '$10$2') AS {made})"
    odd = f"octet_length({text}) <= {_SHORT_DECIMAL} AND trim({text}) <> '' AND rlike({text}, {pattern})"
    return f"coalesce({plain}, if({odd}, {digits}, NULL))"


_TRUE = "('t', 'true', 'y', 'yes', '1')"
_FALSE = "('f', 'false', 'n', 'no', '0')"


def to_boolean(scope: Scope, text: str, source: LogicalType, strict: bool) -> str:
    """Numbers are TRUE unless zero; a few words stand for TRUE and FALSE."""
    if source.root in NUMERICS:
        return f"({text} <> 0)"

    def body(t: str) -> str:
        known = f"CASE WHEN lower({t}) IN {_TRUE} THEN TRUE WHEN lower({t}) IN {_FALSE} THEN FALSE END"
        return checked(scope, t, known, "BOOLEAN", "BOOLEAN") if strict else known

    return scope.share(text, body)
