"""LOCATE since 2.5 from the least INT: Flink counts from 0, and there is no INT before it, so that nothing is found."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.functions.function import Operands
from execnodes.functions.scope import Scope
from execnodes.functions.unknown_operands import LOCATE_3

_LEAST, _MOST = "(-2147483648)", "2147483647"


def _may_be_least(operands: Operands) -> bool:
    start = operands[2] if len(operands) == 3 else None
    return start is not None and (not isinstance(start, Literal) or start.value == -(2**31))


def _lower(scope: Scope, call: Call) -> str:
    """From the greatest place an empty text is found, as anywhere; version 3 looked from the first one."""
    part, text, start = scope.texts(call.operands)
    found = scope.share(start, lambda n: f"locate({part}, {text}, if({n} = {_LEAST}, {_MOST}, greatest({n}, 1)))")
    return f"if({start} IS NULL, NULL, {found})" if call.operands[2].type.nullable else found


LOCATE_4 = replace(LOCATE_3, lower=_lower, version=4, since="2.5", only=_may_be_least)
