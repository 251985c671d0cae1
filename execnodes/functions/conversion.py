"""Conversions the planner puts in: CAST calls, and constants that need none."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from execnodes.core.constants import fits
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BINARIES, INTEGERS, NESTED, NUMERICS, TEXTS, TIMESTAMPS, LogicalType, Root


def casting(source: LogicalType, target: LogicalType, *, may_fail: bool = True) -> str:
    """Name and version of the cast from one type to the other; with `may_fail` = False it gives NULL where it fails."""
    if _has_version_5(source, target):
        return f"${'CAST' if may_fail else 'TRY_CAST'}$5"
    if _has_version_4(source, target):
        return f"${'CAST' if may_fail else 'TRY_CAST'}$4"
    version = 3 if _has_version_3(source, target, may_fail) else 2 if has_version_2(source, target) else 1
    return f"${'CAST' if may_fail else 'TRY_CAST'}${version}"


def has_version_2(source: LogicalType, target: LogicalType) -> bool:
    """Whether a timestamp loses digits of its milliseconds, or an instant becomes a time."""
    if (source.root, target.root) == (Root.TIMESTAMP_LTZ, Root.TIME):
        return True
    if source.root not in TIMESTAMPS or target.root not in (Root.TIME, *TIMESTAMPS) or target.precision >= 3:
        return False
    return target.root is Root.TIME or target.precision < source.precision


def _has_version_3(source: LogicalType, target: LogicalType, may_fail: bool) -> bool:
    """Whether a text is read as a time; of members, whether version 1 gave others, or NULL for what cannot be read."""
    if source.root not in NESTED or target.root not in NESTED:
        return reads_time(source, target)
    return any(
        reads_time(a, b) or has_version_2(a, b) or (not may_fail and reads_text(a, b))
        for a, b in _leaves(source, target)
    )


def _has_version_4(source: LogicalType, target: LogicalType) -> bool:
    """Whether a text, or one among the members, becomes a number or a timestamp."""
    return any(a.root in TEXTS and b.root in (*NUMERICS, *TIMESTAMPS) for a, b in _leaves(source, target))


def _has_version_5(source: LogicalType, target: LogicalType) -> bool:
    """Whether bytes, or some among the members, become a text or a part of it."""
    return any(b.root in TEXTS and holds_bytes(a) for a, b in _leaves(source, target))


def holds_bytes(type: LogicalType) -> bool:
    """Whether values are bytes, or have members that are."""
    if type.root is Root.ROW:
        return any(holds_bytes(field.type) for field in type.fields)
    if type.root is Root.MAP and holds_bytes(type.key):
        return True
    return type.root in BINARIES if type.root not in NESTED else holds_bytes(type.element)


def reads_time(source: LogicalType, target: LogicalType) -> bool:
    """Whether a text becomes a DATE, TIME or timestamp."""
    return source.root in TEXTS and target.root in (Root.DATE, Root.TIME, *TIMESTAMPS)


def reads_text(source: LogicalType, target: LogicalType) -> bool:
    """Whether a text, or one among the members, becomes what not every text can be read as."""
    return any(
        a.root in TEXTS and b.root in (*NUMERICS, Root.BOOLEAN, Root.DATE, Root.TIME, *TIMESTAMPS)
        for a, b in _leaves(source, target)
    )


def _leaves(source: LogicalType, target: LogicalType) -> Iterator[tuple[LogicalType, LogicalType]]:
    """What has no members, within two types of one form."""
    if source.root not in NESTED or target.root not in NESTED:
        yield source, target
        return
    if source.root is Root.ROW:
        pairs = [(a.type, b.type) for a, b in zip(source.fields, target.fields, strict=True)]
    elif source.root is Root.MAP:
        pairs = [(source.key, target.key), (source.element, target.element)]
    else:
        pairs = [(source.element, target.element)]
    for of, to in pairs:
        yield from _leaves(of, to)


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
