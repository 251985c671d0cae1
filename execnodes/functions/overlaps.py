"""OVERLAPS: whether two periods have a moment in common, as Calcite expands it."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Call, Expression
from execnodes.core.types import BOOLEAN, INTERVALS
from execnodes.functions.comparison import comparable
from execnodes.functions.families import TEMPORAL
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_arithmetic import bind_plus_times


def _bind(call: Invocation) -> Binding | None:
    """Begin and end of both periods; an end may be a length."""
    if len(call.operands) != 4:
        return None
    bounds: list[Expression] = []
    for begin, end in (call.operands[:2], call.operands[2:]):
        moved = _moved(begin, end) if end.type.root in INTERVALS else end
        if moved is None or not {begin.type.root, moved.type.root} <= set(TEMPORAL):
            return None
        bounds += [begin, moved]
    operands = comparable(call, bounds)
    if operands is None:
        return None
    return Binding(operands, BOOLEAN.with_nullable(any(each.type.nullable for each in operands)))


def _moved(begin: Expression, length: Expression) -> Expression | None:
    found = bind_plus_times(Invocation("+", (begin, length)))
    return None if found is None else Call(internal_name="$+$1", operands=found.operands, type=found.type)


def _lower(scope: Scope, call: Call) -> str:
    """A period may be written backwards; its bounds belong to it."""

    def text(bounds: Sequence[str]) -> str:
        low, high = "CASE WHEN {0} <= {1} THEN {0} ELSE {1} END", "CASE WHEN {0} <= {1} THEN {1} ELSE {0} END"
        first, second = bounds[:2], bounds[2:]
        return (
            f"(({low.format(*first)}) <= ({high.format(*second)}) AND "
            f"({low.format(*second)}) <= ({high.format(*first)}))"
        )

    return scope.share_some(scope.texts(call.operands), list(range(4)), text)


OVERLAPS = Function(
    "OVERLAPS", ("(time, time or INTERVAL) OVERLAPS (time, time or INTERVAL)",), _bind, _lower, since="1.3"
)
