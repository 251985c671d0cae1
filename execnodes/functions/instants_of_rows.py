"""TO_TIMESTAMP_LTZ since 2.0: texts as TO_TIMESTAMP reads them, and numbers whose precision each row has."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INT, INTEGERS, NUMERICS, STRING, TEXTS, Root, timestamp_ltz
from execnodes.functions.conversion import convert
from execnodes.functions.function import Binding, Invocation, Operands
from execnodes.functions.instants import TO_TIMESTAMP_LTZ_3
from execnodes.functions.scope import Scope
from execnodes.functions.texts_to_timestamps import lower_instant

_MOST = 18
"""From so many digits on, Flink's numbers are 0 whatever they were."""


def _has_precision(operands: Operands) -> bool:
    """Whether a number has the precision of a column, or NULL for one."""
    number, *precision = operands
    return number.type.root in NUMERICS and len(precision) == 1 and not _is_fixed(precision[0])


def _is_fixed(precision: Expression) -> bool:
    return precision.type.root not in INTEGERS or (isinstance(precision, Literal) and precision.value is not None)


def _bind(call: Invocation) -> Binding | None:
    if call.operands and call.types[0].root is Root.NULL and all(each.root in TEXTS for each in call.types[1:]):
        return TO_TIMESTAMP_LTZ_3.bind(replace(call, operands=(convert(call.operands[0], STRING), *call.operands[1:])))
    if len(call.operands) == 2 and _has_precision(call.operands):
        return Binding(call.operands, timestamp_ltz(3))
    return TO_TIMESTAMP_LTZ_3.bind(call)


def _lower(scope: Scope, call: Call) -> str:
    if not _has_precision(call.operands):
        return lower_instant(scope, call)
    number, precision = call.operands

    def instant(digits: int) -> str:
        fixed = Literal(value=digits, type=INT.not_null())
        made = TO_TIMESTAMP_LTZ_3.lower(scope, call.model_copy(update={"operands": (number, fixed)}))
        return f"date_trunc('MILLISECOND', {made})"

    def case(digits: str) -> str:
        cases = " ".join(f"WHEN {count} THEN {instant(count)}" for count in range(_MOST))
        fails = scope.failure("TO_TIMESTAMP_LTZ: no precision: ", f"CAST({digits} AS STRING)")
        return f"CASE {digits} {cases} ELSE if({digits} IS NULL, NULL, CAST({fails} AS TIMESTAMP)) END"

    return scope.share(scope.text(precision), case)


TO_TIMESTAMP_LTZ_4 = replace(
    TO_TIMESTAMP_LTZ_3,
    signatures=("TO_TIMESTAMP_LTZ(NUMERIC, INTEGER?)", "TO_TIMESTAMP_LTZ(TEXT, TEXT?, TEXT?)"),
    bind=_bind,
    lower=_lower,
    version=4,
    since="2.0",
    only=lambda operands: operands[0].type.root in TEXTS or _has_precision(operands),
)
