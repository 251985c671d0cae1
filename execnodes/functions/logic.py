"""Three-valued logic: AND, OR, NOT, IS [NOT] NULL / TRUE / FALSE / UNKNOWN."""

from __future__ import annotations

from execnodes.core.expressions import Call
from execnodes.core.types import BOOLEAN
from execnodes.functions.function import Function, form, function
from execnodes.functions.scope import Scope


def _chain(name: str) -> Function:
    def lower(scope: Scope, call: Call) -> str:
        return f"({f' {name} '.join(scope.texts(call.operands))})"

    return function(name, form("BOOLEAN, BOOLEAN...", BOOLEAN), sql=lower)


AND = _chain("AND")
OR = _chain("OR")
NOT = function("NOT", form("BOOLEAN", BOOLEAN), sql="(NOT {0})")
IS_NULL = function("IS NULL", form("ANY", BOOLEAN, nullable=False), sql="({0} IS NULL)")
IS_NOT_NULL = function("IS NOT NULL", form("ANY", BOOLEAN, nullable=False), sql="({0} IS NOT NULL)")
TESTS = tuple(
    function(f"IS {negated}{value}", form("BOOLEAN", BOOLEAN, nullable=False), sql=f"({{0}} IS {negated}{value})")
    for negated in ("", "NOT ")
    for value in ("TRUE", "FALSE", "UNKNOWN")
)
