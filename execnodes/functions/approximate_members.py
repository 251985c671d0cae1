"""IN and NOT IN since 2.3 for FLOAT and DOUBLE: a NaN is none of the members, as in Flink; Spark finds it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.predicates import FLOATS
from execnodes.functions.comparison import IN, NOT_IN, is_number
from execnodes.functions.function import Lower, Operands
from execnodes.functions.scope import Scope


def _is_approximate(operands: Operands) -> bool:
    return operands[0].type.root in FLOATS


def _lower(name: str, of_nan: str) -> Lower:
    """`of_nan`: the value of a NaN among members that are known."""

    def lower(scope: Scope, call: Call) -> str:
        value, *members = call.operands

        def body(texts: Sequence[str]) -> str:
            sought, *others = texts
            plain = f"({sought} {name} ({', '.join(others)}))"
            if is_number(value):
                return plain
            pairs = zip(others, members, strict=True)
            unknown = [f"{text} IS NULL" for text, each in pairs if not is_number(each) and each.type.nullable]
            other = f"if({' OR '.join(unknown)}, NULL, {of_nan})" if unknown else of_nan
            return f"if(isnan({sought}), {other}, {plain})"

        return scope.share_some(scope.texts(call.operands), [0], body)

    return lower


MEMBERSHIPS = tuple(
    replace(each, lower=_lower(each.name, of_nan), version=3, since="2.3", only=_is_approximate)
    for each, of_nan in ((IN, "FALSE"), (NOT_IN, "TRUE"))
)
