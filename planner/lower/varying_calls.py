"""Calls that may give another value when they are computed again for the same row, as Flink judges them."""

from __future__ import annotations

from execnodes.core.expressions import AggregateCall, Call, Expression, walk
from execnodes.functions import may_vary

VaryingCall = Call | AggregateCall


def varying_calls(expression: Expression) -> tuple[VaryingCall, ...]:
    """Those of an expression, left to right."""
    return tuple(each for each in walk(expression) if isinstance(each, Call) and _varies(each))


def _varies(call: Call) -> bool:
    return call.non_deterministic if call.user_name else may_vary(call.internal_name)


def varying_aggregates(call: AggregateCall) -> tuple[VaryingCall, ...]:
    """The aggregate itself, if it is a user-defined one that is declared so."""
    return (call,) if call.varies else ()
