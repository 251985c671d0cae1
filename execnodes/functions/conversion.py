"""Conversions the planner puts in: CAST calls, and constants that need none."""

from __future__ import annotations

from decimal import Decimal

from execnodes.core.constants import fits
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INTEGERS, TIMESTAMPS, LogicalType, Root


def casting(source: LogicalType, target: LogicalType, *, may_fail: bool = True) -> str:
    """Name and version of the cast from one type to the other; with `may_fail` = False it gives NULL where it fails."""
    return f"${'CAST' if may_fail else 'TRY_CAST'}${2 if has_version_2(source, target) else 1}"


def has_version_2(source: LogicalType, target: LogicalType) -> bool:
    """Whether a timestamp loses digits of its milliseconds, or an instant becomes a time."""
    if (source.root, target.root) == (Root.TIMESTAMP_LTZ, Root.TIME):
        return True
    if source.root not in TIMESTAMPS or target.root not in (Root.TIME, *TIMESTAMPS) or target.precision >= 3:
        return False
    return target.root is Root.TIME or target.precision < source.precision


def convert(expression: Expression, target: LogicalType) -> Expression:
    """The expression as `target` (its nullability apart), by a CAST unless it has that type or is a simple constant."""
    if expression.type.same_values(target) and not expression.type.is_time_attribute:
        return expression
    wanted = target.regular().with_nullable(expression.type.nullable)
    if isinstance(expression, Literal):
        constant = _constant(expression, wanted)
        if constant is not None:
            return constant
    return Call(internal_name=casting(expression.type, wanted), operands=(expression,), type=wanted)


def _constant(given: Literal, target: LogicalType) -> Literal | None:
    """The constant in the target type, where that is a mere change of notation."""
    value = given.value
    if value is None:
        return Literal(value=None, type=target.with_nullable(True))
    if given.type.root in INTEGERS and isinstance(value, int):
        if target.root in INTEGERS:
            return Literal(value=value, type=target) if fits(value, target) else None
        if target.root is Root.DOUBLE:
            return Literal(value=repr(float(value)), type=target)
    if given.type.root is Root.DECIMAL and target.root is Root.DOUBLE:
        return Literal(value=repr(float(Decimal(str(value)))), type=target)
    return None


_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}


def wrap_around(value: int, target: LogicalType) -> int:
    """The value as an integer type keeps it: the low bits, signed."""
    bits = _BITS[target.root]
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
