"""Rules of the type system: common types, results of decimal arithmetic, which casts exist and which are implicit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from execnodes.core.types import (
    BINARIES,
    DATE,
    DOUBLE,
    INTEGERS,
    INTERVALS,
    NULL,
    NUMERICS,
    TEXTS,
    TIMESTAMPS,
    Field,
    LogicalType,
    Root,
    decimal,
    row,
    varchar,
)

MAX_PRECISION = 38
_INTEGER_DIGITS = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}


def as_decimal(t: LogicalType) -> LogicalType:
    """The DECIMAL that holds every value of an exact numeric type."""
    return t if t.root is Root.DECIMAL else decimal(_INTEGER_DIGITS[t.root])


def common_type(types: Iterable[LogicalType]) -> LogicalType | None:
    """The least type that holds the values of all, as for UNION, VALUES, CASE; None if there is none.

    A time attribute stays one only if all are. The type of bare NULLs gives way to any other.
    Source: `leastRestrictive` of Calcite's type factory.
    """
    return _folded(types, _common)


def merged_type(types: Iterable[LogicalType]) -> LogicalType | None:
    """As `common_type`, for COALESCE, IFNULL, GREATEST and LEAST.

    Source: `findCommonType` of Flink's LogicalTypeMerging.
    """
    return _folded(types, _common_in_flink)


Rule = Callable[[LogicalType, LogicalType], LogicalType | None]


def _folded(types: Iterable[LogicalType], rule: Rule) -> LogicalType | None:
    found: LogicalType | None = NULL.not_null()
    for each in dict.fromkeys(types):
        found = None if found is None else _merged(found, each, rule)
    return found


def _merged(left: LogicalType, right: LogicalType, rule: Rule) -> LogicalType | None:
    found = rule(left, right)
    if found is None:
        return None
    if left == NULL.not_null():
        return found
    kept = found if left.kind == right.kind else found.regular()
    return kept.with_nullable(left.nullable or right.nullable)


def _common(left: LogicalType, right: LogicalType) -> LogicalType | None:
    if left.same_values(right):
        return right
    if left.root is Root.NULL:
        return right
    if right.root is Root.NULL:
        return left
    if left.root in NUMERICS and right.root in NUMERICS:
        return _common_number(left, right)
    if left.root in TEXTS and right.root in TEXTS:
        return varchar(max(left.length, right.length))
    if left.root in BINARIES and right.root in BINARIES:
        return LogicalType(Root.VARBINARY, length=max(left.length, right.length))
    if left.root in (Root.DATE, *TIMESTAMPS) and right.root in (Root.DATE, *TIMESTAMPS):
        if Root.DATE in (left.root, right.root):
            return left if right.root is Root.DATE else right
        if left.precision == right.precision:
            return left
        return LogicalType(right.root, precision=max(left.precision, right.precision))
    if left.root is not right.root:
        return None
    if left.root is Root.TIME:
        return max(left, right, key=lambda t: t.precision)
    if left.root is Root.ROW:
        return _common_row(left, right)
    children = [common_type(pair) for pair in zip(left.children, right.children, strict=True)]
    made = tuple(each for each in children if each is not None)
    return LogicalType(left.root, children=made) if len(made) == len(children) else None


def _common_in_flink(left: LogicalType, right: LogicalType) -> LogicalType | None:
    roots = {left.root, right.root}
    if (left.root, right.root) == (Root.DECIMAL, Root.FLOAT):
        return right
    if roots == {Root.FLOAT, Root.DOUBLE}:
        return DOUBLE
    if roots == {Root.DATE, Root.TIMESTAMP}:
        return DATE
    if roots == set(TIMESTAMPS):
        return LogicalType(Root.TIMESTAMP_LTZ, precision=max(left.precision, right.precision))
    return _common(left, right)


def _common_row(left: LogicalType, right: LogicalType) -> LogicalType | None:
    if len(left.fields) != len(right.fields):
        return None
    fields = []
    for a, b in zip(left.fields, right.fields, strict=True):
        t = common_type((a.type, b.type))
        if t is None:
            return None
        fields.append(Field(a.name, t))
    return row(*fields)


def _common_number(left: LogicalType, right: LogicalType) -> LogicalType:
    both = (left.root, right.root)
    if set(both) == {Root.FLOAT, Root.DOUBLE}:
        return left
    if Root.DOUBLE in both or (Root.FLOAT in both and Root.DECIMAL in both):
        return DOUBLE
    if Root.FLOAT in both:
        return left if left.root is Root.FLOAT else right
    if Root.DECIMAL not in both:
        return max(left, right, key=lambda t: INTEGERS.index(t.root))
    a, b = as_decimal(left), as_decimal(right)
    scale = max(a.scale, b.scale)
    digits = min(max(a.precision - a.scale, b.precision - b.scale), MAX_PRECISION)
    scale = min(scale, MAX_PRECISION - digits)
    return decimal(max(digits + scale, 1), scale)


def decimal_sum(a: LogicalType, b: LogicalType) -> LogicalType:
    """Type of ``a + b`` and ``a - b``."""
    scale = max(a.scale, b.scale)
    return _adjusted(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def decimal_product(a: LogicalType, b: LogicalType) -> LogicalType:
    """Type of ``a * b``."""
    return _adjusted(a.precision + b.precision + 1, a.scale + b.scale)


def decimal_quotient(a: LogicalType, b: LogicalType) -> LogicalType:
    """Type of ``a / b``."""
    scale = max(6, a.scale + b.precision + 1)
    return _adjusted(a.precision - a.scale + b.scale + scale, scale)


def decimal_remainder(a: LogicalType, b: LogicalType) -> LogicalType:
    """Type of ``MOD(a, b)``. Source: Calcite's RelDataTypeSystem.deriveDecimalModType."""
    if a.scale == b.scale == 0:
        return decimal(b.precision, 0)
    scale = max(a.scale, b.scale)
    return _adjusted(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def decimal_rounded(t: LogicalType, digits: int) -> LogicalType:
    """Type of ``ROUND(t, digits)``."""
    if digits >= t.scale:
        return decimal(t.precision, t.scale)
    if digits < 0:
        return decimal(min(MAX_PRECISION, 1 + t.precision - t.scale), 0)
    return decimal(min(MAX_PRECISION, 1 + t.precision - t.scale + digits), digits)


def _adjusted(precision: int, scale: int) -> LogicalType:
    """Beyond 38 digits fractional digits give way, down to 6, so that whole digits stay."""
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, 6)))


_UP_TO = {t: INTEGERS[: index + 1] for index, t in enumerate(INTEGERS)}
_IMPLICIT: dict[Root, tuple[Root, ...]] = {
    Root.CHAR: (Root.CHAR,),
    Root.VARCHAR: TEXTS,
    Root.BOOLEAN: (Root.BOOLEAN,),
    Root.BINARY: (Root.BINARY,),
    Root.VARBINARY: BINARIES,
    Root.DECIMAL: NUMERICS,
    **_UP_TO,
    Root.FLOAT: (*INTEGERS, Root.FLOAT, Root.DECIMAL),
    Root.DOUBLE: NUMERICS,
    Root.DATE: (Root.DATE, Root.TIMESTAMP),
    Root.TIME: (Root.TIME, Root.TIMESTAMP),
    Root.TIMESTAMP: TIMESTAMPS,
    Root.TIMESTAMP_LTZ: TIMESTAMPS,
}


def can_cast_implicitly(source: LogicalType, target: LogicalType) -> bool:
    """Whether an INSERT puts `source` into a column of `target` by itself; lengths and nullability do not count."""
    if source.root is Root.NULL or source.same_values(target):
        return True
    if source.root is target.root and source.root in _NESTED:
        return _pairwise(source, target, can_cast_implicitly)
    return source.root in _IMPLICIT.get(target.root, ())


_NESTED = (Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW)


def can_cast(source: LogicalType, target: LogicalType) -> bool:
    """Whether CAST takes `source` to `target`."""
    if can_cast_implicitly(source, target):
        return True
    if source.root is target.root and source.root in _NESTED:
        return _pairwise(source, target, can_cast)
    if target.root in TEXTS:
        return True
    if source.root in TEXTS:
        return target.root in (Root.BOOLEAN, *BINARIES, *NUMERICS, Root.DATE, Root.TIME, *TIMESTAMPS)
    if source.root in NUMERICS:
        return target.root in (*NUMERICS, Root.BOOLEAN) or (source.root in INTEGERS and target.root in INTERVALS)
    if source.root is Root.BOOLEAN:
        return target.root in NUMERICS
    if source.root in BINARIES:
        return target.root in BINARIES
    if source.root in (Root.DATE, Root.TIME):
        return target.root in TIMESTAMPS
    if source.root in TIMESTAMPS:
        return target.root in (Root.DATE, Root.TIME, *TIMESTAMPS)
    if source.root is Root.INTERVAL_DAY_TIME:
        return target.root is Root.BIGINT
    return False


def cast_hint(source: LogicalType, target: LogicalType) -> str:
    """What to write instead of a CAST that does not exist."""
    if source.root in NUMERICS and target.root in TIMESTAMPS:
        return "Write TO_TIMESTAMP_LTZ(number, 3) for milliseconds, TO_TIMESTAMP_LTZ(number, 0) for seconds since 1970."
    if source.root in TIMESTAMPS and target.root in NUMERICS:
        return "Write EXTRACT(EPOCH FROM timestamp) for seconds since 1970."
    return "Cast to a type between the two, or take the part that is meant with a function."


def _pairwise(source: LogicalType, target: LogicalType, test: Callable[[LogicalType, LogicalType], bool]) -> bool:
    if source.root is Root.ROW:
        pairs = zip(source.fields, target.fields, strict=False)
        return len(source.fields) == len(target.fields) and all(test(a.type, b.type) for a, b in pairs)
    return all(test(a, b) for a, b in zip(source.children, target.children, strict=True))
