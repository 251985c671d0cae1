"""ITEM since 2.0 of a MAP: a key that the type of the MAP's keys does not hold is in none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import Root
from execnodes.core.widening import holds
from execnodes.functions.casts import cast_text
from execnodes.functions.collections import ITEM
from execnodes.functions.function import Binding, Invocation, Operands
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type


def _bind(call: Invocation) -> Binding | None:
    """The key stays as it is where a CAST to the type of the keys may make another one of it: a longer text."""
    made = ITEM.bind(call)
    if made is None or made.operands[0].type.root is not Root.MAP:
        return made
    _, key = call.operands
    keeps = isinstance(made.operands[1], Literal) or holds(key.type.regular(), made.operands[0].type.key)
    return made if keeps else Binding(call.operands, made.type)


def _lower(scope: Scope, call: Call) -> str:
    collection, key = call.operands
    source, wanted = key.type, collection.type.key

    def find(texts: Sequence[str]) -> str:
        if spark_type(source) == spark_type(wanted):
            return f"element_at({texts[0]}, {texts[1]})"
        found = cast_text(scope, texts[1], source, wanted, strict=False)
        same = f"{cast_text(scope, found, wanted, source, strict=False)} = {texts[1]}"
        return f"if({same}, element_at({texts[0]}, {found}), NULL)"

    return scope.share_some(scope.texts(call.operands), (1,), find)


def _keeps_key(operands: Operands) -> bool:
    return operands[0].type.root is Root.MAP and not operands[1].type.same_values(operands[0].type.key)


ITEM_2 = replace(ITEM, bind=_bind, lower=_lower, version=2, since="2.0", only=_keeps_key)
