"""Times plus and minus intervals, TIMESTAMPADD, TIMESTAMPDIFF."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import (
    INT,
    INTEGERS,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    INTERVALS,
    TIMESTAMPS,
    LogicalType,
    Root,
    timestamp,
)
from execnodes.functions.conversion import convert
from execnodes.functions.families import TEMPORAL
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type

DAY = 86_400_000
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
MILLIS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": DAY,
    "WEEK": 7 * DAY,
}


def unit(symbol: Expression) -> str:
    """Name of a time unit given as a symbol; '' if the operand is none. ``SQL_TSI_DAY`` and plurals are units too."""
    if not isinstance(symbol, Literal) or not isinstance(symbol.value, str):
        return ""
    name = symbol.value.upper().removeprefix("SQL_TSI_")
    return name[:-1] if name.endswith("S") else name


def bind_plus_times(call: Invocation) -> Binding | None:
    """A time + interval, interval + time, interval + interval."""
    if len(call.operands) != 2:
        return None
    left, right = call.operands
    if left.type.root in INTERVALS and right.type.root in TEMPORAL:
        left, right = right, left
    return _bind(left, right)


def bind_minus_times(call: Invocation) -> Binding | None:
    """A time - interval, interval - interval."""
    return _bind(*call.operands) if len(call.operands) == 2 else None


def whole_days(operands: Sequence[Expression]) -> tuple[Expression, ...]:
    """A constant interval that moves a DATE, cut to whole days."""
    if len(operands) != 2 or all(each.type.root is not Root.DATE for each in operands):
        return tuple(operands)
    return tuple(_cut_to_days(each) for each in operands)


def _cut_to_days(operand: Expression) -> Expression:
    if not isinstance(operand, Literal) or operand.type.root is not Root.INTERVAL_DAY_TIME or operand.value is None:
        return operand
    length = int(operand.value)
    return operand.model_copy(update={"value": (abs(length) // DAY) * DAY * (1 if length > 0 else -1)})


def _bind(left: Expression, right: Expression) -> Binding | None:
    if right.type.root not in INTERVALS:
        return None
    nullable = left.type.nullable or right.type.nullable
    if left.type.root in TEMPORAL:
        return Binding((left, right), _moved(left.type.regular(), right).with_nullable(nullable))
    return Binding((left, right), left.type.with_nullable(nullable)) if left.type.root is right.type.root else None


def _moved(t: LogicalType, interval: Expression) -> LogicalType:
    """A DATE moved by a constant that is no number of days gets a time of day."""
    if t.root is Root.DATE and isinstance(interval, Literal) and interval.type.root is Root.INTERVAL_DAY_TIME:
        return t if int(interval.value or 0) % DAY == 0 else timestamp(0)
    return t


def lower_time_plus(scope: Scope, call: Call, sign: int) -> str:
    """A time moved by an interval (`sign` 1) or back by it (-1); months are clipped to the end of the month."""
    time, interval = call.operands
    moment, length = scope.texts(call.operands)
    amount = length if sign > 0 else f"(- {length})"
    if isinstance(interval, Literal) and interval.value is not None:
        amount = str(sign * int(interval.value))
    if call.type.root is Root.TIME:
        moved = f"CAST(pmod({moment} + {amount}, {DAY}L) AS INT)"
        return moved if interval.type.root is Root.INTERVAL_DAY_TIME else moment
    if time.type.root is Root.DATE and call.type.root is Root.DATE:
        if interval.type.root is Root.INTERVAL_YEAR_MONTH:
            return f"add_months({moment}, {amount})"
        return f"date_add({moment}, CAST({amount} div {DAY} AS INT))"
    if time.type.root is Root.DATE:
        moment = f"CAST({moment} AS TIMESTAMP_NTZ)"
    if interval.type.root is Root.INTERVAL_YEAR_MONTH:
        return f"({moment} + make_ym_interval(0, {amount}))"
    return f"timestampadd(MILLISECOND, {amount}, {moment})"


def _bind_add(call: Invocation) -> Binding | None:
    """TIMESTAMPADD(unit, count, time) is time + count * INTERVAL '1' unit."""
    if len(call.operands) != 3 or call.types[1].root not in (*INTEGERS, Root.NULL):
        return None
    symbol, count, time = call.operands
    name = unit(symbol)
    if time.type.root not in (Root.DATE, Root.TIME, *TIMESTAMPS) or name not in (*MONTHS, *MILLIS):
        return None
    if time.type.root is Root.DATE and name not in ("DAY", "WEEK", *MONTHS):
        time = convert(time, timestamp(6))
    months = name in MONTHS
    step = Literal(
        value=MONTHS[name] if months else MILLIS[name],
        type=(INTERVAL_YEAR_MONTH if months else INTERVAL_DAY_TIME).not_null(),
    )
    number = convert(count, INT) if count.type.root is Root.NULL else count
    length = Call(internal_name="$*$1", operands=(step, number), type=step.type.with_nullable(number.type.nullable))
    made = _added_type(time.type.regular(), name)
    return Binding((time, length), made.with_nullable(time.type.nullable or number.type.nullable), "+")


def _added_type(t: LogicalType, name: str) -> LogicalType:
    if t.root in (Root.DATE, Root.TIME) or name in ("DAY", "WEEK") or name in MONTHS:
        return t
    return LogicalType(t.root, precision=max(3, t.precision) if name == "MILLISECOND" else t.precision)


def _bind_diff(call: Invocation) -> Binding | None:
    if len(call.operands) != 3 or unit(call.operands[0]) not in (*MONTHS, *MILLIS):
        return None
    start, end = call.operands[1:]
    if any(each.type.root not in (Root.DATE, *TIMESTAMPS) for each in (start, end)):
        return None
    mixed = start.type.root is not end.type.root
    converted = [
        convert(each, timestamp(3)) if mixed and each.type.root is Root.DATE else each for each in (start, end)
    ]
    return Binding((call.operands[0], *converted), INT.with_nullable(start.type.nullable or end.type.nullable))


def millis(text: str, t: LogicalType) -> str:
    """Epoch milliseconds of a DATE or timestamp; of a TIMESTAMP as if it were UTC."""
    if t.root is Root.DATE:
        return f"(unix_date({text}) * {DAY}L)"
    return f"unix_millis({text})" if t.root is Root.TIMESTAMP_LTZ else f"unix_millis(CAST({text} AS TIMESTAMP))"


def _lower_diff(scope: Scope, call: Call) -> str:
    """Whole units from the first to the second, cut toward zero."""
    name = unit(call.operands[0])
    start, end = scope.texts(call.operands[1:])
    types = [each.type for each in call.operands[1:]]
    if name in MILLIS:
        return f"CAST(({millis(end, types[1])} - {millis(start, types[0])}) div {MILLIS[name]} AS INT)"

    def body(texts: Sequence[str]) -> str:
        a, b = texts
        months = _months_between(scope, (f"CAST({a} AS DATE)", f"CAST({b} AS DATE)"))
        if types[0].root is not Root.DATE:
            earlier = f"date_format({b}, 'HH:mm:ss.SSS') < date_format({a}, 'HH:mm:ss.SSS')"
            months = scope.share(
                months,
                lambda m: f"if(add_months(CAST({a} AS DATE), {m}) = CAST({b} AS DATE) AND {earlier}, {m} - 1, {m})",
            )
        return f"CAST({months} div {MONTHS[name]} AS {spark_type(call.type)})"

    return scope.share_some((start, end), [0, 1], body)


def _months_between(scope: Scope, dates: tuple[str, str]) -> str:
    """Months by which the first date can be moved without passing the second, the end of a month clipped."""

    def forward(low: str, high: str) -> str:
        estimate = f"((year({high}) - year({low})) * 12 + month({high}) - month({low}))"
        return f"({estimate} - if(add_months({low}, {estimate}) > {high}, 1, 0))"

    low, high = dates
    return f"if({low} <= {high}, {forward(low, high)}, - {forward(high, low)})"


TIMESTAMPADD = Function(
    "TIMESTAMPADD",
    ("TIMESTAMPADD(unit, INTEGER, time)",),
    _bind_add,
    lambda scope, call: lower_time_plus(scope, call, 1),
)
TIMESTAMPDIFF = Function("TIMESTAMPDIFF", ("TIMESTAMPDIFF(unit, time, time)",), _bind_diff, _lower_diff)
