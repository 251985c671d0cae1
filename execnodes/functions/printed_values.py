"""PRINTF since 2.0: a NULL fits any field of the pattern, and INTERVALs are printed."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import BIGINT, INT, INTERVALS, LogicalType, Root
from execnodes.functions.function import Binding, Function, Invocation, Operands
from execnodes.functions.printf import misfits
from execnodes.functions.printf_before import PRINTF_2, printed, printed_type
from execnodes.functions.scope import Scope


def length(t: LogicalType) -> LogicalType:
    """The number that an INTERVAL is: milliseconds, or months."""
    return t if t.root not in INTERVALS else INT if t.root is Root.INTERVAL_YEAR_MONTH else BIGINT


def _bind(call: Invocation) -> Binding | None:
    known = tuple(
        Literal(value=None, type=length(each.type)) if at and each.type.root in INTERVALS else each
        for at, each in enumerate(call.operands)
    )
    binding = PRINTF_2.bind(replace(call, operands=known))
    if binding is None:
        return None
    pairs = zip(call.operands, binding.operands, strict=True)
    return replace(binding, operands=tuple(g if g.type.root in INTERVALS else bound for g, bound in pairs))


def _misfits(operands: Operands) -> tuple[int, ...] | None:
    """Of a constant pattern, by the numbers of the values."""
    pattern, *values = operands
    if not isinstance(pattern, Literal) or pattern.value is None:
        return ()
    return misfits(str(pattern.value), [length(printed_type(each.type)) for each in values])


def _lower(scope: Scope, call: Call) -> str:
    """What does not fit is NULL where it is not, and is not looked at where it is."""
    pattern, *values = call.operands
    odd = _misfits(call.operands)
    if odd is None:
        return "CAST(NULL AS STRING)"
    texts = ["CAST(NULL AS STRING)" if at in odd else printed(scope, each) for at, each in enumerate(values)]
    made = f"format_string({', '.join([scope.text(pattern), *texts])})"
    missing = " AND ".join(f"{scope.text(values[at])} IS NULL" for at in odd)
    return f"if({missing}, {made}, NULL)" if odd else made


def _differs(operands: Operands) -> bool:
    return bool(_misfits(operands)) or any(each.type.root in INTERVALS for each in operands[1:])


PRINTF_3 = Function(
    "PRINTF",
    ("PRINTF(TEXT, TEXT | NUMERIC | BOOLEAN | DATE | TIME | timestamp | INTERVAL, …)",),
    _bind,
    _lower,
    3,
    "2.0",
    only=_differs,
)
