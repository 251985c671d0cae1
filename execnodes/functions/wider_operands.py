"""Versions since 2.0 of functions that take operands which the ones before refused, as Flink does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import BINARIES, INT, INTEGERS, STRING, LogicalType, Root, char, varchar
from execnodes.functions.folding import evaluate_constant
from execnodes.functions.function import Binding, Function, Invocation, Lower, Operands, form, function
from execnodes.functions.mathematics import ROUND, TRUNCATE
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_arithmetic import MILLIS, TIMESTAMPDIFF, unit
from execnodes.functions.temporal_fields import CEIL, CEILING, FLOOR, ROUNDED_UP
from execnodes.lowering.spark_sql import spark_type


def _of_bytes(operands: Operands) -> bool:
    return operands[0].type.root in BINARIES


def _hash(name: str, digits: int, spark: str) -> Function:
    t = char(digits)
    return function(name, form("TEXT", t), form("BINARY", t), sql=spark, version=2, since="2.0", only=_of_bytes)


HASHES = (
    _hash("MD5", 32, "md5({0})"),
    _hash("SHA1", 40, "sha1({0})"),
    *(_hash(f"SHA{bits}", bits // 4, f"sha2({{0}}, {bits})") for bits in (224, 256, 384, 512)),
)
SHA2_2 = function(
    "SHA2",
    form("TEXT, INT", varchar(128)),
    form("BINARY, INT", varchar(128)),
    sql="sha2({0}, {1})",
    version=2,
    since="2.0",
    only=_of_bytes,
)
TO_BASE64_2 = function(
    "TO_BASE64",
    form("TEXT", STRING),
    form("BINARY", STRING),
    sql="base64({0})",
    version=2,
    since="2.0",
    only=_of_bytes,
)


def _is_fixed(call: Invocation) -> bool:
    return len(call.operands) < 2 or evaluate_constant(call.operands[1]) is not None


def _rounding(earlier: Function) -> Function:
    """ROUND or TRUNCATE to digits that each row has: the number keeps its type, and its scale."""

    def bind(call: Invocation) -> Binding | None:
        if _is_fixed(call) or len(call.operands) != 2 or call.types[1].root not in INTEGERS:
            return earlier.bind(call)
        number, digits = call.operands
        if earlier.bind(replace(call, operands=(number,))) is None:
            return None
        return Binding(call.operands, number.type.regular().with_nullable(number.type.nullable or digits.type.nullable))

    return replace(
        earlier,
        bind=bind,
        lower=_lower_rounding(earlier.lower),
        version=2,
        since="2.0",
        only=lambda t: not isinstance(t[1], Literal) or t[1].value is None or _may_overflow(t),
    )


def _may_overflow(operands: Operands) -> bool:
    """Whether a number of all digits is rounded before its point: it may have one more then, and is NULL."""
    number, digits = operands[0].type, operands[1]
    has_all = number.root is Root.DECIMAL and number.precision == _MOST_DIGITS and number.scale == 0
    return has_all and isinstance(digits, Literal) and digits.value is not None and int(digits.value) < 0


_MOST_DIGITS = 38


def _least_digits(t: LogicalType) -> tuple[int, int]:
    """From how many digits on a number is 0, and up to how many it stays what it is."""
    if t.root is Root.DECIMAL:
        return t.scale - t.precision - 1, t.scale
    return (-19, 0) if t.root in INTEGERS else (-18, 18)


def _lower_rounding(earlier: Lower) -> Lower:
    """By `earlier` for each number of digits that makes a difference: Spark takes constants alone."""

    def lower(scope: Scope, call: Call) -> str:
        number, digits = call.operands
        least, most = _least_digits(number.type)
        made = spark_type(call.type)
        if isinstance(digits, Literal) and digits.value is not None:
            whole = f"CAST(NULL AS {made})"
            if call.internal_name.startswith("$ROUND$"):
                half = 5 * 10 ** (-int(digits.value) - 1)
                fits = f"abs({scope.text(number)}) < {10**_MOST_DIGITS - half}BD"
                return f"if({fits}, {earlier(scope, call)}, {whole})"
            return earlier(scope, call)
        if isinstance(digits, Literal):
            return f"CAST(NULL AS {made})"

        def case(d: str) -> str:
            def rounded(count: int) -> str:
                fixed = Literal(value=count, type=INT.not_null())
                return f"CAST({earlier(scope, call.model_copy(update={'operands': (number, fixed)}))} AS {made})"

            x = scope.text(number)
            cases = " ".join(f"WHEN {count} THEN {rounded(count)}" for count in range(least, most))
            beyond = f"WHEN {d} >= {most} THEN {x} WHEN {d} < {least} THEN CAST(0 AS {made})"
            return f"CASE WHEN {x} IS NULL OR {d} IS NULL THEN NULL {beyond} ELSE CASE {d} {cases} END END"

        return scope.share(scope.text(digits), case)

    return lower


ROUNDINGS = (_rounding(ROUND), _rounding(TRUNCATE))


def _is_day(operands: Operands) -> bool:
    """Whether a DATE is rounded to a unit that it has not got."""
    return len(operands) == 2 and operands[0].type.root is Root.DATE and unit(operands[1]) in _CLOCKS


_CLOCKS = tuple(each for each in MILLIS if each not in ("DAY", "WEEK"))


def _is_day_after(operands: Operands) -> bool:
    """Whether a DATE is rounded up to a unit that it has not got, or to a DAY: in Flink that is the next one."""
    return _is_day(operands) or (
        len(operands) == 2 and operands[0].type.root is Root.DATE and unit(operands[1]) == "DAY"
    )


def _lower_day(scope: Scope, call: Call) -> str:
    day = scope.text(call.operands[0])
    return day if _is_day(call.operands) else f"date_add({day}, 1)"


def _of_day(newest: Function, only: Callable[[Operands], bool]) -> Function:
    def bind(call: Invocation) -> Binding | None:
        return Binding(call.operands, call.types[0].regular()) if _is_day(call.operands) else newest.bind(call)

    return replace(newest, bind=bind, lower=_lower_day, version=newest.version + 1, since="2.0", only=only)


OF_DAYS = (
    _of_day(FLOOR, _is_day),
    *(_of_day(each, _is_day_after) for each in ROUNDED_UP if each.name in (CEIL.name, CEILING.name)),
)


def _of_clock(operands: Operands) -> bool:
    return len(operands) == 3 and all(each.type.root is Root.TIME for each in operands[1:])


def _bind_diff(call: Invocation) -> Binding | None:
    """Two TIMEs have no months between them, an instant and a time without a zone nothing."""
    if not _of_clock(call.operands):
        instants = {each.root is Root.TIMESTAMP_LTZ for each in call.types[1:] if each.root is not Root.NULL}
        return TIMESTAMPDIFF.bind(call) if len(instants) < 2 else None
    nullable = any(t.nullable for t in call.types[1:])
    return Binding(call.operands, INT.with_nullable(nullable)) if unit(call.operands[0]) in MILLIS else None


def _lower_diff(scope: Scope, call: Call) -> str:
    start, end = scope.texts(call.operands[1:])
    return f"CAST(({end} - {start}) div {MILLIS[unit(call.operands[0])]} AS INT)"


TIMESTAMPDIFF_2 = replace(TIMESTAMPDIFF, bind=_bind_diff, lower=_lower_diff, version=2, since="2.0", only=_of_clock)
