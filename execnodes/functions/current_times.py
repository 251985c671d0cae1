"""The current time, and the current watermark."""

from __future__ import annotations

from execnodes.core.expressions import Call
from execnodes.core.types import DATE, TIMESTAMPS, LogicalType, Root, TimeKind, time, timestamp, timestamp_ltz
from execnodes.functions.cast_times import DAY, to_local
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.lowering.stream import WATERMARK

_INSTANT = "date_trunc('MILLISECOND', current_timestamp())"


def _now(name: str, t: LogicalType, text: str) -> Function:
    """A function without operands, the same for all rows of a micro-batch; `{local}` is the clock of the session."""

    def bind(call: Invocation) -> Binding | None:
        return None if call.operands else Binding((), t.not_null())

    def lower(scope: Scope, call: Call) -> str:
        return text.format(local=to_local(scope, _INSTANT))

    return Function(name, (f"{name}()",), bind, lower, deterministic=False)


INSTANTS = tuple(
    _now(name, timestamp_ltz(3), _INSTANT) for name in ("CURRENT_TIMESTAMP", "NOW", "CURRENT_ROW_TIMESTAMP")
)
PROCTIME = _now("PROCTIME", timestamp_ltz(3, TimeKind.PROCTIME), _INSTANT)
LOCALTIMESTAMP = _now("LOCALTIMESTAMP", timestamp(3), "CAST({local} AS TIMESTAMP_NTZ)")
CURRENT_DATE = _now("CURRENT_DATE", DATE, "CAST({local} AS DATE)")
CLOCKS = tuple(
    _now(name, time(), f"CAST(unix_millis({{local}}) % {DAY} AS INT)") for name in ("LOCALTIME", "CURRENT_TIME")
)


def _bind_watermark(call: Invocation) -> Binding | None:
    """Of an event-time attribute; NULL before there is a watermark."""
    if len(call.operands) != 1 or call.types[0].root not in TIMESTAMPS or not call.types[0].is_time_attribute:
        return None
    return Binding(call.operands, call.types[0].regular().with_nullable(True))


def _lower_watermark(scope: Scope, call: Call) -> str:
    instant = f"timestamp_millis(nullif({WATERMARK}, -9223372036854775808L))"
    return instant if call.type.root is Root.TIMESTAMP_LTZ else f"CAST({instant} AS TIMESTAMP_NTZ)"


CURRENT_WATERMARK = Function(
    "CURRENT_WATERMARK",
    ("CURRENT_WATERMARK(event-time attribute)",),
    _bind_watermark,
    _lower_watermark,
    deterministic=False,
)
