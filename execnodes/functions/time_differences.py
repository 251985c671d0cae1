"""``(time - time) unit``: what lies between two times, as an interval."""

from __future__ import annotations

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import INT, INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, TIMESTAMPS, Root, char
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_arithmetic import MILLIS, MONTHS, TIMESTAMPDIFF, millis, unit


def _bind(call: Invocation) -> Binding | None:
    """The unit, the later and the earlier time, which are of one kind."""
    if len(call.operands) != 3 or unit(call.operands[0]) not in (*MONTHS, *MILLIS):
        return None
    end, start = call.types[1:]
    months = unit(call.operands[0]) in MONTHS
    if end.root is not start.root or end.root not in (Root.DATE, *TIMESTAMPS, *(() if months else (Root.TIME,))):
        return None
    interval = INTERVAL_YEAR_MONTH if months else INTERVAL_DAY_TIME
    return Binding(call.operands, interval.with_nullable(end.nullable or start.nullable))


def _lower(scope: Scope, call: Call) -> str:
    """Milliseconds, or whole months cut toward zero, whatever the unit."""
    symbol, end, start = call.operands
    if unit(symbol) in MONTHS:
        month = Literal(value="MONTH", type=char(5).not_null())
        return TIMESTAMPDIFF.lower(scope, call.model_copy(update={"operands": (month, start, end), "type": INT}))
    later, earlier = scope.texts((end, start))
    if end.type.root is Root.TIME:
        return f"CAST({later} - {earlier} AS BIGINT)"
    return f"({millis(later, end.type)} - {millis(earlier, start.type)})"


TIME_DIFFERENCE = Function("- INTERVAL", ("(time - time) unit",), _bind, _lower, since="2.0")
